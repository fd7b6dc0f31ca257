//! The session store in the log's repository: values, refs, names and the record of calls are events below one ref of
//! the log. Beside it, `sessions/` holds the output of agents, notes about calls in progress, and damaged files that
//! were set aside. Objects are content-addressed and written once; refs are written once too; only the user's names can
//! be moved.
//!
//! Invariant: a visible note is complete, and its file stays locked while the caller's process lives: an unlocked note
//! belongs to a dead process.

use super::failures::{OfStore, as_damage, corrupt, not_found, store_failed, wrong_kind};
use super::session_record::{
    Batch, CallRecord, Event, Held, Index, REF, Stored, Writer, events, read_value,
};
use super::session_values::{ContentHash, Entry, Episode, Exchange, Object, Ref, RefKind, Series};
use crate::disk::{self, Links, is_unfinished, open_no_follow, sync_dir};
use crate::store::odb::Log;
use crate::store::{Place, branches};
use cook_protocol::diagnostic::{Code, Failure, FailureKind};
use git2::Oid;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Longest name a user may give, in bytes.
const MAX_LABEL: usize = 100;

/// Largest note that is read.
const MAX_NOTE: u64 = 1 << 20;
/// Most characters that are kept of an unreadable note.
const LEFT: usize = 2_000;

/// A call in progress. Its note stays locked while this value lives.
#[derive(Debug, Default)]
pub struct InFlight {
    note: Option<PathBuf>,
    _locks: Vec<File>,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(note) = &self.note {
            // A note that cannot be removed is later found as that of an interrupted call, which is harmless.
            let _ = std::fs::remove_file(note);
        }
    }
}

fn dir(root: &Path) -> PathBuf {
    root.join("inflight")
}

/// Writes the note of a call.
fn note(root: &Path, name: Ref, what: &CallRecord) -> io::Result<InFlight> {
    let guard = guard(root)?;
    guard.lock_shared()?;
    let path = dir(root).join(format!("{name}.json"));
    make_dir(&dir(root))?;
    let mut file = tempfile::Builder::new()
        .prefix(".cook-")
        .suffix(".tmp")
        .tempfile_in(dir(root))?;
    // Locked before it is visible: anyone who finds it unlocked knows that its process is dead.
    file.as_file().lock()?;
    serde_json::to_writer(&mut file, what)?;
    file.as_file().sync_data()?;
    let file = file.persist_noclobber(&path).map_err(|error| error.error)?;
    sync_dir(&dir(root))?;
    Ok(InFlight {
        note: Some(path),
        _locks: vec![file, guard],
    })
}

/// The file that calls lock shared and clearing locks exclusively.
fn guard(root: &Path) -> io::Result<File> {
    make_dir(root)?;
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    open_no_follow(&mut options, &root.join("guard"))
}

/// Creates a directory that only its owner can access.
fn make_dir(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)?;
    path.parent().map_or(Ok(()), sync_dir)
}

/// The note of a call; otherwise its beginning, or why it cannot be read.
fn read_note(path: &Path) -> Result<CallRecord, String> {
    let bytes = disk::read(path, MAX_NOTE, Links::Refuse).map_err(|error| error.to_string())?;
    let bytes = bytes.unwrap_or_default();
    serde_json::from_slice(&bytes).map_err(|_| {
        let text = String::from_utf8_lossy(&bytes);
        text.chars().take(LEFT).collect()
    })
}

/// The names in a directory; empty if there is none.
pub(super) fn list_names(dir: &Path) -> Result<Vec<String>, Failure> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.of_store()?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.of_store()?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn find_name(file: &str) -> Option<Ref> {
    file.strip_suffix(".json")?.parse().ok()
}

/// Largest object that is stored, in bytes.
pub(super) const MAX_OBJECT: u64 = 64 << 20;

/// How many times a read is repeated, because packing may have moved an object.
const RETRIES: usize = 3;

/// Entries of `sessions/` that show an earlier layout.
const EARLIER: [&str; 6] = ["objects", "refs", "naming", "sealed", "names", "log.jsonl"];

/// Sessions in the log of a repository.
#[derive(Clone)]
pub struct GitStore {
    place: Place,
    root: PathBuf,
    read: Arc<Mutex<Option<Known>>>,
}

impl std::fmt::Debug for GitStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GitStore({})", self.root.display())
    }
}

/// The content of the record up to a commit.
struct Known {
    log: Log,
    tip: Option<Oid>,
    index: Index,
}

