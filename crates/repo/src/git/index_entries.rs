//! What stands at a path of the worktree, and whether git looks at it.

use std::io;
use std::path::{Path, PathBuf};

/// What stands at a path. Only absence is absence: any other error that was taken for it
/// would make a decision rest on a file that is there.
pub(super) fn present(path: &Path) -> io::Result<Option<std::fs::Metadata>> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The path of an entry of `git ls-files -v` that git does not look at: a lower-case letter
/// is assume-unchanged, `S` skip-worktree.
pub(super) fn is_unwatched(entry: &[u8]) -> Option<&[u8]> {
    match entry {
        [tag, b' ', path @ ..] if tag.is_ascii_lowercase() || *tag == b'S' => Some(path),
        _ => None,
    }
}

/// The entry of `git ls-files -v` is one that a sparse checkout leaves out.
pub(super) fn is_left_out(entry: &[u8]) -> bool {
    entry
        .first()
        .is_some_and(|tag| tag.eq_ignore_ascii_case(&b'S'))
}

/// Paths of the entries of `git ls-files --stage -z` that name a commit.
pub(super) fn gitlinks(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    let entries = listed.split(|byte| *byte == 0);
    entries.filter_map(|entry| {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let is_link = entry.starts_with(b"160000 ") || entry.get(2..)?.starts_with(b"160000 ");
        is_link.then(|| &entry[tab + 1..])
    })
}

/// A path as git writes it; none where the system has no such names.
#[cfg(unix)]
pub(super) fn native(path: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
}

/// As above.
#[cfg(not(unix))]
pub(super) fn native(path: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(path).ok().map(PathBuf::from)
}
