//! Where a program's file is.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The file of a program that is called by its name alone, on a search path like `PATH`.
/// Relative entries are passed over: they would name a file of whatever directory cook was
/// called in.
pub fn on_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(&name))
        .find(|file| is_program(file))
}

/// A file that somebody may run.
#[cfg(unix)]
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// A file: here its name says whether it is run.
#[cfg(not(unix))]
pub fn is_program(path: &Path) -> bool {
    path.is_file()
}
