//! What stands in the room, without following a link.

use crate::room::RoomError;
use crate::room::error::AtPath;
use crate::room::list::{Kind, List, join};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{FileType, ReadDir};
use std::io;
use std::path::{Path, PathBuf};

/// What stands there.
#[derive(Debug)]
pub(crate) struct Found {
    /// By the numbers of the commit's files: a file or link stands there, as the commit has one.
    pub files: Vec<bool>,
    /// Directories of the commit that are there.
    pub dirs: BTreeSet<Vec<u8>>,
    /// What is neither of the commit nor a cache.
    pub strange: Vec<PathBuf>,
}

/// Directories that stay from run to run: by a path from the top, or by a name at any depth.
#[derive(Debug, Default)]
pub(crate) struct CachePaths {
    names: BTreeSet<Vec<u8>>,
    paths: BTreeSet<Vec<u8>>,
}

impl CachePaths {
    /// Reads patterns as `.gitignore` does: one without a slash is a name.
    pub fn of(patterns: &[String]) -> Self {
        let mut caches = Self::default();
        for pattern in patterns {
            let path = pattern.trim_matches('/').as_bytes().to_vec();
            let is_plain = path
                .split(|byte| *byte == b'/')
                .all(|part| !matches!(part, b"" | b"." | b".." | b".git"));
            let is_name = !pattern.trim_end_matches('/').contains('/');
            match is_plain {
                true if is_name => drop(caches.names.insert(path)),
                true => drop(caches.paths.insert(path)),
                false => {}
            }
        }
        caches
    }

    fn include(&self, path: &[u8]) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        self.paths.contains(path) || self.names.contains(name)
    }

    /// A cache lies below this directory.
    fn lie_below(&self, dir: &[u8]) -> bool {
        let below = [dir, b"/"].concat();
        self.paths.iter().any(|cache| cache.starts_with(&below))
    }
}

/// Reads every directory of a repository's part of the room, which lies at `root`, but the caches, its `.git` and
/// the `parts` that other repositories fill.
pub(crate) fn scan(
    top: &Path,
    root: &[u8],
    wanted: &List,
    parts: &BTreeSet<&[u8]>,
    caches: &CachePaths,
) -> Result<Found, RoomError> {
    let mut found = Found {
        files: vec![false; wanted.files.len()],
        dirs: BTreeSet::new(),
        strange: Vec::new(),
    };
    let mut due = vec![Vec::new()];
    while let Some(at) = due.pop() {
        let dir = make_path_below(top, &at).at("read", top)?;
        let failed = |cause| RoomError::io("read", &dir, cause);
        for entry in open(&dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let Some(path) = name_bytes(entry.file_name()).map(|name| join(&at, &name)) else {
                found.strange.push(entry.path());
                continue;
            };
            if path == b".git" {
                continue;
            }
            let number = wanted.find(&path);
            let in_room = join(root, &path);
            if !kind.is_dir() {
                match number.filter(|number| is_as(kind, wanted.files[*number].1.kind)) {
                    Some(number) => found.files[number] = true,
                    None => found.strange.push(entry.path()),
                }
            } else if wanted.dirs.contains(&path) {
                if !parts.contains(&path[..]) {
                    due.push(path.clone());
                }
                found.dirs.insert(path);
            } else if number.is_none() && caches.include(&in_room) {
                // A link in its place could lead into somebody's worktree, and is strange.
            } else if number.is_none() && caches.lie_below(&in_room) {
                due.push(path);
            } else {
                found.strange.push(entry.path());
            }
        }
    }
    Ok(found)
}

/// A directory that a command closed to its owner is opened again.
fn open(dir: &Path) -> io::Result<ReadDir> {
    match std::fs::read_dir(dir) {
        #[cfg(unix)]
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755))?;
            std::fs::read_dir(dir)
        }
        read => read,
    }
}

/// Where the system has no links, the commit's are files.
fn is_as(found: FileType, kind: Kind) -> bool {
    match kind {
        Kind::Link if cfg!(unix) => found.is_symlink(),
        _ => found.is_file(),
    }
}

/// A path of the commit below a directory; an error where the system has no such names.
#[cfg(unix)]
pub(crate) fn make_path_below(top: &Path, path: &[u8]) -> io::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(top.join(std::ffi::OsStr::from_bytes(path)))
}

#[cfg(not(unix))]
pub(crate) fn make_path_below(top: &Path, path: &[u8]) -> io::Result<PathBuf> {
    let text = std::str::from_utf8(path).map_err(io::Error::other)?;
    Ok(top.join(text))
}

#[cfg(unix)]
fn name_bytes(name: OsString) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt;
    Some(name.into_vec())
}

#[cfg(not(unix))]
fn name_bytes(name: OsString) -> Option<Vec<u8>> {
    name.into_string().ok().map(String::into_bytes)
}
