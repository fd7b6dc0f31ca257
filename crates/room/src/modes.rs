//! Modes of files and directories, where the system has them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

#[cfg(unix)]
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match fs::symlink_metadata(path)?.permissions().mode() & 0o7777 == mode {
        true => Ok(()),
        false => fs::set_permissions(path, fs::Permissions::from_mode(mode)),
    }
}

#[cfg(not(unix))]
pub(crate) fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
pub(crate) fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
pub(crate) fn set_file_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}
