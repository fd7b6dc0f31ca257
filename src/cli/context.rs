//! What every command gets, and how it answers.

use super::caller;
use crate::service::Workspace;
use crate::view::{self, NoteAnswer, Screen};
use cook_core::diagnostic::Failure;
use std::path::PathBuf;

/// What every command gets.
pub(super) struct Context {
    /// Where the command was called, or what `-C` names.
    pub dir: PathBuf,
    pub dir_is_named: bool,
    /// Where answers go.
    pub screen: Screen,
}

impl Context {
    /// Opens the worktree.
    pub fn workspace(&self) -> Result<Workspace, Failure> {
        let mut workspace = Workspace::open(&self.dir)?;
        workspace.attended = caller::is_attended();
        Ok(workspace)
    }
}

/// An answer of any command.
pub(super) type Answer = Result<Box<dyn view::Answer>, Failure>;

/// Boxes an answer.
pub(super) fn answer(value: impl view::Answer + 'static) -> Answer {
    Ok(Box::new(value))
}

/// An answer of a few lines.
pub(super) fn note(what: &'static str, lines: Vec<String>) -> Answer {
    answer(NoteAnswer {
        what,
        lines,
        findings: Vec::new(),
        gates: Vec::new(),
    })
}
