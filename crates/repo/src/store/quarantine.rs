//! A log from elsewhere in a temporary directory, where it is checked and read; it is copied into the log if all of it
//! is valid.

use super::Store;
use super::error::{During, foreign, in_one_line};
use super::log_format::{
    self, APPENDED, Document, EVENT, EXCHANGES, FORMAT_FILE, HISTORIES, History, Meta, RECEIPTS,
    Stand, TESTS, TRAIL,
};
use super::log_place::{self, LockedLog, Place};
use super::odb::{self, Log, TreeEntry};
use crate::disk::TemporaryDir;
use cook_protocol::diagnostic::Failure;
use git2::{ObjectType, Oid};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most entries of a tree, and most bytes of a tree.
const MAX_ENTRIES: usize = 4_096;
const MAX_TREE: u64 = 1 << 20;
/// Most bytes of a commit; a signature takes one or two thousand.
const MAX_COMMIT: u64 = 64 << 10;
/// From this many objects on they are written as a pack; fewer become loose objects, like those of a transition.
const PACKED_FROM: usize = 500;

/// A directory for objects of another repository, laid out like a log.
#[derive(Debug)]
pub struct Quarantine {
    dir: Arc<TemporaryDir>,
    /// The place of the log in it.
    inside: Place,
    /// The place of the worktree for which it was fetched.
    here: Place,
    /// Object directories that are read as well.
    lent: Vec<PathBuf>,
    /// Whether the content of the worktree's own log counts as known.
    knows_own: bool,
}

impl Quarantine {
    /// Creates a quarantine. With `knows_own` a chain is followed back to transitions that the worktree's log holds,
    /// otherwise to its beginning.
    ///
    /// # Errors
    /// If a directory cannot be created, or the log cannot be used.
    pub fn make(here: &Place, knows_own: bool) -> Result<Self, Failure> {
        let what = "a directory for a log from elsewhere";
        let dir = TemporaryDir::make().writing(what)?;
        let root = dir.path().canonicalize().writing(what)?;
        let inside = Place {
            common_dir: root.clone(),
            git_dir: root.clone(),
            // It has no view.
            worktree: root.join("none"),
        };
        log_place::fill_passing(&inside, here).writing(what)?;
        let mut lent = vec![here.common_dir.join("objects")];
        let knows_own = knows_own && log_place::open_log(here)?.is_some();
        if knows_own {
            lent.push(here.log_dir().join("objects"));
        }
        Ok(Self {
            dir: Arc::new(dir),
            inside,
            here: here.clone(),
            lent,
            knows_own,
        })
    }

    /// The directory into which git is to fetch.
    pub fn objects(&self) -> PathBuf {
        self.inside.log_dir().join("objects")
    }

    /// The directories in which git may look for existing objects.
    pub fn lent(&self) -> &[PathBuf] {
        &self.lent
    }

    fn open_alone(&self) -> Result<Log, Failure> {
        log_place::open_known_log(&self.inside)
    }

    fn open_all(&self) -> Result<Log, Failure> {
        let mut log = self.open_alone()?;
        for dir in self.lent.iter().filter(|dir| dir.is_dir()) {
            log = log.with_objects(dir)?;
        }
        Ok(log)
    }

    fn own(&self) -> Result<Option<Log>, Failure> {
        match self.knows_own {
            true => log_place::open_log(&self.here),
            false => Ok(None),
        }
    }

    /// Checks the number and size of all fetched objects.
    ///
    /// # Errors
    /// `remote_log_refused`.
    pub fn check_sizes(&self, limits: &Limits) -> Result<(), Failure> {
        let log = self.open_alone()?.at_rest();
        let all = log.all()?;
        if all.len() as u64 > limits.objects {
            let (came, most) = (all.len(), limits.objects);
            return Err(foreign(format!(
                "{came} objects came along, and {most} are read"
            )));
        }
        // Even unneeded ones: a needed object may be a delta against one, which is inflated with it.
        for id in all {
            limits.check_time()?;
            let header = log.header(id);
            let (_, bytes) = header.map_err(|error| foreign(in_one_line(&error)))?;
            if bytes > limits.file {
                return Err(too_long(&format!("object {id}"), bytes, limits.file));
            }
        }
        Ok(())
    }

