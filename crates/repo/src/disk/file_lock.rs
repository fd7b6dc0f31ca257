//! Locks of the operating system on files: they end with the process that holds them,
//! whatever ends it.

use super::open_no_follow;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long is waited between two tries, at first and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(5)];

/// Opens a lock file, made when it is missing; never through a symlink.
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

/// Holds a directory against others that do the same, until it is closed; none when one of them kept it for `wait`.
///
/// # Errors
/// When it cannot be opened, or the system has no locks here.
pub fn hold_directory(path: &Path, wait: Duration) -> io::Result<Option<File>> {
    let directory = File::open(path)?;
    Ok(take_lock(&directory, wait)?.then_some(directory))
}

/// Takes the lock within `wait`; false when another process kept it.
///
/// # Errors
/// When the system has no locks here.
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

/// Whether an open file is the one at that path: a lock's file that was taken away holds nobody out.
#[cfg(unix)]
pub fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(open), Ok(there)) => open.ino() == there.ino() && open.dev() == there.dev(),
        _ => false,
    }
}

/// An open file cannot be replaced here.
#[cfg(not(unix))]
pub fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

/// Takes the file of a lock away that is held by whoever calls; others look with [`is_at`] whether
/// what they got is still the lock. It stays where an open file cannot be told from another.
pub fn remove_lock(path: &Path) {
    if cfg!(unix) {
        // What stays holds nobody out.
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
        // A process that another test just began holds the file too, until it runs its own program.
        assert!(take_lock(&two, Duration::from_secs(5)).unwrap());
    }
}
