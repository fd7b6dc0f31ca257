//! The files at the top of a worktree, read up to a cap.

use crate::scaffold::error::Error;
use crate::scaffold::files::Tree;
use cook_git::Repo;
use std::collections::BTreeSet;
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

    /// The same of a file that commits hold: what git ignores is in no clone.
    pub(super) fn read_committed(&self, path: &str) -> Result<Option<String>, Error> {
        match self.list_ignored(&[path]).is_empty() {
            true => self.text(path),
            false => Ok(None),
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

    /// Those of these files that are there and that commits hold.
    pub(super) fn list_committed(&self, paths: &[&'static str]) -> Vec<&'static str> {
        let there: Vec<&'static str> = paths
            .iter()
            .copied()
            .filter(|path| self.has(path))
            .collect();
        let ignored = self.list_ignored(&there);
        let kept = there.into_iter().filter(|path| !ignored.contains(*path));
        kept.collect()
    }

    /// Those of these paths that git leaves out of commits; none where there is no repository.
    pub(super) fn list_ignored(&self, paths: &[&str]) -> BTreeSet<String> {
        if paths.is_empty() {
            return BTreeSet::new();
        }
        let repo = Repo::discover(self.root);
        repo.and_then(|repo| repo.list_ignored(paths))
            .unwrap_or_default()
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
