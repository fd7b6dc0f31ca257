//! The record: every event of the store, as commits below one ref of the log, written under the log's writer lock.
//!
//! A commit's message holds one event, its tree the blobs of the exchanges that the event brought, so that they are
//! packed, moved and let go of with it. The first commit of a chain that was begun anew has all earlier events in `segments/`,
//! and their blobs in `exchanges/`. Invariants: events are taken in oldest first: a ref and a mark of a sealed window are what was
//! said of them first, a name of the user's what was said last; a writer that is ended leaves the record as it was or
//! with its event in it: every object is durable before the ref moves.

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

/// A line of the record of calls; what it says nothing of is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRecord {
    /// Always 1.
    pub schema_version: u32,
    /// When, RFC 3339.
    pub at: String,
    /// Who was called; none where refs were taken in or let go of.
    pub supplier: Option<String>,
    /// Whether something was asked or ordered.
    pub action: Option<Action>,
    /// The first words of what was said.
    pub said: Option<String>,
    /// What the exchange was for.
    pub kind: Option<Kind>,
    /// What it went on from.
    pub on: Option<On>,
    /// How what came before reached the supplier.
    pub transport: Option<Transport>,
    /// The exchange.
    pub exchange: Option<Ref>,
    /// The window after it.
    pub episode: Option<Ref>,
    /// The chain after it.
    pub series: Option<Ref>,
    /// Hash of the schema that the answer was to fit.
    pub schema_hash: Option<ContentHash>,
    /// The code of a call that failed, or `interrupted`.
    pub error: Option<String>,
    /// What was wrong.
    pub message: Option<String>,
    /// The refs that were still good.
    pub prior: Option<Prior>,
    /// Whose fault it was, where the supplier could tell.
    pub class: Option<String>,
    /// When a limit ends, RFC 3339.
    pub reset_at: Option<String>,
    /// When a call was begun that was interrupted.
    pub began_at: Option<String>,
    /// The process that made it.
    pub pid: Option<u32>,
    /// The beginning of its note, where that is damaged.
    pub note: Option<String>,
    /// Refs that were taken in.
    pub imported: Option<Vec<Ref>>,
    /// Refs that were let go of.
    pub expired: Option<Vec<Ref>>,
    /// What the call took and did.
    #[serde(flatten)]
    pub answer: Option<Answer>,
}

impl CallRecord {
    /// A line that says nothing but when it was written.
    pub(super) fn at(at: &str) -> Self {
        Self {
            schema_version: 1,
            at: at.to_owned(),
            ..Self::default()
        }
    }

    /// Whether it was of a role in this workflow.
    pub fn is_of(&self, workflow: &str) -> bool {
        let answer = self.answer.as_ref();
        answer.is_some_and(|answer| answer.workflow.as_deref() == Some(workflow))
    }
}

/// A line as it is written: without what it says nothing of.
///
/// # Errors
/// The serializer's.
pub fn without_nulls<S: Serializer>(line: &CallRecord, serializer: S) -> Result<S::Ok, S::Error> {
    let mut line = serde_json::to_value(line).map_err(serde::ser::Error::custom)?;
    if let Some(line) = line.as_object_mut() {
        line.retain(|_, value| *value != Value::Null);
    }
    line.serialize(serializer)
}

/// What is kept at once: all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Batch {
    /// Values; one that is there already stays as it is.
    #[serde(skip)]
    pub objects: Vec<Object>,
    /// Refs; one that is there already stays as it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry>,
    /// A window that was compacted, and the chain that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed: Option<(Ref, Ref)>,
    /// A name of the user's, and what it stands for from now on.
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

/// Where a value is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Held {
    /// Here.
    Value(Object),
    /// In a blob of the log.
    Blob(String),
}

/// A value of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) hash: ContentHash,
    pub(super) at: Held,
}

