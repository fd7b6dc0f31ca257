//! Clearing a store: what nothing holds is let go of.
//!
//! Invariants: what stays is complete, windows that were sealed and their marks included; while
//! something cannot be read, nothing is let go of that it may lead to.

use super::failures::{OfStore, as_damage};
use super::session_check::mend;
use super::session_record::{CallRecord, Event, Held, Index, Writer};
use super::session_store::{GitStore, list_names};
use super::session_values::{ContentHash, Object, On, Ref};
use crate::clock::Clock;
use crate::store::branches;
use cook_protocol::diagnostic::Failure;
use std::collections::{BTreeMap, BTreeSet};

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

/// Lets go of refs that no name holds, no record cites and that were last given, gone on from or
/// taken in before `since_ms` (since 1970), of objects that no other ref leads to, and of what was kept of
/// those calls and of calls that failed before then. A record that is damaged goes on with
/// what of it can be read, and nothing else is done to it. As a `preview` nothing is written.
///
/// # Errors
/// When a call is being made, or the store cannot be read or written.
pub fn clear(
    store: &GitStore,
    since_ms: u64,
    cited: &BTreeSet<Ref>,
    at: &str,
    preview: bool,
) -> Result<Cleared, Failure> {
    let mut cleared = Cleared::default();
    let mut alone = None;
    if !preview {
        alone = Some(store.alone()?);
        cleared.unreadable = mend(store)?.damaged;
    }
    let used = last_used(&store.lines()?);
    let stays = |name: &Ref| is_used(&used, name, since_ms) || cited.contains(name);
    if cleared.unreadable.is_empty() && branches::open(store.place())?.is_some() {
        let writer = Writer::lock(store.place())?;
        let events = writer.events().map_err(as_damage)?;
        if let Some((events, last)) = let_go(events, stays, at, &mut cleared)
            && !preview
        {
            writer.begin_anew(&events, last)?;
        }
    }
    let mut gone = old_attempts(store, since_ms, cited)?;
    gone.retain(|name| !cleared.expired.contains(name));
    cleared.attempts = gone.len();
    cleared.kept = store.list_beginning_with("")?.len();
    match preview {
        true => cleared.kept -= cleared.expired.len(),
        false => {
            gone.extend(&cleared.expired);
            for name in gone {
                drop_attempt(store, name)?;
            }
        }
    }
    drop(alone);
    Ok(cleared)
}

/// When refs were last gone on from or taken in, in seconds since 1970.
fn last_used(lines: &[CallRecord]) -> BTreeMap<Ref, i64> {
    let mut used = BTreeMap::new();
    for line in lines {
        let Some(at) = Clock::parse_seconds(&line.at) else {
            continue;
        };
        let on = line.on.map(|(On::Episode(name) | On::Series(name))| name);
        let prior = line.prior.map(|prior| [prior.episode, prior.series]);
        let imported = line.imported.iter().flatten().copied();
        let names = on.into_iter().chain(imported);
        for name in names.chain(prior.into_iter().flatten().flatten()) {
            let last = used.entry(name).or_insert(at);
            *last = at.max(*last);
        }
    }
    used
}

fn is_used(used: &BTreeMap<Ref, i64>, name: &Ref, since_ms: u64) -> bool {
    let last = used
        .get(name)
        .copied()
        .and_then(|at| u64::try_from(at).ok());
    let last = last.map_or(0, |at| at.saturating_mul(1_000).saturating_add(999));
    name.time_given_ms().max(last) >= since_ms
}

/// What stays of the events, and the one that says what went; none where all of it stays.
fn let_go(
    mut events: Vec<Event>,
    stays: impl Fn(&Ref) -> bool,
    at: &str,
    cleared: &mut Cleared,
) -> Option<(Vec<Event>, Event)> {
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
        return None;
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
    (cleared.expired, cleared.objects) = (expired, objects);
    Some((events, last))
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

fn drop_attempt(store: &GitStore, name: Ref) -> Result<(), Failure> {
    let attempt = store.root().join("attempts").join(name.to_string());
    if attempt.is_dir() {
        std::fs::remove_dir_all(attempt).of_store()?;
    }
    Ok(())
}

/// What was printed in calls that left no ref: answers that failed, and probes.
fn old_attempts(
    store: &GitStore,
    since_ms: u64,
    cited: &BTreeSet<Ref>,
) -> Result<Vec<Ref>, Failure> {
    let mut old = Vec::new();
    for attempt in list_names(&store.root().join("attempts"))? {
        let Ok(name) = attempt.parse::<Ref>() else {
            continue;
        };
        let is_old = name.time_given_ms() < since_ms && !cited.contains(&name);
        let is_there = store.root().join("attempts").join(&attempt).is_dir();
        if is_old && is_there && matches!(store.entry(name), Ok(None)) {
            old.push(name);
        }
    }
    Ok(old)
}
