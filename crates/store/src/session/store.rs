//! Where values are kept. Objects are content-addressed and written once; refs are written once
//! too; only names, and nothing else, can be moved.

use super::calls::CallRecord;
use super::error::{Reason, SessionError};
use super::event::Batch;
use super::hash::ContentHash;
use super::inflight::InFlight;
use super::reference::{Ref, RefKind};
use super::stored::{Entry, Object};
use super::value::{Episode, Exchange, Series};

/// Longest name a user may give, in bytes.
const MAX_LABEL: usize = 100;

/// A place for sessions. Every write is durable when the call returns.
pub trait SessionStore {
    /// Keeps several things at once: all of them or none.
    ///
    /// # Errors
    /// When they cannot be written.
    fn keep(&self, batch: &Batch) -> Result<(), SessionError>;

    /// The object of a hash; what it holds is compared with the hash at each reading.
    ///
    /// # Errors
    /// `object_corrupt` when it is missing or is another.
    fn get(&self, hash: &ContentHash) -> Result<Object, SessionError>;

    /// What a ref names; none when there is no such ref.
    ///
    /// # Errors
    /// `object_corrupt`, or the store cannot be read.
    fn entry(&self, name: Ref) -> Result<Option<Entry>, SessionError>;

    /// Refs whose text begins so, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn list_beginning_with(&self, prefix: &str) -> Result<Vec<Ref>, SessionError>;

    /// Refs that name this object, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn naming(&self, hash: &ContentHash) -> Result<Vec<Ref>, SessionError>;

    /// The chain that went on after this window was compacted.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn find_successor(&self, episode: Ref) -> Result<Option<Ref>, SessionError>;

    /// The ref that bears a name of the user's.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn find_labelled(&self, label: &str) -> Result<Option<Ref>, SessionError>;

    /// Notes that a call is about to be made, before anything is started for it; the note
    /// goes with the value that is returned, and stays when this process is killed.
    ///
    /// # Errors
    /// When it cannot be written.
    fn begin(&self, name: Ref, what: &CallRecord) -> Result<InFlight, SessionError>;

    /// Gives a ref a name of the user's, or moves one.
    ///
    /// # Errors
    /// When it is no name, or cannot be written.
    fn label(&self, label: &str, name: Ref) -> Result<(), SessionError> {
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
    fn record(&self, line: &CallRecord) -> Result<(), SessionError> {
        self.keep(&Batch {
            line: Some(line.clone()),
            ..Batch::default()
        })
    }
}

/// A name of the user's: letters, digits, `.`, `_`, `-`, not first a dot, and no ref.
fn check_label(label: &str) -> Result<(), SessionError> {
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
    Err(Reason::BadLabel(why).into())
}

fn report_misplaced(hash: &ContentHash, found: RefKind, wanted: RefKind) -> SessionError {
    let why = format!("it is an {found}, where an {wanted} was stored");
    SessionError::corrupt(hash, why)
}

/// An exchange out of a store, under the supplier's own name for it.
///
/// # Errors
/// As [`SessionStore::get`].
pub fn load_exchange(
    store: &dyn SessionStore,
    hash: &ContentHash,
    exid: Option<String>,
) -> Result<Exchange, SessionError> {
    match store.get(hash)? {
        Object::Exchange {
            kind,
            input,
            output,
        } => Ok(Exchange::new(kind, input, output, exid)),
        other => Err(report_misplaced(hash, other.kind(), RefKind::Exchange)),
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
) -> Result<Episode, SessionError> {
    let parts = parts(store, hash, RefKind::Episode)?;
    let exchanges = parts.iter().map(|hash| load_exchange(store, hash, None));
    Ok(Episode::of(exchanges.collect::<Result<_, _>>()?, exid))
}

/// A series out of a store, with all its episodes.
///
/// # Errors
/// As [`load_episode`].
pub fn load_series(store: &dyn SessionStore, hash: &ContentHash) -> Result<Series, SessionError> {
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
) -> Result<Vec<ContentHash>, SessionError> {
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
            return Err(SessionError::corrupt(hash, why));
        }
        expected = Some(length - 1);
        newest_first.push(part.clone());
        at = parent.cloned();
    }
    newest_first.reverse();
    Ok(newest_first)
}
