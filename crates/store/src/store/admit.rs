//! Whether a chain of transitions that came from elsewhere has the form that cook gives one.
//!
//! git refuses neither names that differ in case alone, symlinks, submodules and odd modes, nor
//! merge commits. Every size is asked for before an object is inflated. What the
//! transitions say is for replay.

use super::error::StoreError;
use super::log::{self, Log, TreeEntry};
use super::objects::{self, Stand};
use super::tree::{
    APPENDED, Document, EVENT, EXCHANGES, FORMAT_FILE, HISTORIES, History, RECEIPTS, TESTS, TRAIL,
};
use git2::{ObjectType, Oid};
use std::collections::HashSet;
use std::time::Instant;

/// How much of a log from elsewhere is read.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Transitions that are new here.
    pub transitions: u64,
    /// Objects that came along.
    pub objects: u64,
    /// Bytes of a document.
    pub document: u64,
    /// Bytes of any other file.
    pub file: u64,
    /// When it must be done.
    pub until: Instant,
}

/// Entries of one tree, and bytes of a tree with as many.
const MAX_ENTRIES: usize = 4_096;
const MAX_TREE: u64 = 1 << 20;
/// Bytes of a commit; a signature is one or two thousand.
const MAX_COMMIT: u64 = 64 << 10;

/// A chain that was looked through.
#[derive(Debug, Clone)]
pub struct Admitted {
    pub(super) tip: Oid,
    /// The transition it follows, which the log holds already; none = it begins here.
    pub(super) known: Option<Oid>,
    /// All that it needs and the log may lack. Files come first, then trees, then commits, the
    /// oldest first: a log that was filled in part holds no commit without what it leads to.
    pub(super) objects: Vec<Oid>,
    /// New transitions.
    pub transitions: u64,
    /// Bytes of what it needs, before compression.
    pub bytes: u64,
}

impl Admitted {
    /// The newest transition.
    pub fn tip(&self) -> String {
        self.tip.to_string()
    }

    /// The transition it follows, which the log holds already.
    pub fn find_known(&self) -> Option<String> {
        self.known.map(|id| id.to_string())
    }
}

/// Sizes of everything that came along, wanted or not: what something wanted is made from is
/// inflated with it.
pub(super) fn check_sizes(log: &Log, limits: &Limits) -> Result<(), StoreError> {
    let all = log.all()?;
    if all.len() as u64 > limits.objects {
        return Err(StoreError::foreign(format!(
            "{} objects came along, and {} are read",
            all.len(),
            limits.objects
        )));
    }
    for id in all {
        in_time(limits)?;
        let (_, bytes) = header(log, id)?;
        if bytes > limits.file {
            return Err(too_large("object", &id.to_string(), bytes, limits.file));
        }
    }
    Ok(())
}

/// Walks from a tip to its first transition, or to one that `own` holds.
pub(super) fn admit(
    log: &Log,
    own: Option<&Log>,
    tip: Oid,
    limits: &Limits,
) -> Result<Admitted, StoreError> {
    let mut walk = Walk {
        log,
        own,
        limits,
        seen: HashSet::new(),
        files: Vec::new(),
        trees: Vec::new(),
        commits: Vec::new(),
        bytes: 0,
    };
    let mut at = Some(tip);
    let mut after: Option<u64> = None;
    let mut transitions = 0;
    let mut known = None;
    while let Some(id) = at {
        in_time(limits)?;
        if own.is_some_and(|own| own.holds(id)) {
            let before = own.and_then(|own| objects::meta(own, id).ok());
            follows(id, before.map(|meta| meta.seq), after)?;
            known = Some(id);
            break;
        }
        transitions += 1;
        if transitions > limits.transitions {
            return Err(StoreError::foreign(format!(
                "it has more than {} transitions",
                limits.transitions
            )));
        }
        let (seq, parent) = walk.transition(id, after.is_none())?;
        follows(id, Some(seq), after)?;
        if (seq == 1) != parent.is_none() {
            return Err(StoreError::foreign(format!(
                "transition {seq} ({id}) has a parent where a first one has none, or none where others have one"
            )));
        }
        after = Some(seq);
        at = parent;
    }
    let mut objects = walk.files;
    objects.extend(walk.trees.into_iter().rev());
    objects.extend(walk.commits.into_iter().rev());
    Ok(Admitted {
        tip,
        known,
        objects,
        transitions,
        bytes: walk.bytes,
    })
}

fn in_time(limits: &Limits) -> Result<(), StoreError> {
    match Instant::now() < limits.until {
        true => Ok(()),
        false => Err(StoreError::foreign("looking through it took too long")),
    }
}

