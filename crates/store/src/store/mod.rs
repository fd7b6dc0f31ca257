//! The log, its view in `.agent/`, the lock, the lease, the histories and the
//! copies that were set aside.
//!
//! Truth is a chain of commits in a bare repository inside the git dir; `.agent/`
//! is its checkout. Decisions read the tip. The format is specified in
//! `protocol/store.md`. Invariants: a transition counts from the moment the
//! branch moved and not before; a reader never writes; nothing that the log does
//! not hold is overwritten without a kept copy; the user's objects are never written.

mod admit;
mod aside;
pub(crate) mod chain;
mod checkout;
mod cited;
mod claim;
mod compare;
mod copy;
mod difference;
mod displaced;
mod encode;
mod error;
mod follow;
mod fsck;
mod lease;
mod lock;
pub(crate) mod log;
mod loose;
mod objects;
mod pack;
mod place;
mod public;
mod quarantine;
mod reach;
mod read;
mod replay;
mod seal;
mod stamp;
mod trail;
mod transition;
mod tree;
mod view;
mod write;
mod writer;

pub use admit::{Admitted, Limits};
pub use aside::MAX_KEPT;
pub use cited::Before;
pub use claim::Unclaimed;
pub use difference::{Difference, DifferenceKind};
pub use displaced::{KeptCopy, KeptFile, KeptKind, rescue_keep};
pub use error::StoreError;
pub use follow::{Marks, Moved};
pub use fsck::FsckReport;
pub use lease::{Lease, LeaseHolder};
pub use objects::{Meta, Tip};
pub use pack::Packing;
pub use place::{Place, fresh_id};
pub use public::Contents;
pub use quarantine::Quarantine;
pub use reach::ReachReport;
pub use read::{Entries, Entry, HistoryLines, WorktreeLog};
pub use replay::{ReplayReport, Replayed};
pub use seal::{Sign, Signed};
pub use trail::Trail;
pub use transition::Transition;
pub use tree::{FORMAT, History, HistoryDigest};
pub use view::ViewStatus;
pub use write::{Committed, Locked, Recovered, Recovery, Staged};

use cook_os::disk::TemporaryDir;
use log::Log;
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
    /// Opens the log of this worktree. `None` = it has none yet: no log, no
    /// worktree id, or no transition under that id. Anything that merely cannot
    /// be read, or was there, is an error, because "none" leads to a new log.
    pub fn open(place: Place) -> Result<Option<Self>, StoreError> {
        let id = place::read_id(&place)?;
        let found = match &id {
            Some(id) => Self::open_as(place.clone(), id.clone(), false)?,
            None => None,
        };
        if found.is_none()
            && let Some(log) = place::open_log(&place)?
        {
            claim::report_lost(&place, &log, id.as_deref())?;
        }
        Ok(found)
    }

    /// Workflows that belong to no worktree, those that `.agent/` shows first.
    ///
    /// # Errors
    /// A log that cannot be opened.
    pub fn list_unclaimed(place: &Place) -> Result<Vec<Unclaimed>, StoreError> {
        match place::open_log(place)? {
            Some(log) => claim::list_unclaimed(place, &log),
            None => Ok(Vec::new()),
        }
    }

    /// Gives this worktree, which has no workflow, one that belongs to none.
    ///
    /// # Errors
    /// When there is no such workflow, or this worktree has one.
    pub fn claim(place: &Place, id: &str) -> Result<(), StoreError> {
        claim::claim(place, id)
    }

    /// Gives this worktree, which has no workflow, the id of a new one.
    ///
    /// # Errors
    /// When this worktree has a workflow.
    pub fn renounce(place: &Place) -> Result<(), StoreError> {
        claim::renounce(place)
    }

    /// Opens another worktree's workflow by its id, for reading only.
    pub fn open_other(place: Place, id: &str) -> Result<Option<Self>, StoreError> {
        if !place::is_id(id) {
            return Err(StoreError::unknown(id));
        }
        let here = place::read_id(&place)?.as_deref() == Some(id);
        Self::open_as(place, id.to_owned(), !here)
    }

    fn open_as(place: Place, id: String, foreign: bool) -> Result<Option<Self>, StoreError> {
        let Some(log) = place::open_log(&place)? else {
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
    pub fn create(place: Place) -> Result<Self, StoreError> {
        place::create_log(&place)?;
        let id = place::create_id(&place)?;
        let log = place::open_known_log(&place)?;
        Ok(Self {
            place,
            log,
            id,
            foreign: false,
            _keeps: None,
        })
    }

    /// The id of the worktree's workflow, also where its log cannot be opened.
    pub fn find_id(place: &Place) -> Result<Option<String>, StoreError> {
        place::read_id(place)
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
