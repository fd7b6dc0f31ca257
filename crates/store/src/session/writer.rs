//! Writing the record, under the log's writer lock.
//!
//! Invariant: a writer that is ended leaves the record as it was or with its event in it:
//! every object is durable before the ref moves.

use super::error::SessionError;
use super::event::Event;
use super::record::{EXCHANGES, REF, SEGMENTS, events, read_event};
use crate::store::Place;
use crate::store::chain::LockedLog;
use crate::store::log::{FILE, FOLDER, Log, TreeEntry};
use git2::{ObjectType, Oid};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Events that go into one segment.
const SEGMENT: usize = 128;
/// How long a writer waits for another one, which may be packing.
const WAIT: Duration = Duration::from_secs(600);

/// Whoever writes events; nobody else does as long as this is held.
pub(super) struct Writer {
    inner: LockedLog,
}

impl Writer {
    pub(super) fn lock(place: &Place) -> Result<Self, SessionError> {
        let inner = LockedLog::take(place, REF, WAIT)?;
        Ok(Self { inner })
    }

    pub(super) fn log(&self) -> &Log {
        &self.inner.log
    }

    fn tip(&self) -> Result<Option<Oid>, SessionError> {
        Ok(self.log().find_ref(REF)?)
    }

    /// Keeps bytes in a blob.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<Oid, SessionError> {
        Ok(self.log().write(ObjectType::Blob, bytes)?)
    }

    /// Writes a blob again that cannot be read; where what is damaged lies now.
    pub(super) fn mend(&self, bytes: &[u8], aside: &Path) -> Result<Option<PathBuf>, SessionError> {
        let id = self.log().name(ObjectType::Blob, bytes)?;
        if self.log().read(id).is_ok() {
            return Ok(None);
        }
        let moved = self.set_aside(id, aside)?;
        self.log().write_anew(ObjectType::Blob, bytes)?;
        Ok(moved)
    }

    /// Moves the file of a damaged object to `aside`; where it lies then.
    pub(super) fn set_aside(&self, id: Oid, aside: &Path) -> Result<Option<PathBuf>, SessionError> {
        Ok(self.inner.set_aside(id, aside)?)
    }

    /// Every event, oldest first.
    pub(super) fn events(&self) -> Result<Vec<Event>, SessionError> {
        let tip = self.tip()?;
        tip.map_or(Ok(Vec::new()), |tip| Ok(events(self.log(), tip, None)?.0))
    }

    /// Writes an event behind those there are.
    pub(super) fn append(&self, event: Event) -> Result<(), SessionError> {
        let tip = self.tip()?;
        self.extend(tip, tip, vec![event])
    }

    /// Writes events behind a commit, and moves the ref there from where it is.
    fn extend(
        &self,
        from: Option<Oid>,
        behind: Option<Oid>,
        events: Vec<Event>,
    ) -> Result<(), SessionError> {
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

    fn advance(&self, from: Option<Oid>, to: Oid, seq: u64) -> Result<(), SessionError> {
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

    fn folder(&self, name: &str, entries: Vec<TreeEntry>) -> Result<TreeEntry, SessionError> {
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
    ) -> Result<Oid, SessionError> {
        for (number, blob) in event.blobs().enumerate() {
            entries.extend(self.entry(format!("exchange-{number}"), blob));
        }
        let text = serde_json::to_string(event).map_err(std::io::Error::from)?;
        let message = format!("{}\n\n{text}\n", event.subject());
        let tree = self.log().write_tree(entries)?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seconds = since.map_or(0, |since| {
            i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
        });
        Ok(self.log().write_commit(tree, parent, seconds, &message)?)
    }

    /// Begins the chain anew with these events, oldest first, and one more. What they do not
    /// lead to is let go of.
    pub(super) fn begin_anew(&self, events: &[Event], mut last: Event) -> Result<(), SessionError> {
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
                serde_json::to_writer(&mut text, event).map_err(std::io::Error::from)?;
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
    pub(super) fn join(&self, lost: &str) -> Result<bool, SessionError> {
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
