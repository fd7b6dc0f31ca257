//! The store in the log's repository: values, refs, names and the record of calls are events
//! below one ref of the log. Beside it, in `sessions/`, lie what agents printed, the notes of
//! calls that are being made, and damaged files that were set aside.

use super::calls::CallRecord;
use super::error::{Reason, SessionError};
use super::event::{Batch, Event, Held, Index, Stored};
use super::hash::ContentHash;
use super::inflight::{InFlight, note};
use super::record::{REF, events, read_value};
use super::reference::Ref;
use super::repair::{Mended, mend};
use super::store::SessionStore;
use super::stored::{Entry, Object};
use super::writer::Writer;
use crate::store::log::Log;
use crate::store::{Place, chain};
use git2::Oid;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Largest object that is kept.
pub(super) const MAX_OBJECT: u64 = 64 << 20;

/// How often a read is repeated: packing may have moved what it looks for.
const RETRIES: usize = 3;

/// What a store of the layout before this one holds in `sessions/`.
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

/// What was read of the record, up to a commit.
struct Known {
    log: Log,
    tip: Option<Oid>,
    index: Index,
}

impl Known {
    /// Reads what came since.
    fn follow(&mut self) -> Result<(), SessionError> {
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
    /// The store of a repository; the log is made when the first value is kept.
    ///
    /// # Errors
    /// Sessions that an earlier cook kept in another layout: they are not read.
    pub fn open(place: Place) -> Result<Self, SessionError> {
        let root = place.cook_dir().join("sessions");
        let earlier = |name: &&&str| std::fs::symlink_metadata(root.join(name)).is_ok();
        if let Some(found) = EARLIER.iter().find(earlier) {
            return Err(Reason::EarlierLayout(root.join(found)).into());
        }
        Ok(Self {
            place,
            root,
            read: Arc::default(),
        })
    }

    /// Where what is no part of the log lies.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Where damaged files are moved to.
    pub(super) fn aside(&self) -> PathBuf {
        self.root.join("damaged")
    }

    /// Looks into the record as it is now; the default where there is none.
    fn look<T: Default>(
        &self,
        work: impl Fn(&Log, &Index) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut attempts = 0;
        loop {
            if read.is_none() {
                *read = chain::open(&self.place)?.map(|log| Known {
                    log,
                    tip: None,
                    index: Index::default(),
                });
            }
            let Some(known) = read.as_mut() else {
                return Ok(T::default());
            };
            let outcome = known.follow().and_then(|()| work(&known.log, &known.index));
            match outcome {
                Err(error) if error.is_damage() && attempts < RETRIES => {
                    attempts += 1;
                    *read = None;
                }
                outcome => return outcome,
            }
        }
    }

    /// Looks at what the record says.
    pub(super) fn index<T: Default>(&self, work: impl Fn(&Index) -> T) -> Result<T, SessionError> {
        self.look(|_, index| Ok(work(index)))
    }

    /// The lines of the record of calls, oldest first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn lines(&self) -> Result<Vec<CallRecord>, SessionError> {
        self.index(|index| index.lines.clone())
    }

    /// Hashes of all objects, in no order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn objects(&self) -> Result<Vec<ContentHash>, SessionError> {
        self.index(|index| index.objects.keys().cloned().collect())
    }

    /// Whether a ref was let go of by clearing.
    ///
    /// # Errors
    /// When the record of calls cannot be read.
    pub fn is_expired(&self, text: &str) -> Result<bool, SessionError> {
        self.index(|index| index.is_expired(text))
    }

    /// Where something of the record cannot be read, lets it go on with all that can.
    pub(super) fn mend(&self) -> Result<Mended, SessionError> {
        mend(&self.place, &self.aside())
    }

    /// Writes exchanges that are damaged here again; where the damaged ones lie now.
    pub(super) fn mend_exchanges(&self, objects: &[Object]) -> Result<Vec<PathBuf>, SessionError> {
        let writer = Writer::lock(&self.place)?;
        let mut aside = Vec::new();
        for object in objects.iter().filter(|object| object.is_exchange()) {
            aside.extend(writer.mend(&bytes(object)?, &self.aside())?);
        }
        Ok(aside)
    }

    /// Puts the record that was taken away in front of what was written since.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn join(&self, lost: &str) -> Result<bool, SessionError> {
        Writer::lock(&self.place)?.join(lost)
    }
}

/// An object as it is kept.
pub(super) fn bytes(object: &Object) -> Result<Vec<u8>, SessionError> {
    let bytes = serde_json::to_vec(object).map_err(io::Error::from)?;
    match bytes.len() as u64 > MAX_OBJECT {
        false => Ok(bytes),
        true => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than {MAX_OBJECT} bytes"),
        )
        .into()),
    }
}

impl SessionStore for GitStore {
    fn keep(&self, batch: &Batch) -> Result<(), SessionError> {
        let writer = Writer::lock(&self.place)?;
        let mut objects = Vec::new();
        for object in &batch.objects {
            objects.push(Stored {
                hash: object.hash(),
                at: match object.is_exchange() {
                    true => Held::Blob(writer.write(&bytes(object)?)?.to_string()),
                    false => Held::Value(object.clone()),
                },
            });
        }
        writer.append(Event {
            objects,
            batch: batch.clone(),
            ..Event::default()
        })
    }

    fn get(&self, hash: &ContentHash) -> Result<Object, SessionError> {
        let object = self.look(|log, index| {
            let held = index.objects.get(hash);
            held.map(|held| read_value(log, held)).transpose()
        })?;
        let object = object.ok_or_else(|| SessionError::corrupt(hash, "it is not in the store"))?;
        let content = object.hash();
        match content == *hash {
            true => Ok(object),
            false => {
                let why = format!("its content hashes to {content}");
                Err(SessionError::corrupt(hash, why))
            }
        }
    }

    fn entry(&self, name: Ref) -> Result<Option<Entry>, SessionError> {
        self.index(|index| index.entries.get(&name).cloned())
    }

    fn list_beginning_with(&self, prefix: &str) -> Result<Vec<Ref>, SessionError> {
        let fits = |name: &&Ref| name.to_string().starts_with(prefix);
        self.index(|index| index.entries.keys().filter(fits).copied().collect())
    }

    fn naming(&self, hash: &ContentHash) -> Result<Vec<Ref>, SessionError> {
        self.index(|index| {
            let naming = index.entries.values().filter(|entry| entry.hash == *hash);
            naming.map(|entry| entry.name).collect()
        })
    }

    fn find_successor(&self, episode: Ref) -> Result<Option<Ref>, SessionError> {
        self.index(|index| index.sealed.get(&episode).copied())
    }

    fn find_labelled(&self, label: &str) -> Result<Option<Ref>, SessionError> {
        self.index(|index| index.labels.get(label).copied())
    }

    fn begin(&self, name: Ref, what: &CallRecord) -> Result<InFlight, SessionError> {
        Ok(note(&self.root, name, what)?)
    }
}
