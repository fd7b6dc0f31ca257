//! What a room is filled from.

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
