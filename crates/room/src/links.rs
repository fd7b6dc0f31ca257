//! Links of a commit: how they are made, and whether they leave it.

use std::io;
use std::path::Path;

/// A link that names something outside of the commit.
pub(crate) fn leads_out(path: &[u8], target: &[u8]) -> bool {
    if target.starts_with(b"/") {
        return true;
    }
    let mut depth = path.iter().filter(|byte| **byte == b'/').count() as i64;
    target.split(|byte| *byte == b'/').any(|part| {
        depth += match part {
            b"" | b"." => 0,
            b".." => -1,
            _ => 1,
        };
        depth < 0
    })
}

#[cfg(unix)]
pub(crate) fn make_link(target: &[u8], place: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), place)
}

/// As git where links cannot be made: a file that holds the target.
#[cfg(not(unix))]
pub(crate) fn make_link(target: &[u8], place: &Path) -> io::Result<()> {
    std::io::Write::write_all(&mut std::fs::File::create_new(place)?, target)
}
