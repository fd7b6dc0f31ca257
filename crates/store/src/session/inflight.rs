//! Calls that are being made: each is noted in `inflight/` before anything is started for it,
//! in a file that stays locked as long as whoever makes the call lives.
//!
//! Invariant: a note is whole or not there when it can be seen; one that is found unlocked is
//! of a process that is gone.

use super::calls::CallRecord;
use super::error::SessionError;
use super::reference::Ref;
use cook_os::disk::{self, Links, open_no_follow, sync_dir};
use std::fs::{File, OpenOptions};
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

pub(super) fn dir(root: &Path) -> PathBuf {
    root.join("inflight")
}

/// Notes a call.
pub(super) fn note(root: &Path, name: Ref, what: &CallRecord) -> io::Result<InFlight> {
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
    serde_json::to_writer(&mut file, what)?;
    file.as_file().sync_data()?;
    let file = file.persist_noclobber(&path).map_err(|error| error.error)?;
    sync_dir(&dir(root))?;
    Ok(InFlight {
        note: Some(path),
        _locks: vec![file, guard],
    })
}

/// The file that calls hold shared, and clearing holds alone.
pub(super) fn guard(root: &Path) -> io::Result<File> {
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

/// The note of a call; else its beginning, or why there is none.
pub(super) fn read(path: &Path) -> Result<CallRecord, String> {
    let bytes = disk::read(path, MAX_NOTE, Links::Refuse).map_err(|error| error.to_string())?;
    let bytes = bytes.unwrap_or_default();
    serde_json::from_slice(&bytes).map_err(|_| {
        let text = String::from_utf8_lossy(&bytes);
        text.chars().take(LEFT).collect()
    })
}

/// Names in a directory; none when it is not there.
pub(super) fn list_names(dir: &Path) -> Result<Vec<String>, SessionError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

pub(super) fn find_name(file: &str) -> Option<Ref> {
    file.strip_suffix(".json")?.parse().ok()
}
