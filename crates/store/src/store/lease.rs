//! The lease: one driver per workflow. Alive = the OS lock on its file is held;
//! what the file says only names the holder.

use super::Store;
use super::error::{During, StoreError};
use super::lock;
use super::place::{self, Place};
use cook_core::diagnostic::Code;
use cook_os::disk::{self, Links};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a holder writes about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseHolder {
    /// The process.
    pub pid: u32,
    /// What it is doing, one line.
    pub owner: String,
}

/// A held lease; it ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct Lease {
    /// Open for as long as it is held.
    file: File,
}

/// A probe holds the lock for an instant; an acquirer looks again for this long.
const PROBE: Duration = Duration::from_millis(60);

impl Store {
    /// Takes the lease of this worktree's workflow, or says who has it.
    pub fn lease(&self, owner: &str) -> Result<Lease, StoreError> {
        let path = find_lease(&self.place, &self.id);
        place::make_directory(&self.place.cook_dir().join("leases"), Code::LogUnsafe)?;
        loop {
            let mut file = lock::take(&path, PROBE).map_err(|error| match error {
                StoreError::LockHeld => {
                    let LeaseHolder { pid, owner } = read_holder(&path);
                    StoreError::LeaseHeld {
                        owner: format!("{owner} (pid {pid})"),
                    }
                }
                error => error,
            })?;
            if !disk::is_at(&file, &path) {
                // It was deleted between opening and locking it.
                continue;
            }
            write_holder(&mut file, owner)?;
            return Ok(Lease { file });
        }
    }

    /// Whether a lease is still the one of this workflow: its file may have been deleted.
    pub fn holds(&self, lease: &Lease) -> bool {
        disk::is_at(&lease.file, &find_lease(&self.place, &self.id))
    }

    /// Who holds the lease now. A text that a dead holder left says nothing.
    pub fn lease_holder(&self) -> Result<Option<LeaseHolder>, StoreError> {
        Self::find_driver(&self.place, &self.id)
    }

    /// The same of a workflow whose log cannot be opened.
    pub fn find_driver(place: &Place, id: &str) -> Result<Option<LeaseHolder>, StoreError> {
        let path = find_lease(place, id);
        if disk::look(&path).reading("the lease")?.is_none() {
            return Ok(None);
        }
        // Whoever only looks may have no right to write.
        let file =
            disk::open_no_follow(OpenOptions::new().read(true), &path).reading("the lease")?;
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(read_holder(&path))),
            Err(TryLockError::Error(error)) => Err(StoreError::unreadable("the lease", error)),
        }
    }
}

fn find_lease(place: &Place, id: &str) -> PathBuf {
    place.cook_dir().join("leases").join(id)
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

fn write_holder(file: &mut File, owner: &str) -> Result<(), StoreError> {
    let text = super::tree::pretty(&LeaseHolder {
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
