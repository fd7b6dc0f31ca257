//! Reads objects by id, directly from an object directory, and lists the files, directories and submodules of a commit.
//!
//! Each object is hashed and compared with its name: `git checkout` accepts a loose object with wrong content, and a
//! wrong index.

use crate::disk::{cannot, native_path};
use cook_protocol::diagnostic::{Code, Failure};
use git2::{ObjectFormat, ObjectType, Odb, Oid};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of a commit and of a tree in bytes, because a few compressed bytes can expand to any size.
const MAX_COMMIT: u64 = 16 << 20;
const MAX_TREE: u64 = 256 << 20;

/// The objects of one repository.
pub(crate) struct Objects {
    database: Odb<'static>,
    format: ObjectFormat,
}

impl Objects {
    /// Opens an `objects` directory and its alternates.
    pub fn open(dir: &Path, format: ObjectFormat) -> Result<Self, Failure> {
        let path = dir.to_str().ok_or_else(|| refuse_name(dir))?;
        let open = || {
            let database = Odb::new_ext(format)?;
            database.add_disk_alternate(path)?;
            Ok(database)
        };
        let opened = open();
        let database = opened.map_err(|error: git2::Error| {
            let cause = std::io::Error::other(error.message().to_owned());
            cannot("read objects of", dir, cause)
        })?;
        Ok(Self { database, format })
    }

    /// Parses an object id.
    pub fn id(&self, text: &str) -> Result<Oid, String> {
        Oid::from_str_ext(text, self.format).map_err(|_| format!("`{text}` is not an object's id"))
    }

    /// The content of an object; the error is a fragment that says what is wrong with it.
    pub fn read(&self, id: Oid, kind: ObjectType) -> Result<Vec<u8>, String> {
        match kind {
            ObjectType::Commit => self.require_small(id, MAX_COMMIT)?,
            ObjectType::Tree => self.require_small(id, MAX_TREE)?,
            _ => {}
        }
        let found = self.database.read(id);
        let object = found.map_err(|error| format!("{kind} {id}: {}", error.message()))?;
        match object.kind() == kind {
            true => Ok(object.data().to_vec()),
            false => Err(format!("{id} is a {}, not a {kind}", object.kind())),
        }
    }

    /// The size of an object in bytes.
    pub fn size(&self, id: Oid) -> Result<u64, String> {
        let found = self.database.read_header(id);
        let (size, _) = found.map_err(|error| format!("object {id}: {}", error.message()))?;
        Ok(size as u64)
    }

    /// Fails if an object is larger than `limit`.
    pub fn require_small(&self, id: Oid, limit: u64) -> Result<(), String> {
        match self.size(id)? {
            size if size > limit => Err(format!(
                "object {id} takes {size} bytes, and at most {limit} are read"
            )),
            _ => Ok(()),
        }
    }

    /// The tree of a commit.
    pub fn find_tree(&self, commit: Oid) -> Result<Oid, String> {
        let bytes = self.read(commit, ObjectType::Commit)?;
        let line = bytes.split(|byte| *byte == b'\n').next();
        let id = line.and_then(|line| line.strip_prefix(b"tree "));
        let text = id.and_then(|id| std::str::from_utf8(id).ok());
        self.id(text.ok_or_else(|| format!("commit {commit} names no tree"))?)
    }

    /// The entries of a tree: mode, name, id.
    pub fn read_tree(&self, tree: Oid) -> Result<Vec<(u32, Vec<u8>, Oid)>, String> {
        let bytes = self.read(tree, ObjectType::Tree)?;
        let entries = parse_tree(&bytes, tree.as_bytes().len());
        entries.ok_or_else(|| format!("tree {tree} is malformed"))
    }

    /// The object format, SHA-1 or SHA-256.
    pub fn format(&self) -> ObjectFormat {
        self.format
    }
}

