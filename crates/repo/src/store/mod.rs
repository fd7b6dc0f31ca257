//! The log, its view in `.agent/`, the lock, the lease, the histories and the kept copies.
//!
//! The source of truth is a chain of commits in a bare repository inside the git dir; `.agent/` is its checkout.
//! Decisions read the tip. The format is specified in `protocol/store.md`. Invariants: a transition counts from the
//! moment the branch moves, and not before; a reader never writes; nothing that the log does not hold is overwritten
//! without a kept copy; the user's objects are never written.

pub(crate) mod branches;
mod checkpoints;
mod displaced;
mod error;
mod log_check;
mod log_format;
pub(crate) mod log_place;
pub(crate) mod odb;
mod quarantine;
mod reading;
mod transitions;
mod view;
mod writing;

use crate::disk::{self, Links, TemporaryDir};
pub use branches::{Marks, Moved, Unclaimed};
pub use checkpoints::Trail;
use cook_protocol::diagnostic::{Code, Failure, FailureKind};
pub use displaced::{KeptCopy, KeptFile, KeptKind, MAX_KEPT, rescue_keep};
pub(crate) use error::in_one_line;
use error::{During, unknown_name, unreadable};
use log_format::KeptTests;
pub use log_format::{FORMAT, History, Meta, Tip};
pub use log_place::{Place, fresh_id};
use odb::Log;
pub use quarantine::{Admitted, Limits, Quarantine};
pub use reading::{Before, Contents, Entry, WorktreeLog};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
pub use transitions::{ReplayReport, Replayed, Sign, Signed, Transition};
pub use view::{Difference, DifferenceKind, ViewStatus};
pub use writing::{Committed, Locked, Recovered, Recovery, Staged};

/// The log of one worktree. Cheap to open; use one per thread.
pub struct Store {
    place: Place,
    log: Log,
    id: String,
    /// Whether it was opened to read another worktree's workflow.
    foreign: bool,
    /// Index of the tests that transitions keep, as far as the log was searched for them.
    kept_tests: RefCell<KeptTests>,
    /// Keeps the temporary directory of a log from elsewhere until its last reader is dropped.
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
    /// Opens another worktree's workflow by its id, read-only.
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
            kept_tests: RefCell::default(),
            _keeps: None,
        };
        Ok(store
            .read(|log| store.tip_id(log))?
            .is_some()
            .then_some(store))
    }

    /// Creates log and worktree id if they are missing, and opens the log. Safe on an existing log and from several
    /// processes at once. The first transition is committed like any other.
    pub fn create(place: Place) -> Result<Self, Failure> {
        log_place::create_log(&place)?;
        let id = log_place::create_id(&place)?;
        let log = log_place::open_known_log(&place)?;
        Ok(Self {
            place,
            log,
            id,
            foreign: false,
            kept_tests: RefCell::default(),
            _keeps: None,
        })
    }

    /// The id of the worktree's workflow; also works if its log cannot be opened.
    pub fn find_id(place: &Place) -> Result<Option<String>, Failure> {
        log_place::read_id(place)
    }

    /// The paths with which this store was opened.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The worktree's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The branch of the log that belongs to this worktree.
    pub fn branch(&self) -> String {
        format!("refs/heads/{}", self.id)
    }

    /// Takes the lease of this worktree's workflow; the failure names its current holder.
    pub fn lease(&self, owner: &str) -> Result<Lease, Failure> {
        let path = find_lease(&self.place, &self.id);
        log_place::make_directory(&self.place.cook_dir().join("leases"), Code::LogUnsafe)?;
        loop {
            let mut file = take_lease(&path)?;
            if !disk::is_at(&file, &path) {
                // The file was deleted between opening and locking.
                continue;
            }
            write_holder(&mut file, owner)?;
            return Ok(Lease { file });
        }
    }

    /// Whether a lease is still that of this workflow; its file may have been deleted.
    pub fn holds(&self, lease: &Lease) -> bool {
        disk::is_at(&lease.file, &find_lease(&self.place, &self.id))
    }

    /// The current holder of the lease. The text that a dead holder left is ignored.
    pub fn lease_holder(&self) -> Result<Option<LeaseHolder>, Failure> {
        Self::find_driver(&self.place, &self.id)
    }

    /// Takes the leases of all workflows and the writer lock, so that nobody works here until they are dropped.
    ///
    /// # Errors
    /// `lease_held`, `lock_held`.
    pub fn hold_all(place: &Place) -> Result<Vec<File>, Failure> {
        let dir = place.cook_dir();
        if !disk::is_directory(&dir) {
            return Ok(Vec::new());
        }
        let mut held = Vec::new();
        for lease in disk::list_files_below(&dir.join("leases")) {
            held.push(take_lease(&lease)?);
        }
        held.push(log_place::take_lock(&dir.join("lock"), PROBE)?);
        Ok(held)
    }

    /// Like [`Store::lease_holder`], for a workflow whose log cannot be opened.
    pub fn find_driver(place: &Place, id: &str) -> Result<Option<LeaseHolder>, Failure> {
        let path = find_lease(place, id);
        if disk::look(&path).reading("the lease")?.is_none() {
            return Ok(None);
        }
        // A reader may not have write permission.
        let file =
            disk::open_no_follow(OpenOptions::new().read(true), &path).reading("the lease")?;
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(read_holder(&path))),
            Err(TryLockError::Error(error)) => Err(unreadable("the lease", error)),
        }
    }
}

/// The lease file's text about its holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseHolder {
    /// The process id.
    pub pid: u32,
    /// Its activity, in one line.
    pub owner: String,
}

/// A held lease; released when this is dropped, or when the process ends.
#[derive(Debug)]
pub struct Lease {
    /// Open for as long as the lease is held.
    file: File,
}

/// How long to retry a lock: a reader that only checks for a holder keeps it for an instant.
const PROBE: Duration = Duration::from_millis(60);

fn find_lease(place: &Place, id: &str) -> PathBuf {
    place.cook_dir().join("leases").join(id)
}

fn take_lease(path: &Path) -> Result<File, Failure> {
    log_place::take_lock(path, PROBE).map_err(|error| {
        if error.code != Code::LockHeld {
            return error;
        }
        let LeaseHolder { pid, owner } = read_holder(path);
        let what = format!("the workflow is driven by {owner} (pid {pid})");
        Failure::new(FailureKind::Held, Code::LeaseHeld, what)
    })
}

fn read_holder(path: &Path) -> LeaseHolder {
    disk::read(path, 1 << 16, Links::Refuse)
        .ok()
        .flatten()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or(LeaseHolder {
            pid: 0,
            owner: "a process that has not named itself".to_owned(),
        })
}

fn write_holder(file: &mut File, owner: &str) -> Result<(), Failure> {
    let text = log_format::pretty(&LeaseHolder {
        pid: std::process::id(),
        owner: owner
            .chars()
            .filter(|c| !c.is_control())
            .take(200)
            .collect(),
    })?;
    file.set_len(0).writing("the lease")?;
    file.write_all(&text).writing("the lease")
}
