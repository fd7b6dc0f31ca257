//! Writing the record, under the log's writer lock.
//!
//! Invariant: a writer that is ended leaves the record as it was or with its event in it:
//! every object is durable before the ref moves.

use super::error::Fault;
use super::event::{Event, Held};
use super::record::{
    EXCHANGES, REF, SEGMENTS, Segment, all_events, event_of, fault, json, segments, walk,
};
use crate::store::Place;
use crate::store::chain::LockedLog;
use crate::store::log::{FILE, FOLDER, Log, TreeEntry};
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Events that are walked to at most, and that go into one segment.
const SEGMENT: usize = 128;
/// How long a writer waits for another one, which may be packing.
const WAIT: Duration = Duration::from_secs(600);

/// Whoever writes events; nobody else does as long as this is held.
pub(super) struct Writer {
    inner: LockedLog,
}

/// A commit that others go on from.
struct Top {
    id: Oid,
    seq: u64,
    base: u64,
    segments: Vec<Segment>,
}

impl Writer {
    pub(super) fn lock(place: &Place) -> Result<Self, Fault> {
        let inner = LockedLog::take(place, REF, WAIT).map_err(fault)?;
        Ok(Self { inner })
    }

    pub(super) fn log(&self) -> &Log {
        &self.inner.log
    }

    fn tip(&self) -> Result<Option<Oid>, Fault> {
        self.log().find_ref(REF).map_err(fault)
    }