/// The number of a transition against that of the one after it.
fn follows(id: Oid, seq: Option<u64>, after: Option<u64>) -> Result<(), StoreError> {
    match (seq, after) {
        (Some(_), None) => Ok(()),
        (Some(seq), Some(after)) if seq.checked_add(1) == Some(after) => Ok(()),
        _ => Err(StoreError::foreign(format!(
            "the number of {id} is not the one before that of the transition after it"
        ))),
    }
}

fn too_large(what: &str, name: &str, bytes: u64, limit: u64) -> StoreError {
    StoreError::foreign(format!(
        "{what} `{name}` holds {bytes} bytes, and {limit} are read"
    ))
}

fn header(log: &Log, id: Oid) -> Result<(ObjectType, u64), StoreError> {
    log.header(id)
        .map_err(|error| StoreError::foreign(error.in_one_line()))
}

struct Walk<'l> {
    log: &'l Log,
    own: Option<&'l Log>,
    limits: &'l Limits,
    seen: HashSet<Oid>,
    files: Vec<Oid>,
    /// A tree before those in it.
    trees: Vec<Oid>,
    /// The newest first.
    commits: Vec<Oid>,
    bytes: u64,
}

impl Walk<'_> {
    /// Number and parent of a transition whose form is right.
    fn transition(&mut self, id: Oid, is_tip: bool) -> Result<(u64, Option<Oid>), StoreError> {
        let bytes = self.read(id, ObjectType::Commit, MAX_COMMIT)?;
        self.commits.push(id);
        let wrong = |what: &str| StoreError::foreign(format!("commit {id} {what}"));
        check_lines(&bytes).map_err(|what| wrong(&what))?;
        let commit = self
            .log
            .decode_commit(id, &bytes)
            .map_err(|_| wrong("is malformed"))?;
        let parent = match commit.parents[..] {
            [] => None,
            [parent] => Some(parent),
            _ => return Err(wrong("has more than one parent")),
        };
        let meta = objects::read_meta(id, &commit).ok_or_else(|| wrong("is not a transition"))?;
        self.tree(commit.tree, &format!("transition {}", meta.seq))?;
        if is_tip {
            // What another cook wrote is not malformed.
            Stand::at(self.log, id)?.check_format()?;
        }
        Ok((meta.seq, parent))
    }

    fn read(&self, id: Oid, wanted: ObjectType, limit: u64) -> Result<Vec<u8>, StoreError> {
        let (kind, bytes) = header(self.log, id)?;
        if kind != wanted {
            return Err(StoreError::foreign(format!(
                "object {id} is a {}, not a {}",
                kind.str(),
                wanted.str()
            )));
        }
        if bytes > limit {
            return Err(too_large(wanted.str(), &id.to_string(), bytes, limit));
        }
        let read = self.log.read(id);
        read.map(|(_, bytes)| bytes)
            .map_err(|error| StoreError::foreign(error.in_one_line()))
    }

    /// Whether the log may lack it, asked once.
    fn is_new(&mut self, id: Oid) -> bool {
        self.seen.insert(id) && !self.own.is_some_and(|own| own.holds(id))
    }

    fn tree(&mut self, id: Oid, at: &str) -> Result<(), StoreError> {
        if !self.is_new(id) {
            return Ok(());
        }
        self.trees.push(id);
        for entry in self.entries(id, at)? {
            let place = || format!("`{}` of {at}", entry.name.escape_debug());
            match (folder(&entry.name), entry.mode) {
                (Some(fits), log::FOLDER) => self.folder(&entry, fits, &place())?,
                (None, log::FILE) if is_document(&entry.name) => {
                    self.file(entry.id, self.limits.document, &place())?;
                }
                (None, log::FILE) if [EVENT, FORMAT_FILE, HISTORIES].contains(&&*entry.name) => {
                    self.file(entry.id, self.limits.file, &place())?;
                }
                _ => return Err(no_place(&place(), entry.mode)),
            }
        }
        Ok(())
    }

    fn folder(
        &mut self,
        folder: &TreeEntry,
        fits: fn(&str) -> bool,
        at: &str,
    ) -> Result<(), StoreError> {
        if !self.is_new(folder.id) {
            return Ok(());
        }
        self.trees.push(folder.id);
        for entry in self.entries(folder.id, at)? {
            let place = format!("`{}` in {at}", entry.name.escape_debug());
            if entry.mode != log::FILE || !fits(&entry.name) {
                return Err(no_place(&place, entry.mode));
            }
            self.file(entry.id, self.limits.file, &place)?;
        }
        Ok(())
    }

    /// Entries of a tree that is written as git writes it: none twice, none out of order.
    fn entries(&self, id: Oid, at: &str) -> Result<Vec<TreeEntry>, StoreError> {
        let bytes = self.read(id, ObjectType::Tree, MAX_TREE)?;
        let wrong = |what: &str| StoreError::foreign(format!("the tree of {at} {what}"));
        let entries = self
            .log
            .decode_tree(id, &bytes)
            .map_err(|_| wrong("is malformed"))?;
        if entries.len() > MAX_ENTRIES {
            return Err(wrong("has too many entries"));
        }
        let names: HashSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        if names.len() != entries.len() || log::tree_bytes(entries.clone()) != bytes {
            return Err(wrong("is not written as git writes one"));
        }
        Ok(entries)
    }

    fn file(&mut self, id: Oid, limit: u64, at: &str) -> Result<(), StoreError> {
        if !self.is_new(id) {
            return Ok(());
        }
        let (kind, bytes) = header(self.log, id)?;
        if kind != ObjectType::Blob {
            return Err(StoreError::foreign(format!("{at} is a {}", kind.str())));
        }
        if bytes > limit {
            return Err(StoreError::foreign(format!(
                "{at} holds {bytes} bytes, and {limit} are read"
            )));
        }
        self.bytes += bytes;
        self.files.push(id);
        Ok(())
    }
}

