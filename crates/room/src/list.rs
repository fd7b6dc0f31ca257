//! What a commit holds: files, directories and submodules by path.

use crate::objects::Objects;
use git2::Oid;
use std::collections::{BTreeMap, BTreeSet};

/// How deep directories may lie in one another.
const DEPTH: usize = 1000;

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
    /// Whose objects hold it: 0 = the repository's own, else a submodule's.
    pub source: usize,
    pub id: Oid,
    pub kind: Kind,
}

/// What a commit holds.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub files: BTreeMap<Vec<u8>, Leaf>,
    /// Those that hold something; a clone has no others.
    pub dirs: BTreeSet<Vec<u8>>,
    /// Commits of submodules, with the number of the objects that name them.
    pub submodules: BTreeMap<Vec<u8>, (usize, Oid)>,
}

impl List {
    /// Adds what a tree holds, below `at`.
    pub fn add(
        &mut self,
        objects: &Objects,
        source: usize,
        tree: Oid,
        at: &[u8],
    ) -> Result<(), String> {
        let mut due = vec![(tree, at.to_vec(), 0)];
        while let Some((tree, at, depth)) = due.pop() {
            if depth > DEPTH {
                return Err(format!("its directories lie more than {DEPTH} deep"));
            }
            for (mode, name, id) in objects.entries(tree)? {
                if !is_safe(&name) {
                    let name = String::from_utf8_lossy(&name).into_owned();
                    return Err(format!("tree {tree} holds the name {name:?}"));
                }
                let path = join(&at, &name);
                let kind = match mode & 0o170_000 {
                    mode @ (0o040_000 | 0o160_000) => {
                        if self.files.contains_key(&path) || !self.dirs.insert(path.clone()) {
                            return Err(format!("tree {tree} holds a name twice"));
                        }
                        match mode {
                            0o040_000 => due.push((id, path, depth + 1)),
                            _ => drop(self.submodules.insert(path, (source, id))),
                        }
                        continue;
                    }
                    0o120_000 => Kind::Link,
                    0o100_000 if mode & 0o100 != 0 => Kind::Program,
                    0o100_000 => Kind::File,
                    _ => return Err(format!("tree {tree} holds an entry of mode {mode:o}")),
                };
                let leaf = Leaf { source, id, kind };
                if self.files.insert(path.clone(), leaf).is_some() || self.dirs.contains(&path) {
                    return Err(format!("tree {tree} holds a name twice"));
                }
            }
        }
        self.keep_filled_dirs();
        Ok(())
    }

    fn keep_filled_dirs(&mut self) {
        let mut filled = BTreeSet::new();
        for path in self.files.keys().chain(self.submodules.keys()) {
            let mut at = &path[..];
            while let Some(end) = at.iter().rposition(|byte| *byte == b'/') {
                at = &at[..end];
                if !filled.insert(at) {
                    break;
                }
            }
        }
        let submodules = &self.submodules;
        self.dirs
            .retain(|dir| filled.contains(&dir[..]) || submodules.contains_key(dir));
    }
}

pub(crate) fn join(at: &[u8], name: &[u8]) -> Vec<u8> {
    match at.is_empty() {
        true => name.to_vec(),
        false => [at, b"/", name].concat(),
    }
}

/// A name that stays in its directory and is not git's own, also where a file system folds case,
/// ends of names or characters without width.
fn is_safe(name: &[u8]) -> bool {
    let unsafe_byte = |byte: &u8| matches!(byte, b'/' | 0) || cfg!(windows) && *byte == b'\\';
    if name.is_empty() || name == b"." || name == b".." || name.iter().any(unsafe_byte) {
        return false;
    }
    // What git's own names fold to begins so.
    if name.is_ascii() && !matches!(name[0], b'.' | b'g' | b'G') {
        return true;
    }
    let text = String::from_utf8_lossy(name).to_lowercase();
    let folded: String = text
        .chars()
        .filter(|c| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'))
        .collect();
    let stem = folded.split(':').next().unwrap_or_default();
    let stem = stem.trim_end_matches(['.', ' ']);
    stem != ".git" && stem != "git~1"
}

#[cfg(test)]
mod tests {
    use super::is_safe;

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
        ] {
            assert!(!is_safe(name.as_bytes()), "{name:?}");
        }
        for name in ["...", ".gitignore", "git", ".github", "a b", "\u{fc}"] {
            assert!(is_safe(name.as_bytes()), "{name:?}");
        }
    }
}
