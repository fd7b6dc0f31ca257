//! Many records of one history, kept as the text they have in it.

use super::history::SliceRecord;
use memchr::memmem;
use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A record of one of the histories.
pub trait Record: Clone + Serialize + DeserializeOwned {}

impl<T: Clone + Serialize + DeserializeOwned> Record for T {}

/// Whether this is, byte for byte and without its line feed, what cook writes for a record.
fn is_exact<T: Record>(line: &[u8]) -> bool {
    serde_json::from_slice::<T>(line)
        .and_then(|record| serde_json::to_vec(&record))
        .is_ok_and(|text| text == line)
}

/// Records in the exact text of a history file: one compact JSON line each.
///
/// A million of them are a few hundred megabytes, which are checked once and then only
/// passed on: a clone shares the text.
#[derive(Clone, PartialEq, Eq)]
pub struct Trail<T> {
    records: u64,
    text: Arc<Vec<u8>>,
    of: PhantomData<T>,
}

impl<T: Record> Trail<T> {
    /// Takes a history's text over.
    ///
    /// # Errors
    /// The first line (from 1) that is not a record exactly as cook writes it, or that has
    /// no line feed at its end.
    pub fn read(text: Vec<u8>) -> Result<Self, u64> {
        let mut records = 0;
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &text) {
            records += 1;
            if !is_exact::<T>(&text[start..end]) {
                return Err(records);
            }
            start = end + 1;
        }
        if start < text.len() {
            return Err(records + 1);
        }
        Ok(Self {
            records,
            text: Arc::new(text),
            of: PhantomData,
        })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// When it cannot be written as JSON; nothing is added then.
    pub fn push(&mut self, record: &T) -> serde_json::Result<()> {
        let text = Arc::make_mut(&mut self.text);
        let before = text.len();
        if let Err(error) = serde_json::to_writer(&mut *text, record) {
            text.truncate(before);
            return Err(error);
        }
        text.push(b'\n');
        self.records += 1;
        Ok(())
    }

    /// The records, oldest first, each parsed as it is asked for.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = serde_json::Result<T>> {
        self.text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(serde_json::from_slice)
    }
}

impl<T> Trail<T> {
    /// How many records.
    pub fn len(&self) -> u64 {
        self.records
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// The lines.
    pub fn text(&self) -> &Arc<Vec<u8>> {
        &self.text
    }
}

impl Trail<SliceRecord> {
    /// The newest record of a slice.
    pub fn find_newest(&self, slice_id: &str) -> Option<SliceRecord> {
        let id = serde_json::to_string(slice_id).ok()?;
        let key = format!("\"slice_id\":{id}");
        let holds = memmem::Finder::new(key.as_bytes());
        // Most lines are not about the slice, so only those that may be are parsed.
        holds.find(&self.text)?;
        self.text
            .rsplit(|byte| *byte == b'\n')
            .filter(|line| holds.find(line).is_some())
            .filter_map(|line| serde_json::from_slice::<SliceRecord>(line).ok())
            .find(|record| record.slice_id == slice_id)
    }
}

impl<T> Default for Trail<T> {
    fn default() -> Self {
        Self {
            records: 0,
            text: Arc::default(),
            of: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Trail<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} records, {} bytes", self.records, self.text.len())
    }
}

/// As a list of records.
impl<T: Record> Serialize for Trail<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let records: Vec<T> = self
            .records()
            .collect::<serde_json::Result<_>>()
            .map_err(S::Error::custom)?;
        records.serialize(serializer)
    }
}

impl<'de, T: Record> Deserialize<'de> for Trail<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let records = Vec::<T>::deserialize(deserializer)?;
        Self::try_from(records).map_err(serde::de::Error::custom)
    }
}

impl<T: Record> TryFrom<Vec<T>> for Trail<T> {
    type Error = serde_json::Error;

    fn try_from(records: Vec<T>) -> serde_json::Result<Self> {
        let mut trail = Self::default();
        for record in &records {
            trail.push(record)?;
        }
        Ok(trail)
    }
}
