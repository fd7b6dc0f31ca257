//! What every command gets, and how it answers.

use super::caller;
use crate::service::Workspace;
use crate::view;
use crate::view::{Page, Screen, Show};
use cook_protocol::diagnostic::Failure;
use serde::Serialize;
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

/// A text as it is, for a file or another program.
#[derive(Debug, Serialize)]
pub(super) struct PromptAnswer(pub String);

impl Show for PromptAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.0);
    }

    fn has_json(&self) -> bool {
        false
    }
}
