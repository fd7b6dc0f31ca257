//! Issue trackers behind one trait: cook's own plan (`none`), and the programs
//! `br` and `bd`, run as child processes.
//!
//! Invariants: argument vectors, never a shell, and `--` before free text; every
//! call has a deadline of cook's own at which the child's group is ended, and a
//! cap on its output; a write is believed when reading shows it, not by its exit
//! code; a comment carries the key of its entry, so that a replay never adds it
//! twice; whatever a tracker says is data and is cleaned before it goes on.

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