fn no_place(at: &str, mode: u32) -> StoreError {
    StoreError::foreign(format!("{at} (mode {mode:o}) has no place in the format"))
}

/// A commit's lines before its message, each known and where git writes it.
fn check_lines(bytes: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
    let (head, _) = text.split_once("\n\n").ok_or("has no message")?;
    let mut wanted = ["tree", "parent", "author", "committer", "gpgsig"]
        .iter()
        .peekable();
    let mut in_signature = false;
    for line in head.lines() {
        if in_signature && line.starts_with(' ') {
            continue;
        }
        let key = line.split(' ').next().unwrap_or_default();
        let key = match key {
            "gpgsig-sha256" => "gpgsig",
            key => key,
        };
        // A second parent is for whoever counts them.
        let again = key == "parent" && wanted.peek() == Some(&&"author");
        if !again && !wanted.any(|known| *known == key) {
            return Err(format!("has a line `{}`", key.escape_debug()));
        }
        in_signature = key == "gpgsig";
    }
    Ok(())
}

fn is_document(name: &str) -> bool {
    Document::ALL.iter().any(|document| document.file() == name)
}

/// What the files in a folder of that name are called; none when there is no such folder.
fn folder(name: &str) -> Option<fn(&str) -> bool> {
    match name {
        APPENDED => {
            Some(|name| name == TRAIL || History::ALL.iter().any(|history| history.file() == name))
        }
        TESTS | RECEIPTS => {
            Some(|name| is_json(name, |stem| stem.bytes().all(|b| b.is_ascii_hexdigit())))
        }
        EXCHANGES => Some(|name| {
            is_json(name, |stem| {
                stem.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            })
        }),
        _ => None,
    }
}

fn is_json(name: &str, is_stem: impl Fn(&str) -> bool) -> bool {
    let stem = name.strip_suffix(".json");
    stem.is_some_and(|stem| (1..=128).contains(&stem.len()) && is_stem(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_git_writes_stand_before_a_message() {
        let lines = |head: &str| check_lines(format!("{head}\n\nm\n").as_bytes());
        assert_eq!(lines("tree a\nauthor a\ncommitter a"), Ok(()));
        assert_eq!(
            lines("tree a\nparent b\nauthor a\ncommitter a\ngpgsig -\n x\n  y"),
            Ok(())
        );
        assert_eq!(
            lines("tree a\nparent b\nparent c\nauthor a\ncommitter a"),
            Ok(())
        );
        for bad in [
            "tree a\nauthor a\ncommitter a\nencoding latin1",
            "tree a\nparent b\nauthor a\nparent c\ncommitter a",
            "author a\ntree a",
            "tree a\nmergetag x\nauthor a",
            "tree a\n b\nauthor a",
        ] {
            assert!(lines(bad).is_err(), "{bad}");
        }
        assert!(check_lines(b"tree a\n").is_err());
    }

    #[test]
    fn only_names_of_the_format_stand_in_a_folder() {
        let fits = |of: &str, name: &str| folder(of).is_some_and(|fits| fits(name));
        assert!(fits(APPENDED, "checkpoints.jsonl") && fits(RECEIPTS, "0aF.json"));
        assert!(fits(EXCHANGES, "ex_01ARZ.json"));
        for (of, name) in [
            (APPENDED, "Checkpoints.jsonl"),
            (RECEIPTS, ".json"),
            (RECEIPTS, "a.JSON"),
            (RECEIPTS, "../a.json"),
            (EXCHANGES, "a\\b.json"),
            (EXCHANGES, "a\u{202e}b.json"),
            ("sessions", "a.json"),
        ] {
            assert!(!fits(of, name), "{of}/{name}");
        }
    }
}
