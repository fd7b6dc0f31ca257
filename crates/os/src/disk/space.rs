//! How much a file system still takes.

use std::io;
use std::path::Path;

/// Bytes that this user may still write where a directory is; none where that cannot be asked.
///
/// # Errors
/// When the system does not answer.
#[cfg(unix)]
pub fn free_space(dir: &Path) -> io::Result<Option<u64>> {
    let found = nix::sys::statvfs::statvfs(dir)?;
    // The widths of these differ between systems.
    #[allow(clippy::unnecessary_cast)]
    Ok(Some(
        found.blocks_available() as u64 * found.fragment_size() as u64,
    ))
}

/// Not asked here.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn free_space(_dir: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}
