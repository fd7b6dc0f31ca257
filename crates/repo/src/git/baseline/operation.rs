//! What git is in the middle of: a merge, a rebase, a series of picks, a bisection. Whoever leaves
//! one decides what the next commit is, or what the next `git rebase --continue` runs.

use super::super::error::AtPath;
use super::super::{Repo, RepoError};
use super::deviation::Difference;
use super::stand::Baseline;
use super::steering::{Dirs, Steering, differing};
use super::taking::dirs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// In the worktree's own git dir.
const FILES: [&str; 14] = [
    "BISECT_ANCESTORS_OK",
    "BISECT_EXPECTED_REV",
    "BISECT_HEAD",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_START",
    "BISECT_TERMS",
    "CHERRY_PICK_HEAD",
    "MERGE_AUTOSTASH",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "REVERT_HEAD",
    "SQUASH_MSG",
];
/// Directories there, which mean something while they are empty too.
const DIRECTORIES: [&str; 3] = ["rebase-apply", "rebase-merge", "sequencer"];
/// Files of one of these.
const MAX_FILES: usize = 20_000;

impl Dirs<'_> {
    /// What git is in the middle of; with `keep`, the bytes are copied there by digest.
    pub(super) fn read_operation(&self, keep: Option<&Path>) -> Result<Steering, RepoError> {
        let mut names: Vec<String> = FILES
            .iter()
            .chain(&DIRECTORIES)
            .map(|name| own(name))
            .collect();
        for dir in DIRECTORIES {
            self.list_files_below(&own(dir), MAX_FILES, &mut names)?;
        }
        self.read_named(names, keep)
    }
}

fn own(name: &str) -> String {
    format!("worktree:{name}")
}

impl Baseline {
    /// What differs of it, with copies of what was found.
    pub(super) fn operation_differences(
        &self,
        repo: &Repo,
        copies: &Path,
    ) -> Result<Vec<Difference>, RepoError> {
        let now = dirs(repo, BTreeSet::new(), &self.stand.ignored).read_operation(Some(copies))?;
        let found = differing(&self.stand.operation.0, &now.0).map(|name| Difference::Operation {
            name: name.trim_start_matches("worktree:").to_owned(),
            found: now.find_copy(name, copies),
        });
        Ok(found.collect())
    }

    /// Puts the named files back, those in a directory before it.
    pub(super) fn put_operation_back<'n>(
        &self,
        repo: &Repo,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<(), RepoError> {
        let dirs = dirs(repo, BTreeSet::new(), &self.stand.ignored);
        let kept = self.dir.join("steering");
        let names: BTreeSet<&String> = names.collect();
        for name in names.into_iter().rev() {
            let path = repo.git_dir.join(name);
            let was = self.stand.operation.0.get(&own(name));
            match was {
                // One that holds something else stays, and is named at the next look.
                None if path.is_dir() && !path.is_symlink() => {
                    let _ = std::fs::remove_dir(&path);
                }
                Some(_) if DIRECTORIES.contains(&name.as_str()) => {
                    std::fs::create_dir_all(&path).at("make", &path)?
                }
                was => drop(dirs.put_back(&own(name), was, &kept)?),
            }
        }
        Ok(())
    }

    /// What such a file, or one that steers git, held, where that was kept.
    pub fn find_before(&self, difference: &Difference) -> Option<PathBuf> {
        let kept = self.dir.join("steering");
        let at = match difference {
            Difference::Operation { name, .. } => {
                self.stand.operation.find_copy(&own(name), &kept)?
            }
            Difference::Steering { name, .. } => self.stand.steering.find_copy(name, &kept)?,
            _ => return None,
        };
        at.is_file().then_some(at)
    }
}