/// Parses a tree: each entry is `mode name`, a zero byte, and the id. `None` if it is malformed.
pub(crate) fn parse_tree(mut rest: &[u8], id_bytes: usize) -> Option<Vec<(u32, Vec<u8>, Oid)>> {
    // An estimate: besides its id, an entry takes a mode and a short name.
    let mut entries = Vec::with_capacity(rest.len() / (id_bytes + 16));
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (head, tail) = (&rest[..end], &rest[end + 1..]);
        let space = head.iter().position(|byte| *byte == b' ')?;
        let mode = u32::from_str_radix(std::str::from_utf8(&head[..space]).ok()?, 8).ok()?;
        let (id, tail) = tail.split_at_checked(id_bytes)?;
        entries.push((mode, head[space + 1..].to_vec(), Oid::from_bytes(id).ok()?));
        rest = tail;
    }
    Some(entries)
}

/// The maximum nesting depth of directories.
const DEPTH: usize = 500;

/// The kind of a file in a commit.
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

/// The contents of a commit.
#[derive(Debug, Default)]
pub(crate) struct List {
    /// Sorted by path.
    pub files: Vec<(Vec<u8>, Leaf)>,
    /// The directories that are not empty; a clone has no others.
    pub dirs: BTreeSet<Vec<u8>>,
    /// The commits of submodules, by path.
    pub submodules: BTreeMap<Vec<u8>, Oid>,
}

impl List {
    /// Lists the contents of a tree.
    pub fn read(objects: &Objects, tree: Oid) -> Result<Self, String> {
        let mut list = Self::default();
        list.add(objects, tree, &[], 0)?;
        // Trees are sorted by other rules than whole paths, and one may be written unsorted.
        list.files.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(list)
    }

    /// Adds the contents of a directory. Returns whether there are any.
    fn add(
        &mut self,
        objects: &Objects,
        tree: Oid,
        at: &[u8],
        depth: usize,
    ) -> Result<bool, String> {
        if depth > DEPTH {
            return Err(format!("its directories are more than {DEPTH} levels deep"));
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
                return Err(format!("tree {tree} contains the same name twice"));
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

    /// The file at this path.
    pub fn file(&self, path: &[u8]) -> Option<&Leaf> {
        Some(&self.files[self.find(path)?].1)
    }

    /// The index of the file at this path.
    pub fn find(&self, path: &[u8]) -> Option<usize> {
        let files = &self.files;
        files
            .binary_search_by(|(other, _)| other[..].cmp(path))
            .ok()
    }
}

/// The failure for a path that is not UTF-8, which libgit2 does not accept.
pub(crate) fn refuse_name(dir: &Path) -> Failure {
    let what = format!(
        "the path `{}` is not UTF-8, so cook cannot make a clean room of the repository there",
        dir.display()
    );
    let hint = "move the repository to a path in UTF-8";
    Failure::state(Code::NotReproducible, what).replace_hints([hint])
}

/// The path of a file of the commit below a directory; an error if the system does not support its name.
pub(crate) fn place_below(top: &Path, path: &[u8]) -> io::Result<PathBuf> {
    let path = native_path(path).ok_or(io::ErrorKind::InvalidFilename)?;
    Ok(top.join(path))
}

pub(crate) fn join(at: &[u8], name: &[u8]) -> Vec<u8> {
    match at.is_empty() {
        true => name.to_vec(),
        false => [at, b"/", name].concat(),
    }
}

/// Whether a name stays in its directory and does not denote `.git`, even on a file system that ignores case, trailing
/// dots and blanks or zero-width characters, or that treats a backslash as a separator. git checks out no other name.
fn is_safe(name: &[u8]) -> bool {
    let unsafe_byte = |byte: &u8| matches!(byte, b'/' | 0) || cfg!(windows) && *byte == b'\\';
    if name.is_empty() || name == b"." || name == b".." || name.iter().any(unsafe_byte) {
        return false;
    }
    // Only names that begin so can fold to one of git's own names.
    if name.is_ascii() && !matches!(name[0], b'.' | b'g' | b'G') && !name.contains(&b'\\') {
        return true;
    }
    let folded = fold(name);
    let mut stems = folded.split('\\').map(stem);
    stems.all(|stem| stem != ".git" && stem != "git~1")
}

/// Whether the entry is a link named `.gitmodules`; git reads that file only if it is a regular file.
fn is_link_in_place_of_settings(mode: u32, name: &[u8]) -> bool {
    // Most entries are not links, so this check is cheap.
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

/// The name without a trailing `:stream` part, dots and blanks, which some file systems ignore.
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
