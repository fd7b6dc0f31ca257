//! Checking a store and clearing it: every hash recomputed; what nothing holds let go of.

use super::error::Fault;
use super::file::FileStore;
use super::hash::ContentHash;
use super::reference::{Grade, Ref};
use super::store::SessionStore;
use super::stored::Object;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Objects younger than this stay: a ref may be about to name them.
const SETTLED: Duration = Duration::from_secs(3600);

/// What a check saw.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Objects.
    pub objects: usize,
    /// Refs.
    pub refs: usize,
    /// Names of the user's.
    pub names: usize,
    /// What is damaged, and how it shows.
    pub damaged: Vec<(String, String)>,
}

/// What was let go of.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Cleared {
    /// Refs that name nothing now.
    pub expired: Vec<Ref>,
    /// Objects.
    pub objects: usize,
    /// Refs that stay.
    pub kept: usize,
}

/// The place of an object in its chain, and what it stands on.
struct Link {
    grade: Grade,
    length: u64,
    parent: Option<ContentHash>,
    part: Option<ContentHash>,
}

/// Recomputes every hash and follows every link, each object once.
///
/// # Errors
/// When the store cannot be read.
pub fn verify(store: &FileStore) -> Result<Checked, Fault> {
    let mut checked = Checked::default();
    let mut links = BTreeMap::new();
    for hash in store.objects()? {
        checked.objects += 1;
        match store.get(&hash) {
            Ok(object) => {
                links.insert(hash, link(object));
            }
            Err(fault) => damage(&mut checked, hash.as_str(), &fault)?,
        }
    }
    for (hash, link) in &links {
        if let Some(why) = broken(link, &links) {
            checked.damaged.push((hash.to_string(), why));
        }
    }
    for name in store.beginning_with("")? {
        checked.refs += 1;
        match store.entry(name) {
            Ok(Some(entry)) => {
                let fits = links
                    .get(&entry.hash)
                    .is_some_and(|link| link.grade == name.grade() && link.length == entry.length);
                if !fits {
                    let why = format!("{} is no such {}", entry.hash, name.grade());
                    checked.damaged.push((name.to_string(), why));
                }
            }
            Ok(None) => {}
            Err(fault) => damage(&mut checked, &name.to_string(), &fault)?,
        }
    }
    for (label, name) in store.labels()? {
        checked.names += 1;
        if store.entry(name).is_ok_and(|entry| entry.is_none()) {
            let why = format!("it stands for {name}, which is not here");
            checked.damaged.push((label, why));
        }
    }
    Ok(checked)
}

fn damage(checked: &mut Checked, what: &str, fault: &Fault) -> Result<(), Fault> {
    match fault {
        Fault::ObjectCorrupt { why, .. } => {
            checked.damaged.push((what.to_owned(), why.clone()));
            Ok(())
        }
        Fault::Store(error) => Err(Fault::Store(std::io::Error::new(
            error.kind(),
            error.to_string(),
        ))),
        other => {
            checked.damaged.push((what.to_owned(), other.to_string()));
            Ok(())
        }
    }
}

fn link(object: Object) -> Link {
    let grade = object.grade();
    let (length, parent, part) = match object {
        Object::Exchange { .. } => (1, None, None),
        Object::Episode {
            parent,
            exchange,
            length,
        } => (length, parent, Some(exchange)),
        Object::Series {
            parent,
            episode,
            length,
        } => (length, parent, Some(episode)),
    };
    Link {
        grade,
        length,
        parent,
        part,
    }
}

/// What is wrong with a link, if anything.
fn broken(link: &Link, links: &BTreeMap<ContentHash, Link>) -> Option<String> {
    if let Some(part) = &link.part {
        let wanted = match link.grade {
            Grade::Series => Grade::Episode,
            _ => Grade::Exchange,
        };
        if links.get(part).map(|part| part.grade) != Some(wanted) {
            return Some(format!("its {wanted} {part} is not there"));
        }
    }
    let before = match &link.parent {
        None => 0,
        Some(parent) => match links.get(parent) {
            Some(found) if found.grade == link.grade => found.length,
            _ => return Some(format!("{parent}, which it goes on from, is not there")),
        },
    };
    (link.length != before + 1).then(|| format!("{} is not its place in the chain", link.length))
}

/// Lets go of refs that no name holds, no record cites and that were last used before
/// `since_ms` (since 1970), of objects that no other ref leads to, and of what was kept of those calls.
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
    let held: BTreeSet<Ref> = store.labels()?.into_iter().map(|(_, name)| name).collect();
    let mut kept = BTreeSet::new();
    for name in store.beginning_with("")? {
        if name.given_at_ms() >= since_ms || held.contains(&name) || cited.contains(&name) {
            kept.insert(name);
        } else {
            cleared.expired.push(name);
        }
    }
    // The current window of a chain is what the chain is gone on from, and that of an
    // exchange what it was said in.
    for name in kept.clone() {
        if let Some(entry) = store.entry(name)? {
            kept.extend(entry.episode.filter(|_| name.grade() != Grade::Episode));
        }
    }
    cleared.expired.retain(|name| !kept.contains(name));
    cleared.kept = kept.len();
    let mut reached = BTreeSet::new();
    for name in &kept {
        if let Some(entry) = store.entry(*name)? {
            reach(store, entry.hash, &mut reached)?;
        }
    }
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
    Ok(cleared)
}

/// Everything that an object stands on.
fn reach(
    store: &FileStore,
    from: ContentHash,
    reached: &mut BTreeSet<ContentHash>,
) -> Result<(), Fault> {
    let mut open = vec![from];
    while let Some(hash) = open.pop() {
        if !reached.insert(hash.clone()) {
            continue;
        }
        // A damaged object leads nowhere; `verify` is what names it.
        if let Ok(object) = store.get(&hash) {
            let link = link(object);
            open.extend(link.parent);
            open.extend(link.part);
        }
    }
    Ok(())
}
