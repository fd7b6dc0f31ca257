//! The record, looked at as a whole: what of it cannot be read, and how it goes on without
//! that.

use super::error::SessionError;
use super::event::Event;
use super::record::{REF, read_event, read_events, segments};
use super::reference::{Ref, RefKind};
use super::writer::Writer;
use crate::store::log::{FOLDER, Log};
use crate::store::{Place, chain};
use git2::Oid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a look at every commit and tree of the record found.
#[derive(Default)]
pub(super) struct Inspected {
    /// All events that can be read, by number.
    pub(super) events: BTreeMap<u64, Event>,
    /// What cannot be read as it was written, and how it shows.
    pub(super) damaged: Vec<(String, String)>,
    /// Objects that cannot be read.
    lost: BTreeSet<Oid>,
}

impl Inspected {
    /// Reads everything that the record leads to. What is wrong with one part keeps no other
    /// from being looked at.
    pub(super) fn of(log: &Log) -> Result<Self, SessionError> {
        let mut found = Self::default();
        let tip = log.find_ref(REF).map_err(SessionError::from);
        let mut at = tip.unwrap_or_else(|error| {
            found.damaged.push((REF.to_owned(), error.why()));
            None
        });
        let mut base = None;
        let mut is_whole = false;
        while let Some(id) = at {
            let Some((event, commit)) = found.look(id, read_event(log, id)) else {
                break;
            };
            at = commit.parents.first().copied();
            is_whole = at.is_none();
            base = Some(event.base);
            found.keep(log, event, commit.tree);
        }
        if !is_whole {
            found.search(log, base)?;
        }
        Ok(found)
    }

    fn look<T>(&mut self, id: Oid, outcome: Result<T, impl Into<SessionError>>) -> Option<T> {
        match outcome {
            Ok(found) => Some(found),
            Err(error) => {
                self.lost.insert(id);
                let what = format!("object {id} of the log");
                self.damaged.push((what, error.into().why()));
                None
            }
        }
    }

    /// Keeps an event, and the earlier ones that its tree holds. Blobs of exchanges are read
    /// by whoever compares what they hold.
    fn keep(&mut self, log: &Log, event: Event, tree: Oid) {
        let entries = self.look(tree, log.tree(tree)).unwrap_or_default();
        if event.seq == event.base {
            for folder in entries.iter().filter(|entry| entry.mode == FOLDER) {
                self.look(folder.id, log.tree(folder.id));
            }
            for blob in segments(log, &entries).unwrap_or_default() {
                for event in self.look(blob, read_events(log, blob)).unwrap_or_default() {
                    self.events.entry(event.seq).or_insert(event);
                }
            }
        }
        self.events.entry(event.seq).or_insert(event);
    }

    /// Where the way from one event to the one before is lost, looks for events everywhere.
    fn search(&mut self, log: &Log, base: Option<u64>) -> Result<(), SessionError> {
        let all = log.all()?.into_iter();
        let mut commits: Vec<_> = all.filter_map(|id| read_event(log, id).ok()).collect();
        let base = base.or(commits.iter().map(|(event, _)| event.base).max());
        commits.retain(|(event, _)| Some(event.base) == base);
        // One that stands alone may be that of a writer that was ended before it counted.
        if self.damaged.is_empty() && commits.iter().any(|(event, _)| event.seq > 1) {
            let why = "it is gone, and what it led to is here; `cook session gc` puts it back";
            self.damaged.push((REF.to_owned(), why.to_owned()));
        }
        for (event, commit) in commits {
            self.keep(log, event, commit.tree);
        }
        Ok(())
    }
}

/// What became of a damaged record.
#[derive(Debug, Default)]
pub(super) struct Mended {
    /// What could not be read, and why.
    pub(super) damaged: Vec<(String, String)>,
    /// Where the damaged files lie now.
    pub(super) aside: Vec<PathBuf>,
}

/// Where something of the record cannot be read but what was said, begins it anew with all
/// that can.
pub(super) fn mend(place: &Place, aside: &Path) -> Result<Mended, SessionError> {
    let mut mended = Mended::default();
    if chain::open(place)?.is_none() {
        return Ok(mended);
    }
    let writer = Writer::lock(place)?;
    let found = Inspected::of(writer.log())?;
    if found.damaged.is_empty() {
        return Ok(mended);
    }
    mended.damaged = found.damaged;
    for id in &found.lost {
        mended.aside.extend(writer.set_aside(*id, aside)?);
    }
    if writer.log().find_ref(REF).is_err() {
        let name = Ref::new(RefKind::Series).to_string();
        let moved = chain::set_aside(&place.log_dir().join(REF), aside, &name)?;
        mended.aside.extend(moved);
    }
    let events: Vec<Event> = found.events.into_values().collect();
    writer.begin_anew(&events, Event::default())?;
    Ok(mended)
}
