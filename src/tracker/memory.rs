//! What is remembered between calls: how far the replay has come, which claims and
//! closes are settled, and whether the tracker was out of reach.
//!
//! One file in the worktree's git dir, rewritten as a whole under a lock. It may be
//! lost: then comments are searched for their keys and issues are looked at again,
//! and nothing happens twice. A file of a newer cook is left alone.

use cook_os::disk::{self, Durable, Links, NewFile};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The format that is written.
const FORMAT: u64 = 1;
/// Largest file that is read.
const MAX_FILE: u64 = 1 << 20;
/// Settled actions that are kept.
const MAX_SETTLED: usize = 4096;

/// Why nothing could be remembered.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Another process is at it; it does the work that is due.
    #[error("another cook is calling the tracker")]
    Busy,
    /// The file is a newer cook's.
    #[error("`{0}` was written by a newer cook")]
    TooNew(String),
    /// The system refused.
    #[error("`{place}` cannot be {what}")]
    Io {
        /// Which file.
        place: String,
        /// `read` or `written`.
        what: &'static str,
        /// Why not.
        #[source]
        cause: io::Error,
    },
}

/// When and why a tracker was out of reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outage {
    /// What it said, or did not.
    pub why: String,
    /// RFC 3339.
    pub since: String,
}

/// The file's content.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Remembered {
    pub format: u64,
    /// Whose comments the cursor counts.
    pub tracker: String,
    /// The last entry that is settled; empty at the beginning.
    pub done: String,
    /// The entry that was being sent; its comment may be there.
    pub tried: String,
    /// Up to this entry comments may be there, because the cursor was lost.
    pub unsure: String,
    /// How often that entry failed for a reason that is not an outage.
    pub failures: u32,
    /// Claims and closes that need no more looking at.
    pub settled: BTreeSet<String>,
    /// Set while the tracker is out of reach.
    pub outage: Option<Outage>,
}

/// The memory of one worktree, held by this process alone.
#[derive(Debug)]
pub struct Memory {
    file: PathBuf,
    lock: File,
    pub(super) now: Remembered,
}

impl Memory {
    /// Takes hold of it, without waiting.
    ///
    /// # Errors
    /// Another process has it, it is a newer cook's, or the git dir cannot be written.
    pub fn hold(git_dir: &Path) -> Result<Self, MemoryError> {
        let path = git_dir.join("cook-tracker.lock");
        let unwritable = |cause| io_error(&path, "written", cause);
        let lock = disk::open_lock(&path).map_err(unwritable)?;
        if !disk::take_lock(&lock, Duration::ZERO).map_err(unwritable)? {
            return Err(MemoryError::Busy);
        }
        let file = find_file(git_dir);
        let now = read(&file)?;
        Ok(Self { file, lock, now })
    }

    /// Looks without taking hold: the outage that was last noted.
    ///
    /// # Errors
    /// It is a newer cook's, or cannot be read.
    pub fn outage(git_dir: &Path) -> Result<Option<Outage>, MemoryError> {
        Ok(read(&find_file(git_dir))?.outage)
    }

    /// Forgets which claims and closes are settled.
    ///
    /// # Errors
    /// As [`Memory::hold`]; the file cannot be written.
    pub fn forget_settled(git_dir: &Path) -> Result<(), MemoryError> {
        if read(&find_file(git_dir))?.settled.is_empty() {
            return Ok(());
        }
        let mut memory = Self::hold(git_dir)?;
        memory.now.settled.clear();
        memory.save()
    }

    /// Notes that the tracker is out of reach, or (with none) within it again.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn note_outage(&mut self, outage: Option<Outage>) -> Result<(), MemoryError> {
        if self.now.outage == outage {
            return Ok(());
        }
        self.now.outage = outage;
        self.save()
    }

    /// Whether this entry was the last one that the replay settled, for that tracker.
    pub fn has_sent(&self, tracker: &str, entry: &str) -> bool {
        self.now.tracker == tracker && self.now.done == entry
    }

    /// Begins anew where the file speaks of another tracker.
    pub(super) fn of_tracker(&mut self, name: &str) {
        if self.now.tracker != name {
            self.now = Remembered {
                tracker: name.to_owned(),
                ..Remembered::default()
            };
        }
    }

    /// Writes the file anew: whole, or not at all.
    pub(super) fn save(&mut self) -> Result<(), MemoryError> {
        self.now.format = FORMAT;
        while self.now.settled.len() > MAX_SETTLED {
            self.now.settled.pop_first();
        }
        let unwritable = |cause| io_error(&self.file, "written", cause);
        let text = serde_json::to_vec_pretty(&self.now).map_err(|e| unwritable(e.into()))?;
        NewFile::at(&self.file, Durable::Nothing)
            .write(&text)
            .map_err(unwritable)
    }
}

impl Drop for Memory {
    /// Closing would do it too, but not while a child that is being started still
    /// has a copy of the handle.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

fn find_file(git_dir: &Path) -> PathBuf {
    git_dir.join("cook-tracker.json")
}

fn io_error(place: &Path, what: &'static str, cause: io::Error) -> MemoryError {
    MemoryError::Io {
        place: place.display().to_string(),
        what,
        cause,
    }
}

/// What is not there, torn or too large counts as lost.
fn read(path: &Path) -> Result<Remembered, MemoryError> {
    let bytes = match disk::read(path, MAX_FILE, Links::Follow) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(Remembered::default()),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Ok(Remembered::default());
        }
        Err(cause) => return Err(io_error(path, "read", cause)),
    };
    let found: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    match found["format"].as_u64() > Some(FORMAT) {
        true => Err(MemoryError::TooNew(path.display().to_string())),
        false => Ok(serde_json::from_value(found).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_holds_it_and_the_next_finds_what_it_left() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Memory::hold(dir.path()).unwrap();
        assert!(matches!(Memory::hold(dir.path()), Err(MemoryError::Busy)));
        first.of_tracker("br");
        first.now.done = "one".to_owned();
        let outage = Outage {
            why: "locked".to_owned(),
            since: "2026-01-02T03:04:05Z".to_owned(),
        };
        first.note_outage(Some(outage.clone())).unwrap();
        drop(first);
        assert_eq!(Memory::outage(dir.path()).unwrap(), Some(outage));
        let mut second = Memory::hold(dir.path()).unwrap();
        second.of_tracker("br");
        assert_eq!(second.now.done, "one");
        second.of_tracker("bd");
        assert_eq!(second.now.done, "");
    }

    #[test]
    fn a_torn_file_is_lost_and_a_newer_one_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = find_file(dir.path());
        for torn in ["", "{\"format\":1,\"done\":\"on", "[]", "\0\0\0"] {
            std::fs::write(&file, torn).unwrap();
            assert_eq!(Memory::hold(dir.path()).unwrap().now, Remembered::default());
        }
        std::fs::write(&file, "{\"format\":2,\"shape\":\"new\"}").unwrap();
        assert!(matches!(
            Memory::hold(dir.path()),
            Err(MemoryError::TooNew(_))
        ));
        assert!(Memory::outage(dir.path()).is_err());
    }
}
