//! Clearing a store: what nothing holds is let go of.
//!
//! Invariants: what stays is complete, windows that were sealed and their marks included; while
//! something cannot be read, nothing is let go of that it may lead to.

use super::error::Fault;
use super::event::{Event, Held, Index};
use super::git::GitStore;
use super::hash::ContentHash;
use super::inflight::names_in;
use super::reference::{Ref, RefKind};
use super::store::SessionStore;
use super::writer::Writer;
use serde_json::json;
use std::collections::BTreeSet;

/// What was let go of.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Cleared {
    /// Refs that name nothing now.
    pub expired: Vec<Ref>,
    /// Objects.
    pub objects: usize,
    /// What was printed in calls that left no ref.
    pub attempts: usize,
    /// Refs that stay.
    pub kept: usize,
    /// What cannot be read and may have held anything, and why: no ref or object was let go of.
    pub unreadable: Vec<(String, String)>,
}

/// Lets go of refs that no name holds, no record cites and that were last used before
/// `since_ms` (since 1970), of objects that no other ref leads to, and of what was kept of
/// those calls and of calls that failed before then. A record that is damaged goes on with
/// what of it can be read, and nothing else is done to it.
///
/// # Errors
/// When a call is being made, or the store cannot be read or written.
pub fn clear(
    store: &GitStore,
    since_ms: u64,
    cited: &BTreeSet<Ref>,
    at: &str,
) -> Result<Cleared, Fault> {
    let _alone = store.alone()?;
    let mut cleared = Cleared {
        unreadable: store.mend()?.damaged,
        ..Cleared::default()
    };
    if cleared.unreadable.is_empty() && store.is_there()? {
        let writer = Writer::lock(store.place())?;
        let stays = |name: &Ref| name.given_at_ms() >= since_ms || cited.contains(name);
        let_go(&writer, stays, at, &mut cleared)?;
    }
    for name in &cleared.expired {
        drop_attempt(store, *name)?;
    }
    cleared.kept = store.beginning_with("")?.len();
    cleared.attempts = drop_attempts(store, since_ms, cited)?;
    Ok(cleared)
}

fn let_go(
    writer: &Writer,
    stays: impl Fn(&Ref) -> bool,
    at: &str,
    cleared: &mut Cleared,
) -> Result<(), Fault> {
    let mut events = writer.events()?;
    let mut index = Index::default();
    for event in &events {
        index.take_in(event.clone());
    }
    let mut kept = Reached::from(&index);
    let labelled = index.labels().map(|(_, name)| name);
    let names = index.entries().map(|entry| entry.name).filter(stays);
    kept.close(labelled.chain(names).collect());
    cleared.unreadable.append(&mut kept.missing);
    let gone = |name: &Ref| !kept.names.contains(name);
    let expired: Vec<Ref> = index
        .entries()
        .map(|entry| entry.name)
        .filter(gone)
        .collect();
    let unreached = |hash: &&ContentHash| !kept.objects.contains(*hash);
    let objects = index.objects.keys().filter(unreached).count();
    if !cleared.unreadable.is_empty() || (expired.is_empty() && objects == 0) {
        return Ok(());
    }
    for event in &mut events {
        let seq = event.seq;
        event.entries.retain(|entry| !gone(&entry.name));
        event.objects.retain(|one| kept.objects.contains(&one.hash));
        event.sealed = event.sealed.filter(|(window, _)| !gone(window));
        let is_current = |(label, _): &(String, Ref)| index.label_seq(label) == Some(seq);
        event.label = event.label.take().filter(is_current);
    }
    events.retain(|event| !event.is_empty());
    let mut last = Event::nothing();
    if !expired.is_empty() {
        last.line = Some(json!({"schema_version": 1, "at": at, "expired": expired}));
    }
    writer.begin_anew(events, last)?;
    (cleared.expired, cleared.objects) = (expired, objects);
    Ok(())
}