impl Known {
    /// Reads the events since then.
    fn follow(&mut self) -> Result<(), Failure> {
        let tip = self.log.find_ref(REF)?;
        if tip == self.tip {
            return Ok(());
        }
        let (fresh, goes_on) = match tip {
            Some(tip) => events(&self.log, tip, self.tip)?,
            None => Default::default(),
        };
        if !goes_on {
            self.index = Index::default();
        }
        self.index.take_in(fresh);
        self.tip = tip;
        Ok(())
    }
}

impl GitStore {
    /// The store of a repository; the log is created when the first value is stored.
    ///
    /// # Errors
    /// If an earlier cook stored sessions in another layout, which is not read.
    pub fn open(place: Place) -> Result<Self, Failure> {
        let root = place.cook_dir().join("sessions");
        let earlier = |name: &&&str| std::fs::symlink_metadata(root.join(name)).is_ok();
        if let Some(found) = EARLIER.iter().find(earlier) {
            let what = format!(
                "an earlier cook kept its sessions in another layout, which is not read: `{}`",
                root.join(found).display()
            );
            return Err(Failure::state(Code::SessionLayoutEarlier, what));
        }
        Ok(Self {
            place,
            root,
            read: Arc::default(),
        })
    }

    /// The directory of the files outside the log.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// The directory to which damaged files are moved.
    pub(super) fn aside(&self) -> PathBuf {
        self.root.join("damaged")
    }

    /// Runs `work` on the current record; returns the default if there is none.
    fn look<T: Default>(
        &self,
        work: impl Fn(&Log, &Index) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut attempts = 0;
        loop {
            if read.is_none() {
                *read = branches::open(&self.place)?.map(|log| Known {
                    log,
                    tip: None,
                    index: Index::default(),
                });
            }
            let Some(known) = read.as_mut() else {
                return Ok(T::default());
            };
            let outcome = known.follow().and_then(|()| work(&known.log, &known.index));
            let outcome = outcome.map_err(as_damage);
            match outcome {
                Err(error) if error.code == Code::ObjectCorrupt && attempts < RETRIES => {
                    attempts += 1;
                    *read = None;
                }
                outcome => return outcome,
            }
        }
    }

    /// Like [`GitStore::look`], for work that needs the index only.
    pub(super) fn index<T: Default>(&self, work: impl Fn(&Index) -> T) -> Result<T, Failure> {
        self.look(|_, index| Ok(work(index)))
    }

