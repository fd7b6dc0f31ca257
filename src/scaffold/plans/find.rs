//! Looking for plans where their tools keep them.

use super::place::candidates;
use super::source::read;
use std::path::Path;

/// A plan that lies in the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPlan {
    /// Relative to the worktree.
    pub path: String,
    /// The tool.
    pub kind: String,
    /// Its tasks.
    pub tasks: usize,
    /// Those that it calls done.
    pub ticked: usize,
}

/// The plans of a worktree that can be taken in.
pub fn find(root: &Path) -> Vec<FoundPlan> {
    let paths = candidates(root);
    let found = paths.into_iter().filter_map(|path| {
        let plan = read(root, &path).ok()?;
        Some(FoundPlan {
            path,
            kind: plan.import.layout,
            tasks: plan.tasks,
            ticked: plan.ticked,
        })
    });
    found.collect()
}

impl FoundPlan {
    /// What a line says of it.
    pub fn describe(&self) -> String {
        let Self {
            path,
            kind,
            tasks,
            ticked,
        } = self;
        format!("`{path}` ({kind}, {tasks} tasks, {ticked} ticked)")
    }
}
