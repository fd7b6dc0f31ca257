//! The record: all events of the store, as commits below one ref of the log, written under the log's writer lock.
//!
//! A commit's message holds one event, its tree the blobs of the event's exchanges, so that they are packed, moved and
//! removed with it. The first commit of a restarted chain has all earlier events in `segments/`, and their blobs in
//! `exchanges/`. Invariants: events are applied oldest first; for a ref and for the mark of a sealed episode the first
//! event counts, for a name of the user's the last one; a killed writer leaves the record either unchanged or with its
//! event, because every object is durable before the ref moves.

use super::failures::{OfStore, corrupt};
use super::session_values::{
    Action, Answer, ContentHash, Entry, Kind, Object, On, Prior, Ref, Transport,
};
use crate::store::Place;
use crate::store::log_place::{LockedLog, set_aside};
use crate::store::odb::{Commit, FILE, FOLDER, Log, TreeEntry};
use cook_protocol::diagnostic::Failure;
use git2::{ObjectType, Oid};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A line of the record of calls; fields without a value are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRecord {
    /// Always 1.
    pub schema_version: u32,
    /// The time, RFC 3339.
    pub at: String,
    /// The supplier; `None` for a line about imported or removed refs.
    pub supplier: Option<String>,
    /// Whether it was a question or an order.
    pub action: Option<Action>,
    /// The beginning of the request.
    pub said: Option<String>,
    /// The purpose of the exchange.
    pub kind: Option<Kind>,
    /// The episode or series that it continued.
    pub on: Option<On>,
    /// How the earlier conversation reached the supplier.
    pub transport: Option<Transport>,
    /// The exchange.
    pub exchange: Option<Ref>,
    /// The episode after it.
    pub episode: Option<Ref>,
    /// The series after it.
    pub series: Option<Ref>,
    /// Hash of the answer's schema.
    pub schema_hash: Option<ContentHash>,
    /// The code of a failed call, or `interrupted`.
    pub error: Option<String>,
    /// The error message.
    pub message: Option<String>,
    /// The refs that were still valid.
    pub prior: Option<Prior>,
    /// The class of the failure, if the supplier could tell.
    pub class: Option<String>,
    /// When a rate limit ends, RFC 3339.
    pub reset_at: Option<String>,
    /// When an interrupted call began, RFC 3339.
    pub began_at: Option<String>,
    /// The process id of the caller.
    pub pid: Option<u32>,
    /// The beginning of the call's note, if the note is damaged.
    pub note: Option<String>,
    /// Refs that were imported.
    pub imported: Option<Vec<Ref>>,
    /// Refs that were removed.
    pub expired: Option<Vec<Ref>>,
    /// Usage and effects of the call.
    #[serde(flatten)]
    pub answer: Option<Answer>,
}

impl CallRecord {
    /// A line with nothing but its time.
    pub(super) fn at(at: &str) -> Self {
        Self {
            schema_version: 1,
            at: at.to_owned(),
            ..Self::default()
        }
    }

    /// Whether a role of this workflow made the call.
    pub fn is_of(&self, workflow: &str) -> bool {
        let answer = self.answer.as_ref();
        answer.is_some_and(|answer| answer.workflow.as_deref() == Some(workflow))
    }
}

/// Serializes a line without its `None` fields.
///
/// # Errors
/// An error of the serializer.
pub fn without_nulls<S: Serializer>(line: &CallRecord, serializer: S) -> Result<S::Ok, S::Error> {
    let mut line = serde_json::to_value(line).map_err(serde::ser::Error::custom)?;
    if let Some(line) = line.as_object_mut() {
        line.retain(|_, value| *value != Value::Null);
    }
    line.serialize(serializer)
}

/// Values that are stored atomically.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Batch {
    /// Objects; existing ones stay as they are.
    #[serde(skip)]
    pub objects: Vec<Object>,
    /// Refs; existing ones stay as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry>,
    /// A compacted episode, and the series that continues it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed: Option<(Ref, Ref)>,
    /// A name of the user's, and the ref that it names from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<(String, Ref)>,
    /// A line of the record of calls.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "write_line")]
    pub line: Option<CallRecord>,
}

