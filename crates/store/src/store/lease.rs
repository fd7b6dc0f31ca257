//! The lease: one driver per workflow. Alive = the OS lock on its file is held;
//! what the file says only names the holder.

use super::Store;
use super::error::StoreError;
use super::lock;
use super::place::Place;
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
    fn lease_file(&self) -> Result<PathBuf, StoreError> {
        let dir = self.place.cook_dir().join("leases");
        match std::fs::create_dir(&dir) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(StoreError::write("the lease", error));
            }
            _ => {}
        }
        let found = disk::look(&dir).map_err(|error| StoreError::unreadable("the lease", error))?;
        if !found.is_some_and(|found| found.is_dir()) {
            return Err(StoreError::unsafe_path(&dir, "is not a directory"));
        }
        Ok(dir.join(&self.id))
    }

    /// Takes the lease of this worktree's workflow, or says who has it.
    pub fn lease(&self, owner: &str) -> Result<Lease, StoreError> {
        let path = self.lease_file()?;
        loop {
            let mut file = lock::open(&path)?;
            if !lock::take(&file, PROBE)? {
                return Err(StoreError::LeaseHeld {
                    owner: self.described(),
                });
            }
            if !is_current(&file, &path) {
                // It was deleted between opening and locking it.
                continue;
            }
            say(&mut file, owner)?;
            return Ok(Lease { file });
        }
    }

    /// Whether a lease is still the one of this workflow: its file may have been deleted.
    pub fn holds(&self, lease: &Lease) -> bool {
        is_current(&lease.file, &lease_of(&self.place, &self.id))
    }

    /// Who holds the lease now. A text that a dead holder left says nothing.
    pub fn lease_holder(&self) -> Result<Option<LeaseHolder>, StoreError> {
        Self::driver_of(&self.place, &self.id)
    }

    /// The same of a workflow whose log cannot be opened.
    pub fn driver_of(place: &Place, id: &str) -> Result<Option<LeaseHolder>, StoreError> {
        let path = lease_of(place, id);
        if disk::look(&path)
            .map_err(|error| StoreError::unreadable("the lease", error))?
            .is_none()
        {
            return Ok(None);
        }
        // Whoever only looks may have no right to write.
        let file = disk::open_no_follow(OpenOptions::new().read(true), &path)
            .map_err(|error| StoreError::unreadable("the lease", error))?;
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(named(&path))),
            Err(TryLockError::Error(error)) => Err(StoreError::unreadable("the lease", error)),
        }
    }

    fn described(&self) -> String {
        let holder = named(&lease_of(&self.place, &self.id));
        format!("{} (pid {})", holder.owner, holder.pid)
    }
}

fn lease_of(place: &Place, id: &str) -> PathBuf {
    place.cook_dir().join("leases").join(id)
}

fn named(path: &Path) -> LeaseHolder {
    disk::read(path, 1 << 16, Links::Refuse)
        .ok()
        .flatten()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or(LeaseHolder {
            pid: 0,
            owner: "a process that has not named itself".to_owned(),
        })
}

fn say(file: &mut File, owner: &str) -> Result<(), StoreError> {
    let failed = |error| StoreError::write("the lease", error);
    let text = super::tree::pretty(&LeaseHolder {
        pid: std::process::id(),
        owner: owner
            .chars()
            .filter(|c| !c.is_control())
            .take(200)
            .collect(),
    })?;
    file.set_len(0).map_err(failed)?;
    file.write_all(&text).map_err(failed)
}

#[cfg(unix)]
fn is_current(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => ours.ino() == there.ino() && ours.dev() == there.dev(),
        _ => false,
    }
}

/// An open file cannot be replaced here.
#[cfg(not(unix))]
fn is_current(_file: &File, _path: &Path) -> bool {
    true
}
