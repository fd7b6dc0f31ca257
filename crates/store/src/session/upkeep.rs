//! Clearing a store: what nothing holds is let go of.
//!
//! Invariants: what stays is complete, windows that were sealed and their marks included; while
//! something that stays cannot be read, nothing is let go of that it may lead to.

use super::check::link;
use super::error::Fault;
use super::file::FileStore;
use super::hash::ContentHash;
use super::reference::{Grade, Ref};
use super::store::SessionStore;
use super::stored::Object;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// Objects younger than this stay: a ref may be about to name them.
const SETTLED: Duration = Duration::from_secs(3600);

/// What was let go of.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Cleared {
    /// Refs that name nothing now.
    pub expired: Vec<Ref>,
    /// Objects.
    pub objects: usize,
    /// What was printed in calls that left no ref.
    pub attempts: usize,
    /// Entries of the index that were written again or taken out.
    pub indexed: usize,
    /// Refs that stay.
    pub kept: usize,
    /// What cannot be read and may hold anything, and why: no ref or object was let go of.
    pub unreadable: Vec<(String, String)>,
}

/// Lets go of refs that no name holds, no record cites and that were last used before
/// `since_ms` (since 1970), of objects that no other ref leads to, and of what was kept of
/// those calls and of calls that failed before then.
///
/// # Errors
/// When a call is being made, or the store cannot be read or written.
pub fn clear(
    store: &FileStore,
    since_ms: u64,
    cited: &BTreeSet<Ref>,
    at: &str,
) -> Result<Cleared, Fault> {
    let _alone = store.alone()?;
    let mut cleared = Cleared::default();
    let all = store.beginning_with("")?;
    let held = held(store, &mut cleared)?;
    // What was sealed along a chain is found by the index.
    cleared.indexed = index_again(store, &all)?;
    let mut kept = Kept {
        store,
        names: BTreeSet::new(),
        reached: BTreeSet::new(),
        unreadable: Vec::new(),
    };
    let stays =
        |name: &Ref| name.given_at_ms() >= since_ms || held.contains(name) || cited.contains(name);
    kept.close(all.iter().copied().filter(stays).collect())?;
    cleared.unreadable.append(&mut kept.unreadable);
    if cleared.unreadable.is_empty() {
        let is_held = |name: &Ref| kept.names.contains(name);
        cleared.expired = all.iter().copied().filter(|name| !is_held(name)).collect();
        let_go(store, &mut cleared, &kept.reached, at)?;
    }
    cleared.indexed += drop_stale(store)?;
    cleared.kept = all.len() - cleared.expired.len();
    cleared.attempts = drop_attempts(store, since_ms, cited)?;
    Ok(cleared)
}

/// What names of the user's hold.
fn held(store: &FileStore, cleared: &mut Cleared) -> Result<BTreeSet<Ref>, Fault> {
    let mut held = BTreeSet::new();
    for label in store.label_names()? {
        match store.labelled(&label) {
            Ok(name) => held.extend(name),
            Err(fault) => cleared
                .unreadable
                .push((format!("names/{label}"), fault.to_string())),
        }
    }
    Ok(held)
}

fn let_go(
    store: &FileStore,
    cleared: &mut Cleared,
    reached: &BTreeSet<ContentHash>,
    at: &str,
) -> Result<(), Fault> {
    if !cleared.expired.is_empty() {
        store.record(&json!({"schema_version": 1, "at": at, "expired": cleared.expired}))?;
    }
    for name in &cleared.expired {
        store.forget(*name)?;
    }
    for hash in store.objects()? {
        if !reached.contains(&hash) && store.discard(&hash, SETTLED)? {
            cleared.objects += 1;
        }
    }
    Ok(())
}

/// What stays, and all that it leads to.
struct Kept<'a> {
    store: &'a FileStore,
    names: BTreeSet<Ref>,
    reached: BTreeSet<ContentHash>,
    unreadable: Vec<(String, String)>,
}

