//! Locks of the operating system on files beside the log, git's own lock files, which do not end with the process that
//! holds them, and the lease: one driver per workflow. Alive = the OS lock on its file is held; what the file says only names the
//! holder.

use super::error::{During, lock_held, stale, unreadable, unwritable};
use super::log_place::{self, Place};
use super::odb::Log;
use super::{Store, pack};
use crate::disk::{self, Links};
use cook_protocol::diagnostic::{Code, Failure, FailureKind};
use git2::Oid;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// A ref's lock file that has not changed for this long is a dead writer's.
const DEAD_LOCK: Duration = Duration::from_secs(2);

/// Takes the lock of a file within `wait`, making the file when it is absent, never through a
/// symlink; the lock is held until the file is closed.
pub(super) fn take_lock(path: &Path, wait: Duration) -> Result<File, Failure> {
    let file = disk::open_lock(path).writing(path.display().to_string())?;
    match disk::take_lock(&file, wait).writing("the lock")? {
        true => Ok(file),
        false => Err(lock_held()),
    }
}

/// Removes a ref's lock file when its writer is dead. We hold the writer lock,
/// so a living one is only somebody's git: it is waited for. A file is dead when
/// it is older than two seconds, or has stood unchanged for as long before our
/// eyes (its clock may run ahead of ours).
pub(super) fn clear_ref_lock(reference: &Path) -> Result<(), Failure> {
    let mut name = reference.as_os_str().to_owned();
    name.push(".lock");
    let path = Path::new(&name);
    let failed = |error: std::io::Error| unwritable("the log's branch", error);
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
            return Err(lock_held());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// The log, opened after the lock was taken (another process may have packed it in the meantime), and the writer lock until
/// this is dropped.
pub(crate) struct LockedLog {
    pub(crate) log: Log,
    place: Place,
    lock: File,
}

impl LockedLog {
    /// Waits for the writer lock. Makes the log where there is none.
    pub(crate) fn take(place: &Place, wait: Duration) -> Result<Self, Failure> {
        log_place::create_log(place)?;
        Self::take_known(place, wait)
    }

    /// The same of a log that must be there.
    pub(super) fn take_known(place: &Place, wait: Duration) -> Result<Self, Failure> {
        let lock = take_lock(&place.cook_dir().join("lock"), wait)?;
        Ok(Self {
            log: log_place::open_known_log(place)?,
            place: place.clone(),
            lock,
        })
    }

    /// Moves a ref that stood at `from`, once what a dead writer left of a lock on it is gone; durable when it returns.
    /// When the update reports an error the ref is read again, and what it says decides: an error means that it did not move.
    pub(crate) fn advance(&self, name: &str, from: Option<Oid>, to: Oid) -> Result<(), Failure> {
        self.log.sync_fan_out()?;
        clear_ref_lock(&self.place.log_dir().join(name))?;
        let moved = match from {
            Some(from) => self.log.move_ref(name, from, to),
            None => self.log.create_ref(name, to),
        };
        let Err(error) = moved else {
            return Ok(());
        };
        match self.log.find_ref(name) {
            Ok(Some(tip)) if tip == to => Ok(()),
            Ok(tip) if tip != from => Err(stale("the log moved while it was written")),
            _ => Err(unwritable("a ref of the log", error)),
        }
    }

    /// Packs the log when it is due; whether it was. A failure changes nothing.
    pub(crate) fn pack_when_due(&self, number: u64) -> bool {
        pack::when_due(&self.place, number, &self.lock)
    }

    /// Packs the log, and removes what nothing leads to and is no longer new. A failure
    /// changes nothing.
    pub(crate) fn sweep(&self) {
        pack::sweep(&self.place, &self.lock);
    }

    /// Moves the file of a damaged object to a directory; where it lies then. One that has
    /// no file of its own stays in its pack.
    pub(crate) fn set_aside(&self, id: Oid, dir: &Path) -> Result<Option<PathBuf>, Failure> {
        set_aside(&self.log.loose_file(id), dir, &id.to_string())
    }
}

/// Moves a damaged file to a directory, over nothing; where it lies then, if it was there.
pub(crate) fn set_aside(file: &Path, dir: &Path, name: &str) -> Result<Option<PathBuf>, Failure> {
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
    /// Takes the lease of this worktree's workflow, or says who has it.
    pub fn lease(&self, owner: &str) -> Result<Lease, Failure> {
        let path = find_lease(&self.place, &self.id);
        log_place::make_directory(&self.place.cook_dir().join("leases"), Code::LogUnsafe)?;
        loop {
            let mut file = take_lock(&path, PROBE).map_err(|error| {
                if error.code != Code::LockHeld {
                    return error;
                }
                let LeaseHolder { pid, owner } = read_holder(&path);
                let what = format!("the workflow is driven by {owner} (pid {pid})");
                Failure::new(FailureKind::Held, Code::LeaseHeld, what)
            })?;
            if !disk::is_at(&file, &path) {
                // It was deleted between opening and locking it.
                continue;
            }
            write_holder(&mut file, owner)?;
            return Ok(Lease { file });
        }
    }

    /// Whether a lease is still the one of this workflow: its file may have been deleted.
    pub fn holds(&self, lease: &Lease) -> bool {
        disk::is_at(&lease.file, &find_lease(&self.place, &self.id))
    }

    /// Who holds the lease now. A text that a dead holder left says nothing.
    pub fn lease_holder(&self) -> Result<Option<LeaseHolder>, Failure> {
        Self::find_driver(&self.place, &self.id)
    }

    /// The same of a workflow whose log cannot be opened.
    pub fn find_driver(place: &Place, id: &str) -> Result<Option<LeaseHolder>, Failure> {
        let path = find_lease(place, id);
        if disk::look(&path).reading("the lease")?.is_none() {
            return Ok(None);
        }
        // Whoever only looks may have no right to write.
        let file =
            disk::open_no_follow(OpenOptions::new().read(true), &path).reading("the lease")?;
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(read_holder(&path))),
            Err(TryLockError::Error(error)) => Err(unreadable("the lease", error)),
        }
    }
}

fn find_lease(place: &Place, id: &str) -> PathBuf {
    place.cook_dir().join("leases").join(id)
}

fn read_holder(path: &Path) -> LeaseHolder {
    disk::read(path, 1 << 16, Links::Refuse)
        .ok()
        .flatten()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or(LeaseHolder {
            pid: 0,
            owner: "a process that has not named itself".to_owned(),
        })
}

fn write_holder(file: &mut File, owner: &str) -> Result<(), Failure> {
    let text = super::log_format::pretty(&LeaseHolder {
        pid: std::process::id(),
        owner: owner
            .chars()
            .filter(|c| !c.is_control())
            .take(200)
            .collect(),
    })?;
    file.set_len(0).writing("the lease")?;
    file.write_all(&text).writing("the lease")
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
