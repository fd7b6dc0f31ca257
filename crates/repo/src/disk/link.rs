//! Links by name.

use std::io;
use std::path::Path;

/// Makes a link at a place that leads to a file or directory.
///
/// # Errors
/// When something stands there, or the system lets this user make none.
pub fn link(to: &Path, at: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(to, at);
    #[cfg(windows)]
    return match to.is_dir() {
        true => std::os::windows::fs::symlink_dir(to, at),
        false => std::os::windows::fs::symlink_file(to, at),
    };
}
