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
    /// `<id> <ref>` of the tags that are shown, one line each.
    pub tags: &'a str,
    /// Where what runs in the room finds the objects; none = where they are.
    pub objects_at: Option<&'a Path>,
    /// A `.git` shows the commit and its history.
    pub history: bool,
    /// That `.git` holds what a clone would, and reaches no other object.
    pub alone: bool,
    /// Where git is found.
    pub path: &'a OsStr,
}
