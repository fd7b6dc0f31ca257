//! The log, its view in `.agent/`, the lock, the lease, the histories and the
//! copies that were set aside.
//!
//! Truth is a chain of commits in a bare repository inside the git dir; `.agent/`
//! is its checkout. Decisions read the tip. The format is specified in
//! `protocol/store.md`. Invariants: a transition counts from the moment the
//! branch moved and not before; a reader never writes; nothing that the log does
//! not hold is overwritten without a kept copy; the user's objects are never written.

pub(crate) mod branches;
mod checkout;
mod checkpoints;
mod displaced;
mod error;
mod log_check;
mod log_format;
pub(crate) mod log_locks;
mod log_place;
pub(crate) mod odb;
mod pack;
mod quarantine;
mod reading;
mod replayed;
mod transitions;
mod view;
mod writing;

pub use branches::{Marks, Moved, Unclaimed};
pub use checkpoints::Trail;
pub use displaced::{KeptCopy, KeptFile, KeptKind, MAX_KEPT, rescue_keep};
pub(crate) use error::in_one_line;
pub use log_format::{FORMAT, History, HistoryDigest, Meta, Tip};
pub use log_locks::{Lease, LeaseHolder};
pub use log_place::{Place, fresh_id};
pub use quarantine::{Admitted, Limits, Quarantine};
pub use reading::{Before, Contents, Entry, WorktreeLog};
pub use replayed::{ReplayReport, Replayed};
pub use transitions::{Sign, Signed, Transition};
pub use view::{Difference, DifferenceKind, ViewStatus};
pub use writing::{Committed, Locked, Recovered, Recovery, Staged};

use crate::disk::TemporaryDir;
use cook_protocol::diagnostic::Failure;
use error::unknown_name;
use odb::Log;
use std::sync::Arc;

/// The log of one worktree. Cheap to open; one per thread.
pub struct Store {
    place: Place,
    log: Log,
    id: String,
    /// Opened for looking at another worktree's workflow.
    foreign: bool,
    /// The directory of a log that came from elsewhere goes with the last that reads it.
    _keeps: Option<Arc<TemporaryDir>>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("place", &self.place)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Opens another worktree's workflow by its id, for reading only.
    pub fn open_other(place: Place, id: &str) -> Result<Option<Self>, Failure> {
        if !log_place::is_id(id) {
            return Err(unknown_name(id));
        }
        let here = log_place::read_id(&place)?.as_deref() == Some(id);
        Self::open_as(place, id.to_owned(), !here)
    }

    fn open_as(place: Place, id: String, foreign: bool) -> Result<Option<Self>, Failure> {
        let Some(log) = log_place::open_log(&place)? else {
            return Ok(None);
        };
        let store = Self {
            place,
            log,
            id,
            foreign,
            _keeps: None,
        };
        Ok(store
            .read(|log| store.tip_id(log))?
            .is_some()
            .then_some(store))
    }

    /// Makes what is missing of log and worktree id, and opens it. Safe to call
    /// on an existing log and from several processes at once; the first
    /// transition is committed like any other.
    pub fn create(place: Place) -> Result<Self, Failure> {
        log_place::create_log(&place)?;
        let id = log_place::create_id(&place)?;
        let log = log_place::open_known_log(&place)?;
        Ok(Self {
            place,
            log,
            id,
            foreign: false,
            _keeps: None,
        })
    }

    /// The id of the worktree's workflow, also where its log cannot be opened.
    pub fn find_id(place: &Place) -> Result<Option<String>, Failure> {
        log_place::read_id(place)
    }

    /// The paths this store was opened with.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The worktree's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The branch of the log that this worktree owns.
    pub fn branch(&self) -> String {
        format!("refs/heads/{}", self.id)
    }
}
