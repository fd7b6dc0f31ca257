//! The plan as a picture: a column for each step of waiting, an arrow from what comes first.

use super::text::{show, split_off};
use crate::view::GraphAnswer;
use cook_core::model::SliceStatus;
use maud::{Markup, html};
use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeMap;

/// Slices that are drawn.
const MOST: usize = 120;
/// Arrows that are drawn.
const MOST_EDGES: usize = 300;
/// A box, and the room around it.
const WIDTH: usize = 196;
const HEIGHT: usize = 46;
const GAP: (usize, usize) = (54, 16);
/// Letters that a box has room for.
const LETTERS: usize = 24;

/// A slice's place.
struct Placed<'a> {
    id: &'a str,
    status: SliceStatus,
    x: usize,
    y: usize,
}

/// The picture, and what it leaves out.
pub(super) fn picture(plan: &GraphAnswer) -> Markup {
    if plan.nodes.is_empty() {
        return html! { p { "There is no plan yet." } };
    }
    let (placed, edges) = place(plan);
    let width = placed.iter().map(|one| one.x).max().unwrap_or_default() + WIDTH + 8;
    let height = placed.iter().map(|one| one.y).max().unwrap_or_default() + HEIGHT + 8;
    let left = plan.nodes.len() - placed.len();
    let lost = plan.edges.len().saturating_sub(MOST_EDGES);
    html! {
        div.scroll tabindex="0" role="region" aria-label="The plan as a graph" {
            svg role="img" aria-labelledby="graph-title" viewBox=(format!("0 0 {width} {height}"))
                width=(width) height=(height) {
                title id="graph-title" {
                    "The plan: " (plan.nodes.len()) " slices, each with an arrow to those that wait for it; \
                    the table of slices says the same in words"
                }
                defs {
                    marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
                        orient="auto" { path.head d="M0 0L8 4L0 8z" {} }
                }
                @for (from, to) in &edges {
                    @let (a, b) = (&placed[*from], &placed[*to]);
                    path.edge marker-end="url(#head)" d=(curve(a, b)) {}
                }
                @for one in &placed {
                    g class=(one.status.id()) {
                        rect x=(one.x) y=(one.y) width=(WIDTH) height=(HEIGHT) rx="6" {}
                        text x=(one.x + 10) y=(one.y + 19) { (split_off(&show(one.id, LETTERS, false), LETTERS)) }
                        text.word x=(one.x + 10) y=(one.y + 36) { (one.status.id().replace('_', " ")) }
                    }
                }
            }
        }
        @if left > 0 || lost > 0 {
            p.more { (left) " slices and " (lost) " arrows are not drawn; " code { "cook status --graph=dot" } " has all of them." }
        }
    }
}

/// From the right side of the one to the left side of the other.
fn curve(a: &Placed, b: &Placed) -> String {
    let (x, y) = (a.x + WIDTH, a.y + HEIGHT / 2);
    let (to_x, to_y) = (b.x, b.y + HEIGHT / 2);
    let middle = x.midpoint(to_x);
    format!("M{x} {y}C{middle} {y} {middle} {to_y} {to_x} {to_y}")
}

/// Each slice one column behind the last of those that it waits for.
fn place(plan: &GraphAnswer) -> (Vec<Placed<'_>>, Vec<(usize, usize)>) {
    let nodes = &plan.nodes[..plan.nodes.len().min(MOST)];
    let at: BTreeMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| (node.slice_id.as_str(), index))
        .collect();
    let edges: Vec<(usize, usize)> = plan
        .edges
        .iter()
        .filter_map(|edge| Some((*at.get(edge.from.as_str())?, *at.get(edge.to.as_str())?)))
        .take(MOST_EDGES)
        .collect();
    let mut graph = DiGraph::<(), ()>::new();
    let indexes: Vec<NodeIndex> = nodes.iter().map(|_| graph.add_node(())).collect();
    for (from, to) in &edges {
        graph.add_edge(indexes[*from], indexes[*to], ());
    }
    let mut columns = vec![0_usize; nodes.len()];
    // cook takes no plan in that goes in a circle: all stand in one column then.
    for index in toposort(&graph, None).unwrap_or_default() {
        for next in graph.neighbors(index) {
            columns[next.index()] = columns[next.index()].max(columns[index.index()] + 1);
        }
    }
    let mut filled: BTreeMap<usize, usize> = BTreeMap::new();
    let placed = nodes.iter().zip(columns).map(|(node, column)| {
        let row = filled.entry(column).or_default();
        let y = 4 + *row * (HEIGHT + GAP.1);
        *row += 1;
        Placed {
            id: &node.slice_id,
            status: node.status,
            x: 4 + column * (WIDTH + GAP.0),
            y,
        }
    });
    (placed.collect(), edges)
}