/// One event of the record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Event {
    /// Its number, from 1; given when it is written.
    pub(super) seq: u64,
    /// The number of the event that began the chain of commits it is in.
    pub(super) base: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) objects: Vec<Stored>,
    /// What it says beside them.
    #[serde(flatten)]
    pub(super) batch: Batch,
}

impl Event {
    /// Whether it says nothing any more.
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.batch == Batch::default()
    }

    /// The blobs that its values are in.
    fn blobs(&self) -> impl Iterator<Item = &str> {
        self.objects.iter().filter_map(|stored| match &stored.at {
            Held::Blob(id) => Some(id.as_str()),
            Held::Value(_) => None,
        })
    }

    /// What it is, for whoever reads the log with git.
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

/// What the events that were taken in say.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// What each ref names, oldest first of each kind.
    pub(super) entries: BTreeMap<Ref, Entry>,
    /// Sealed windows, each with the chain that goes on.
    pub(super) sealed: BTreeMap<Ref, Ref>,
    /// Names of the user's.
    pub(super) labels: BTreeMap<String, Ref>,
    /// The record of calls, oldest first.
    pub(super) lines: Vec<CallRecord>,
    /// Values by their hash.
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

    /// Whether a ref was let go of.
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
/// The folder of events that a chain begins with.
const SEGMENTS: &str = "segments";
/// The folder of blobs that a chain begins with.
const EXCHANGES: &str = "exchanges";

/// A value from where it is; what it is named by is for the caller to compare.
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

/// The event of a commit.
pub(super) fn read_event(log: &Log, id: Oid) -> Result<(Event, Commit), Failure> {
    let commit = log.commit(id)?;
    let (_, body) = commit.message.split_once("\n\n").unwrap_or_default();
    let event = serde_json::from_str(body)
        .map_err(|error| corrupt(format!("commit {id} of the log"), error))?;
    Ok((event, commit))
}

/// The events up to `tip`, oldest first, those after `known` where that is before it: whether
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

/// The blobs of earlier events that the tree of a chain's first commit holds, oldest first.
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

/// Events that go into one segment.
const SEGMENT: usize = 128;
/// How long a writer waits for another one, which may be packing.
const WAIT: Duration = Duration::from_secs(600);

/// Whoever writes events; nobody else does as long as this is held.
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

    /// Keeps bytes in a blob.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<Oid, Failure> {
        self.log().write(ObjectType::Blob, bytes)
    }

    /// Writes a blob again that cannot be read; where what is damaged lies now.
    pub(super) fn mend(&self, bytes: &[u8], aside: &Path) -> Result<Option<PathBuf>, Failure> {
        let id = self.log().name(ObjectType::Blob, bytes)?;
        if self.log().read(id).is_ok() {
            return Ok(None);
        }
        let moved = self.set_aside(id, aside)?;
        self.log().write_anew(ObjectType::Blob, bytes)?;
        Ok(moved)
    }

    /// Moves the file of a damaged object to `aside`; where it lies then.
    pub(super) fn set_aside(&self, id: Oid, aside: &Path) -> Result<Option<PathBuf>, Failure> {
        set_aside(&self.log().loose_file(id), aside, &id.to_string())
    }

    /// Every event, oldest first.
    pub(super) fn events(&self) -> Result<Vec<Event>, Failure> {
        let tip = self.tip()?;
        tip.map_or(Ok(Vec::new()), |tip| Ok(events(self.log(), tip, None)?.0))
    }

    /// Writes an event behind those there are.
    pub(super) fn append(&self, event: Event) -> Result<(), Failure> {
        let tip = self.tip()?;
        self.extend(tip, tip, vec![event])
    }

    /// Writes events behind a commit, and moves the ref there from where it is.
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

    /// Begins the chain anew with these events, oldest first, and one more. What they do not
    /// lead to is let go of.
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

    /// Goes on from a tip that the record had before it was taken away: what was written
    /// since then follows it. Whether anything was put back.
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