    /// The lines of the record of calls, oldest first.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn lines(&self) -> Result<Vec<CallRecord>, Failure> {
        self.index(|index| index.lines.clone())
    }

    /// Hashes of all objects, in no particular order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn objects(&self) -> Result<Vec<ContentHash>, Failure> {
        self.index(|index| index.objects.keys().cloned().collect())
    }

    /// Whether a ref was removed by clearing.
    ///
    /// # Errors
    /// When the record of calls cannot be read.
    pub fn is_expired(&self, text: &str) -> Result<bool, Failure> {
        self.index(|index| index.is_expired(text))
    }

    /// Writes exchanges again that are damaged in the store; returns the new paths of the damaged files.
    pub(super) fn mend_exchanges(&self, objects: &[Object]) -> Result<Vec<PathBuf>, Failure> {
        let writer = Writer::lock(&self.place)?;
        let mut aside = Vec::new();
        for object in objects.iter().filter(|object| object.is_exchange()) {
            aside.extend(writer.mend(&bytes(object)?, &self.aside())?);
        }
        Ok(aside)
    }

    /// Puts a lost record before the events written since then; returns whether anything was restored.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn join(&self, lost: &str) -> Result<bool, Failure> {
        let writer = Writer::lock(&self.place)?;
        writer.join(lost).map_err(as_damage)
    }

    /// Stores the values of a batch atomically.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn keep(&self, batch: &Batch) -> Result<(), Failure> {
        let writer = Writer::lock(&self.place)?;
        let objects = batch.objects.iter().map(|object| {
            Ok(Stored {
                hash: object.hash(),
                at: match object.is_exchange() {
                    true => Held::Blob(writer.write(&bytes(object)?)?.to_string()),
                    false => Held::Value(object.clone()),
                },
            })
        });
        let kept = writer.append(Event {
            objects: objects.collect::<Result<_, Failure>>()?,
            batch: batch.clone(),
            ..Event::default()
        });
        kept.map_err(as_damage)
    }

    /// The object with this hash; every read verifies the hash.
    ///
    /// # Errors
    /// `object_corrupt` if it is missing or has another hash.
    pub fn get(&self, hash: &ContentHash) -> Result<Object, Failure> {
        let object = self.look(|log, index| {
            let held = index.objects.get(hash);
            held.map(|held| read_value(log, held)).transpose()
        })?;
        let object = object.ok_or_else(|| corrupt(hash, "it is not in the store"))?;
        let content = object.hash();
        match content == *hash {
            true => Ok(object),
            false => {
                let why = format!("its content hashes to {content}");
                Err(corrupt(hash, why))
            }
        }
    }

    /// The entry of a ref; `None` if there is no such ref.
    ///
    /// # Errors
    /// `object_corrupt`, or the store cannot be read.
    pub fn entry(&self, name: Ref) -> Result<Option<Entry>, Failure> {
        self.index(|index| index.entries.get(&name).cloned())
    }

    /// Refs that begin with `prefix`, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list_beginning_with(&self, prefix: &str) -> Result<Vec<Ref>, Failure> {
        let fits = |name: &&Ref| name.to_string().starts_with(prefix);
        self.index(|index| index.entries.keys().filter(fits).copied().collect())
    }

    /// Refs that name this object, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn naming(&self, hash: &ContentHash) -> Result<Vec<Ref>, Failure> {
        self.index(|index| {
            let naming = index.entries.values().filter(|entry| entry.hash == *hash);
            naming.map(|entry| entry.name).collect()
        })
    }

    /// The series that continues this episode after its compaction.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn find_successor(&self, episode: Ref) -> Result<Option<Ref>, Failure> {
        self.index(|index| index.sealed.get(&episode).copied())
    }

    /// The ref with this name of the user's.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn find_labelled(&self, label: &str) -> Result<Option<Ref>, Failure> {
        self.index(|index| index.labels.get(label).copied())
    }

    /// Writes the note of a call before anything is started for it. The note is removed when the returned value is
    /// dropped, and stays if this process is killed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(&self, name: Ref, what: &CallRecord) -> Result<InFlight, Failure> {
        note(&self.root, name, what).of_store()
    }

    /// Gives a ref a name, or moves the name to it.
    ///
    /// # Errors
    /// If it is not a valid name, or cannot be written.
    pub fn label(&self, label: &str, name: Ref) -> Result<(), Failure> {
        check_label(label)?;
        self.keep(&Batch {
            label: Some((label.to_owned(), name)),
            ..Batch::default()
        })
    }

    /// Appends a line to the record of calls.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record(&self, line: &CallRecord) -> Result<(), Failure> {
        self.keep(&Batch {
            line: Some(line.clone()),
            ..Batch::default()
        })
    }

    /// Prevents calls from starting.
    pub(super) fn alone(&self) -> Result<File, Failure> {
        let guard = guard(self.root()).of_store()?;
        match guard.try_lock() {
            Ok(()) => Ok(guard),
            Err(TryLockError::WouldBlock) => {
                Err(store_failed(io::Error::other("a call is being made")))
            }
            Err(TryLockError::Error(error)) => Err(store_failed(error)),
        }
    }

    /// Calls whose process died.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn list_interrupted(&self) -> Result<Vec<Interrupted>, Failure> {
        let mut found = Vec::new();
        for file in list_names(&dir(self.root()))? {
            let Some(name) = find_name(&file) else {
                continue;
            };
            let path = dir(self.root()).join(&file);
            let mut options = OpenOptions::new();
            options.read(true).write(true);
            let Ok(file) = open_no_follow(&mut options, &path) else {
                continue;
            };
            if file.try_lock().is_err() || !path.exists() {
                continue;
            }
            found.push(Interrupted {
                name,
                noted: read_note(&path),
                file,
            });
        }
        found.sort_by_key(|call| call.name);
        Ok(found)
    }

    /// Writes an interrupted call into the record of calls; if its note is damaged, with the rest of the note. A call
    /// that was stored before its process died is not interrupted.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn settle(&self, call: Interrupted, at: &str) -> Result<(), Failure> {
        let path = dir(self.root()).join(format!("{}.json", call.name));
        if !matches!(self.entry(call.name), Ok(Some(_))) {
            match self.record(&record_interrupted(call.name, call.noted, at)) {
                // The note stays until the record is repaired, for which this command is needed.
                Err(error) if error.code == Code::ObjectCorrupt => return Ok(()),
                recorded => recorded?,
            }
        }
        std::fs::remove_file(path).of_store()?;
        drop(call.file);
        Ok(())
    }

    /// Files beside the notes of calls in progress that are not notes, and unreadable notes.
    pub(super) fn bad_notes(&self) -> Result<Vec<(String, &'static str)>, Failure> {
        let mut bad = Vec::new();
        for file in list_names(&dir(self.root()))? {
            let path = dir(self.root()).join(&file);
            let why = match find_name(&file) {
                None if is_unfinished(&file) => continue,
                None => "it is not part of the store; remove it",
                // A file that has just disappeared was the note of a call that has ended.
                Some(_) if read_note(&path).is_ok() || !path.exists() => continue,
                Some(_) => {
                    "the note of a call cannot be read: nothing is known of the call but its name; remove the file"
                }
            };
            bad.push((format!("inflight/{}", file.escape_debug()), why));
        }
        Ok(bad)
    }
}

