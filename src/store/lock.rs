//! Locks of the operating system on files beside the log: they end with the
//! process that holds them, whatever ends it.

use super::error::StoreError;
use super::files;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// Opens a lock file, making it when it is absent; never through a symlink.
pub(super) fn open(path: &Path) -> Result<File, StoreError> {
    files::open_no_follow(
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false),
        path,
    )
    .map_err(|error| StoreError::write(path.display().to_string(), error))
}

/// Takes the lock within `wait`; `false` when another process kept it.
pub(super) fn take(file: &File, wait: Duration) -> Result<bool, StoreError> {
    let deadline = Instant::now().checked_add(wait);
    let mut pause = Duration::from_millis(1);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(StoreError::write("the lock", error)),
        }
        if deadline.is_none_or(|deadline| Instant::now() >= deadline) {
            return Ok(false);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
