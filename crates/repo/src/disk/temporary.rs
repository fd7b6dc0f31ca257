//! Temporary directories that are removed with their owner.
//!
//! Each holds a lock on a file inside while in use, so that directories of killed processes can be told from those in
//! use. Creating a directory removes the former.

use super::{open_lock, remove_tree};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Prefix of their names.
const PREFIX: &str = "cook-temporary-";
/// The file whose lock shows that the directory is in use.
const LOCK: &str = "in-use";
/// A directory without that file and younger than this may still be under construction.
const MAKING: Duration = Duration::from_secs(3600);

/// A directory that is removed when this value is dropped.
#[derive(Debug)]
pub struct TemporaryDir {
    // Dropped first: not every system can remove an open file.
    _lock: File,
    dir: TempDir,
}

impl TemporaryDir {
    /// Creates one in the system's temporary directory, accessible to its owner only, and removes abandoned ones.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn make() -> io::Result<Self> {
        Self::make_in(&std::env::temp_dir())
    }

    /// Like [`TemporaryDir::make`], in a given directory; files made inside can be renamed to places beside it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn make_in(parent: &Path) -> io::Result<Self> {
        Self::sweep(parent);
        loop {
            let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
            let path = dir.path().join(LOCK);
            let lock = open_lock(&path)?;
            // If a sweep removed it between creation and locking, try again.
            if lock.try_lock().is_ok() && path.exists() {
                return Ok(Self { _lock: lock, dir });
            }
        }
    }

    /// Removes the abandoned ones in a directory. Those that cannot be removed (of other users) stay.
    pub fn sweep(parent: &Path) {
        let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name());
        for name in names.filter(|name| Self::is_name(name)) {
            let dir = parent.join(name);
            if !super::is_directory(&dir) {
                continue;
            }
            let lock = dir.join(LOCK);
            let is_left = match std::fs::symlink_metadata(&lock) {
                Ok(_) => open_lock(&lock).is_ok_and(|lock| lock.try_lock().is_ok()),
                Err(_) => is_older(&dir, MAKING),
            };
            if is_left {
                let _ = remove_tree(&dir);
            }
        }
    }

    /// Whether the name is that of a temporary directory.
    pub fn is_name(name: &OsStr) -> bool {
        name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

fn is_older(path: &Path, age: Duration) -> bool {
    let changed = std::fs::symlink_metadata(path).and_then(|found| found.modified());
    changed.is_ok_and(|changed| {
        SystemTime::now()
            .duration_since(changed)
            .is_ok_and(|since| since > age)
    })
}

#[allow(clippy::unwrap_used)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_process_left_goes_and_what_is_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        let used = TemporaryDir::make_in(parent.path()).unwrap();
        let dead = parent.path().join(format!("{PREFIX}dead"));
        let making = parent.path().join(format!("{PREFIX}making"));
        let others = parent.path().join("others");
        for dir in [&dead, &making, &others] {
            std::fs::create_dir(dir).unwrap();
        }
        for dir in [&dead, &others] {
            std::fs::write(dir.join(LOCK), "").unwrap();
        }
        let next = TemporaryDir::make_in(parent.path()).unwrap();
        assert!(!dead.exists() && making.exists() && others.exists());
        assert!(used.path().exists() && next.path().exists());
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_one_leads_nowhere() {
        let parent = tempfile::tempdir().unwrap();
        let mine = tempfile::tempdir().unwrap();
        std::fs::write(mine.path().join(LOCK), "").unwrap();
        let link = parent.path().join(format!("{PREFIX}link"));
        std::os::unix::fs::symlink(mine.path(), &link).unwrap();
        drop(TemporaryDir::make_in(parent.path()).unwrap());
        assert!(mine.path().join(LOCK).exists());
    }
}
