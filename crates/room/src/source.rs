//! What a room is filled from.

use std::ffi::OsStr;
use std::path::Path;

/// Where a commit comes from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The common git directory.
    pub common: &'a Path,
    /// Full id of the commit.
    pub commit: &'a str,
    /// Names and ids of the repository's refs. Tags are shown; where it is `alone`, what the others
    /// lead to must be there too: a clone asks for all of it.
    pub refs: &'a [(String, String)],
    /// Where what runs in the room finds the objects; none = where they are.
    pub objects_at: Option<&'a Path>,
    /// A `.git` shows the commit and its history.
    pub history: bool,
    /// That `.git` holds what a clone would, and reaches no other object.
    pub alone: bool,
    /// Where git is found.
    pub path: &'a OsStr,
}
