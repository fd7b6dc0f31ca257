//! Reading and writing in someone else's repository: no link is followed, reads
//! are capped, a write is a temporary file in `.agent/tmp/` and a rename.

use super::Error;
use cook_repo::disk::{self, Durable, Links, NewFile};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The control plane's directory, relative to the worktree.
const AGENT: &str = ".agent";

/// A worktree's root, and paths below it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree<'a> {
    root: &'a Path,
}

/// Who may run a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Nobody.
    Data,
    /// Everybody the umask allows.
    Script,
}

impl<'a> Tree<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Whether a plain file stands there.
    pub(super) fn has_file(&self, path: &str) -> Result<bool, Error> {
        stands(
            &self.at(path),
            path,
            fs::FileType::is_file,
            "not a plain file",
        )
    }

    /// Whether a directory stands there.
    pub(super) fn has_directory(&self, path: &str) -> Result<bool, Error> {
        is_directory(&self.at(path), path)
    }

    /// A file's bytes, if it is there and holds no more than `cap`.
    pub(super) fn bytes(&self, path: &str, cap: u64) -> Result<Option<Vec<u8>>, Error> {
        if !self.has_file(path)? {
            return Ok(None);
        }
        let failed = |source| Error::Read {
            path: path.to_owned(),
            source,
        };
        match disk::read(&self.at(path), cap, Links::Refuse) {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => Err(Error::TooLarge {
                path: path.to_owned(),
                cap,
            }),
            read => read.map_err(failed),
        }
    }

    /// The same as text.
    pub(super) fn text(&self, path: &str, cap: u64) -> Result<Option<String>, Error> {
        let Some(bytes) = self.bytes(path, cap)? else {
            return Ok(None);
        };
        String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| Error::NotText {
                path: path.to_owned(),
            })
    }

    /// Makes `.agent/` and `.agent/tmp/` where they are missing.
    pub(super) fn make_agent_directories(&self) -> Result<(), Error> {
        for path in [AGENT.to_owned(), format!("{AGENT}/tmp")] {
            if !self.has_directory(&path)? {
                fs::create_dir(self.at(&path)).map_err(|source| Error::Write { path, source })?;
            }
        }
        Ok(())
    }

    /// Puts a file there, whole or not at all. A file that was there keeps its permissions.
    pub(super) fn write(&self, path: &str, bytes: &[u8], mode: Mode) -> Result<(), Error> {
        // What is no file is not replaced.
        self.has_file(path)?;
        let bits = match mode {
            Mode::Data => 0o666,
            Mode::Script => 0o777,
        };
        NewFile::at(&self.at(path), Durable::Content)
            .mode(disk::Mode::Kept(bits))
            .scratch(&self.at(&format!("{AGENT}/tmp")))
            .write(bytes)
            .map_err(|source| Error::Write {
                path: path.to_owned(),
                source,
            })
    }

    /// Lets everybody who may read the file run it. True when that was new.
    pub(super) fn make_runnable(&self, path: &str) -> Result<bool, Error> {
        runnable(&self.at(path)).map_err(|source| Error::Write {
            path: path.to_owned(),
            source,
        })
    }
}

/// Whether something of that kind stands there; a link, and whatever else does, is an error.
fn stands(
    path: &Path,
    shown: &str,
    is_kind: fn(&fs::FileType) -> bool,
    otherwise: &'static str,
) -> Result<bool, Error> {
    let what = match fs::symlink_metadata(path) {
        Ok(found) if is_kind(&found.file_type()) => return Ok(true),
        Ok(found) if found.is_symlink() => "a symbolic link",
        Ok(_) => otherwise,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(source) => {
            let path = shown.to_owned();
            return Err(Error::Read { path, source });
        }
    };
    let path = shown.to_owned();
    Err(Error::Unsafe { path, what })
}

/// Whether a directory stands there; anything else that does is an error.
pub(super) fn is_directory(path: &Path, shown: &str) -> Result<bool, Error> {
    stands(path, shown, fs::FileType::is_dir, "no directory")
}

#[cfg(unix)]
fn runnable(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    let bits = fs::metadata(path)?.permissions().mode();
    let wanted = bits | ((bits & 0o444) >> 2);
    if wanted != bits {
        fs::set_permissions(path, fs::Permissions::from_mode(wanted))?;
    }
    Ok(wanted != bits)
}

#[cfg(not(unix))]
fn runnable(_path: &Path) -> std::io::Result<bool> {
    Ok(false)
}
