//! Clearing a store: what nothing holds is let go of.
//!
//! Invariants: what stays is complete, windows that were sealed and their marks included; while
//! something cannot be read, nothing is let go of that it may lead to.

use super::calls::CallRecord;
use super::error::SessionError;
use super::event::{Event, Held, Index};
use super::git::GitStore;
use super::hash::ContentHash;
use super::inflight::names_in;
use super::reference::Ref;
use super::store::SessionStore;
use super::stored::Object;
use super::writer::Writer;
use crate::store::chain;
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
) -> Result<Cleared, SessionError> {
    let _alone = store.alone()?;
    let mut cleared = Cleared {
        unreadable: store.mend()?.damaged,
        ..Cleared::default()
    };
    if cleared.unreadable.is_empty() && chain::open(store.place())?.is_some() {
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
) -> Result<(), SessionError> {
    let mut events = writer.events()?;
    let mut index = Index::default();
    index.take_in(events.clone());
    let mut kept = Reached::default();
    let names = index.entries.keys().filter(|name| stays(name));
    kept.close(
        &index,
        index.labels.values().chain(names).copied().collect(),
    );
    cleared.unreadable.append(&mut kept.missing);
    let gone = |name: &Ref| !kept.names.contains(name);
    let expired: Vec<Ref> = index.entries.keys().copied().filter(gone).collect();
    let unreached = |hash: &&ContentHash| !kept.objects.contains(*hash);
    let objects = index.objects.keys().filter(unreached).count();
    if !cleared.unreadable.is_empty() || (expired.is_empty() && objects == 0) {
        return Ok(());
    }
    for event in &mut events {
        event.objects.retain(|one| kept.objects.contains(&one.hash));
        let batch = &mut event.batch;
        batch.entries.retain(|entry| !gone(&entry.name));
        batch.sealed = batch.sealed.filter(|(window, _)| !gone(window));
        let is_current = |(label, name): &(String, Ref)| index.labels.get(label) == Some(name);
        batch.label = batch.label.take().filter(is_current);
    }
    events.retain(|event| !event.is_empty());
    let mut last = Event::default();
    if !expired.is_empty() {
        last.batch.line = Some(CallRecord {
            expired: Some(expired.clone()),
            ..CallRecord::at(at)
        });
    }
    writer.begin_anew(&events, last)?;
    (cleared.expired, cleared.objects) = (expired, objects);
    Ok(())
}

/// What stays, and all that it leads to.
#[derive(Default)]
struct Reached {
    names: BTreeSet<Ref>,
    objects: BTreeSet<ContentHash>,
    /// Windows of chains.
    windows: BTreeSet<ContentHash>,
    missing: Vec<(String, String)>,
}

impl Reached {
    fn close(&mut self, index: &Index, mut open: Vec<Ref>) {
        while !open.is_empty() {
            while let Some(name) = open.pop() {
                let Some(entry) = index.entries.get(&name) else {
                    continue;
                };
                if !self.names.insert(name) {
                    continue;
                }
                self.reach(index, entry.hash.clone());
                // The current window of a chain is what the chain is gone on from, and that
                // of an exchange what it was said in.
                open.extend(entry.episode);
                open.extend(entry.series);
                open.extend(index.sealed.get(&name));
            }
            // The windows that were sealed along a chain.
            let sealed = index.sealed.keys().filter(|name| {
                let entry = index.entries.get(name);
                entry.is_some_and(|entry| self.windows.contains(&entry.hash))
            });
            open.extend(sealed.filter(|name| !self.names.contains(name)));
        }
    }

    /// Everything that an object stands on.
    fn reach(&mut self, index: &Index, from: ContentHash) {
        let mut open = vec![from];
        while let Some(hash) = open.pop() {
            if !self.objects.insert(hash.clone()) {
                continue;
            }
            match index.objects.get(&hash) {
                Some(Held::Value(object)) => {
                    open.extend(object.stands_on().into_iter().flatten().cloned());
                    if let Object::Series { episode, .. } = object {
                        self.windows.insert(episode.clone());
                    }
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

fn drop_attempt(store: &GitStore, name: Ref) -> Result<bool, SessionError> {
    let attempt = store.root().join("attempts").join(name.to_string());
    let is_there = attempt.is_dir();
    if is_there {
        std::fs::remove_dir_all(attempt)?;
    }
    Ok(is_there)
}

/// Removes what was printed in calls that left no ref: answers that failed, and probes.
fn drop_attempts(
    store: &GitStore,
    since_ms: u64,
    cited: &BTreeSet<Ref>,
) -> Result<usize, SessionError> {
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
