//! A copy of a log for another place, as it stood after one of its transitions.

use super::Store;
use super::error::{During, StoreError};
use super::follow::Marks;
use super::place::Place;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How long the lock of a log that nobody else knows is waited for.
const WAIT: Duration = Duration::from_secs(5);

impl Store {
    /// Copies this log to another place, up to a transition (full id), under an id of its own. What was said
    /// to agents stays behind.
    ///
    /// # Errors
    /// A place that has a log, or cannot be written; a transition that is not known here.
    pub fn copy_until(&self, commit: &str, place: Place) -> Result<Self, StoreError> {
        let copy = Self::create(place)?;
        let objects = |place: &Place| place.log_dir().join("objects");
        copy_tree(&objects(&self.place), &objects(&copy.place)).writing("a copy of the log")?;
        Marks::set(&copy.place, &format!("heads/{}", copy.id), commit, WAIT)?;
        Self::open(copy.place)?.ok_or_else(|| StoreError::unknown(commit))
    }
}

/// Copies files and directories; what is neither is none of cook's and stays behind.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() {
            // No link: whoever writes into the copy reaches nothing of the log.
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
