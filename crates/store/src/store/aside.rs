//! A file that is about to be overwritten, read so that it can be kept.

use super::error::StoreError;
use super::log;
use cook_core::diagnostic::Code;
use cook_os::disk::{self, Links};
use std::path::{Path, PathBuf};

/// A file larger than this is not set aside; the operation that needs it is refused.
pub const MAX_KEPT: u64 = 64 << 20;

/// A file that is about to be overwritten.
pub(super) struct Aside {
    pub(super) name: String,
    pub(super) mode: u32,
    pub(super) bytes: Vec<u8>,
}

impl Aside {
    /// Reads a file of a directory, following nothing.
    pub(super) fn read(dir: &Path, name: &str) -> Result<Self, StoreError> {
        Self::read_as(dir.join(name), name.to_owned())
    }

    /// The same, kept under another name.
    pub(super) fn read_as(path: PathBuf, name: String) -> Result<Self, StoreError> {
        let failed =
            |error: std::io::Error| StoreError::unreadable(path.display().to_string(), error);
        let refused = |what: &str| StoreError::path(Code::AgentDirUnsafe, &path, what);
        let found = disk::look(&path)
            .map_err(failed)?
            .ok_or_else(|| refused("vanished while it was read"))?;
        if found.is_symlink() {
            let target = std::fs::read_link(&path).map_err(failed)?;
            return Ok(Self {
                name,
                mode: log::LINK,
                bytes: target.as_os_str().as_encoded_bytes().to_vec(),
            });
        }
        if !found.is_file() {
            return Err(refused("is not a file; move it away"));
        }
        if found.len() > MAX_KEPT {
            return Err(StoreError::TooLarge {
                path,
                bytes: found.len(),
                cap: MAX_KEPT,
            });
        }
        Ok(Self {
            name,
            mode: read_mode(&found),
            bytes: disk::read(&path, MAX_KEPT, Links::Refuse)
                .map_err(failed)?
                .unwrap_or_default(),
        })
    }

    /// The content, unless it is a symlink.
    pub(super) fn regular(&self) -> Option<&[u8]> {
        (self.mode != log::LINK).then_some(self.bytes.as_slice())
    }
}

#[cfg(unix)]
fn read_mode(found: &std::fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    match found.permissions().mode() & 0o111 {
        0 => log::FILE,
        _ => log::EXECUTABLE,
    }
}

#[cfg(not(unix))]
fn read_mode(_found: &std::fs::Metadata) -> u32 {
    log::FILE
}
