//! The log as whoever keeps something beside the workflows writes it: under the same lock,
//! below a ref of its own, packed and checked with the rest.

use super::error::{During, StoreError};
use super::lock;
use super::log::Log;
use super::pack;
use super::place::{self, Place};
use cook_os::disk;
use git2::Oid;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Opens the log for reading. `None` = there is none.
pub(crate) fn open(place: &Place) -> Result<Option<Log>, StoreError> {
    place::open_log(place)
}

/// The log, and the writer lock until this is dropped.
pub(crate) struct LockedLog {
    pub(crate) log: Log,
    place: Place,
    lock: File,
}

impl LockedLog {
    /// Waits for the writer lock. Makes the log where there is none, and clears what a dead
    /// writer left of a lock on this ref.
    pub(crate) fn take(place: &Place, name: &str, wait: Duration) -> Result<Self, StoreError> {
        place::create_log(place)?;
        let lock = lock::take(&place.cook_dir().join("lock"), wait)?;
        let log = place::open_known_log(place)?;
        lock::clear_ref_lock(&place.log_dir().join(name))?;
        Ok(Self {
            log,
            place: place.clone(),
            lock,
        })
    }

    /// Moves a ref that stood at `from`; durable when it returns. An error means that it did
    /// not move.
    pub(crate) fn advance(&self, name: &str, from: Option<Oid>, to: Oid) -> Result<(), StoreError> {
        self.log.sync_fan_out()?;
        let moved = match from {
            Some(from) => self.log.move_ref(name, from, to),
            None => self.log.create_ref(name, to),
        };
        match moved {
            // The update may have failed after it counted.
            Err(_) if matches!(self.log.find_ref(name), Ok(Some(tip)) if tip == to) => Ok(()),
            moved => moved.writing("a ref of the log"),
        }
    }

    /// Packs the log when it is due. A failure changes nothing.
    pub(crate) fn pack_when_due(&self, number: u64) {
        pack::when_due(&self.place, number, &self.lock);
    }

    /// Packs the log, and removes what nothing leads to and is no longer new. A failure
    /// changes nothing.
    pub(crate) fn sweep(&self) {
        pack::sweep(&self.place, &self.lock);
    }

    /// Moves the file of a damaged object to a directory; where it lies then. One that has
    /// no file of its own stays in its pack.
    pub(crate) fn set_aside(&self, id: Oid, dir: &Path) -> Result<Option<PathBuf>, StoreError> {
        set_aside(&self.log.loose_file(id), dir, &id.to_string())
    }
}

/// Moves a damaged file to a directory, over nothing; where it lies then, if it was there.
pub(crate) fn set_aside(
    file: &Path,
    dir: &Path,
    name: &str,
) -> Result<Option<PathBuf>, StoreError> {
    if disk::look(file).writing("a damaged file's copy")?.is_none() {
        return Ok(None);
    }
    std::fs::create_dir_all(dir).writing("a damaged file's copy")?;
    let mut to = dir.join(format!("{name}.damaged"));
    let mut number = 1;
    while disk::look(&to).writing("a damaged file's copy")?.is_some() {
        to = dir.join(format!("{name}.{number}.damaged"));
        number += 1;
    }
    std::fs::rename(file, &to).writing("a damaged file's copy")?;
    Ok(Some(to))
}