fn write_line<S: Serializer>(line: &Option<CallRecord>, serializer: S) -> Result<S::Ok, S::Error> {
    match line {
        Some(line) => without_nulls(line, serializer),
        None => serializer.serialize_none(),
    }
}

/// Where a value is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Held {
    /// In the event itself.
    Value(Object),
    /// In a blob of the log.
    Blob(String),
}

/// An object of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) hash: ContentHash,
    pub(super) at: Held,
}

/// One event of the record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Event {
    /// Its number, from 1; assigned when it is written.
    pub(super) seq: u64,
    /// The number of the first event in its chain of commits.
    pub(super) base: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) objects: Vec<Stored>,
    /// Everything except objects.
    #[serde(flatten)]
    pub(super) batch: Batch,
}

impl Event {
    /// Whether nothing is left in it.
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.batch == Batch::default()
    }

    /// The blobs of its objects.
    fn blobs(&self) -> impl Iterator<Item = &str> {
        self.objects.iter().filter_map(|stored| match &stored.at {
            Held::Blob(id) => Some(id.as_str()),
            Held::Value(_) => None,
        })
    }

    /// A description for people who read the log with git.
    fn subject(&self) -> String {
        let Batch {
            label,
            entries,
            line,
            ..
        } = &self.batch;
        match (label, entries.first(), line) {
            (Some((label, name)), _, _) => format!("{label} stands for {name}"),
            (None, Some(entry), _) => format!("keep {}", entry.name),
            (None, None, Some(line)) if line.expired.is_some() => "let go of refs".to_owned(),
            (None, None, Some(_)) => "a call that left no ref".to_owned(),
            (None, None, None) => "keep".to_owned(),
        }
    }
}

/// The combined content of the events so far.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The entry of each ref, oldest first within each kind.
    pub(super) entries: BTreeMap<Ref, Entry>,
    /// Sealed episodes, each with the series that continues it.
    pub(super) sealed: BTreeMap<Ref, Ref>,
    /// Names that the user gave.
    pub(super) labels: BTreeMap<String, Ref>,
    /// The record of calls, oldest first.
    pub(super) lines: Vec<CallRecord>,
    /// Objects by hash.
    pub(super) objects: HashMap<ContentHash, Held>,
}

impl Index {
    pub(super) fn take_in(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            for stored in event.objects {
                self.objects.entry(stored.hash).or_insert(stored.at);
            }
            for entry in event.batch.entries {
                self.entries.entry(entry.name).or_insert(entry);
            }
            if let Some((window, series)) = event.batch.sealed {
                self.sealed.entry(window).or_insert(series);
            }
            self.labels.extend(event.batch.label);
            self.lines.extend(event.batch.line);
        }
    }

    /// Whether a ref was removed by clearing.
    pub(super) fn is_expired(&self, text: &str) -> bool {
        let mut names = self
            .lines
            .iter()
            .flat_map(|line| line.expired.iter())
            .flatten();
        names.any(|name| name.to_string() == text)
    }
}

/// The ref of the newest event.
pub(super) const REF: &str = "refs/sessions/record";
/// The folder of earlier events in the first commit of a restarted chain.
const SEGMENTS: &str = "segments";
/// The folder of their blobs.
const EXCHANGES: &str = "exchanges";

/// Reads a value. The caller must compare it with its hash.
pub(super) fn read_value(log: &Log, held: &Held) -> Result<Object, Failure> {
    let id = match held {
        Held::Value(object) => return Ok(object.clone()),
        Held::Blob(id) => id,
    };
    let what = format!("object {id} of the log");
    let oid = log
        .oid(id)
        .ok_or_else(|| corrupt(&what, "not a valid name"))?;
    serde_json::from_slice(&log.blob(oid)?).map_err(|error| corrupt(what, error))
}

