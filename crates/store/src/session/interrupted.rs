//! Calls whose cook was ended before the answer: found by the notes they left, and written into
//! the record of calls.

use super::calls::CallRecord;
use super::error::SessionError;
use super::git::GitStore;
use super::inflight::{dir, find_name, guard, list_names, read};
use super::reference::Ref;
use super::store::SessionStore;
use cook_os::disk::{is_unfinished, open_no_follow};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;

/// A call whose process was killed.
#[derive(Debug)]
pub struct Interrupted {
    /// The name its exchange would have had: the mark of its processes.
    pub name: Ref,
    /// What was noted of it; else the beginning of the note, or why it cannot be read.
    noted: Result<CallRecord, String>,
    /// Held, so that nobody else takes it up at the same time.
    file: File,
}

impl GitStore {
    /// Keeps calls from being begun.
    pub(super) fn alone(&self) -> Result<File, SessionError> {
        let guard = guard(self.root())?;
        match guard.try_lock() {
            Ok(()) => Ok(guard),
            Err(TryLockError::WouldBlock) => {
                Err(io::Error::new(io::ErrorKind::WouldBlock, "a call is being made").into())
            }
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// Calls that were begun and whose process is gone.
    ///
    /// # Errors
    /// When a directory cannot be read.
    pub fn list_interrupted(&self) -> Result<Vec<Interrupted>, SessionError> {
        let mut found = Vec::new();
        for file in list_names(&dir(self.root()))? {
            let Some(name) = find_name(&file) else {
                continue;
            };
            let path = dir(self.root()).join(&file);
            let mut options = OpenOptions::new();
            options.read(true).write(true);
            let Ok(file) = open_no_follow(&mut options, &path) else {
                continue;
            };
            if file.try_lock().is_err() || !path.exists() {
                continue;
            }
            found.push(Interrupted {
                name,
                noted: read(&path),
                file,
            });
        }
        found.sort_by_key(|call| call.name);
        Ok(found)
    }

    /// Writes an interrupted call into the record of calls, one whose note is damaged with
    /// what is left of the note. One that was kept before its process ended is no such call.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn settle(&self, call: Interrupted, at: &str) -> Result<(), SessionError> {
        let path = dir(self.root()).join(format!("{}.json", call.name));
        if !matches!(self.entry(call.name), Ok(Some(_))) {
            match self.record(&record_interrupted(call.name, call.noted, at)) {
                // The note stays until the record is put right, which needs this command.
                Err(error) if error.is_damage() => return Ok(()),
                recorded => recorded?,
            }
        }
        std::fs::remove_file(path)?;
        drop(call.file);
        Ok(())
    }

    /// Files beside the calls that are being made that are no notes of them, and notes that
    /// cannot be read.
    pub(super) fn bad_notes(&self) -> Result<Vec<(String, &'static str)>, SessionError> {
        let mut bad = Vec::new();
        for file in list_names(&dir(self.root()))? {
            let path = dir(self.root()).join(&file);
            let why = match find_name(&file) {
                None if is_unfinished(&file) => continue,
                None => "it is not part of the store; remove it",
                // One that goes while it is looked at was that of a call that has ended.
                Some(_) if read(&path).is_ok() || !path.exists() => continue,
                Some(_) => {
                    "the note of a call cannot be read: nothing is known of the call but its name; remove the file"
                }
            };
            bad.push((format!("inflight/{}", file.escape_debug()), why));
        }
        Ok(bad)
    }
}

fn record_interrupted(name: Ref, noted: Result<CallRecord, String>, at: &str) -> CallRecord {
    let (noted, message) = match noted {
        Ok(noted) => (noted, "cook was ended before the answer"),
        Err(left) => (
            CallRecord {
                note: Some(left),
                ..CallRecord::default()
            },
            "cook was ended before the answer, and what it had noted of the call is damaged",
        ),
    };
    CallRecord {
        schema_version: 1,
        at: at.to_owned(),
        exchange: Some(name),
        error: Some("interrupted".to_owned()),
        message: Some(message.to_owned()),
        ..noted
    }
}
