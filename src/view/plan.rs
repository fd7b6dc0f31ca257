//! `cook ready`, `cook graph`: what could be worked on, and what waits for what.

use super::{Page, Show, Tone};
use cook_core::machine::ReadyRow;
use cook_core::model::SliceStatus;
use serde::Serialize;

/// Slices that can be selected now, in order of work.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadyAnswer {
    /// In order of work.
    pub ready: Vec<ReadyRow>,
    /// The other open slices.
    pub waiting: Vec<WaitingSlice>,
}

/// An open slice that cannot be selected yet.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitingSlice {
    /// The slice.
    pub slice_id: String,
    /// What comes first.
    pub waits_for: Vec<String>,
}

impl Show for ReadyAnswer {
    fn human(&self, page: &mut Page) {
        if self.ready.is_empty() {
            page.line("no slice can be selected now");
        }
        for (index, row) in self.ready.iter().enumerate() {
            page.toned(Tone::Strong, &format!("{}. {}", index + 1, row.slice_id));
            page.line(&format!(" — {} (priority {})", row.goal, row.priority.0));
            let unblocks = if row.unblocks.is_empty() {
                "(none)".to_owned()
            } else {
                row.unblocks.join(", ")
            };
            page.line(&format!(
                "   unblocks: {unblocks} · {} wait for it in all · longest chain {}",
                row.unblocks_all, row.chain
            ));
        }
        for slice in &self.waiting {
            let waits = slice.waits_for.join(", ");
            page.toned_line(
                Tone::Dim,
                &format!("   {} waits for {waits}", slice.slice_id),
            );
        }
    }
}

/// The plan as a graph.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphAnswer {
    /// The slices.
    pub nodes: Vec<Node>,
    /// From a slice to one that waits for it.
    pub edges: Vec<Edge>,
    /// Graphviz in place of Mermaid.
    #[serde(skip)]
    pub dot: bool,
}

/// A slice of the plan.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Node {
    /// Its id.
    pub slice_id: String,
    /// What it is for.
    pub goal: String,
    /// Where it stands.
    pub status: SliceStatus,
}

/// One slice waits for another.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl Show for GraphAnswer {
    fn human(&self, page: &mut Page) {
        let index = |id: &str| {
            self.nodes
                .iter()
                .position(|node| node.slice_id == id)
                .unwrap_or_default()
        };
        if self.dot {
            page.line("digraph plan {");
            page.line("  rankdir=LR;");
            for (at, node) in self.nodes.iter().enumerate() {
                page.line(&format!(
                    "  s{at} [shape=box, label=\"{}\\n{}\\n{}\"];",
                    label(&node.slice_id),
                    label(&node.goal),
                    node.status.id()
                ));
            }
            for Edge { from, to } in &self.edges {
                page.line(&format!("  s{} -> s{};", index(from), index(to)));
            }
            page.line("}");
            return;
        }
        page.line("graph LR");
        for (at, node) in self.nodes.iter().enumerate() {
            page.line(&format!(
                "  s{at}[\"{}: {} ({})\"]",
                label(&node.slice_id),
                label(&node.goal),
                node.status.id()
            ));
        }
        for Edge { from, to } in &self.edges {
            page.line(&format!("  s{} --> s{}", index(from), index(to)));
        }
    }
}