    /// Checks a chain from that commit back.
    ///
    /// # Errors
    /// `remote_log_refused`, or the error that this cook does not know the format.
    pub fn admit(&self, tip: &str, limits: &Limits) -> Result<Admitted, Failure> {
        let log = self.open_all()?.at_rest();
        let tip = commit_name(&log, tip)?;
        admit(&log, self.own()?.as_ref(), tip, limits)
    }

    /// The data in the message of one of its commits.
    ///
    /// # Errors
    /// If the commit is not here, or not a transition.
    pub fn meta(&self, commit: &str) -> Result<Meta, Failure> {
        let log = self.open_all()?;
        log_format::meta(&log, commit_name(&log, commit)?)
    }

    /// Opens an admitted chain as a log of its own, for reading. The directory exists for as long as the store does.
    ///
    /// # Errors
    /// If the chain cannot be written there.
    pub fn open(&self, admitted: &Admitted) -> Result<Store, Failure> {
        let all = self.open_all()?;
        let alone = self.open_alone()?;
        let came: HashSet<Oid> = alone.all()?.into_iter().collect();
        let needed = admitted.objects.iter().copied();
        let lacking: Vec<Oid> = needed.filter(|id| !came.contains(id)).collect();
        bring(&all, &alone, &self.lent, &self.inside, &lacking)?;
        let id = log_place::fresh_id();
        // The tip may be in a lent directory.
        all.create_ref(&format!("refs/heads/{id}"), admitted.tip)
            .writing("a ref of the fetched log")?;
        let mut log = self.open_alone()?;
        if self.knows_own {
            // The preceding transitions stay in the worktree's log.
            for dir in &self.lent {
                log = log.with_objects(dir)?;
            }
        }
        Ok(Store {
            place: self.inside.clone(),
            log: log.at_rest(),
            id,
            foreign: true,
            kept_tests: Default::default(),
            _keeps: Some(Arc::clone(&self.dir)),
        })
    }

    /// Writes an admitted chain into the worktree's log, creating the log if necessary. No ref leads to it yet.
    ///
    /// # Errors
    /// If the lock is held, or an object cannot be read or written.
    pub fn take_in(&self, admitted: &Admitted, wait: Duration) -> Result<(), Failure> {
        let all = self.open_all()?;
        let locked = LockedLog::take(&self.here, wait)?;
        let lacking: Vec<Oid> = admitted
            .objects
            .iter()
            .copied()
            .filter(|id| !locked.log.holds(*id))
            .collect();
        let mut from = vec![self.objects()];
        from.extend(self.lent.iter().cloned());
        bring(&all, &locked.log, &from, &self.here, &lacking)?;
        locked.log.sync_fan_out()
    }
}

fn commit_name(log: &Log, name: &str) -> Result<Oid, Failure> {
    log.oid(name)
        .ok_or_else(|| foreign(format!("`{}` is not an object's name", name.escape_debug())))
}

/// Copies objects into a log, in this order.
fn bring(
    from: &Log,
    to: &Log,
    dirs: &[PathBuf],
    place: &Place,
    objects: &[Oid],
) -> Result<(), Failure> {
    if objects.len() >= PACKED_FROM {
        return log_place::write(place, dirs, objects);
    }
    for id in objects {
        let (kind, bytes) = from.read(*id)?;
        to.write(kind, &bytes)?;
    }
    Ok(())
}

/// Limits for reading a log from elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most transitions that are new here.
    pub transitions: u64,
    /// Most fetched objects.
    pub objects: u64,
    /// Most bytes of a document.
    pub document: u64,
    /// Most bytes of any other file.
    pub file: u64,
    /// The deadline.
    pub until: Instant,
}

impl Limits {
    fn check_time(&self) -> Result<(), Failure> {
        match Instant::now() < self.until {
            true => Ok(()),
            false => Err(foreign("looking through it took too long")),
        }
    }
}

