//! Links of a commit: how they are made, and whether they leave it.

use crate::RoomError;
use crate::list::{Kind, List};
use crate::scan::make_path_below;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Links of a commit that lead out, by what they name and by what the system makes of that: one link
/// may lead through another.
pub(crate) fn find_leading_out(
    top: &Path,
    list: &List,
) -> Result<Vec<(String, PathBuf)>, RoomError> {
    let failed = |cause| RoomError::io("look at", top, cause);
    let whole = top.canonicalize().map_err(failed)?;
    let mut found = Vec::new();
    let links = list.files.iter();
    for (path, _) in links.filter(|(_, leaf)| leaf.kind == Kind::Link) {
        let place = make_path_below(top, path).map_err(failed)?;
        let target = fs::read_link(&place).unwrap_or_default();
        let end = place.canonicalize().ok();
        let is_out = end.as_ref().is_some_and(|end| !end.starts_with(&whole));
        if is_out || leads_out(path, target.as_os_str().as_encoded_bytes()) {
            let path = String::from_utf8_lossy(path).into_owned();
            found.push((path, end.unwrap_or(target)));
        }
    }
    Ok(found)
}

/// A link that names something outside of the commit.
fn leads_out(path: &[u8], target: &[u8]) -> bool {
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
