//! What can be asked of an issue tracker, whatever program it is.

use super::error::TrackerError;
use super::issue::{Comment, Issue, Link, NewIssue};
use super::ready_list::ReadyList;
use std::time::Instant;

/// Whether a comment may be there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// It was never sent.
    First,
    /// It may have arrived: the issue's comments are searched for its key first.
    Again,
}

/// What became of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commented {
    /// It was added now.
    Added,
    /// It was there.
    WasThere,
}

/// What became of an issue that is now closed.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// The issue, as reading shows it.
    pub issue: Issue,
    /// It was closed before.
    pub already: bool,
}

/// A list of issues and what can be done with one.
///
/// Every method that fails has a [`TrackerError`]; after an error of a write
/// for which [`TrackerError::is_outage`] holds it is not known whether it happened.
#[allow(missing_docs, clippy::missing_errors_doc)]
pub trait Tracker: Sync {
    /// `none`, `br` or `bd`.
    fn name(&self) -> &'static str;

    /// Asks whether it answers. `Absent`: there is none here, its workspace is not initialised.
    /// `Unavailable`: it is locked, hangs or is denied; worth another try at the next session start.
    fn detect(&self) -> Result<(), TrackerError>;

    /// Issues in work: this actor's first, then the most recently updated.
    fn current(&self) -> Result<Vec<Issue>, TrackerError>;

    /// What could be worked on, in the tracker's order of priority. May name issues in
    /// work and other people's; never blocked or closed ones.
    fn ready(&self) -> Result<Vec<Issue>, TrackerError>;

    /// One issue.
    fn show(&self, id: &str) -> Result<Issue, TrackerError>;

    /// Its comments, oldest first.
    fn comments(&self, id: &str) -> Result<Vec<Comment>, TrackerError>;

    /// Who depends on it.
    fn dependents(&self, id: &str) -> Result<Vec<Link>, TrackerError>;

    /// What it depends on.
    fn dependencies(&self, id: &str) -> Result<Vec<Link>, TrackerError>;

    /// Makes it this actor's, in work. One that another actor holds is refused and
    /// not changed.
    fn claim(&self, id: &str) -> Result<Issue, TrackerError>;

    /// Adds a comment that ends with `[cook:<key>]`.
    fn comment(
        &self,
        id: &str,
        key: &str,
        text: &str,
        attempt: Attempt,
    ) -> Result<Commented, TrackerError>;

    /// Closes it, and reads it again to see that it is closed.
    fn close(&self, id: &str, reason: &str) -> Result<Closed, TrackerError>;

    /// Makes an issue.
    fn create(&self, new: &NewIssue) -> Result<Issue, TrackerError>;

    /// What could be worked on, and what each of the first few brings: asked for
    /// side by side, and left out where it does not come before `end`.
    fn ready_list(&self, end: Instant) -> Result<ReadyList, TrackerError>;

    /// Whether a name is this actor's.
    fn is_mine(&self, assignee: &str) -> bool;

    /// The same tracker, with a deadline over everything it still does.
    fn until(&self, end: Instant) -> Box<dyn Tracker + '_>;
}
