//! What the hooks ask of an issue tracker. Each answer is bounded in time by
//! whoever implements it; an error names what did not answer.

use crate::tracker::Entry;
use cook_core::model::Checkpoint;
use cook_hooks::{ClosedIssue, Item};

/// Which issue a session is told about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// The one it claimed; when that is not in work any more, as [`Wanted::Any`].
    Claimed(&'a str),
    /// The one that the slice in work carries: only what is kept with it.
    Carried(&'a str),
    /// The most recently updated one of this actor that is in work.
    Any,
}

/// What the tracker has to say to a session that begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Picture {
    /// The issue in work.
    pub item: Option<Item>,
    /// Entries kept with it, oldest first; their ids are keys of comments.
    pub trail: Vec<Checkpoint>,
    /// What could be worked on, in the tracker's order: id and title.
    pub ready: Vec<String>,
    /// What did not answer, one line each.
    pub notes: Vec<String>,
}

/// An issue tracker, as the hooks see it.
pub trait Tracker {
    /// A session begins: asks whether the tracker answers. One that did not is asked
    /// for nothing more until the next session begins.
    ///
    /// # Errors
    /// One line that says what did not answer.
    fn wake(&self) -> Result<(), String>;

    /// What the recovery message shows.
    fn picture(&self, wanted: Wanted) -> Picture;

    /// Whether this actor holds the issue now.
    ///
    /// # Errors
    /// As [`Tracker::wake`].
    fn holds(&self, issue: &str) -> Result<bool, String>;

    /// Verifies a close that was seen; none when the issue is not closed.
    ///
    /// # Errors
    /// As [`Tracker::wake`].
    fn verify_close(&self, issue: &str) -> Result<Option<ClosedIssue>, String>;

    /// Gives the issues those of the entries that they do not have yet, each once,
    /// now or when the tracker answers again. True when nothing waits any more.
    ///
    /// # Errors
    /// As [`Tracker::wake`].
    fn catch_up(&self, entries: &[Entry]) -> Result<bool, String>;

    /// Whether a path is the tracker's own.
    fn owns_path(&self, path: &str) -> bool;
}
