//! Locks of the operating system on files beside the log, and git's own lock files, which do
//! not end with the process that holds them.

use super::error::{During, StoreError};
use cook_os::disk;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// A ref's lock file that has not changed for this long is a dead writer's.
const DEAD_LOCK: Duration = Duration::from_secs(2);

/// Takes the lock of a file within `wait`, making the file when it is absent, never through a
/// symlink; the lock is held until the file is closed.
pub(super) fn take(path: &Path, wait: Duration) -> Result<File, StoreError> {
    let file = disk::open_lock(path).writing(path.display().to_string())?;
    match disk::take_lock(&file, wait).writing("the lock")? {
        true => Ok(file),
        false => Err(StoreError::LockHeld),
    }
}

/// Removes a ref's lock file when its writer is dead. We hold the writer lock,
/// so a living one is only somebody's git: it is waited for. A file is dead when
/// it is older than two seconds, or has stood unchanged for as long before our
/// eyes (its clock may run ahead of ours).
pub(super) fn clear_ref_lock(reference: &Path) -> Result<(), StoreError> {
    let mut name = reference.as_os_str().to_owned();
    name.push(".lock");
    let path = Path::new(&name);
    let failed = |error: std::io::Error| StoreError::write("the log's branch", error);
    let started = Instant::now();
    let mut seen = None;
    while let Some(found) = disk::look(path).map_err(failed)? {
        let modified = found.modified().map_err(failed)?;
        let age = SystemTime::now()
            .duration_since(modified)
            .unwrap_or_default();
        let (first, since) = *seen.get_or_insert((modified, started));
        if first != modified {
            seen = Some((modified, Instant::now()));
        }
        if age > DEAD_LOCK || (first == modified && since.elapsed() > DEAD_LOCK) {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(failed(error));
                }
                _ => return Ok(()),
            }
        }
        if started.elapsed() > DEAD_LOCK * 5 {
            return Err(StoreError::LockHeld);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_ref_lock_is_removed_and_a_young_one_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let reference = dir.path().join("branch");
        let lock = dir.path().join("branch.lock");
        std::fs::write(&lock, "").unwrap();
        let file = File::options().write(true).open(&lock).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3))
            .unwrap();
        clear_ref_lock(&reference).unwrap();
        assert!(!lock.exists());

        std::fs::write(&lock, "").unwrap();
        let other = {
            let lock = lock.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(200));
                std::fs::remove_file(lock)
            })
        };
        let started = Instant::now();
        clear_ref_lock(&reference).unwrap();
        assert!(started.elapsed() >= Duration::from_millis(150));
        other.join().unwrap().unwrap();
    }

    #[test]
    fn a_ref_lock_from_the_future_does_not_stick() {
        let dir = tempfile::tempdir().unwrap();
        let lock = dir.path().join("branch.lock");
        std::fs::write(&lock, "").unwrap();
        let file = File::options().write(true).open(&lock).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(3600))
            .unwrap();
        clear_ref_lock(&dir.path().join("branch")).unwrap();
        assert!(!lock.exists());
    }
}
