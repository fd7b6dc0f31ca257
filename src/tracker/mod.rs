//! Issue trackers behind one trait: cook's own plan (`none`), and the programs `br` and `bd` as child processes.
//!
//! Invariants: programs are called with argument vectors, never through a shell, with `--` before free text; each call
//! has a deadline, at which its process group is ended, and a limit on its output; a claim, a close or a new issue
//! counts if a read confirms it, not by the exit code; a comment contains its entry's key, so that a replay never adds
//! it twice; text from a tracker is cleaned before it is used.

mod beads_tracker;
mod plan_tracker;
mod tracked_issue;
mod tracker_memory;

pub use beads_tracker::{Actor, Beads, Bounds, Found};
pub(crate) use beads_tracker::{find, is_own_file, open};
pub(crate) use plan_tracker::PlanTracker;
pub use tracked_issue::{
    Attempt, Commented, Holder, Issue, IssueStatus, Link, NewIssue, Tracker, TrackerError,
    list_unblocked_by,
};
pub(crate) use tracked_issue::{
    Brief, Comment, ReadyIssue, ReadyList, is_id, split_mark, with_parents_type,
};
pub use tracker_memory::{Entry, Memory, replay};
pub(crate) use tracker_memory::{
    MemoryError, Outage, list_issues, list_owed, may_claim, may_close, settle,
};
