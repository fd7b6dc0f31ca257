//! What stands at a path of the worktree, and whether git looks at it.

use std::io;
use std::path::Path;

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
