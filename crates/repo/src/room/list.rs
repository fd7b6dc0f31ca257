//! What a commit holds: files, directories and submodules by path.

use crate::room::object_reader::Objects;
use git2::Oid;
use std::collections::{BTreeMap, BTreeSet};

/// How deep directories may lie in one another.
const DEPTH: usize = 500;

/// What kind of file a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Program,
    Link,
}

/// One file of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub id: Oid,
    pub kind: Kind,
}

/// What a commit holds.
#[derive(Debug, Default)]
pub(crate) struct List {
    /// By path.
    pub files: Vec<(Vec<u8>, Leaf)>,
    /// Those that hold something; a clone has no others.
    pub dirs: BTreeSet<Vec<u8>>,
    /// Commits of submodules.
    pub submodules: BTreeMap<Vec<u8>, Oid>,
}

impl List {
    /// What a tree holds.
    pub fn read(objects: &Objects, tree: Oid) -> Result<Self, String> {
        let mut list = Self::default();
        list.add(objects, tree, &[], 0)?;
        // A tree holds its entries in this order, but for one that somebody wrote by other rules.
        list.files.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(list)
    }

    /// Adds what a directory holds; whether it holds something.
    fn add(
        &mut self,
        objects: &Objects,
        tree: Oid,
        at: &[u8],
        depth: usize,
    ) -> Result<bool, String> {
        if depth > DEPTH {
            return Err(format!("its directories lie more than {DEPTH} deep"));
        }
        let mut is_filled = false;
        let mut names = BTreeSet::new();
        for (mode, name, id) in objects.read_tree(tree)? {
            if !is_safe(&name) || is_link_in_place_of_settings(mode, &name) {
                let name = String::from_utf8_lossy(&name).into_owned();
                return Err(format!("tree {tree} holds the name {name:?}"));
            }
            let path = join(at, &name);
            if !names.insert(name) {
                return Err(format!("tree {tree} holds a name twice"));
            }
            let kind = match mode & 0o170_000 {
                0o120_000 => Kind::Link,
                0o100_000 if mode & 0o100 != 0 => Kind::Program,
                0o100_000 => Kind::File,
                0o040_000 => {
                    if self.add(objects, id, &path, depth + 1)? {
                        self.dirs.insert(path);
                        is_filled = true;
                    }
                    continue;
                }
                0o160_000 => {
                    self.dirs.insert(path.clone());
                    self.submodules.insert(path, id);
                    is_filled = true;
                    continue;
                }
                _ => return Err(format!("tree {tree} holds an entry of mode {mode:o}")),
            };
            is_filled = true;
            self.files.push((path, Leaf { id, kind }));
        }
        Ok(is_filled)
    }

    /// A file of that path.
    pub fn file(&self, path: &[u8]) -> Option<&Leaf> {
        Some(&self.files[self.find(path)?].1)
    }

    /// The number of a file of that path.
    pub fn find(&self, path: &[u8]) -> Option<usize> {
        let files = &self.files;
        files
            .binary_search_by(|(other, _)| other[..].cmp(path))
            .ok()
    }
}

pub(crate) fn join(at: &[u8], name: &[u8]) -> Vec<u8> {
    match at.is_empty() {
        true => name.to_vec(),
        false => [at, b"/", name].concat(),
    }
}

/// A name that stays in its directory and is not git's own, also where a file system folds case,
/// ends of names or characters without width, or parts names at a backslash: git checks out no other.
fn is_safe(name: &[u8]) -> bool {
    let unsafe_byte = |byte: &u8| matches!(byte, b'/' | 0) || cfg!(windows) && *byte == b'\\';
    if name.is_empty() || name == b"." || name == b".." || name.iter().any(unsafe_byte) {
        return false;
    }
    // What git's own names fold to begins so.
    if name.is_ascii() && !matches!(name[0], b'.' | b'g' | b'G') && !name.contains(&b'\\') {
        return true;
    }
    let folded = fold(name);
    let mut stems = folded.split('\\').map(stem);
    stems.all(|stem| stem != ".git" && stem != "git~1")
}

/// git reads settings of submodules in a file alone.
fn is_link_in_place_of_settings(mode: u32, name: &[u8]) -> bool {
    // Most entries are none, and cost nothing.
    if mode & 0o170_000 != 0o120_000 {
        return false;
    }
    let folded = fold(name);
    let stem = stem(&folded);
    let short = stem.strip_prefix("gitmod~");
    stem == ".gitmodules" || short.is_some_and(|number| matches!(number, "1" | "2" | "3" | "4"))
}

fn fold(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name).to_lowercase();
    text.chars()
        .filter(|c| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'))
        .collect()
}

/// What a file system sees of a name that ends in blanks, dots or a stream's name.
fn stem(name: &str) -> &str {
    let stem = name.split(':').next().unwrap_or_default();
    stem.trim_end_matches(['.', ' '])
}

#[cfg(test)]
mod tests {
    use super::{is_link_in_place_of_settings, is_safe};

    #[test]
    fn names_that_leave_their_directory_or_mean_git_are_refused() {
        for name in [
            "",
            ".",
            "..",
            "a/b",
            ".git",
            ".GIT",
            ".git.",
            ".git ",
            "git~1",
            ".g\u{200c}it",
            ".git::$INDEX_ALLOCATION",
            ".git\\x",
            "GIT~1 .\\y",
            "a\\.git",
        ] {
            assert!(!is_safe(name.as_bytes()), "{name:?}");
        }
        for name in ["...", ".gitignore", "git", ".github", "a b", "\u{fc}"] {
            assert!(is_safe(name.as_bytes()), "{name:?}");
        }
        assert!(is_link_in_place_of_settings(0o120_000, b".GitModules."));
        assert!(!is_link_in_place_of_settings(0o100_644, b".gitmodules"));
        assert!(!is_link_in_place_of_settings(0o120_000, b".gitmodule"));
    }
}
