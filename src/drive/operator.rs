//! What was asked for when a run was begun, and the person who asked.

use super::event::Observer;
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