/// A chain that passed the checks.
#[derive(Debug, Clone)]
pub struct Admitted {
    tip: Oid,
    /// The transition before the chain, which the log already holds; `None` if the chain starts the log.
    known: Option<Oid>,
    /// All objects that it needs and the log may lack: files first, then trees, then commits, oldest first, so that a
    /// partly filled log never holds a commit without everything it leads to.
    objects: Vec<Oid>,
    /// Number of new transitions.
    pub transitions: u64,
    /// Total size of these objects before compression.
    pub bytes: u64,
}

impl Admitted {
    /// The newest transition.
    pub fn tip(&self) -> String {
        self.tip.to_string()
    }

    /// The transition before the chain, if the log already holds one.
    pub fn find_known(&self) -> Option<String> {
        self.known.map(|id| id.to_string())
    }
}

/// Walks from a tip to its first transition, or to one that `own` holds. git has checked the form of the fetched
/// objects (`fetch.fsckObjects`), and replay compares each commit with the one that cook would write. But git accepts
/// names that differ only in case, symlinks, submodules, odd modes and merge commits; these are refused here. Every
/// object's size is read from its header before the object is inflated.
fn admit(log: &Log, own: Option<&Log>, tip: Oid, limits: &Limits) -> Result<Admitted, Failure> {
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
    let mut known = None;
    while let Some(id) = at {
        limits.check_time()?;
        let is_known = own.is_some_and(|own| own.holds(id));
        let (seq, parent) = match own.filter(|_| is_known) {
            Some(own) => (log_format::meta(own, id).ok().map(|meta| meta.seq), None),
            None => {
                let (seq, parent) = walk.transition(id, after.is_none())?;
                (Some(seq), parent)
            }
        };
        let goes_on =
            after.is_none_or(|after| seq.and_then(|seq| seq.checked_add(1)) == Some(after));
        let Some(seq) = seq.filter(|_| goes_on) else {
            return Err(foreign(format!(
                "the number of {id} is not the one before that of the transition after it"
            )));
        };
        if is_known {
            known = Some(id);
            break;
        }
        if (seq == 1) != parent.is_none() {
            return Err(foreign(format!(
                "transition {seq} ({id}) has a parent where a first one has none, or none where others have one"
            )));
        }
        after = Some(seq);
        at = parent;
    }
    let transitions = walk.commits.len() as u64;
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

struct Walk<'l> {
    log: &'l Log,
    own: Option<&'l Log>,
    limits: &'l Limits,
    seen: HashSet<Oid>,
    files: Vec<Oid>,
    /// Each tree precedes the trees in it.
    trees: Vec<Oid>,
    /// Newest first.
    commits: Vec<Oid>,
    bytes: u64,
}