/// Reads the event of a commit.
pub(super) fn read_event(log: &Log, id: Oid) -> Result<(Event, Commit), Failure> {
    let commit = log.commit(id)?;
    let (_, body) = commit.message.split_once("\n\n").unwrap_or_default();
    let event = serde_json::from_str(body)
        .map_err(|error| corrupt(format!("commit {id} of the log"), error))?;
    Ok((event, commit))
}

/// The events up to `tip`, oldest first. If `known` is an ancestor of `tip`, only those after it; the flag says whether
/// it is.
pub(super) fn events(
    log: &Log,
    tip: Oid,
    known: Option<Oid>,
) -> Result<(Vec<Event>, bool), Failure> {
    let (mut earlier, mut newest_first) = (Vec::new(), Vec::new());
    let mut at = Some(tip);
    while let Some(id) = at.filter(|id| Some(*id) != known) {
        let (event, commit) = read_event(log, id)?;
        newest_first.push(event);
        at = commit.parents.first().copied();
        if at.is_none() {
            for segment in segments(log, &log.tree(commit.tree)?)? {
                earlier.extend(read_events(log, segment)?);
            }
        }
    }
    earlier.extend(newest_first.into_iter().rev());
    Ok((earlier, at.is_some()))
}

/// The blobs of earlier events in the tree of a chain's first commit, oldest first.
pub(super) fn segments(log: &Log, tree: &[TreeEntry]) -> Result<Vec<Oid>, Failure> {
    let is_folder = |entry: &&TreeEntry| entry.mode == FOLDER && entry.name == SEGMENTS;
    let Some(folder) = tree.iter().find(is_folder) else {
        return Ok(Vec::new());
    };
    Ok(log.tree(folder.id)?.iter().map(|entry| entry.id).collect())
}

pub(super) fn read_events(log: &Log, blob: Oid) -> Result<Vec<Event>, Failure> {
    let events = serde_json::Deserializer::from_slice(&log.blob(blob)?)
        .into_iter()
        .collect::<Result<_, _>>();
    events.map_err(|error| corrupt(format!("object {blob} of the log"), error))
}

/// Most events in one segment.
const SEGMENT: usize = 128;
/// How long a writer waits for another one, which may be packing.
const WAIT: Duration = Duration::from_secs(600);

/// The only writer of events, as long as this is held.
pub(super) struct Writer {
    inner: LockedLog,
}

impl Writer {
    pub(super) fn lock(place: &Place) -> Result<Self, Failure> {
        let inner = LockedLog::take(place, WAIT)?;
        Ok(Self { inner })
    }

    pub(super) fn log(&self) -> &Log {
        &self.inner.log
    }

    fn tip(&self) -> Result<Option<Oid>, Failure> {
        self.log().find_ref(REF)
    }