    /// Keeps a value in a blob.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<Held, Fault> {
        Ok(Held::Blob(self.blob(bytes)?.to_string()))
    }

    fn blob(&self, bytes: &[u8]) -> Result<Oid, Fault> {
        let blob = self.log().write(ObjectType::Blob, bytes);
        blob.map_err(fault)
    }

    /// Writes a blob again that cannot be read; where what is damaged lies now.
    pub(super) fn mend(&self, bytes: &[u8], aside: &Path) -> Result<Option<PathBuf>, Fault> {
        let id = self.log().name(ObjectType::Blob, bytes).map_err(fault)?;
        if self.log().read(id).is_ok() {
            return Ok(None);
        }
        let moved = self.set_aside(id, aside)?;
        let log = self.log();
        log.write_anew(ObjectType::Blob, bytes).map_err(fault)?;
        Ok(moved)
    }

    /// Moves the file of a damaged object to `aside`; where it lies then.
    pub(super) fn set_aside(&self, id: Oid, aside: &Path) -> Result<Option<PathBuf>, Fault> {
        self.inner.set_aside(id, aside).map_err(fault)
    }

    /// Every event, oldest first.
    pub(super) fn events(&self) -> Result<Vec<Event>, Fault> {
        match self.tip()? {
            Some(tip) => all_events(self.log(), tip),
            None => Ok(Vec::new()),
        }
    }

    /// Writes an event behind those there are.
    pub(super) fn append(&self, event: Event) -> Result<(), Fault> {
        let tip = self.tip()?;
        self.advance(tip, self.append_to(tip, vec![event])?)
    }

    fn append_to(&self, tip: Option<Oid>, events: Vec<Event>) -> Result<Option<Top>, Fault> {
        let mut top = tip.map(|tip| self.top(tip)).transpose()?;
        for mut event in events {
            event.seq = top.as_ref().map_or(0, |top| top.seq) + 1;
            event.base = top.as_ref().map_or(event.seq, |top| top.base);
            top = Some(self.add(top, &event)?);
        }
        Ok(top)
    }

    fn advance(&self, from: Option<Oid>, to: Option<Top>) -> Result<(), Fault> {
        if let Some(to) = to {
            self.inner.advance(REF, from, to.id).map_err(fault)?;
            self.inner.pack_when_due(to.seq);
        }
        Ok(())
    }

    fn top(&self, id: Oid) -> Result<Top, Fault> {
        let commit = self.log().commit(id).map_err(fault)?;
        let event = event_of(id, &commit)?;
        Ok(Top {
            id,
            seq: event.seq,
            base: event.base,
            segments: segments(self.log(), commit.tree)?,
        })
    }

    /// One commit more. Where many events are in no segment, they make one.
    fn add(&self, top: Option<Top>, event: &Event) -> Result<Top, Fault> {
        let (parent, mut segments) = match top {
            Some(top) => (Some((top.id, top.seq)), top.segments),
            None => (None, Vec::new()),
        };
        let closed = segments.last().map_or(0, |segment| segment.last);
        if let Some((id, seq)) = parent
            && seq - closed >= SEGMENT as u64
            // What cannot be read is left to be walked to, and `verify` names it.
            && let Ok((mut events, _)) = walk(self.log(), id, |_, seq| seq <= closed)
        {
            events.reverse();
            segments.push(self.segment(&events)?);
        }
        let mut entries = Vec::new();
        for (number, blob) in event.blobs().enumerate() {
            entries.extend(self.entry(FILE, format!("exchange-{number}"), blob));
        }
        self.commit(parent.map(|(id, _)| id), entries, event, segments)
    }

    fn entry(&self, mode: u32, name: String, id: &str) -> Option<TreeEntry> {
        let id = self.log().oid(id)?;
        Some(TreeEntry { mode, name, id })
    }

    fn segment(&self, events: &[Event]) -> Result<Segment, Fault> {
        let mut text = Vec::new();
        for event in events {
            text.extend(json(event)?);
            text.push(b'\n');
        }
        let moments = || events.iter().flat_map(Event::moments);
        let given = (moments().min().unwrap_or(0), moments().max().unwrap_or(0));
        let last = events.last().map_or(0, |event| event.seq);
        Ok(Segment {
            last,
            given,
            blob: self.blob(&text)?,
        })
    }

    fn folder(&self, name: &str, entries: Vec<TreeEntry>) -> Result<TreeEntry, Fault> {
        Ok(TreeEntry {
            mode: FOLDER,
            name: name.to_owned(),
            id: self.log().write_tree(entries).map_err(fault)?,
        })
    }

    fn commit(
        &self,
        parent: Option<Oid>,
        mut entries: Vec<TreeEntry>,
        event: &Event,
        segments: Vec<Segment>,
    ) -> Result<Top, Fault> {
        if !segments.is_empty() {
            let named = segments.iter().map(Segment::entry).collect();
            entries.push(self.folder(SEGMENTS, named)?);
        }
        let text = String::from_utf8(json(event)?)
            .map_err(|error| Fault::Store(io::Error::other(error)))?;
        let message = format!("{}\n\n{text}\n", event.subject());
        let tree = self.log().write_tree(entries).map_err(fault)?;
        let log = self.log();
        let id = log.write_commit(tree, parent, seconds(), &message);
        Ok(Top {
            id: id.map_err(fault)?,
            seq: event.seq,
            base: event.base,
            segments,
        })
    }

    /// Begins the chain anew with these events, oldest first, and one more. What they do not
    /// lead to is let go of.
    pub(super) fn begin_anew(&self, events: Vec<Event>, mut last: Event) -> Result<(), Fault> {
        last.seq = events.last().map_or(0, |event| event.seq) + 1;
        last.base = last.seq;
        let mut blobs = BTreeMap::new();
        for id in events.iter().flat_map(Event::blobs) {
            let entry = self.entry(FILE, id.to_owned(), id);
            blobs.extend(entry.map(|entry| (id.to_owned(), entry)));
        }
        let some = events.chunks(SEGMENT).map(|some| self.segment(some));
        let segments = some.collect::<Result<_, _>>()?;
        let exchanges = self.folder(EXCHANGES, blobs.into_values().collect())?;
        let top = self.commit(None, vec![exchanges], &last, segments)?;
        self.advance(self.tip()?, Some(top))?;
        self.inner.sweep();
        Ok(())
    }

    /// Goes on from a tip that the record had before it was taken away: what was written
    /// since then follows it. Whether anything was put back.
    pub(super) fn join(&self, lost: &str) -> Result<bool, Fault> {
        let Some(lost) = self.log().oid(lost) else {
            return Ok(false);
        };
        let Some(now) = self.tip()? else {
            self.advance(None, Some(self.top(lost)?))?;
            return Ok(true);
        };
        let (before, after) = (self.top(lost)?, self.top(now)?);
        if after.base > before.base || self.leads_to(&after, &before)? {
            return Ok(false);
        }
        let since = match self.leads_to(&before, &after)? {
            true => Vec::new(),
            false => all_events(self.log(), now)?,
        };
        self.advance(Some(now), self.append_to(Some(lost), since)?)?;
        Ok(true)
    }

    /// Whether the chain from a commit back goes through another one.
    fn leads_to(&self, from: &Top, to: &Top) -> Result<bool, Fault> {
        let is_end = |id, seq| id == to.id || seq < to.seq;
        let (_, at) = walk(self.log(), from.id, is_end)?;
        Ok(at == Some(to.id))
    }
}

fn seconds() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}
