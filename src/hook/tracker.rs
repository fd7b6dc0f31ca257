//! What the hooks ask of an issue tracker. Each answer is bounded in time by
//! whoever implements it; an error names what did not answer.

use super::core::ClosedIssue;
use super::recovery::Item;
use crate::model::Checkpoint;

/// An issue tracker, as the hooks see it.
pub trait Tracker {
    /// The issue this session works on: the one it claimed, else the most recently
    /// updated one in progress of the same actor.
    ///
    /// # Errors
    /// One line that says what did not answer.
    fn current(&self, session: &str, claimed: Option<&str>) -> Result<Option<Item>, String>;

    /// Whether this actor holds the issue now.
    ///
    /// # Errors
    /// As [`Tracker::current`].
    fn holds(&self, issue: &str) -> Result<bool, String>;

    /// Entries kept with the issue, oldest first.
    ///
    /// # Errors
    /// As [`Tracker::current`].
    fn trail(&self, issue: &str) -> Result<Vec<Checkpoint>, String>;

    /// Keeps an entry with its issue, once, now or when the tracker answers again.
    ///
    /// # Errors
    /// When it can be kept neither way.
    fn append(&self, issue: &str, entry: &Checkpoint) -> Result<(), String>;

    /// Verifies a close that was seen; none when the issue is not closed.
    ///
    /// # Errors
    /// As [`Tracker::current`].
    fn closed(&self, issue: &str) -> Result<Option<ClosedIssue>, String>;

    /// Whether a path is the tracker's own.
    fn owns_path(&self, path: &str) -> bool;
}
