//! Where values are kept: the trait, and a store in memory. Objects are content-addressed and
//! written once; refs are written once too; only names, and nothing else, can be moved.

use super::error::Fault;
use super::event::{Batch, Event, Held, Index, Stored};
use super::hash::ContentHash;
use super::inflight::InFlight;
use super::reference::{Ref, RefKind};
use super::stored::{Entry, Object};
use super::value::{Episode, Exchange, Series};
use serde_json::Value;
use std::cell::RefCell;
use std::io;

/// Longest name a user may give, in bytes.
const MAX_LABEL: usize = 100;

/// A place for sessions. Every write is durable when the call returns.
pub trait SessionStore {
    /// Keeps several things at once: all of them or none.
    ///
    /// # Errors
    /// When they cannot be written.
    fn keep(&self, batch: &Batch) -> Result<(), Fault>;

    /// The object of a hash; what it holds is compared with the hash at each reading.
    ///
    /// # Errors
    /// `object_corrupt` when it is missing or is another.
    fn get(&self, hash: &ContentHash) -> Result<Object, Fault>;

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

    /// The chain that went on after this window was compacted.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn sealed(&self, episode: Ref) -> Result<Option<Ref>, Fault>;

    /// The ref that bears a name of the user's.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn labelled(&self, label: &str) -> Result<Option<Ref>, Fault>;

    /// Notes that a call is about to be made, before anything is started for it; the note
    /// goes with the value that is returned, and stays when this process is killed.
    ///
    /// # Errors
    /// When it cannot be written.
    fn begin(&self, name: Ref, what: &Value) -> Result<InFlight, Fault>;

    /// Keeps an object under its hash; one that is there already stays as it is.
    ///
    /// # Errors
    /// When it cannot be written.
    fn put(&self, object: &Object) -> Result<ContentHash, Fault> {
        self.keep(&Batch {
            objects: vec![object.clone()],
            ..Batch::default()
        })?;
        Ok(object.hash())
    }

    /// Keeps a ref. A ref is never written twice.
    ///
    /// # Errors
    /// When it cannot be written.
    fn name(&self, entry: &Entry) -> Result<(), Fault> {
        self.keep(&Batch {
            entries: vec![entry.clone()],
            ..Batch::default()
        })
    }

    /// Notes that a window was compacted and which chain goes on.
    ///
    /// # Errors
    /// When it cannot be written.
    fn seal(&self, episode: Ref, series: Ref) -> Result<(), Fault> {
        self.keep(&Batch {
            sealed: Some((episode, series)),
            ..Batch::default()
        })
    }

    /// Gives a ref a name of the user's, or moves one.
    ///
    /// # Errors
    /// When it is no name, or cannot be written.
    fn label(&self, label: &str, name: Ref) -> Result<(), Fault> {
        check_label(label)?;
        self.keep(&Batch {
            label: Some((label.to_owned(), name)),
            ..Batch::default()
        })
    }

    /// Adds one line to the record of calls.
    ///
    /// # Errors
    /// When it cannot be written.
    fn record(&self, line: &Value) -> Result<(), Fault> {
        self.keep(&Batch {
            line: Some(line.clone()),
            ..Batch::default()
        })
    }
}

/// A name of the user's: letters, digits, `.`, `_`, `-`, not first a dot, and no ref.
fn check_label(label: &str) -> Result<(), Fault> {
    let fits = !label.is_empty()
        && label.len() <= MAX_LABEL
        && !label.starts_with('.')
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    if fits && label.parse::<Ref>().is_err() {
        return Ok(());
    }
    Err(Fault::Store(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "`{}` is no name: letters, digits, `.`, `_` and `-`, at most {MAX_LABEL}",
            label.escape_debug()
        ),
    )))
}

/// A store that is gone with its value: for tests, and for callers that keep values themselves.
#[derive(Debug, Default)]
pub struct MemoryStore {
    index: RefCell<Index>,
    events: RefCell<u64>,
}

impl MemoryStore {
    /// The record of calls.
    pub fn lines(&self) -> Vec<Value> {
        self.index.borrow().lines().cloned().collect()
    }
}

impl SessionStore for MemoryStore {
    fn keep(&self, batch: &Batch) -> Result<(), Fault> {
        let stored = |object: &Object| Stored {
            hash: object.hash(),
            at: Held::Value(object.clone()),
        };
        let mut event = Event::of(batch, batch.objects.iter().map(stored).collect());
        *self.events.borrow_mut() += 1;
        event.seq = *self.events.borrow();
        self.index.borrow_mut().take_in(event);
        Ok(())
    }

    fn get(&self, hash: &ContentHash) -> Result<Object, Fault> {
        match self.index.borrow().objects.get(hash) {
            Some(Held::Value(object)) => Ok(object.clone()),
            _ => Err(missing(hash)),
        }
    }

    fn entry(&self, name: Ref) -> Result<Option<Entry>, Fault> {
        Ok(self.index.borrow().entry(name).cloned())
    }

    fn beginning_with(&self, prefix: &str) -> Result<Vec<Ref>, Fault> {
        Ok(self.index.borrow().beginning_with(prefix))
    }

    fn naming(&self, hash: &ContentHash) -> Result<Vec<Ref>, Fault> {
        Ok(self.index.borrow().naming(hash))
    }

    fn sealed(&self, episode: Ref) -> Result<Option<Ref>, Fault> {
        Ok(self.index.borrow().sealed(episode))
    }

    fn labelled(&self, label: &str) -> Result<Option<Ref>, Fault> {
        Ok(self.index.borrow().labelled(label))
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

fn misplaced(hash: &ContentHash, found: RefKind, wanted: RefKind) -> Fault {
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
        other => Err(misplaced(hash, other.kind(), RefKind::Exchange)),
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
    let parts = parts(store, hash, RefKind::Episode)?;
    let exchanges = parts.iter().map(|hash| load_exchange(store, hash, None));
    Ok(Episode::of(exchanges.collect::<Result<_, _>>()?, exid))
}

/// A series out of a store, with all its episodes.
///
/// # Errors
/// As [`load_episode`].
pub fn load_series(store: &dyn SessionStore, hash: &ContentHash) -> Result<Series, Fault> {
    let parts = parts(store, hash, RefKind::Series)?;
    let episodes = parts.iter().map(|hash| load_episode(store, hash, None));
    Ok(Series::of(episodes.collect::<Result<_, _>>()?))
}

/// What a chain consists of, oldest first. Lengths are outside the hash: along a chain they
/// must count down to one.
fn parts(
    store: &dyn SessionStore,
    hash: &ContentHash,
    kind: RefKind,
) -> Result<Vec<ContentHash>, Fault> {
    let mut newest_first = Vec::new();
    let mut at = Some(hash.clone());
    let mut expected = None;
    while let Some(hash) = at {
        let object = store.get(&hash)?;
        let ([parent, Some(part)], true) = (object.stands_on(), object.kind() == kind) else {
            return Err(misplaced(&hash, object.kind(), kind));
        };
        let length = object.length();
        let counts = expected.is_none_or(|expected| expected == length);
        if !counts || length == 0 || (length == 1) != parent.is_none() {
            return Err(Fault::ObjectCorrupt {
                what: hash.to_string(),
                why: format!("{length} is not its place in the chain"),
            });
        }
        expected = Some(length - 1);
        newest_first.push(part.clone());
        at = parent.cloned();
    }
    newest_first.reverse();
    Ok(newest_first)
}
