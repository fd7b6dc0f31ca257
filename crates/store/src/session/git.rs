//! The store in the log's repository: values, refs, names and the record of calls are events
//! below one ref of the log. Beside it, in `sessions/`, lie what agents printed, the notes of
//! calls that are being made, and damaged files that were set aside.

use super::error::Fault;
use super::event::{Batch, Event, Held, Index, Stored};
use super::hash::ContentHash;
use super::inflight::{InFlight, note};
use super::record::{View, json};
use super::reference::Ref;
use super::repair::{Mended, mend};
use super::store::{SessionStore, missing};
use super::stored::{Entry, Object};
use super::writer::Writer;
use crate::store::Place;
use serde_json::Value;
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
    read: Arc<Mutex<Option<View>>>,
}

impl std::fmt::Debug for GitStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitStore")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl GitStore {
    /// The store of a repository; the log is made when the first value is kept.
    ///
    /// # Errors
    /// Sessions that an earlier cook kept in another layout: they are not read.
    pub fn open(place: Place) -> Result<Self, Fault> {
        let root = place.cook_dir().join("sessions");
        let earlier = |name: &&&str| std::fs::symlink_metadata(root.join(name)).is_ok();
        if let Some(found) = EARLIER.iter().find(earlier) {
            return Err(Fault::EarlierLayout(root.join(found)));
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

    /// Looks into the record as it is now; nothing where there is none.
    fn look<T>(
        &self,
        mut work: impl FnMut(&mut View) -> Result<Option<T>, Fault>,
    ) -> Result<Option<T>, Fault> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut attempts = 0;
        loop {
            let outcome = View::now(read.take(), &self.place).and_then(|view| {
                let Some(mut view) = view else {
                    return Ok(None);
                };
                let outcome = work(&mut view);
                *read = Some(view);
                outcome
            });
            match outcome {
                Err(Fault::ObjectCorrupt { .. }) if attempts < RETRIES => {
                    attempts += 1;
                    *read = None;
                }
                outcome => return outcome,
            }
        }
    }

    /// Whether there is a log.
    pub(super) fn is_there(&self) -> Result<bool, Fault> {
        Ok(self.look(|_| Ok(Some(())))?.is_some())
    }

    /// Looks at everything that the record says.
    pub(super) fn whole<T: Default>(&self, work: impl Fn(&Index) -> T) -> Result<T, Fault> {
        let found = self.look(|view| Ok(Some(work(view.whole()?))))?;
        Ok(found.unwrap_or_default())
    }

    /// The lines of the record of calls, oldest first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn lines(&self) -> Result<Vec<Value>, Fault> {
        self.whole(|index| index.lines().cloned().collect())
    }

    /// Hashes of all objects, in no order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn objects(&self) -> Result<Vec<ContentHash>, Fault> {
        self.whole(|index| index.objects.keys().cloned().collect())
    }

    /// Whether a ref was let go of by clearing.
    ///
    /// # Errors
    /// When the record of calls cannot be read.
    pub fn expired(&self, text: &str) -> Result<bool, Fault> {
        let names = |line: &Value| {
            let expired = line.get("expired").and_then(Value::as_array);
            expired.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(text)))
        };
        self.whole(|index| index.lines().any(names))
    }

    /// Where something of the record cannot be read, lets it go on with all that can.
    pub(super) fn mend(&self) -> Result<Mended, Fault> {
        mend(&self.place, &self.aside())
    }

    /// Writes exchanges that are damaged here again; where the damaged ones lie now.
    pub(super) fn mend_exchanges(&self, objects: &[Object]) -> Result<Vec<PathBuf>, Fault> {
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
    pub fn join(&self, lost: &str) -> Result<bool, Fault> {
        Writer::lock(&self.place)?.join(lost)
    }
}

fn bytes(object: &Object) -> Result<Vec<u8>, Fault> {
    let bytes = json(object)?;
    match bytes.len() as u64 > MAX_OBJECT {
        false => Ok(bytes),
        true => Err(Fault::Store(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than {MAX_OBJECT} bytes"),
        ))),
    }
}

impl SessionStore for GitStore {
    fn keep(&self, batch: &Batch) -> Result<(), Fault> {
        let writer = Writer::lock(&self.place)?;
        let mut objects = Vec::new();
        for object in &batch.objects {
            objects.push(Stored {
                hash: object.hash(),
                at: match object.is_exchange() {
                    true => writer.write(&bytes(object)?)?,
                    false => Held::Value(object.clone()),
                },
            });
        }
        writer.append(Event::of(batch, objects))
    }

    fn get(&self, hash: &ContentHash) -> Result<Object, Fault> {
        let object = self.look(|view| view.object(hash))?;
        let object = object.ok_or_else(|| missing(hash))?;
        let content = object.hash();
        match content == *hash {
            true => Ok(object),
            false => Err(Fault::ObjectCorrupt {
                what: hash.to_string(),
                why: format!("its content hashes to {content}"),
            }),
        }
    }

    fn entry(&self, name: Ref) -> Result<Option<Entry>, Fault> {
        self.look(|view| Ok(view.about(name)?.entry(name).cloned()))
    }

    fn beginning_with(&self, prefix: &str) -> Result<Vec<Ref>, Fault> {
        self.whole(|index| index.beginning_with(prefix))
    }

    fn naming(&self, hash: &ContentHash) -> Result<Vec<Ref>, Fault> {
        self.whole(|index| index.naming(hash))
    }

    fn sealed(&self, episode: Ref) -> Result<Option<Ref>, Fault> {
        self.look(|view| Ok(view.about(episode)?.sealed(episode)))
    }

    fn labelled(&self, label: &str) -> Result<Option<Ref>, Fault> {
        self.whole(|index| index.labelled(label))
    }

    fn begin(&self, name: Ref, what: &Value) -> Result<InFlight, Fault> {
        note(&self.root, name, what).map_err(Fault::Store)
    }
}