/// The bytes of an object as stored.
pub(super) fn bytes(object: &Object) -> Result<Vec<u8>, Failure> {
    let bytes = serde_json::to_vec(object).of_store()?;
    match bytes.len() as u64 > MAX_OBJECT {
        false => Ok(bytes),
        true => {
            let what = format!("more than {MAX_OBJECT} bytes");
            Err(store_failed(io::Error::other(what)))
        }
    }
}

/// A call whose process was killed.
#[derive(Debug)]
pub struct Interrupted {
    /// The ref that its exchange would have had; marks its processes.
    pub name: Ref,
    /// Its note; otherwise the beginning of the note, or why it cannot be read.
    noted: Result<CallRecord, String>,
    /// Keeps the note locked, so that nobody else settles the call at the same time.
    file: File,
}

fn record_interrupted(name: Ref, noted: Result<CallRecord, String>, at: &str) -> CallRecord {
    let (noted, message) = match noted {
        Ok(noted) => (noted, "cook was ended before the answer"),
        Err(left) => (
            CallRecord {
                note: Some(left),
                ..CallRecord::default()
            },
            "cook was ended before the answer, and what it had noted of the call is damaged",
        ),
    };
    CallRecord {
        schema_version: 1,
        at: at.to_owned(),
        exchange: Some(name),
        error: Some("interrupted".to_owned()),
        message: Some(message.to_owned()),
        ..noted
    }
}
/// Checks a name of the user's: letters, digits, `.`, `_`, `-`; not starting with a dot, and not a ref.
fn check_label(label: &str) -> Result<(), Failure> {
    let fits = !label.is_empty()
        && label.len() <= MAX_LABEL
        && !label.starts_with('.')
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    if fits && label.parse::<Ref>().is_err() {
        return Ok(());
    }
    let why = format!(
        "`{}` is not a valid name: letters, digits, `.`, `_` and `-`, at most {MAX_LABEL}",
        label.escape_debug()
    );
    Err(Failure::usage(why))
}

fn report_misplaced(hash: &ContentHash, found: RefKind, wanted: RefKind) -> Failure {
    let why = format!("it is an {found}, where an {wanted} was stored");
    corrupt(hash, why)
}

/// Reads an exchange and gives it the supplier's name for it.
///
/// # Errors
/// As [`GitStore::get`].
pub fn load_exchange(
    store: &GitStore,
    hash: &ContentHash,
    exid: Option<String>,
) -> Result<Exchange, Failure> {
    match store.get(hash)? {
        Object::Exchange {
            kind,
            input,
            output,
        } => Ok(Exchange::new(kind, input, output, exid)),
        other => Err(report_misplaced(hash, other.kind(), RefKind::Exchange)),
    }
}

/// Reads an episode with all its exchanges; takes time proportional to its length.
///
/// # Errors
/// As [`GitStore::get`]; a chain whose lengths do not count down is corrupt.
pub fn load_episode(
    store: &GitStore,
    hash: &ContentHash,
    exid: Option<String>,
) -> Result<Episode, Failure> {
    let parts = parts(store, hash, RefKind::Episode)?;
    let exchanges = parts.iter().map(|hash| load_exchange(store, hash, None));
    Ok(Episode::of(exchanges.collect::<Result<_, _>>()?, exid))
}

/// Reads a series with all its episodes.
///
/// # Errors
/// As [`load_episode`].
pub fn load_series(store: &GitStore, hash: &ContentHash) -> Result<Series, Failure> {
    let parts = parts(store, hash, RefKind::Series)?;
    let episodes = parts.iter().map(|hash| load_episode(store, hash, None));
    Ok(Series::of(episodes.collect::<Result<_, _>>()?))
}

/// The parts of a chain, oldest first. The hash does not cover lengths, so they must count down to one along the chain.
fn parts(store: &GitStore, hash: &ContentHash, kind: RefKind) -> Result<Vec<ContentHash>, Failure> {
    let mut newest_first = Vec::new();
    let mut at = Some(hash.clone());
    let mut expected = None;
    while let Some(hash) = at {
        let object = store.get(&hash)?;
        let ([parent, Some(part)], true) = (object.stands_on(), object.kind() == kind) else {
            return Err(report_misplaced(&hash, object.kind(), kind));
        };
        let length = object.length();
        let counts = expected.is_none_or(|expected| expected == length);
        if !counts || length == 0 || (length == 1) != parent.is_none() {
            let why = format!("{length} is not its place in the chain");
            return Err(corrupt(hash, why));
        }
        expected = Some(length - 1);
        newest_first.push(part.clone());
        at = parent.cloned();
    }
    newest_first.reverse();
    Ok(newest_first)
}