impl Kept<'_> {
    fn close(&mut self, mut open: Vec<Ref>) -> Result<(), Fault> {
        while let Some(name) = open.pop() {
            if !self.names.insert(name) {
                continue;
            }
            let entry = match self.store.entry(name) {
                Ok(Some(entry)) => entry,
                Ok(None) => {
                    self.names.remove(&name);
                    continue;
                }
                Err(fault) => {
                    self.unreadable.push((name.to_string(), fault.to_string()));
                    continue;
                }
            };
            self.reach(entry.hash.clone());
            // The current window of a chain is what the chain is gone on from, and that of an
            // exchange what it was said in.
            open.extend(entry.episode);
            open.extend(entry.series);
            match name.grade() {
                Grade::Episode => match self.store.sealed(name) {
                    Ok(series) => open.extend(series),
                    Err(fault) => {
                        let what = format!("sealed/{name}");
                        self.unreadable.push((what, fault.to_string()));
                    }
                },
                Grade::Series => open.extend(self.sealed_windows(entry.hash)?),
                Grade::Exchange => {}
            }
        }
        Ok(())
    }

    /// The refs of the windows that were sealed along a chain.
    fn sealed_windows(&self, chain: ContentHash) -> Result<Vec<Ref>, Fault> {
        let mut windows = Vec::new();
        let mut at = self.parent(&chain);
        while let Some((chain, window)) = at {
            for name in self.store.naming(&window)? {
                if self.sealed_for(name, &chain) {
                    windows.push(name);
                }
            }
            at = self.parent(&chain);
        }
        Ok(windows)
    }

    /// The chain before the current window of one, and that chain's own last window.
    fn parent(&self, chain: &ContentHash) -> Option<(ContentHash, ContentHash)> {
        let Ok(Object::Series {
            parent: Some(parent),
            ..
        }) = self.store.get(chain)
        else {
            return None;
        };
        match self.store.get(&parent) {
            Ok(Object::Series { episode, .. }) => Some((parent, episode)),
            _ => None,
        }
    }

    /// Whether a window was sealed by a series that goes on from this chain; also when that
    /// cannot be known any more.
    fn sealed_for(&self, window: Ref, chain: &ContentHash) -> bool {
        match self.store.sealed(window) {
            Ok(None) => false,
            Ok(Some(series)) => match self.store.entry(series) {
                Ok(Some(series)) => self
                    .parent(&series.hash)
                    .is_none_or(|(before, _)| before == *chain),
                Ok(None) | Err(_) => true,
            },
            Err(_) => true,
        }
    }

    /// Everything that an object stands on.
    fn reach(&mut self, from: ContentHash) {
        let mut open = vec![from];
        while let Some(hash) = open.pop() {
            if !self.reached.insert(hash.clone()) {
                continue;
            }
            match self.store.get(&hash) {
                Ok(object) => {
                    let link = link(&object);
                    open.extend(link.parent);
                    open.extend(link.part);
                }
                Err(fault) => {
                    self.unreadable.push((hash.to_string(), fault.to_string()));
                }
            }
        }
    }
}

/// The index follows from the refs: what is gone from it is written again.
fn index_again(store: &FileStore, all: &[Ref]) -> Result<usize, Fault> {
    let mut written = 0;
    for name in all {
        if let Ok(Some(entry)) = store.entry(*name) {
            written += usize::from(store.index_again(&entry)?);
        }
    }
    Ok(written)
}

/// What leads to no ref is taken out of the index; a ref that cannot be read keeps its entry.
fn drop_stale(store: &FileStore) -> Result<usize, Fault> {
    let mut dropped = 0;
    for (hash, name) in store.index()? {
        let is_stale = match store.entry(name) {
            Ok(entry) => entry.is_none_or(|entry| entry.hash != hash),
            Err(_) => false,
        };
        if is_stale {
            store.unindex(&hash, name)?;
            dropped += 1;
        }
    }
    Ok(dropped)
}

/// Removes what was printed in calls that left no ref: answers that failed, and probes.
fn drop_attempts(store: &FileStore, since_ms: u64, cited: &BTreeSet<Ref>) -> Result<usize, Fault> {
    let mut dropped = 0;
    for attempt in store.lying_in("attempts")? {
        let Ok(name) = attempt.name.parse::<Ref>() else {
            continue;
        };
        let is_old = name.given_at_ms() < since_ms && !cited.contains(&name);
        if attempt.is_dir && is_old && matches!(store.entry(name), Ok(None)) {
            store.drop_attempt(&attempt.name)?;
            dropped += 1;
        }
    }
    Ok(dropped)
}
