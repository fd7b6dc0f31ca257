//! Files in the git dir that decide what git does: configuration, hooks, excludes.

use super::super::RepoError;
use super::super::look::present;
use cook_core::digest::sha256;
use cook_os::disk::{self, Durable, Links, Mode, NewFile};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of one file that is looked at.
const MAX_FILE: u64 = 1 << 30;

/// Largest steering file that can be put back; a larger one is only compared.
const MAX_KEPT: u64 = 4 << 20;
/// Files below `hooks/`.
const MAX_HOOKS: usize = 500;

/// In the shared git dir.
const COMMON: [&str; 6] = [
    "config",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "objects/info/alternates",
    "shallow",
];
/// In the worktree's own git dir.
const OWN: [&str; 2] = ["config.worktree", "info/sparse-checkout"];

/// What each steering file held, by its path below the git dir.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Steering(pub(super) BTreeMap<String, Held>);

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Held {
    /// SHA-256 of the bytes, of the target for a symlink.
    sha256: String,
    /// A symlink, which is compared and put back as one.
    link: bool,
    /// Permission bits where the system has them.
    mode: u32,
    /// The bytes were kept.
    kept: bool,
}

/// Where the files lie: the shared git dir and the worktree's own.
pub(super) struct Dirs<'a> {
    pub(super) common: &'a Path,
    pub(super) own: &'a Path,
}

impl Dirs<'_> {
    pub(super) fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix("worktree:") {
            Some(own) => self.own.join(own),
            None => self.common.join(name),
        }
    }

    fn names(&self) -> Result<Vec<String>, RepoError> {
        let mut names: Vec<String> = COMMON.iter().map(|name| (*name).to_owned()).collect();
        names.extend(OWN.iter().map(|name| format!("worktree:{name}")));
        let mut waiting = vec!["hooks".to_owned()];
        while let Some(dir) = waiting.pop() {
            let path = self.common.join(&dir);
            let entries = match std::fs::read_dir(&path) {
                Ok(entries) => entries,
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                    ) =>
                {
                    continue;
                }
                Err(error) => return Err(RepoError::io("read", &path, error)),
            };
            for entry in entries {
                let entry = entry.map_err(|error| RepoError::io("read", &path, error))?;
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                let name = format!("{dir}/{name}");
                let kind = entry
                    .file_type()
                    .map_err(|error| RepoError::io("read", &path, error))?;
                if kind.is_dir() {
                    waiting.push(name);
                } else {
                    names.push(name);
                }
                if names.len() > MAX_HOOKS {
                    return Err(RepoError::Answer(format!(
                        "`{}` holds more than {MAX_HOOKS} files",
                        self.common.join("hooks").display()
                    )));
                }
            }
        }
        Ok(names)
    }

    /// What the files hold now; with `keep`, their bytes are copied there by digest.
    pub(super) fn read(&self, keep: Option<&Path>) -> Result<Steering, RepoError> {
        let mut found = BTreeMap::new();
        for name in self.names()? {
            if let Some(held) = self.hold(&name, keep)? {
                found.insert(name, held);
            }
        }
        Ok(Steering(found))
    }

    fn hold(&self, name: &str, keep: Option<&Path>) -> Result<Option<Held>, RepoError> {
        let path = self.path(name);
        let failed = |error| RepoError::io("read", &path, error);
        let Some(found) = present(&path).map_err(failed)? else {
            return Ok(None);
        };
        if !found.is_symlink() && !found.is_file() {
            return Ok(Some(Held {
                sha256: "no file".to_owned(),
                link: false,
                mode: 0,
                kept: false,
            }));
        }
        let bytes = if found.is_symlink() {
            let target = std::fs::read_link(&path).map_err(failed)?;
            target.as_os_str().as_encoded_bytes().to_vec()
        } else {
            disk::read_present(&path, MAX_FILE, Links::Refuse).map_err(failed)?
        };
        let sha256 = sha256(&bytes);
        let kept = bytes.len() as u64 <= MAX_KEPT;
        if let Some(dir) = keep.filter(|_| kept) {
            let copy = dir.join(&sha256);
            std::fs::write(&copy, &bytes).map_err(|error| RepoError::io("write", &copy, error))?;
        }
        Ok(Some(Held {
            sha256,
            link: found.is_symlink(),
            mode: mode(&found),
            kept,
        }))
    }

    /// Writes one file as it was; false when its bytes were not kept.
    pub(super) fn put_back(
        &self,
        name: &str,
        held: Option<&Held>,
        keep: &Path,
    ) -> Result<bool, RepoError> {
        let path = self.path(name);
        let failed = |error| RepoError::io("put back", &path, error);
        let Some(held) = held else {
            return match std::fs::remove_file(&path) {
                Ok(()) => Ok(true),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
                Err(error) => Err(failed(error)),
            };
        };
        if !held.kept {
            return Ok(false);
        }
        let copy = keep.join(&held.sha256);
        let bytes = disk::read_present(&copy, MAX_FILE, Links::Refuse)
            .map_err(|error| RepoError::io("read", &copy, error))?;
        let dir = path.parent().unwrap_or(self.common);
        std::fs::create_dir_all(dir).map_err(failed)?;
        if path.is_dir() && !path.is_symlink() {
            cook_os::disk::remove_tree(&path).map_err(failed)?;
        }
        if held.link {
            return put_link(&path, &bytes).map_err(failed);
        }
        NewFile::at(&path, Durable::Content)
            .mode(Mode::Exact(held.mode))
            .write(&bytes)
            .map_err(failed)?;
        Ok(true)
    }
}

impl Steering {
    /// Where [`Dirs::read`] left the bytes of a file.
    pub(super) fn copy_of(&self, name: &str, copies: &Path) -> Option<PathBuf> {
        let held = self.0.get(name).filter(|held| held.kept)?;
        Some(copies.join(&held.sha256))
    }
}

/// The names under which two maps do not hold the same, sorted.
pub(super) fn differing<'m, T: PartialEq>(
    one: &'m BTreeMap<String, T>,
    two: &'m BTreeMap<String, T>,
) -> impl Iterator<Item = &'m String> {
    let names: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
    names
        .into_iter()
        .filter(|name| one.get(*name) != two.get(*name))
}

#[cfg(unix)]
fn mode(found: &std::fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o7777
}

#[cfg(not(unix))]
fn mode(_: &std::fs::Metadata) -> u32 {
    0
}

/// False where the system has no such links.
#[cfg(unix)]
fn put_link(path: &Path, target: &[u8]) -> io::Result<bool> {
    use std::os::unix::ffi::OsStrExt;
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), path)?;
    Ok(true)
}

#[cfg(not(unix))]
fn put_link(_: &Path, _: &[u8]) -> io::Result<bool> {
    Ok(false)
}