/// Shortest prefix that is resolved: the three characters of a kind and four of the id.
const SHORTEST: usize = 7;
/// Most refs that the answer to an ambiguous prefix lists.
const CANDIDATES: usize = 10;

/// The result of resolving a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The ref.
    pub name: Ref,
    /// Which ref was chosen, if several matched.
    pub note: Option<String>,
}

/// Resolves a text to a ref of the wanted kind, or of any kind if that is `None`.
///
/// # Errors
/// `episode_not_found`, `series_not_found`, `ref_ambiguous`, `ref_kind_mismatch`.
pub fn resolve(store: &GitStore, text: &str, wanted: Option<RefKind>) -> Result<Named, Failure> {
    let named = find(store, text, wanted)?;
    match wanted {
        Some(wanted) if named.name.kind() != wanted => {
            Err(wrong_kind(&shorten(text), named.name, wanted))
        }
        _ => Ok(named),
    }
}

fn find(store: &GitStore, text: &str, wanted: Option<RefKind>) -> Result<Named, Failure> {
    let plain = |name| Named { name, note: None };
    if let Ok(hash) = ContentHash::try_from(text.to_ascii_lowercase()) {
        return by_hash(store, text, &hash, wanted);
    }
    let name = match text.parse::<Ref>() {
        Ok(name) => Some(name),
        Err(_) => store.find_labelled(text)?,
    };
    if let Some(name) = name {
        return match store.entry(name)? {
            Some(_) => Ok(plain(name)),
            None => Err(report_missing(text, Some(name.kind()))),
        };
    }
    let found = match prefix(text) {
        Some(prefix) => store.list_beginning_with(&prefix)?,
        None => Vec::new(),
    };
    match found.as_slice() {
        [] => Err(report_missing(text, wanted)),
        [name] => Ok(plain(*name)),
        several => {
            let candidates = several.iter().take(CANDIDATES).map(Ref::to_string);
            let candidates = candidates.collect::<Vec<_>>().join(", ");
            let what = format!("`{}` is ambiguous: {candidates}", shorten(text));
            Err(Failure::new(FailureKind::Check, Code::RefAmbiguous, what))
        }
    }
}

/// Resolves a hash; of several calls with the same content, to the newest that can be continued.
fn by_hash(
    store: &GitStore,
    text: &str,
    hash: &ContentHash,
    wanted: Option<RefKind>,
) -> Result<Named, Failure> {
    let all = store.naming(hash)?;
    let mut open = None;
    for name in &all {
        if store.find_successor(*name)?.is_none() {
            open = Some(*name);
        }
    }
    let Some(name) = open.or(all.last().copied()) else {
        return Err(report_missing(text, wanted));
    };
    let which = match open {
        Some(_) => "is the newest that is not sealed",
        None => "is the newest; each was compacted",
    };
    let note =
        (all.len() > 1).then(|| format!("{} calls have this content; {name} {which}", all.len()));
    Ok(Named { name, note })
}

/// Whether a text is a ref, ignoring case. No name of the user's may be one.
pub fn reads_as_ref(text: &str) -> bool {
    let Some((kind, id)) = text.split_once('_') else {
        return false;
    };
    let (kind, id) = (kind.to_ascii_lowercase(), id.to_ascii_uppercase());
    format!("{kind}_{id}").parse::<Ref>().is_ok()
}

/// A prefix of a ref in its canonical spelling, in which ids are upper case.
fn prefix(text: &str) -> Option<String> {
    let (kind, id) = text.split_once('_')?;
    let kind = RefKind::ALL
        .into_iter()
        .map(RefKind::prefix)
        .find(|prefix| prefix.trim_end_matches('_') == kind)?;
    let fits = text.len() >= SHORTEST && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| format!("{kind}{}", id.to_ascii_uppercase()))
}

fn report_missing(text: &str, kind: Option<RefKind>) -> Failure {
    let kind = kind.filter(|kind| *kind == RefKind::Series);
    not_found(kind.unwrap_or(RefKind::Episode), shorten(text))
}

/// The text in an error message: escaped and shortened.
fn shorten(text: &str) -> String {
    text.chars()
        .take(100)
        .flat_map(char::escape_debug)
        .collect()
}
