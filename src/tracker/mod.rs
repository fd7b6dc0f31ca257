//! Issue trackers behind one trait: cook's own plan (`none`), and the programs
//! `br` and `bd`, run as child processes.
//!
//! Invariants: argument vectors, never a shell, and `--` before free text; every
//! call has a deadline of cook's own at which the child's group is ended, and a
//! cap on its output; a write is believed when reading shows it, not by its exit
//! code; a comment carries the key of its entry, so that a replay never adds it
//! twice; whatever a tracker says is data and is cleaned before it goes on.

mod actor;
mod answer;
mod beads;
mod call;
mod error;
mod find;
mod follow;
mod issue;
mod memory;
mod plan;
mod ready;
mod replay;

pub use actor::Actor;
pub use beads::Beads;
pub use call::Bounds;
pub use error::TrackerError;
pub use find::{Found, WORKSPACE, find, is_own_file};
pub use follow::{Deed, FollowReport, issues_of, may_claim, may_close, owed, settle};
pub use issue::{Brief, Comment, Issue, IssueStatus, Link, NewIssue, is_id};
pub use memory::{Memory, MemoryError, Outage};
pub use plan::PlanTracker;
pub use ready::{ENRICHED, Holder, Reach, ReadyIssue, ReadyList, unblocked_by};
pub use replay::{Entry, Replayed, replay};

use cook_core::model::TrackerKind;
use std::path::Path;
use std::time::Instant;

/// The tracker of a worktree, asked whether it answers. None: cook's own plan, because
/// the settings say so or, with `auto`, because there is no other here.
///
/// # Errors
/// `Absent` when the settings name a tracker that is not here, `Unavailable` when it
/// is here and does not answer.
pub fn open(kind: TrackerKind, root: &Path, bounds: Bounds) -> Result<Option<Beads>, TrackerError> {
    let path = std::env::var_os("PATH");
    let Some(found) = find(kind, root, path.as_deref())? else {
        return Ok(None);
    };
    let beads = Beads::new(&found, root, Actor::of(root), bounds);
    let tracker = found.name;
    match beads.detect() {
        Presence::Present => Ok(Some(beads)),
        Presence::Absent(_) if kind == TrackerKind::Auto => Ok(None),
        Presence::Absent(why) => Err(TrackerError::Absent { tracker, why }),
        Presence::Unavailable(why) => Err(TrackerError::Unavailable { tracker, why }),
    }
}

/// Whether a tracker answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It does.
    Present,
    /// There is none here: its workspace is not initialised.
    Absent(String),
    /// There is one and it does not answer: locked, hanging, denied. Worth
    /// another try at the next session start.
    Unavailable(String),
}

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

    /// Asks whether it answers.
    fn detect(&self) -> Presence;

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

/// The mark that makes a comment one of a kind. Only at the very end of a comment
/// does it count, so that text from elsewhere cannot pass for one.
pub fn mark(key: &str) -> String {
    format!("[cook:{key}]")
}

/// A comment without its mark, and the key the mark holds.
pub fn split_mark(comment: &str) -> (&str, Option<&str>) {
    let whole = comment.trim_end();
    let marked = whole.strip_suffix(']').and_then(|rest| {
        let (text, key) = rest.rsplit_once("[cook:")?;
        is_id(key).then_some((text.trim_end(), Some(key)))
    });
    marked.unwrap_or((comment, None))
}

/// Whether a comment carries the mark.
pub fn carries(comment: &str, key: &str) -> bool {
    split_mark(comment).1 == Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_mark_counts() {
        for (comment, text, key) in [
            ("done [cook:K1]", "done", Some("K1")),
            ("done [cook:K1]\n", "done", Some("K1")),
            (
                "as [cook:K1] says [cook:K2]",
                "as [cook:K1] says",
                Some("K2"),
            ),
            ("as [cook:K1] says", "as [cook:K1] says", None),
            ("[cook:]", "[cook:]", None),
            ("[cook:a b]", "[cook:a b]", None),
            ("", "", None),
        ] {
            assert_eq!(split_mark(comment), (text, key), "{comment:?}");
        }
    }
}
