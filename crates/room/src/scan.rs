//! What stands in the room, without following a link.

use crate::RoomError;
use crate::list::{List, join};
use crate::manifest::Stat;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

/// What stands there.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Files, at paths of the commit's files, by path.
    pub files: Vec<(Vec<u8>, Stat)>,
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

/// Looks at everything but the caches and the room's own `.git`.
pub(crate) fn scan(top: &Path, wanted: &List, caches: &CachePaths) -> Result<Found, RoomError> {
    let mut found = Found::default();
    let mut due = vec![Vec::new()];
    while let Some(at) = due.pop() {
        let dir = path_below(top, &at).map_err(|cause| RoomError::io("read", top, cause))?;
        let failed = |cause| RoomError::io("read", &dir, cause);
        for entry in std::fs::read_dir(&dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Some(name) = name_bytes(entry.file_name()) else {
                found.strange.push(entry.path());
                continue;
            };
            let path = join(&at, &name);
            sort_in(entry, path, wanted, caches, &mut found, &mut due)?;
        }
    }
    found
        .files
        .sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

fn sort_in(
    entry: DirEntry,
    path: Vec<u8>,
    wanted: &List,
    caches: &CachePaths,
    found: &mut Found,
    due: &mut Vec<Vec<u8>>,
) -> Result<(), RoomError> {
    let failed = |cause| RoomError::io("look at", &entry.path(), cause);
    let is_dir = entry.file_type().map_err(failed)?.is_dir();
    let is_commits = is_dir && wanted.dirs.contains(&path);
    // A link in a cache's place could lead into somebody's worktree; a cache over a directory of
    // the commit would keep what is not the commit's.
    let is_cache = is_dir && !is_commits && caches.include(&path);
    if path == b".git" || is_cache {
        return Ok(());
    }
    if is_commits {
        found.dirs.insert(path.clone());
        due.push(path);
    } else if is_dir && caches.lie_below(&path) {
        due.push(path);
    } else if !is_dir && wanted.files.contains_key(&path) {
        let metadata = entry.metadata().map_err(failed)?;
        found.files.push((path, Stat::of(&metadata)));
    } else {
        found.strange.push(entry.path());
    }
    Ok(())
}

/// A path of the commit below a directory; an error where the system has no such names.
#[cfg(unix)]
pub(crate) fn path_below(top: &Path, path: &[u8]) -> std::io::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(top.join(std::ffi::OsStr::from_bytes(path)))
}

#[cfg(not(unix))]
pub(crate) fn path_below(top: &Path, path: &[u8]) -> std::io::Result<PathBuf> {
    let text = std::str::from_utf8(path).map_err(std::io::Error::other)?;
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
