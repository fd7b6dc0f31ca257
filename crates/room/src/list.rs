//! What a commit holds: files, directories and submodules by path.

use crate::objects::Objects;
use git2::{ObjectType, Oid};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

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
    /// By path.
    pub files: Vec<(Vec<u8>, Leaf)>,
    /// Those that hold something; a clone has no others.
    pub dirs: BTreeSet<Vec<u8>>,
    /// Commits of submodules, with the number of the objects that name them.
    pub submodules: BTreeMap<Vec<u8>, (usize, Oid)>,
    /// Submodules that are checked out, with a `.git` of their own.
    pub roots: BTreeSet<Vec<u8>>,
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
        let mut at = at.to_vec();
        let mut open = vec![Directory::read(objects, tree)?];
        loop {
            let depth = open.len();
            let Some(dir) = open.last_mut() else {
                break;
            };
            let (bytes, next) = (&dir.bytes, dir.entries.next());
            let Some((mode, name, id)) = next else {
                let is_filled = dir.is_filled;
                open.pop();
                if let Some(above) = open.last_mut() {
                    if is_filled {
                        above.is_filled = true;
                        self.dirs.insert(at.clone());
                    }
                    at.truncate(above.ends_at);
                }
                continue;
            };
            let name = &bytes[name];
            if !is_safe(name) || is_link_in_place_of_settings(mode, name) {
                let name = String::from_utf8_lossy(name).into_owned();
                return Err(format!("tree {} holds the name {name:?}", dir.id));
            }
            dir.ends_at = at.len();
            if !at.is_empty() {
                at.push(b'/');
            }
            at.extend_from_slice(name);
            let kind = match mode & 0o170_000 {
                0o120_000 => Kind::Link,
                0o100_000 if mode & 0o100 != 0 => Kind::Program,
                0o100_000 => Kind::File,
                0o040_000 if depth > DEPTH => {
                    return Err(format!("its directories lie more than {DEPTH} deep"));
                }
                0o040_000 => {
                    open.push(Directory::read(objects, id)?);
                    continue;
                }
                0o160_000 => {
                    dir.is_filled = true;
                    self.dirs.insert(at.clone());
                    self.submodules.insert(at.clone(), (source, id));
                    at.truncate(dir.ends_at);
                    continue;
                }
                _ => {
                    return Err(format!("tree {} holds an entry of mode {mode:o}", dir.id));
                }
            };
            dir.is_filled = true;
            self.files.push((at.clone(), Leaf { source, id, kind }));
            at.truncate(dir.ends_at);
        }
        self.sort();
        Ok(())
    }

    /// Takes another list in, whose paths are none of this one's.
    pub fn append(&mut self, mut other: Self) {
        self.files.append(&mut other.files);
        self.dirs.append(&mut other.dirs);
        self.submodules.append(&mut other.submodules);
        self.sort();
    }

    /// A file of that path.
    pub fn file(&self, path: &[u8]) -> Option<&Leaf> {
        let found = self
            .files
            .binary_search_by(|(other, _)| other[..].cmp(path));
        Some(&self.files[found.ok()?].1)
    }

    /// A tree holds its entries in this order, but for one that somebody wrote by other rules.
    fn sort(&mut self) {
        self.files.sort_by(|(one, _), (other, _)| one.cmp(other));
    }
}

/// A directory of which some entries were taken.
struct Directory {
    id: Oid,
    bytes: Vec<u8>,
    entries: std::vec::IntoIter<(u32, Range<usize>, Oid)>,
    /// Its path's length.
    ends_at: usize,
    is_filled: bool,
}

impl Directory {
    fn read(objects: &Objects, id: Oid) -> Result<Self, String> {
        let bytes = objects.read(id, ObjectType::Tree)?;
        let entries = objects.entries(id, &bytes)?;
        // They come by path, in which a directory's name ends with a slash.
        let mut names: Vec<&[u8]> = entries
            .iter()
            .map(|entry| &bytes[entry.1.clone()])
            .collect();
        names.sort_unstable();
        if !names.is_sorted_by(|one, other| one < other) {
            return Err(format!("tree {id} holds a name twice"));
        }
        Ok(Self {
            id,
            entries: entries.into_iter(),
            bytes,
            ends_at: 0,
            is_filled: false,
        })
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
