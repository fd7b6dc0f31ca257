//! Locks of the operating system on files; they end with the process that holds them, however it ends.

use super::open_no_follow;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Pause between two attempts: the first one and the longest one.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(5)];

/// Opens a lock file, creating it if necessary; never through a symlink.
///
/// # Errors
/// When the system refuses.
pub fn open_lock(path: &Path) -> io::Result<File> {
    open_no_follow(
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false),
        path,
    )
}

/// Locks a directory against other callers until the file is closed; `None` if one of them held it for `wait`.
///
/// # Errors
/// If it cannot be opened, or the system does not support locks here.
pub fn hold_directory(path: &Path, wait: Duration) -> io::Result<Option<File>> {
    let directory = File::open(path)?;
    Ok(take_lock(&directory, wait)?.then_some(directory))
}

/// Takes the lock within `wait`; false if another process held it throughout.
///
/// # Errors
/// If the system does not support locks here.
pub fn take_lock(file: &File, wait: Duration) -> io::Result<bool> {
    let deadline = Instant::now().checked_add(wait);
    let [mut pause, longest] = PAUSES;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if deadline.is_none_or(|deadline| Instant::now() >= deadline) {
            return Ok(false);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(longest);
    }
}

/// Whether an open file is the one at that path. A lock on a file that was deleted or replaced excludes nobody.
#[cfg(unix)]
pub fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(open), Ok(there)) => open.ino() == there.ino() && open.dev() == there.dev(),
        _ => false,
    }
}

/// Always true: an open file cannot be replaced on this system.
#[cfg(not(unix))]
pub fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

/// Deletes the file of a lock that the caller holds; others check with [`is_at`] whether the file they locked is still
/// the lock. The file stays on systems where `is_at` cannot tell.
pub fn remove_lock(path: &Path) {
    if cfg!(unix) {
        // A leftover file locks nobody out.
        let _ = std::fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_waited_for_as_long_as_asked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let (one, two) = (open_lock(&path).unwrap(), open_lock(&path).unwrap());
        assert!(take_lock(&one, Duration::ZERO).unwrap());
        let started = Instant::now();
        assert!(!take_lock(&two, Duration::from_millis(30)).unwrap());
        assert!(started.elapsed() >= Duration::from_millis(30));
        drop(one);
        // A child process that another test has just forked also holds the file until it calls exec.
        assert!(take_lock(&two, Duration::from_secs(5)).unwrap());
    }
}
