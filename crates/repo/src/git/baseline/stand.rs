//! What a repository looked like, and where that is kept.

use super::super::RepoError;
use super::super::error::AtPath;
use super::steering::{Ignored, Steering};
use crate::disk::{self, Links};
use cook_protocol::diagnostic::Failure;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of a baseline, at most.
const MAX_STAND: u64 = 1 << 30;

/// What a repository looked like, and the directory that holds what putting it back needs.
#[derive(Debug)]
pub struct Baseline {
    pub(super) dir: PathBuf,
    pub(super) stand: Stand,
    /// What came after that moment is somebody else's.
    pub(super) end: Option<SystemTime>,
}

/// Everything that is compared, apart from the steering files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stand {
    /// `ref: refs/heads/x`, or a commit.
    pub(super) head: String,
    /// Without the stash, [`super::super::RESCUED_REFS`] and those of baselines.
    pub(super) refs: BTreeMap<String, String>,
    /// Newest first.
    pub(super) stash: Vec<String>,
    /// SHA-256 over the index's entries with their bits.
    pub(super) index: String,
    /// Paths that git was told not to look at.
    #[serde(default)]
    pub(super) hidden: BTreeSet<String>,
    /// Everything that is tracked or not ignored, as it stands in the worktree.
    pub(super) tree: String,
    /// What is checked out in each submodule and whether it is clean, by path.
    pub(super) submodules: BTreeMap<String, String>,
    /// The other worktrees, without cook's own.
    pub(super) worktrees: BTreeSet<String>,
    /// Branches that are checked out in them.
    pub(super) elsewhere: BTreeSet<String>,
    pub(super) steering: Steering,
    /// What git was in the middle of.
    #[serde(default)]
    pub(super) operation: Steering,
    /// Repositories of their own in the worktree that have no commit yet.
    #[serde(default)]
    pub(super) unborn: BTreeSet<String>,
    #[serde(default)]
    pub(super) ignored: Ignored,
    /// The worktree, and its git dir: what leads to the repository is looked at without asking
    /// where it leads.
    pub(super) root: PathBuf,
    pub(super) git_dir: PathBuf,
}

impl Stand {
    /// What was checked out.
    pub(super) fn commit(&self) -> Option<&String> {
        match self.head.strip_prefix("ref: ") {
            Some(name) => self.refs.get(name),
            None => Some(&self.head),
        }
    }
}

impl Baseline {
    /// One that an earlier process took into `dir`; none when it never came to its end.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(dir: &Path) -> Result<Option<Self>, Failure> {
        let path = dir.join(STAND);
        let read = disk::read(&path, MAX_STAND, Links::Refuse);
        let Some(bytes) = read.at("read", &path)? else {
            return Ok(None);
        };
        let stand = serde_json::from_slice(&bytes).map_err(|error| {
            RepoError::Answer(format!("`{}` is not a baseline: {error}", path.display()))
        })?;
        // A git that was killed left the lock of an index here. Whoever takes a baseline up holds the
        // lease: nobody else works with it.
        for index in [WORK_INDEX, NOW_INDEX] {
            let lock = dir.join(format!("{index}.lock"));
            match std::fs::remove_file(&lock) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(RepoError::io("remove", &lock, error).into());
                }
                _ => {}
            }
        }
        Ok(Some(Self {
            dir: dir.to_owned(),
            stand,
            end: None,
        }))
    }

    /// What HEAD was: `ref: refs/heads/x`, or a commit.
    pub fn head(&self) -> &str {
        &self.stand.head
    }

    /// Where it lies.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Written last: its presence says that the rest is whole.
pub(super) const STAND: &str = "stand.json";
/// A copy of the user's index.
pub(super) const INDEX: &str = "index";
/// The index of the tree that was taken.
pub(super) const WORK_INDEX: &str = "work-index";
/// The index of the tree as it stands at a comparison.
pub(super) const NOW_INDEX: &str = "now-index";
/// Objects of the tree that the repository did not hold.
pub(super) const OBJECTS: &str = "objects";
/// The stash's record.
pub(super) const STASH_LOG: &str = "stash-log";