    /// Writes a blob.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<Oid, Failure> {
        self.log().write(ObjectType::Blob, bytes)
    }

    /// Writes an unreadable blob again; returns the new path of the damaged file.
    pub(super) fn mend(&self, bytes: &[u8], aside: &Path) -> Result<Option<PathBuf>, Failure> {
        let id = self.log().name(ObjectType::Blob, bytes)?;
        if self.log().read(id).is_ok() {
            return Ok(None);
        }
        let moved = self.set_aside(id, aside)?;
        self.log().write_anew(ObjectType::Blob, bytes)?;
        Ok(moved)
    }

    /// Moves the file of a damaged object to `aside`; returns its new path.
    pub(super) fn set_aside(&self, id: Oid, aside: &Path) -> Result<Option<PathBuf>, Failure> {
        set_aside(&self.log().loose_file(id), aside, &id.to_string())
    }

    /// All events, oldest first.
    pub(super) fn events(&self) -> Result<Vec<Event>, Failure> {
        let tip = self.tip()?;
        tip.map_or(Ok(Vec::new()), |tip| Ok(events(self.log(), tip, None)?.0))
    }

    /// Appends an event.
    pub(super) fn append(&self, event: Event) -> Result<(), Failure> {
        let tip = self.tip()?;
        self.extend(tip, tip, vec![event])
    }

    /// Writes events with `behind` as their parent, and moves the ref from `from` to the last of them.
    fn extend(
        &self,
        from: Option<Oid>,
        behind: Option<Oid>,
        events: Vec<Event>,
    ) -> Result<(), Failure> {
        let before = behind.map(|id| read_event(self.log(), id)).transpose()?;
        let (mut seq, base) = before.map_or((0, 1), |(event, _)| (event.seq, event.base));
        let mut top = behind;
        for mut event in events {
            seq += 1;
            (event.seq, event.base) = (seq, base);
            top = Some(self.commit(top, &event, Vec::new())?);
        }
        top.map_or(Ok(()), |top| self.advance(from, top, seq))
    }

    fn advance(&self, from: Option<Oid>, to: Oid, seq: u64) -> Result<(), Failure> {
        self.inner.advance(REF, from, to)?;
        self.inner.pack_when_due(seq);
        Ok(())
    }

    fn entry(&self, name: String, id: &str) -> Option<TreeEntry> {
        let id = self.log().oid(id)?;
        Some(TreeEntry {
            mode: FILE,
            name,
            id,
        })
    }

    fn folder(&self, name: &str, entries: Vec<TreeEntry>) -> Result<TreeEntry, Failure> {
        Ok(TreeEntry {
            mode: FOLDER,
            name: name.to_owned(),
            id: self.log().write_tree(entries)?,
        })
    }

    fn commit(
        &self,
        parent: Option<Oid>,
        event: &Event,
        mut entries: Vec<TreeEntry>,
    ) -> Result<Oid, Failure> {
        for (number, blob) in event.blobs().enumerate() {
            entries.extend(self.entry(format!("exchange-{number}"), blob));
        }
        let text = serde_json::to_string(event).of_store()?;
        let message = format!("{}\n\n{text}\n", event.subject());
        let tree = self.log().write_tree(entries)?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seconds = since.map_or(0, |since| {
            i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
        });
        self.log().write_commit(tree, parent, seconds, &message)
    }

    /// Restarts the chain with these events, oldest first, and one more. Objects that they do not refer to are removed.
    pub(super) fn begin_anew(&self, events: &[Event], mut last: Event) -> Result<(), Failure> {
        last.seq = events.last().map_or(0, |event| event.seq) + 1;
        last.base = last.seq;
        let blobs: BTreeSet<&str> = events.iter().flat_map(Event::blobs).collect();
        let exchanges = blobs
            .iter()
            .filter_map(|id| self.entry((*id).to_owned(), id));
        let mut segments = Vec::new();
        for some in events.chunks(SEGMENT) {
            let mut text = Vec::new();
            for event in some {
                serde_json::to_writer(&mut text, event).of_store()?;
                text.push(b'\n');
            }
            segments.push(TreeEntry {
                mode: FILE,
                name: format!("{:012}", some[some.len() - 1].seq),
                id: self.write(&text)?,
            });
        }
        let folders = vec![
            self.folder(EXCHANGES, exchanges.collect())?,
            self.folder(SEGMENTS, segments)?,
        ];
        let top = self.commit(None, &last, folders)?;
        self.advance(self.tip()?, top, last.seq)?;
        self.inner.sweep();
        Ok(())
    }

    /// Restores a tip that the record had before it was lost, and appends the events written since. Returns whether
    /// anything was restored.
    pub(super) fn join(&self, lost: &str) -> Result<bool, Failure> {
        let Some(lost) = self.log().oid(lost) else {
            return Ok(false);
        };
        let Some(now) = self.tip()? else {
            self.extend(None, Some(lost), Vec::new())?;
            return Ok(true);
        };
        let begun = |id| read_event(self.log(), id).map(|(event, _)| event.base);
        let (since, has_lost) = events(self.log(), now, Some(lost))?;
        if has_lost || begun(now)? > begun(lost)? {
            return Ok(false);
        }
        let (_, was_before) = events(self.log(), lost, Some(now))?;
        let since = if was_before { Vec::new() } else { since };
        self.extend(Some(now), Some(lost), since)?;
        Ok(true)
    }
}