impl Walk<'_> {
    /// Checks the form of a transition; returns its number and parent.
    fn transition(&mut self, id: Oid, is_tip: bool) -> Result<(u64, Option<Oid>), Failure> {
        let bytes = self.read(id, ObjectType::Commit, MAX_COMMIT)?;
        self.commits.push(id);
        if self.commits.len() as u64 > self.limits.transitions {
            let most = self.limits.transitions;
            return Err(foreign(format!("it has more than {most} transitions")));
        }
        let wrong = |what: &str| foreign(format!("commit {id} {what}"));
        let commit = self
            .log
            .decode_commit(id, &bytes)
            .map_err(|_| wrong("is malformed"))?;
        if commit.parents.len() > 1 {
            return Err(wrong("has more than one parent"));
        }
        let meta =
            log_format::read_meta(id, &commit).ok_or_else(|| wrong("is not a transition"))?;
        self.tree(commit.tree, None, &format!("transition {}", meta.seq))?;
        if is_tip {
            // A commit in another cook's format is not malformed.
            Stand::at(self.log, id)?.check_format()?;
        }
        Ok((meta.seq, commit.parents.first().copied()))
    }

    /// Checks from an object's header that it has this type and at most `limit` bytes; returns its size.
    fn check(&self, id: Oid, wanted: ObjectType, at: &str, limit: u64) -> Result<u64, Failure> {
        let header = self.log.header(id);
        let (kind, bytes) = header.map_err(|error| foreign(in_one_line(&error)))?;
        if kind != wanted {
            let (kind, wanted) = (kind.str(), wanted.str());
            return Err(foreign(format!("{at} is a {kind}, not a {wanted}")));
        }
        match bytes > limit {
            true => Err(too_long(at, bytes, limit)),
            false => Ok(bytes),
        }
    }

    fn read(&self, id: Oid, wanted: ObjectType, limit: u64) -> Result<Vec<u8>, Failure> {
        self.check(id, wanted, &format!("object {id}"), limit)?;
        let read = self.log.read(id);
        read.map(|(_, bytes)| bytes)
            .map_err(|error| foreign(in_one_line(&error)))
    }

    /// Whether the log may lack the object; true only for the first call.
    fn is_new(&mut self, id: Oid) -> bool {
        self.seen.insert(id) && !self.own.is_some_and(|own| own.holds(id))
    }

    /// Checks the tree of a transition, or a folder in it.
    fn tree(&mut self, id: Oid, folder: Option<&str>, at: &str) -> Result<(), Failure> {
        if !self.is_new(id) {
            return Ok(());
        }
        self.trees.push(id);
        let bytes = self.read(id, ObjectType::Tree, MAX_TREE)?;
        let entries = self
            .log
            .decode_tree(id, &bytes)
            .map_err(|_| foreign(format!("the tree of {at} is malformed")))?;
        let names: HashSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        if entries.len() > MAX_ENTRIES
            || names.len() != entries.len()
            || odb::tree_bytes(entries.clone()) != bytes
        {
            let what = "has too many entries, or is not written as git writes one";
            return Err(foreign(format!("the tree of {at} {what}")));
        }
        for TreeEntry { mode, name, id } in entries {
            let place = format!("`{}` of {at}", name.escape_debug());
            let is_folder = [APPENDED, EXCHANGES, RECEIPTS, TESTS].contains(&&*name);
            match (folder, mode) {
                (None, odb::FOLDER) if is_folder => self.tree(id, Some(&name), &place)?,
                (_, odb::FILE) if has_place(folder, &name) => {
                    let limit = match folder.is_none() && Document::is_file(&name) {
                        true => self.limits.document,
                        false => self.limits.file,
                    };
                    if self.is_new(id) {
                        self.bytes += self.check(id, ObjectType::Blob, &place, limit)?;
                        self.files.push(id);
                    }
                }
                _ => {
                    return Err(foreign(format!(
                        "{place} (mode {mode:o}) has no place in the format"
                    )));
                }
            }
        }
        Ok(())
    }
}

fn too_long(at: &str, bytes: u64, limit: u64) -> Failure {
    foreign(format!("{at} holds {bytes} bytes, and {limit} are read"))
}

/// Whether the format has a file of that name in that folder.
fn has_place(folder: Option<&str>, name: &str) -> bool {
    let is_json = |is_stem: fn(u8) -> bool| {
        let stem = name.strip_suffix(".json").unwrap_or_default();
        (1..=128).contains(&stem.len()) && stem.bytes().all(is_stem)
    };
    match folder {
        None => Document::is_file(name) || [EVENT, FORMAT_FILE, HISTORIES].contains(&name),
        Some(APPENDED) => {
            name == TRAIL || History::ALL.iter().any(|history| history.file() == name)
        }
        Some(EXCHANGES) => is_json(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        Some(_) => is_json(|byte| byte.is_ascii_hexdigit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_format_stand_in_a_folder() {
        for (folder, name) in [
            (APPENDED, "checkpoints.jsonl"),
            (RECEIPTS, "0aF.json"),
            (EXCHANGES, "ex_01ARZ.json"),
        ] {
            assert!(has_place(Some(folder), name), "{folder}/{name}");
        }
        for (folder, name) in [
            (APPENDED, "Checkpoints.jsonl"),
            (RECEIPTS, ".json"),
            (RECEIPTS, "a.JSON"),
            (RECEIPTS, "../a.json"),
            (EXCHANGES, "a\\b.json"),
            (EXCHANGES, "a\u{202e}b.json"),
        ] {
            assert!(!has_place(Some(folder), name), "{folder}/{name}");
        }
    }
}