/// What stays, and all that it leads to.
struct Reached<'a> {
    index: &'a Index,
    names: BTreeSet<Ref>,
    objects: BTreeSet<ContentHash>,
    missing: Vec<(String, String)>,
}

impl<'a> Reached<'a> {
    fn from(index: &'a Index) -> Self {
        Self {
            index,
            names: BTreeSet::new(),
            objects: BTreeSet::new(),
            missing: Vec::new(),
        }
    }

    fn close(&mut self, mut open: Vec<Ref>) {
        while let Some(name) = open.pop() {
            let Some(entry) = self.index.entry(name) else {
                continue;
            };
            if !self.names.insert(name) {
                continue;
            }
            self.reach(entry.hash.clone());
            // The current window of a chain is what the chain is gone on from, and that of an
            // exchange what it was said in.
            open.extend(entry.episode);
            open.extend(entry.series);
            match name.kind() {
                RefKind::Episode => open.extend(self.index.sealed(name)),
                RefKind::Series => open.extend(self.sealed_windows(&entry.hash)),
                RefKind::Exchange => {}
            }
        }
    }

    /// The refs of the windows that were sealed along a chain.
    fn sealed_windows(&self, chain: &ContentHash) -> Vec<Ref> {
        let mut windows = Vec::new();
        let mut at = self.parent(chain);
        while let Some((chain, window)) = at {
            let sealed = self.index.naming(&window).into_iter();
            windows.extend(sealed.filter(|name| self.is_sealed_for(*name, &chain)));
            at = self.parent(&chain);
        }
        windows
    }

    /// The chain before the current window of one, and that chain's own last window.
    fn parent(&self, chain: &ContentHash) -> Option<(ContentHash, ContentHash)> {
        let series = |hash| match self.index.objects.get(hash) {
            Some(Held::Value(series)) => series.stands_on(),
            _ => [None, None],
        };
        let parent = series(chain)[0]?;
        Some((parent.clone(), series(parent)[1]?.clone()))
    }

    /// Whether a window was sealed by a series that goes on from this chain; also when that
    /// cannot be known any more.
    fn is_sealed_for(&self, window: Ref, chain: &ContentHash) -> bool {
        let Some(series) = self.index.sealed(window) else {
            return false;
        };
        let goes_on = self.index.entry(series);
        let before = goes_on.and_then(|entry| self.parent(&entry.hash));
        before.is_none_or(|(before, _)| before == *chain)
    }

    /// Everything that an object stands on.
    fn reach(&mut self, from: ContentHash) {
        let mut open = vec![from];
        while let Some(hash) = open.pop() {
            if !self.objects.insert(hash.clone()) {
                continue;
            }
            match self.index.objects.get(&hash) {
                Some(Held::Value(object)) => {
                    open.extend(object.stands_on().into_iter().flatten().cloned());
                }
                Some(Held::Blob(_)) => {}
                None => {
                    let why = "it is not in the store".to_owned();
                    self.missing.push((hash.to_string(), why));
                }
            }
        }
    }
}

fn drop_attempt(store: &GitStore, name: Ref) -> Result<bool, Fault> {
    let attempt = store.root().join("attempts").join(name.to_string());
    let is_there = attempt.is_dir();
    if is_there {
        std::fs::remove_dir_all(attempt).map_err(Fault::Store)?;
    }
    Ok(is_there)
}

/// Removes what was printed in calls that left no ref: answers that failed, and probes.
fn drop_attempts(store: &GitStore, since_ms: u64, cited: &BTreeSet<Ref>) -> Result<usize, Fault> {
    let mut dropped = 0;
    for attempt in names_in(&store.root().join("attempts"))? {
        let Ok(name) = attempt.parse::<Ref>() else {
            continue;
        };
        let is_old = name.given_at_ms() < since_ms && !cited.contains(&name);
        if is_old && matches!(store.entry(name), Ok(None)) {
            dropped += usize::from(drop_attempt(store, name)?);
        }
    }
    Ok(dropped)
}
