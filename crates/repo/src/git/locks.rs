//! Lock files of git's: whoever holds one lets nobody else write, also after it died.

use super::error::AtPath;
use super::{Repo, RepoError};
use crate::disk::{self, Links};
use crate::process::working_directories;
use cook_protocol::diagnostic::Failure;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Bytes of a path, at most.
const MAX_LINE: u64 = 64 << 10;

/// How deep refs are looked through.
const DEPTH: usize = 16;

impl Repo {
    /// The lock files that are there now.
    ///
    /// # Errors
    /// A git dir that cannot be read.
    pub fn locks(&self) -> Result<BTreeSet<PathBuf>, Failure> {
        let mut found: BTreeSet<PathBuf> = [
            self.git_dir.join("index.lock"),
            self.git_dir.join("HEAD.lock"),
            self.common_dir.join("config.lock"),
            self.common_dir.join("packed-refs.lock"),
        ]
        .into_iter()
        .filter(|path| path.symlink_metadata().is_ok())
        .collect();
        list_locks(&self.common_dir.join("refs"), 0, &mut found)?;
        Ok(found)
    }

    /// Removes lock files that were not there `before` and that nobody can hold any more: no
    /// git is at work for this repository. Where that cannot be told, none is removed.
    ///
    /// # Errors
    /// A git dir that cannot be read or written.
    pub fn remove_dead_locks(&self, before: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
        let new: Vec<PathBuf> = self.locks()?.difference(before).cloned().collect();
        if new.is_empty() {
            return Ok(new);
        }
        let Some(gits) = working_directories("git") else {
            return Ok(Vec::new());
        };
        let places = self.worktrees();
        let works_here = |dir: &PathBuf| places.iter().any(|place| dir.starts_with(place));
        if gits.iter().any(works_here) {
            return Ok(Vec::new());
        }
        let mut removed = Vec::new();
        for path in new {
            match std::fs::remove_file(&path) {
                Ok(()) => removed.push(path),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(RepoError::io("remove", &path, error).into()),
            }
        }
        Ok(removed)
    }
}

impl Repo {
    /// Where a git that works on this repository may be at work.
    fn worktrees(&self) -> Vec<PathBuf> {
        let mut places = vec![
            self.root.clone(),
            self.git_dir.clone(),
            self.common_dir.clone(),
        ];
        places.extend(self.common_dir.parent().map(Path::to_owned));
        if let Ok(linked) = std::fs::read_dir(self.common_dir.join("worktrees")) {
            let names = linked.flatten().map(|entry| entry.path().join("gitdir"));
            let files =
                names.filter_map(|file| disk::read_text(&file, MAX_LINE, Links::Refuse).ok()?);
            places.extend(files.filter_map(|text| {
                let path = PathBuf::from(text.trim_end());
                path.parent().map(Path::to_owned)
            }));
        }
        // The system names directories without links in them.
        let plain = places.iter().filter_map(|place| place.canonicalize().ok());
        plain.collect()
    }
}

fn list_locks(dir: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) -> Result<(), RepoError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(RepoError::io("read", dir, error)),
    };
    for entry in entries {
        let entry = entry.at("read", dir)?;
        let kind = entry.file_type().at("read", dir)?;
        let path = entry.path();
        if kind.is_dir() && depth < DEPTH {
            list_locks(&path, depth + 1, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|end| end == "lock") {
            found.insert(path);
        }
    }
    Ok(())
}
