//! Where values are kept: the trait, and a store in memory. Objects are content-addressed and
//! written once; refs are written once too; only names, and nothing else, can be moved.

use super::error::Fault;
use super::hash::ContentHash;
use super::reference::{Grade, Ref};
use super::stored::{Entry, Object};
use super::value::{Episode, Exchange, Series};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A place for sessions. Every write is durable when the call returns.
pub trait SessionStore {
    /// Keeps an object under its hash; one that is there already stays as it is.
    ///
    /// # Errors
    /// When it cannot be written.
    fn put(&self, object: &Object) -> Result<ContentHash, Fault>;

    /// The object of a hash; what it holds is compared with the hash at each reading.
    ///
    /// # Errors
    /// `object_corrupt` when it is missing or is another.
    fn get(&self, hash: &ContentHash) -> Result<Object, Fault>;

    /// Keeps a ref. A ref is never written twice.
    ///
    /// # Errors
    /// When it cannot be written.
    fn name(&self, entry: &Entry) -> Result<(), Fault>;

    /// What a ref names; none when there is no such ref.
    ///
    /// # Errors
    /// `object_corrupt`, or the store cannot be read.
    fn entry(&self, name: Ref) -> Result<Option<Entry>, Fault>;

    /// Refs whose text begins so, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn beginning_with(&self, prefix: &str) -> Result<Vec<Ref>, Fault>;

    /// Refs that name this object, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn naming(&self, hash: &ContentHash) -> Result<Vec<Ref>, Fault>;

    /// Notes that a window was compacted and which chain goes on.
    ///
    /// # Errors
    /// When it cannot be written.
    fn seal(&self, episode: Ref, series: Ref) -> Result<(), Fault>;

    /// The chain that went on after this window was compacted.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn sealed(&self, episode: Ref) -> Result<Option<Ref>, Fault>;

    /// Gives a ref a name of the user's, or moves one.
    ///
    /// # Errors
    /// When it cannot be written.
    fn label(&self, label: &str, name: Ref) -> Result<(), Fault>;

    /// The ref that bears a name of the user's.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn labelled(&self, label: &str) -> Result<Option<Ref>, Fault>;

    /// Adds one line to the record of calls.
    ///
    /// # Errors
    /// When it cannot be written.
    fn record(&self, line: &Value) -> Result<(), Fault>;

    /// Notes that a call is about to be made, before anything is started for it; the note
    /// goes with the value that is returned, and stays when this process is killed.
    ///
    /// # Errors
    /// When it cannot be written.
    fn begin(&self, name: Ref, what: &Value) -> Result<InFlight, Fault>;
}

/// A call that is being made. Its file is locked as long as whoever makes it lives.
#[derive(Debug, Default)]
pub struct InFlight {
    note: Option<std::path::PathBuf>,
    _locks: Vec<std::fs::File>,
}

impl InFlight {
    pub(super) fn of(file: std::fs::File, guard: std::fs::File, note: std::path::PathBuf) -> Self {
        Self {
            note: Some(note),
            _locks: vec![file, guard],
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(note) = &self.note {
            // One that stays is found as interrupted, and says no more than that.
            let _ = std::fs::remove_file(note);
        }
    }
}

/// A store that is gone with its value: for tests, and for callers that keep values themselves.
#[derive(Debug, Default)]
pub struct MemoryStore {
    held: RefCell<Held>,
}

#[derive(Debug, Default)]
struct Held {
    objects: BTreeMap<ContentHash, Object>,
    entries: BTreeMap<Ref, Entry>,
    sealed: BTreeMap<Ref, Ref>,
    labels: BTreeMap<String, Ref>,
    lines: Vec<Value>,
}

impl MemoryStore {
    /// The record of calls.
    pub fn lines(&self) -> Vec<Value> {
        self.held.borrow().lines.clone()
    }
}

impl SessionStore for MemoryStore {
    fn put(&self, object: &Object) -> Result<ContentHash, Fault> {
        let hash = object.hash();
        let mut held = self.held.borrow_mut();
        held.objects
            .entry(hash.clone())
            .or_insert_with(|| object.clone());
        Ok(hash)
    }

    fn get(&self, hash: &ContentHash) -> Result<Object, Fault> {
        let held = self.held.borrow();
        held.objects.get(hash).cloned().ok_or_else(|| missing(hash))
    }

    fn name(&self, entry: &Entry) -> Result<(), Fault> {
        let mut held = self.held.borrow_mut();
        held.entries.insert(entry.name, entry.clone());
        Ok(())
    }

    fn entry(&self, name: Ref) -> Result<Option<Entry>, Fault> {
        Ok(self.held.borrow().entries.get(&name).cloned())
    }

