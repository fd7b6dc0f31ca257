//! The files at the top of a worktree, read up to a cap.

use crate::scaffold::error::Error;
use crate::scaffold::files::Tree;
use std::path::Path;

/// Bytes of a file that are looked at; a larger one counts as there, but empty.
const MAX_BYTES: u64 = 1024 * 1024;

/// The files at the top of the worktree.
pub(in crate::scaffold) struct Files<'a> {
    tree: Tree<'a>,
    root: &'a Path,
}

impl<'a> Files<'a> {
    pub(in crate::scaffold) fn new(root: &'a Path) -> Self {
        Self {
            tree: Tree::new(root),
            root,
        }
    }

    /// A file's text, with what is not UTF-8 replaced; none when no plain file is there.
    pub(in crate::scaffold) fn text(&self, path: &str) -> Result<Option<String>, Error> {
        match self.tree.bytes(path, MAX_BYTES) {
            Ok(bytes) => Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())),
            Err(Error::TooLarge { .. }) => Ok(Some(String::new())),
            Err(Error::Unsafe { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.tree.has_file(path).unwrap_or(false)
    }

    pub(super) fn has_directory(&self, path: &str) -> bool {
        self.tree.has_directory(path).unwrap_or(false)
    }

    /// The first of these files that is there.
    pub(super) fn first(&self, paths: &[&'static str]) -> Option<&'static str> {
        paths.iter().copied().find(|path| self.has(path))
    }

    /// Whether a file in that directory satisfies the test on its name.
    pub(super) fn any_name(&self, directory: &str, test: impl Fn(&str) -> bool) -> bool {
        std::fs::read_dir(self.root.join(directory)).is_ok_and(|entries| {
            entries
                .take(10_000)
                .flatten()
                .any(|entry| entry.file_name().to_str().is_some_and(&test))
        })
    }
}
