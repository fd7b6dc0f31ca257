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
mod interface;
mod issue;
mod mark;
mod memory;
mod open;
mod plan;
mod ready;
mod ready_list;
mod replay;

pub use actor::Actor;
pub use beads::Beads;
pub use call::Bounds;
pub use error::TrackerError;
pub use find::Found;
pub(crate) use find::{find, is_own_file};
pub(crate) use follow::{TrackerAction, list_issues, list_owed, may_claim, may_close, settle};
pub use interface::{Attempt, Commented, Tracker};
pub(crate) use issue::{Brief, Comment, is_id};
pub use issue::{Issue, IssueStatus, Link, NewIssue};
pub(crate) use mark::split_mark;
pub use memory::Memory;
pub(crate) use memory::{MemoryError, Outage};
pub(crate) use open::open;
pub(crate) use plan::PlanTracker;
pub use ready::list_unblocked_by;
pub(crate) use ready::with_parents_type;
pub use ready_list::Holder;
pub(crate) use ready_list::{ReadyIssue, ReadyList};
pub use replay::{Entry, replay};
