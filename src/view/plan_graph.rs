//! The plan as a graph: `cook status --graph`, and the page of `cook report`.

use super::{Page, Show, Tone};
use cook_protocol::model::{Plan, SliceStatus};
use serde::Serialize;
use std::collections::BTreeMap;

/// The plan as a graph.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct GraphAnswer {
    /// The slices.
    pub nodes: Vec<Node>,
    /// From a slice to one that waits for it.
    pub edges: Vec<Edge>,
    /// How it is printed.
    #[serde(skip)]
    pub form: GraphForm,
}

/// How a graph is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum GraphForm {
    /// For a person in a terminal.
    Drawn,
    /// For Mermaid.
    Mermaid,
    /// For Graphviz.
    Dot,
}

/// A slice of the plan.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Node {
    /// Its id.
    pub slice_id: String,
    /// What it is for.
    pub goal: String,
    /// Where it stands.
    pub status: SliceStatus,
}

/// One slice waits for another.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Edge {
    /// The one that comes first.
    pub from: String,
    /// The one that waits.
    pub to: String,
}

/// Text inside quotes of either format.
fn label(text: &str) -> String {
    text.chars()
        .take(80)
        .map(|c| match c {
            '"' => '\'',
            '\\' => '/',
            '<' | '>' | '[' | ']' | '{' | '}' | '|' | '`' | '#' | ';' => ' ',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}

impl GraphAnswer {
    /// The slices, and which waits for which.
    pub fn new(plan: &Plan, form: GraphForm) -> Self {
        let slices = || plan.candidate_slices.iter();
        let edges = slices().flat_map(|slice| {
            let known = slice.blocked_on.iter();
            let known = known.filter(|entry| plan.slice(entry).is_some());
            known.map(|dependency| Edge {
                from: dependency.clone(),
                to: slice.slice_id.clone(),
            })
        });
        let nodes = slices().map(|slice| Node {
            slice_id: slice.slice_id.clone(),
            goal: slice.goal.clone(),
            status: slice.status,
        });
        Self {
            nodes: nodes.collect(),
            edges: edges.collect(),
            form,
        }
    }

    fn index(&self, id: &str) -> usize {
        self.nodes
            .iter()
            .position(|node| node.slice_id == id)
            .unwrap_or_default()
    }

    /// What a slice waits for, in order of the plan.
    fn waits_for<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(move |node| {
            let mut edges = self.edges.iter();
            edges.any(|edge| edge.to == id && edge.from == node.slice_id)
        })
    }

    /// One slice a line, after all that it waits for, below and beside the last of them.
    fn draw(&self, page: &mut Page) {
        let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
        let mut left: Vec<&Node> = self.nodes.iter().collect();
        while !left.is_empty() {
            let drawn = |node: &Node| depths.contains_key(node.slice_id.as_str());
            // A plan has no circle; one that is read from a damaged log ends here all the same.
            let next = left
                .iter()
                .position(|node| self.waits_for(&node.slice_id).all(drawn))
                .unwrap_or_default();
            let node = left.remove(next);
            let before: Vec<&Node> = self.waits_for(&node.slice_id).collect();
            let depth = before
                .iter()
                .filter_map(|node| depths.get(node.slice_id.as_str()))
                .max()
                .map_or(0, |depth| depth + 1);
            depths.insert(&node.slice_id, depth);
            draw_node(page, node, depth, &before);
        }
        page.add_toned_line(Tone::Dim, LEGEND);
    }

    fn write(&self, page: &mut Page, is_dot: bool) {
        let (head, arrow) = match is_dot {
            true => ("digraph plan {\n  rankdir=LR;", "->"),
            false => ("graph LR", "-->"),
        };
        head.lines().for_each(|line| page.line(line));
        for (at, node) in self.nodes.iter().enumerate() {
            let (id, goal) = (label(&node.slice_id), label(&node.goal));
            let status = node.status.id();
            page.line(&match is_dot {
                true => format!("  s{at} [shape=box, label=\"{id}\\n{goal}\\n{status}\"];"),
                false => format!("  s{at}[\"{id}: {goal} ({status})\"]"),
            });
        }
        let end = if is_dot { ";" } else { "" };
        for Edge { from, to } in &self.edges {
            let (from, to) = (self.index(from), self.index(to));
            page.line(&format!("  s{from} {arrow} s{to}{end}"));
        }
        if is_dot {
            page.line("}");
        }
    }
}

impl Show for GraphAnswer {
    fn human(&self, page: &mut Page) {
        match self.form {
            GraphForm::Drawn if self.nodes.is_empty() => page.line("nothing is planned yet"),
            GraphForm::Drawn => self.draw(page),
            GraphForm::Mermaid => self.write(page, false),
            GraphForm::Dot => self.write(page, true),
        }
    }
}

const LEGEND: &str = "[x] done  [>] in work  [ ] planned  [!] blocked  [-] cancelled";

fn draw_node(page: &mut Page, node: &Node, depth: usize, before: &[&Node]) {
    let (mark, tone) = match node.status {
        SliceStatus::Done => ("[x]", Tone::Good),
        SliceStatus::Selected | SliceStatus::InProgress => ("[>]", Tone::Strong),
        SliceStatus::Planned => ("[ ]", Tone::Dim),
        SliceStatus::Blocked => ("[!]", Tone::Warn),
        SliceStatus::Cancelled => ("[-]", Tone::Dim),
    };
    // Deep chains stay within the width of a terminal.
    let lead = match depth {
        0 => String::new(),
        depth => format!("{}`-- ", "    ".repeat(depth.min(10) - 1)),
    };
    page.text(&lead);
    page.add_toned(tone, mark);
    let waits: Vec<&str> = before.iter().map(|node| node.slice_id.as_str()).collect();
    let waits = match waits.is_empty() {
        true => String::new(),
        false => format!("  (after {})", waits.join(", ")),
    };
    page.line(&format!(" {} — {}{waits}", node.slice_id, node.goal));
}
