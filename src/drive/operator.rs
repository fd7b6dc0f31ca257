//! What was asked for when a run was begun, and the person who asked.

use super::event::Observer;
use crate::service::Workspace;
use cook_core::diagnostic::Failure;
use std::path::Path;

/// What was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The worktree.
    pub dir: &'a Path,
    /// The agent of every role, in place of the settings'.
    pub agent: Option<&'a str>,
    /// How many sessions at most; none = as many as it takes.
    pub steps: Option<u64>,
    /// Go on beside paths that are not committed.
    pub goes_beside: bool,
    /// Put what is not committed aside, and back when the run ends.
    pub parks: bool,
    /// How the worktree is seen.
    pub opening: Opening,
}

/// How a driver sees its worktree, where that differs from how commands do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Opening {
    /// Every command of the repository is trusted for this run (`--trust-repo`).
    pub trusts_everything: bool,
    /// Transitions are pushed together, by whoever holds the run.
    pub pushes_later: bool,
    /// The command of `[notify]` is told nothing.
    pub tells_nobody: bool,
}

impl Opening {
    /// Opens the worktree that `dir` lies in.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub(super) fn open(self, dir: &Path) -> Result<Workspace, Failure> {
        let mut workspace = Workspace::open(dir)?;
        workspace.trust_everything = self.trusts_everything;
        workspace.pushes_later = self.pushes_later;
        workspace.tells_nobody = self.tells_nobody;
        Ok(workspace)
    }
}

/// Who is told what a run will do, and asked what is not for cook to decide.
pub trait Operator {
    /// Shows one line of what there is to know.
    fn show(&self, line: &str);

    /// Tells what was done, or what is in the way.
    fn note(&self, text: &str);

    /// Tells what could not be done.
    fn warn(&self, text: &str);

    /// Asks a question; false where nobody is there to say yes.
    fn agrees(&self, question: &str) -> bool;

    /// Who looks on while agents work.
    fn observer(&self) -> Box<dyn Observer>;
}
