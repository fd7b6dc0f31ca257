//! What a repository looked like before somebody else was let at it: taken, compared with
//! what it looks like afterwards, put back.
//!
//! Invariants: taking one changes nothing of the user's (objects and indexes lie in a
//! directory of its own, and refs of its own hold what could be pruned); the files that steer git are compared and put back by plain file
//! operations before git is asked anything, so that a changed configuration never decides
//! what is seen; a value that is replaced was kept before, as a ref under
//! [`RESCUED_REFS`] or by the caller's own copy.

mod compare;
mod pins;
mod restore;
mod steering;
mod take;
mod when;

use super::{Repo, RepoError};
use cook_core::diagnostic::Failure;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use steering::Steering;

/// Where refs are kept that were put back.
pub const RESCUED_REFS: &str = "refs/cook/rescue/";
pub(super) use pins::PIN_REFS;

/// What a repository looked like, and the directory that holds what putting it back needs.
#[derive(Debug)]
pub struct Baseline {
    dir: PathBuf,
    stand: Stand,
    /// What came after that moment is somebody else's.
    end: Option<SystemTime>,
}

/// Everything that is compared, apart from the steering files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stand {
    /// `ref: refs/heads/x`, or a commit.
    head: String,
    /// Without the stash, [`RESCUED_REFS`] and those of baselines.
    refs: BTreeMap<String, String>,
    /// Newest first.
    stash: Vec<String>,
    /// SHA-256 over the index's entries with their bits.
    index: String,
    /// Paths that git was told not to look at.
    #[serde(default)]
    hidden: BTreeSet<String>,
    /// Everything that is tracked or not ignored, as it stands in the worktree.
    tree: String,
    /// What is checked out in each submodule and whether it is clean, by path.
    submodules: BTreeMap<String, String>,
    /// The other worktrees, without cook's own.
    worktrees: BTreeSet<String>,
    /// Branches that are checked out in them.
    elsewhere: BTreeSet<String>,
    steering: Steering,
}

impl Stand {
    /// What was checked out.
    fn commit(&self) -> Option<&String> {
        match self.head.strip_prefix("ref: ") {
            Some(name) => self.refs.get(name),
            None => Some(&self.head),
        }
    }
}

/// One thing that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// A file that steers git: configuration, hooks, excludes.
    Steering {
        /// Path below the git dir; the worktree's own after `worktree:`.
        name: String,
        /// A copy of what was found in its place; none = it was gone, or too large to keep.
        found: Option<PathBuf>,
        /// Somebody else changed it later: it was not put back.
        later: bool,
    },
    /// HEAD names another branch or, detached, another commit.
    Head {
        /// As before.
        from: String,
        /// As now.
        to: String,
    },
    /// A branch, a tag or another ref.
    Ref {
        /// Full name.
        name: String,
        /// None = it is new.
        from: Option<String>,
        /// None = it is gone.
        to: Option<String>,
    },
    /// The list of stashes.
    Stash,
    /// Entries of the index, or their assume-unchanged and skip-worktree bits.
    Index,
    /// A file that git was told not to look at (assume-unchanged, skip-worktree).
    Hidden {
        /// Its path.
        path: String,
    },
    /// A tracked or unignored file.
    File {
        /// Its path as git writes it.
        path: Vec<u8>,
        /// It was not there.
        added: bool,
        /// It is not there any more.
        deleted: bool,
    },
    /// What is checked out in a submodule.
    Submodule {
        /// Its path.
        path: String,
    },
    /// A linked worktree came or went.
    Worktree {
        /// Its path.
        path: String,
        /// It was not there.
        added: bool,
    },
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Steering { name, .. } => write!(f, "`.git/{name}`"),
            Self::Head { from, to } => write!(f, "HEAD went from {from} to {to}"),
            Self::Ref { name, from, to } => match (from, to) {
                (None, _) => write!(f, "`{name}` is new"),
                (_, None) => write!(f, "`{name}` is gone"),
                _ => write!(f, "`{name}` was moved"),
            },
            Self::Stash => f.write_str("the stash"),
            Self::Index => f.write_str("the index"),
            Self::Hidden { path } => write!(f, "`{path}` was hidden from `git status`"),
            Self::File {
                path,
                added,
                deleted,
            } => {
                let how = match (added, deleted) {
                    (true, _) => "is new",
                    (_, true) => "is gone",
                    _ => "was changed",
                };
                write!(f, "`{}` {how}", super::path_text(path))
            }
            Self::Submodule { path } => write!(f, "submodule `{path}`"),
            Self::Worktree { path, added } => {
                let how = if *added { "is new" } else { "is gone" };
                write!(f, "worktree `{path}` {how}")
            }
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
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(RepoError::io("read", &path, error).into()),
        };
        let stand = serde_json::from_slice(&bytes).map_err(|error| {
            RepoError::Answer(format!("`{}` is not a baseline: {error}", path.display()))
        })?;
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

    /// Whether a ref moves while others work, and not by whoever works here: a branch that was
    /// or is checked out in another worktree, what a fetch brought.
    ///
    /// # Errors
    /// When the worktrees cannot be listed.
    pub fn moves_by_others(&self, repo: &Repo, name: &str) -> Result<bool, Failure> {
        if name.starts_with("refs/remotes/") || self.stand.elsewhere.contains(name) {
            return Ok(true);
        }
        Ok(take::worktrees(repo)?
            .iter()
            .any(|one| one.branch.as_deref() == Some(name)))
    }

    /// Where it lies.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Removes what putting back would have needed.
    ///
    /// # Errors
    /// When the directory or the refs cannot be removed.
    pub fn forget(self, repo: &Repo) -> Result<(), Failure> {
        pins::unpin(repo, &self.dir)?;
        super::remove::remove_tree(&self.dir)
            .map_err(|error| RepoError::io("remove", &self.dir, error).into())
    }
}

/// Written last: its presence says that the rest is whole.
const STAND: &str = "stand.json";
/// A copy of the user's index.
const INDEX: &str = "index";
/// The index of the tree that was taken.
const WORK_INDEX: &str = "work-index";
/// Objects of the tree that the repository did not hold.
const OBJECTS: &str = "objects";
/// The stash's record.
const STASH_LOG: &str = "stash-log";
