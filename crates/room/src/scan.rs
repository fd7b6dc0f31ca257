//! What stands in the room, without following a link.

use crate::RoomError;
use crate::list::{Kind, List, join};
use crate::manifest::Stat;
use crate::modes::set_mode;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{DirEntry, FileType, ReadDir};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What stands at the path of one of the commit's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    Nothing,
    /// A file or link, as the commit has one there.
    Unseen,
    Seen(Stat),
}

/// What stands there.
#[derive(Debug)]
pub(crate) struct Found {
    /// By the numbers of the commit's files.
    pub files: Vec<Stands>,
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

/// Reads every directory but the caches and what leads to the room's own `.git`; looks at each of the commit's
/// files too where that is asked.
pub(crate) fn scan(
    top: &Path,
    wanted: &List,
    caches: &CachePaths,
    look: bool,
) -> Result<Found, RoomError> {
    let mut scan = Scan {
        wanted,
        caches,
        look,
        found: Found {
            files: vec![Stands::Nothing; wanted.files.len()],
            dirs: BTreeSet::new(),
            strange: Vec::new(),
        },
    };
    let mut due = vec![(Vec::new(), 0..wanted.files.len())];
    while let Some((at, within)) = due.pop() {
        let dir = make_path_below(top, &at).map_err(|cause| RoomError::io("read", top, cause))?;
        scan.read(&dir, &at, within, &mut due)?;
    }
    Ok(scan.found)
}

/// A directory below the top, and the numbers of the commit's files below it.
type Due = (Vec<u8>, Range<usize>);

struct Scan<'a> {
    wanted: &'a List,
    caches: &'a CachePaths,
    look: bool,
    found: Found,
}

impl Scan<'_> {
    /// One directory. Its entries come in the order of whole paths, in which the commit's files are:
    /// each is compared with the next of them.
    fn read(
        &mut self,
        dir: &Path,
        at: &[u8],
        within: Range<usize>,
        due: &mut Vec<Due>,
    ) -> Result<(), RoomError> {
        let skip = at.len() + usize::from(!at.is_empty());
        let files = &self.wanted.files[..within.end];
        let mut next = within.start;
        for (name, entry) in sort_entries(dir, &mut self.found.strange)? {
            let rest = |number: usize| files.get(number).map(|(path, _)| &path[skip..]);
            while rest(next).is_some_and(|rest| rest < &name[..]) {
                next += 1;
            }
            if name.ends_with(b"/") {
                let first = next;
                while rest(next).is_some_and(|rest| rest.starts_with(&name)) {
                    next += 1;
                }
                let path = join(at, &name[..name.len() - 1]);
                self.sort_in_dir(&entry, path, first..next, due);
            } else if rest(next) == Some(&name) {
                self.sort_in_file(&entry, next)?;
            } else if name != b".git" || !self.wanted.roots.contains(at) {
                self.found.strange.push(entry.path());
            }
        }
        Ok(())
    }

    fn sort_in_dir(
        &mut self,
        entry: &DirEntry,
        path: Vec<u8>,
        within: Range<usize>,
        due: &mut Vec<Due>,
    ) {
        let is_commits = self.wanted.dirs.contains(&path);
        if is_commits {
            self.found.dirs.insert(path.clone());
        }
        // A link in a cache's place could lead into somebody's worktree; a cache over a directory of
        // the commit would keep what is not the commit's.
        if path == b".git" || !is_commits && self.caches.include(&path) {
            return;
        }
        match is_commits || self.caches.lie_below(&path) {
            true => due.push((path, within)),
            false => self.found.strange.push(entry.path()),
        }
    }

    fn sort_in_file(&mut self, entry: &DirEntry, number: usize) -> Result<(), RoomError> {
        let failed = |cause| RoomError::io("look at", &entry.path(), cause);
        let kind = entry.file_type().map_err(failed)?;
        self.found.files[number] = match self.look {
            _ if !is_as(kind, self.wanted.files[number].1.kind) => {
                self.found.strange.push(entry.path());
                Stands::Nothing
            }
            true => Stands::Seen(Stat::of(&entry.metadata().map_err(failed)?)),
            false => Stands::Unseen,
        };
        Ok(())
    }
}

/// The entries of a directory by name; a directory's ends with a slash.
fn sort_entries(
    dir: &Path,
    strange: &mut Vec<PathBuf>,
) -> Result<Vec<(Vec<u8>, DirEntry)>, RoomError> {
    let failed = |cause| RoomError::io("read", dir, cause);
    let mut entries = Vec::new();
    for entry in open(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Some(mut name) = name_bytes(entry.file_name()) else {
            strange.push(entry.path());
            continue;
        };
        if entry.file_type().map_err(failed)?.is_dir() {
            name.push(b'/');
        }
        entries.push((name, entry));
    }
    entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(entries)
}

/// A directory that a command closed to its owner is opened again.
fn open(dir: &Path) -> io::Result<ReadDir> {
    match std::fs::read_dir(dir) {
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
            set_mode(dir, 0o755)?;
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
