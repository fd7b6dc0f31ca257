//! The record, looked at as a whole: what of it cannot be read, and how it goes on without
//! that.

use super::error::Fault;
use super::event::Event;
use super::record::{REF, Segment, event_of, events_in, fault, reason};
use super::reference::{Ref, RefKind};
use super::writer::Writer;
use crate::store::log::{FOLDER, Log};
use crate::store::{Place, chain};
use git2::{ObjectType, Oid};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a look at every commit, tree and segment of the record found.
#[derive(Default)]
pub(super) struct Inspected {
    /// All events that can be read, by number.
    pub(super) events: BTreeMap<u64, Event>,
    /// What cannot be read as it was written, and how it shows.
    pub(super) damaged: Vec<(String, String)>,
    /// Objects that cannot be read.
    lost: BTreeSet<Oid>,
    seen: BTreeSet<Oid>,
    /// Where else an event is said: the newest chain's commits, and segments.
    commits: Vec<(Oid, Event)>,
    segments: BTreeSet<Oid>,
}

impl Inspected {
    /// Reads everything that the record leads to. What is wrong with one part keeps no other
    /// from being looked at.
    pub(super) fn of(log: &Log) -> Result<Self, Fault> {
        let mut found = Self::default();
        match log.find_ref(REF).map_err(fault) {
            Ok(tip) => found.read_all(log, tip.into_iter().collect()),
            Err(error) => found.damage(REF.to_owned(), &error),
        }
        if !found.commits.iter().any(|(_, event)| event.begins()) {
            found.search(log)?;
        }
        found.take_together(log);
        Ok(found)
    }

    fn damage(&mut self, what: String, error: &Fault) {
        self.damaged.push((what, reason(error)));
    }

    fn read_all(&mut self, log: &Log, mut open: Vec<Oid>) {
        while let Some(id) = open.pop() {
            if !self.seen.insert(id) {
                continue;
            }
            match self.read(log, id) {
                Ok(further) => open.extend(further),
                Err(error) => {
                    self.lost.insert(id);
                    self.damage(format!("object {id} of the log"), &error);
                }
            }
        }
    }

    /// One object; what it leads to.
    fn read(&mut self, log: &Log, id: Oid) -> Result<Vec<Oid>, Fault> {
        let (kind, bytes) = log.read(id).map_err(fault)?;
        match kind {
            ObjectType::Commit => {
                let commit = log.commit_of(id, &bytes).map_err(fault)?;
                self.commits.push((id, event_of(id, &commit)?));
                Ok([vec![commit.tree], commit.parents].concat())
            }
            ObjectType::Tree => {
                let entries = log.tree_of(id, &bytes).map_err(fault)?;
                let (folders, files): (Vec<_>, Vec<_>) =
                    entries.iter().partition(|entry| entry.mode == FOLDER);
                let segments = files
                    .iter()
                    .filter(|file| Segment::of(&file.name, file.id).is_some());
                self.segments.extend(segments.map(|file| file.id));
                // Blobs of exchanges are read by whoever compares what they hold.
                Ok(folders.iter().map(|folder| folder.id).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Where the way from one event to the one before is lost, looks for events everywhere.
    fn search(&mut self, log: &Log) -> Result<(), Fault> {
        let mut found = Self::default();
        let is_known = self.commits.iter().map(|(_, event)| event.base).max();
        for id in log.all().map_err(fault)? {
            let commit = log.commit(id).ok();
            let event = commit.and_then(|commit| event_of(id, &commit).ok());
            if let Some(event) = event.filter(|one| is_known.is_none_or(|base| base == one.base)) {
                found.commits.push((id, event));
            }
        }
        let newest = found.commits.iter().map(|(_, event)| event.base).max();
        found
            .commits
            .retain(|(_, event)| Some(event.base) == newest);
        // One that stands alone may be that of a writer that was ended before it counted.
        if found.commits.iter().any(|(_, event)| event.seq > 1) && self.damaged.is_empty() {
            let why = "it is gone, and what it led to is here; `cook session gc` puts it back";
            self.damaged.push((REF.to_owned(), why.to_owned()));
        }
        self.read_all(log, found.commits.into_iter().map(|(id, _)| id).collect());
        Ok(())
    }

    /// What commits and segments say is the same; what only one of them says holds too.
    fn take_together(&mut self, log: &Log) {
        let seqs = self.commits.iter().map(|(_, event)| event.seq);
        let (first, last) = (seqs.clone().min(), seqs.max());
        if first
            .zip(last)
            .is_some_and(|(first, last)| last - first != self.commits.len() as u64 - 1)
        {
            let why = "the numbers of its events do not follow one another".to_owned();
            self.damaged.push((REF.to_owned(), why));
        }
        for (id, event) in std::mem::take(&mut self.commits) {
            let seq = event.seq;
            if self.events.insert(seq, event).is_some() {
                let why = format!("event {seq} is there twice");
                self.damaged.push((format!("object {id} of the log"), why));
            }
        }
        for blob in std::mem::take(&mut self.segments) {
            let events = match events_in(log, blob) {
                Ok(events) => events,
                Err(error) => {
                    self.lost.insert(blob);
                    self.damage(format!("object {blob} of the log"), &error);
                    continue;
                }
            };
            for event in events {
                let said = self
                    .events
                    .entry(event.seq)
                    .or_insert_with(|| event.clone());
                if *said != event {
                    let why = format!("event {} is another in its commit", event.seq);
                    self.damaged
                        .push((format!("object {blob} of the log"), why));
                }
            }
        }
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
pub(super) fn mend(place: &Place, aside: &Path) -> Result<Mended, Fault> {
    let mut mended = Mended::default();
    if chain::open(place).map_err(fault)?.is_none() {
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
        let moved = chain::set_aside(&place.log_dir().join(REF), aside, &name);
        mended.aside.extend(moved.map_err(fault)?);
    }
    writer.begin_anew(found.events.into_values().collect(), Event::nothing())?;
    Ok(mended)
}