    fn beginning_with(&self, prefix: &str) -> Result<Vec<Ref>, Fault> {
        let held = self.held.borrow();
        let fits = |name: &&Ref| name.to_string().starts_with(prefix);
        Ok(held.entries.keys().filter(fits).copied().collect())
    }

    fn naming(&self, hash: &ContentHash) -> Result<Vec<Ref>, Fault> {
        let held = self.held.borrow();
        let entries = held.entries.values().filter(|entry| entry.hash == *hash);
        Ok(entries.map(|entry| entry.name).collect())
    }

    fn seal(&self, episode: Ref, series: Ref) -> Result<(), Fault> {
        self.held.borrow_mut().sealed.insert(episode, series);
        Ok(())
    }

    fn sealed(&self, episode: Ref) -> Result<Option<Ref>, Fault> {
        Ok(self.held.borrow().sealed.get(&episode).copied())
    }

    fn label(&self, label: &str, name: Ref) -> Result<(), Fault> {
        self.held.borrow_mut().labels.insert(label.to_owned(), name);
        Ok(())
    }

    fn labelled(&self, label: &str) -> Result<Option<Ref>, Fault> {
        Ok(self.held.borrow().labels.get(label).copied())
    }

    fn record(&self, line: &Value) -> Result<(), Fault> {
        self.held.borrow_mut().lines.push(line.clone());
        Ok(())
    }

    fn begin(&self, _name: Ref, _what: &Value) -> Result<InFlight, Fault> {
        Ok(InFlight::default())
    }
}

pub(super) fn missing(hash: &ContentHash) -> Fault {
    Fault::ObjectCorrupt {
        what: hash.to_string(),
        why: "it is not in the store".to_owned(),
    }
}

fn misplaced(hash: &ContentHash, found: Grade, wanted: Grade) -> Fault {
    Fault::ObjectCorrupt {
        what: hash.to_string(),
        why: format!("it is an {found}, where an {wanted} was stored"),
    }
}

/// An exchange out of a store, under the supplier's own name for it.
///
/// # Errors
/// As [`SessionStore::get`].
pub fn load_exchange(
    store: &dyn SessionStore,
    hash: &ContentHash,
    exid: Option<String>,
) -> Result<Exchange, Fault> {
    match store.get(hash)? {
        Object::Exchange {
            kind,
            input,
            output,
        } => Ok(Exchange::new(kind, input, output, exid)),
        other => Err(misplaced(hash, other.grade(), Grade::Exchange)),
    }
}

/// An episode out of a store, with all its exchanges: time grows with its length.
///
/// # Errors
/// As [`SessionStore::get`]; a chain whose lengths do not count down is corrupt.
pub fn load_episode(
    store: &dyn SessionStore,
    hash: &ContentHash,
    exid: Option<String>,
) -> Result<Episode, Fault> {
    let mut newest_first = Vec::new();
    let mut at = Some(hash.clone());
    let mut expected = None;
    while let Some(hash) = at {
        let Object::Episode {
            parent,
            exchange,
            length,
        } = store.get(&hash)?
        else {
            return Err(misplaced(&hash, Grade::Exchange, Grade::Episode));
        };
        count_down(&hash, &mut expected, length, parent.is_none())?;
        newest_first.push(exchange);
        at = parent;
    }
    let mut exchanges = Vec::with_capacity(newest_first.len());
    for hash in newest_first.iter().rev() {
        exchanges.push(load_exchange(store, hash, None)?);
    }
    Ok(Episode::of(exchanges, exid))
}

/// Lengths are outside the hash: along a chain they must count down to one.
fn count_down(
    hash: &ContentHash,
    expected: &mut Option<u64>,
    length: u64,
    is_first: bool,
) -> Result<(), Fault> {
    let counts = expected.is_none_or(|expected| expected == length);
    if !counts || length == 0 || (length == 1) != is_first {
        return Err(Fault::ObjectCorrupt {
            what: hash.to_string(),
            why: format!("{length} is not its place in the chain"),
        });
    }
    *expected = Some(length - 1);
    Ok(())
}

/// A series out of a store, with all its episodes.
///
/// # Errors
/// As [`load_episode`].
pub fn load_series(store: &dyn SessionStore, hash: &ContentHash) -> Result<Series, Fault> {
    let mut newest_first = Vec::new();
    let mut at = Some(hash.clone());
    let mut expected = None;
    while let Some(hash) = at {
        let Object::Series {
            parent,
            episode,
            length,
        } = store.get(&hash)?
        else {
            return Err(misplaced(&hash, Grade::Exchange, Grade::Series));
        };
        count_down(&hash, &mut expected, length, parent.is_none())?;
        newest_first.push(episode);
        at = parent;
    }
    let mut episodes = Vec::with_capacity(newest_first.len());
    for hash in newest_first.iter().rev() {
        episodes.push(load_episode(store, hash, None)?);
    }
    Ok(Series::of(episodes))
}
