//! Calls that are being made: each is noted in `inflight/` before anything is started for it,
//! in a file that stays locked as long as whoever makes the call lives.
//!
//! Invariant: a note is whole or not there when it can be seen; one that is found unlocked is
//! of a process that is gone.

use super::error::Fault;
use super::git::GitStore;
use super::hash::ContentHash;
use super::reference::Ref;
use super::store::SessionStore;
use cook_os::disk::{self, Links, open_no_follow, sync_dir};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Largest note that is read.
const MAX_NOTE: u64 = 1 << 20;
/// What is kept of a note that cannot be read.
const LEFT: usize = 2_000;

/// A call that is being made. Its file is locked as long as whoever makes it lives.
#[derive(Debug, Default)]
pub struct InFlight {
    note: Option<PathBuf>,
    _locks: Vec<File>,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(note) = &self.note {
            // One that stays is found as interrupted, and says no more than that.
            let _ = std::fs::remove_file(note);
        }
    }
}

/// A call whose process was killed.
#[derive(Debug)]
pub struct Interrupted {
    /// The name its exchange would have had: the mark of its processes.
    pub name: Ref,
    /// What was noted of it; none when the note cannot be read.
    pub what: Option<Value>,
    /// The beginning of a note that cannot be read, or why it could not.
    damaged: String,
    /// Held, so that nobody else takes it up at the same time.
    file: File,
}

fn dir(root: &Path) -> PathBuf {
    root.join("inflight")
}

/// Notes a call.
pub(super) fn note(root: &Path, name: Ref, what: &Value) -> io::Result<InFlight> {
    let guard = guard(root)?;
    guard.lock_shared()?;
    let path = dir(root).join(format!("{name}.json"));
    make_dir(&dir(root))?;
    let mut file = tempfile::Builder::new()
        .prefix(".cook-")
        .suffix(".tmp")
        .tempfile_in(dir(root))?;
    // Locked before it can be seen: whoever finds it unlocked knows that its process is gone.
    file.as_file().lock()?;
    let text = what.to_string();
    serde_json::to_writer(
        &mut file,
        &json!({"call": what, "check": digest(&text).as_str()}),
    )?;
    file.as_file().sync_data()?;
    let file = file.persist_noclobber(&path).map_err(|error| error.error)?;
    sync_dir(&dir(root))?;
    Ok(InFlight {
        note: Some(path),
        _locks: vec![file, guard],
    })
}

/// The file that calls hold shared, and clearing holds alone.
fn guard(root: &Path) -> io::Result<File> {
    make_dir(root)?;
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    open_no_follow(&mut options, &root.join("guard"))
}

/// Makes a directory, readable by its owner only.
fn make_dir(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)?;
    path.parent().map_or(Ok(()), sync_dir)
}

/// A note says what it was taken of.
fn digest(text: &str) -> ContentHash {
    ContentHash::of("cook/check/1", &[text.as_bytes()])
}

/// The note of a call; else its beginning, or why there is none.
fn read(path: &Path) -> Result<Value, String> {
    let bytes = disk::read(path, MAX_NOTE, Links::Refuse).map_err(|error| error.to_string())?;
    let bytes = bytes.unwrap_or_default();
    let call = serde_json::from_slice::<Value>(&bytes)
        .ok()
        .and_then(|mut note| {
            let call = note.get_mut("call").map(Value::take)?;
            let is_whole = note["check"] == digest(&call.to_string()).as_str();
            (is_whole && call.is_object()).then_some(call)
        });
    call.ok_or_else(|| {
        let text = String::from_utf8_lossy(&bytes);
        text.chars().take(LEFT).collect()
    })
}

/// Names in a directory; none when it is not there.
pub(super) fn names_in(dir: &Path) -> Result<Vec<String>, Fault> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Fault::Store(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(Fault::Store)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn name_of(file: &str) -> Option<Ref> {
    file.strip_suffix(".json")?.parse().ok()
}

impl GitStore {
    /// Keeps calls from being begun.
    pub(super) fn alone(&self) -> Result<File, Fault> {
        let guard = guard(self.root()).map_err(Fault::Store)?;
        match guard.try_lock() {
            Ok(()) => Ok(guard),
            Err(TryLockError::WouldBlock) => Err(Fault::Store(io::Error::new(
                io::ErrorKind::WouldBlock,
                "a call is being made",
            ))),
            Err(TryLockError::Error(error)) => Err(Fault::Store(error)),
        }
    }

    /// Calls that were begun and whose process is gone.
    ///
    /// # Errors
    /// When a directory cannot be read.
    pub fn interrupted(&self) -> Result<Vec<Interrupted>, Fault> {
        let mut found = Vec::new();
        for file in names_in(&dir(self.root()))? {
            let Some(name) = name_of(&file) else { continue };
            let path = dir(self.root()).join(&file);
            let mut options = OpenOptions::new();
            options.read(true).write(true);
            let Ok(file) = open_no_follow(&mut options, &path) else {
                continue;
            };
            if file.try_lock().is_err() || !path.exists() {
                continue;
            }
            let (what, damaged) = match read(&path) {
                Ok(what) => (Some(what), String::new()),
                Err(why) => (None, why),
            };
            found.push(Interrupted {
                name,
                what,
                damaged,
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
    pub fn settle(&self, call: Interrupted, at: &str) -> Result<(), Fault> {
        let path = dir(self.root()).join(format!("{}.json", call.name));
        if !matches!(self.entry(call.name), Ok(Some(_))) {
            match self.record(&interrupted_line(&call, at)) {
                // The note stays until the record is put right, which needs this command.
                Err(Fault::ObjectCorrupt { .. }) => return Ok(()),
                recorded => recorded?,
            }
        }
        std::fs::remove_file(path).map_err(Fault::Store)?;
        drop(call.file);
        Ok(())
    }

    /// Files beside the calls that are being made that are no notes of them, and notes that
    /// cannot be read.
    pub(super) fn bad_notes(&self) -> Result<Vec<(String, &'static str)>, Fault> {
        let mut bad = Vec::new();
        for file in names_in(&dir(self.root()))? {
            let path = dir(self.root()).join(&file);
            // What a killed writer left means nothing.
            let is_left = file.starts_with(".cook-") && file.ends_with(".tmp");
            let why = match name_of(&file) {
                None if is_left => continue,
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

fn interrupted_line(call: &Interrupted, at: &str) -> Value {
    let (mut line, message) = match &call.what {
        Some(what) => (what.clone(), "cook was ended before the answer"),
        None => (
            json!({"note": call.damaged}),
            "cook was ended before the answer, and what it had noted of the call is damaged",
        ),
    };
    if let Some(line) = line.as_object_mut() {
        line.insert("schema_version".to_owned(), 1.into());
        line.insert("at".to_owned(), at.into());
        line.insert("exchange".to_owned(), call.name.to_string().into());
        line.insert("error".to_owned(), "interrupted".into());
        line.insert("message".to_owned(), message.into());
    }
    line
}
