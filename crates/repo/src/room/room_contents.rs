//! What a room is filled from, and what it holds then.

use crate::room::index::Stat;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where a commit comes from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The common git directory.
    pub common: &'a Path,
    /// The worktree's own git directory: whoever clones the worktree is sent what this shows.
    pub git_dir: &'a Path,
    /// The worktree; a submodule's repository may lie in it.
    pub worktree: &'a Path,
    /// Full id of the commit.
    pub commit: &'a str,
    /// Names and ids of the repository's refs. Tags are shown; where it is `alone`, what the others
    /// lead to must be there too: a clone asks for all of it.
    pub refs: &'a [(String, String)],
    /// Where what runs in the room finds the objects of the repository, which is 0, and of each submodule
    /// that it holds; none = where they are.
    pub objects_at: Option<fn(usize) -> PathBuf>,
    /// A `.git` shows the commit and its history.
    pub history: bool,
    /// That `.git` holds what a clone would, and reaches no other object. Where it is not shown, a clone
    /// can be made nonetheless.
    pub alone: bool,
    /// Where git is found.
    pub path: &'a OsStr,
}

/// What filling a room brought.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Filled {
    /// The commit's tree.
    pub tree: String,
    /// Files of the commit, those of submodules among them.
    pub files: usize,
    /// Files that were written.
    pub written: usize,
    /// Files and directories that were removed.
    pub removed: usize,
    /// What the commit names and nobody who has its objects alone can have.
    pub lacking: Vec<Lacking>,
    /// Links that lead out of the commit, by path, with where they end.
    pub leading_out: Vec<(String, PathBuf)>,
    /// What is here and may be otherwise in a clone.
    pub remarks: Vec<String>,
    /// Directories of objects of the submodules in it, in the order of their numbers.
    pub submodules: Vec<PathBuf>,
    /// The files as they were left, and the directories that hold them.
    pub(crate) stats: Vec<(PathBuf, Stat)>,
    pub(crate) dirs: Vec<PathBuf>,
}

/// Something that the commit names and that is not here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    /// The path.
    pub path: String,
    /// What is missing.
    pub why: String,
}
