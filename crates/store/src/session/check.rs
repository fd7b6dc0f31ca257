//! Checking a store: every object of the record read, every hash recomputed, every link
//! followed both ways.
//!
//! Invariant: what is wrong with one part keeps no other from being looked at.

use super::error::Fault;
use super::event::{Event, Index, Stored};
use super::git::GitStore;
use super::hash::ContentHash;
use super::inflight::names_in;
use super::record::{REF, fault, read_value, reason};
use super::reference::{Ref, RefKind};
use super::repair::Inspected;
use super::stored::{Entry, Object};
use crate::store::chain;
use crate::store::log::Log;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How often damage is looked at again: packing may have moved what could not be read.
const RETRIES: usize = 3;

/// What a check saw.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Objects.
    pub objects: usize,
    /// Refs.
    pub refs: usize,
    /// Names of the user's.
    pub names: usize,
    /// Lines of the record of calls.
    pub lines: usize,
    /// What is damaged, and how it shows.
    pub damaged: Vec<(String, String)>,
}

/// The place of an object in its chain, and what it stands on.
struct Link {
    kind: RefKind,
    length: u64,
    parent: Option<ContentHash>,
    part: Option<ContentHash>,
    /// Bytes said in an exchange.
    said: u64,
}

impl Link {
    fn of(object: &Object) -> Self {
        let [parent, part] = object.stands_on().map(Option::<&ContentHash>::cloned);
        Self {
            kind: object.kind(),
            length: object.length(),
            parent,
            part,
            said: match object {
                Object::Exchange { input, output, .. } => (input.len() + output.len()) as u64,
                _ => 0,
            },
        }
    }
}

/// Reads every object, recomputes every hash and follows every link.
///
/// # Errors
/// When there is a log that cannot be opened. What a part of it holds is a finding.
pub fn verify(store: &GitStore) -> Result<Checked, Fault> {
    let mut look = Look::default();
    for _ in 0..RETRIES {
        look = Look::default();
        if let Some(log) = chain::open(store.place()).map_err(fault)? {
            look.record(&log)?;
        }
        if look.checked.damaged.is_empty() {
            break;
        }
    }
    look.strays(store);
    for (file, why) in store.bad_notes()? {
        look.damage(file, why);
    }
    look.links();
    Ok(look.checked)
}

#[derive(Default)]
struct Look {
    checked: Checked,
    index: Index,
    links: HashMap<ContentHash, Link>,
    /// Bytes said in each window.
    totals: BTreeMap<ContentHash, u64>,
    /// Refs that were let go of.
    expired: BTreeSet<String>,
}

impl Look {
    fn damage(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.checked.damaged.push((what.into(), why.into()));
    }

    /// Everything that the commits hold.
    fn record(&mut self, log: &Log) -> Result<(), Fault> {
        let found = Inspected::of(log)?;
        self.checked.damaged = found.damaged;
        let mut seen = HashMap::new();
        for event in found.events.into_values() {
            for stored in &event.objects {
                let known = seen.insert(stored.hash.clone(), stored.at.clone());
                if known.as_ref() != Some(&stored.at) {
                    self.value(log, stored);
                }
            }
            self.take_in(event);
        }
        Ok(())
    }

    fn value(&mut self, log: &Log, stored: &Stored) {
        let what = stored.hash.to_string();
        match read_value(log, &stored.at) {
            Err(fault) => self.damage(what, reason(&fault)),
            Ok(object) if object.hash() != stored.hash => {
                self.damage(what, format!("its content hashes to {}", object.hash()));
            }
            Ok(object) => {
                self.links.insert(stored.hash.clone(), Link::of(&object));
            }
        }
    }

    fn take_in(&mut self, event: Event) {
        for name in event
            .line
            .iter()
            .flat_map(|line| line["expired"].as_array())
        {
            let names = name.iter().filter_map(|name| name.as_str());
            self.expired.extend(names.map(str::to_owned));
        }
        self.index.take_in(event);
    }

    /// What else lies where the record's ref is.
    fn strays(&mut self, store: &GitStore) {
        let dir = REF.rsplit_once('/').map_or(REF, |(dir, _)| dir);
        let record = REF.trim_start_matches(dir).trim_start_matches('/');
        match names_in(&store.place().log_dir().join(dir)) {
            Err(fault) => self.damage(dir, reason(&fault)),
            Ok(names) => {
                for name in names.iter().filter(|name| *name != record) {
                    let what = format!("{dir}/{}", name.escape_debug());
                    self.damage(what, "it is not part of the store; remove it");
                }
            }
        }
    }

    /// Whether everything leads to what is here.
    fn links(&mut self) {
        self.totals = totals(&self.links);
        let mut wrong = Vec::new();
        for (hash, link) in &self.links {
            wrong.extend(broken(link, &self.links).map(|why| (hash.to_string(), why)));
        }
        for entry in self.index.entries() {
            let found = self.objections(entry).into_iter();
            wrong.extend(found.map(|why| (entry.name.to_string(), why)));
        }
        for (window, series) in self.index.all_sealed() {
            let what = format!("the mark of {window}");
            for name in [window, series]
                .into_iter()
                .filter(|name| self.is_gone(*name))
            {
                wrong.push((what.clone(), format!("{name} is gone")));
            }
            if self.is_other(window, series) {
                wrong.push((what, format!("{series} does not go on from it")));
            }
        }
        for (label, name) in self.index.labels() {
            if self.index.entry(name).is_none() {
                let why = format!(
                    "it stands for {name}, which is not here; give it again: `cook session name REF {label}`"
                );
                wrong.push((label.to_owned(), why));
            }
        }
        wrong.sort();
        self.checked.damaged.extend(wrong);
        self.checked.objects = self.index.objects.len();
        self.checked.refs = self.index.entries().count();
        self.checked.names = self.index.labels().count();
        self.checked.lines = self.index.lines().count();
    }

    /// Whether a ref is neither here nor was let go of.
    fn is_gone(&self, name: Ref) -> bool {
        self.index.entry(name).is_none() && !self.expired.contains(&name.to_string())
    }

    fn objections(&self, entry: &Entry) -> Vec<String> {
        let kind = entry.name.kind();
        let Some(link) = self.links.get(&entry.hash) else {
            return vec![format!("{} is not here, or is damaged", entry.hash)];
        };
        let mut wrong = Vec::new();
        if link.kind != kind || link.length != entry.length {
            wrong.push(format!("{} is no such {kind}", entry.hash));
        }
        if kind == RefKind::Episode {
            if self
                .totals
                .get(&entry.hash)
                .is_some_and(|total| *total != entry.bytes)
            {
                wrong.push(format!("{} bytes are not what was said in it", entry.bytes));
            }
        } else {
            wrong.extend(self.window(entry, link));
        }
        if kind != RefKind::Series {
            wrong.extend(self.chain(entry));
        }
        wrong
    }

    /// What is wrong with the window that an exchange or a series names.
    fn window(&self, entry: &Entry, link: &Link) -> Option<String> {
        let Some(name) = entry.episode else {
            return (entry.name.kind() == RefKind::Series)
                .then(|| "it names no current window".to_owned());
        };
        if self.is_gone(name) {
            return Some(format!("its window {name} is gone"));
        }
        let window = self.index.entry(name)?;
        let holds = match entry.name.kind() {
            RefKind::Series => link.part.as_ref() == Some(&window.hash),
            _ => self
                .links
                .get(&window.hash)
                .is_none_or(|at| at.part.as_ref() == Some(&entry.hash)),
        };
        if !holds {
            return Some(format!("{name} is not its window"));
        }
        (window.bytes != entry.bytes)
            .then(|| format!("{} bytes are not those of {name}", entry.bytes))
    }

    /// What is wrong with the series that an exchange or a window names.
    fn chain(&self, entry: &Entry) -> Option<String> {
        let name = entry.series?;
        if self.is_gone(name) {
            return Some(format!("its series {name} is gone"));
        }
        let window = entry.episode.unwrap_or(entry.name);
        let series = self.index.entry(name)?;
        (series.episode != Some(window)).then(|| format!("{name} is not its series"))
    }

    /// Whether a series that is here did not seal the window.
    fn is_other(&self, window: Ref, series: Ref) -> bool {
        let (Some(window), Some(series)) = (self.index.entry(window), self.index.entry(series))
        else {
            return false;
        };
        let before = |hash: &ContentHash| {
            let parent = self.links.get(hash)?.parent.as_ref()?;
            self.links.get(parent)?.part.clone()
        };
        before(&series.hash).as_ref() != Some(&window.hash)
    }
}

/// Bytes said in each window whose chain is whole, each from the one before it.
fn totals(links: &HashMap<ContentHash, Link>) -> BTreeMap<ContentHash, u64> {
    let mut windows: Vec<_> = links
        .iter()
        .filter(|(_, link)| link.kind == RefKind::Episode)
        .collect();
    windows.sort_by_key(|(_, link)| link.length);
    let mut totals = BTreeMap::new();
    for (hash, link) in windows {
        let before = match &link.parent {
            None => Some(0),
            Some(parent) => totals.get(parent).copied(),
        };
        let said = link
            .part
            .as_ref()
            .and_then(|part| links.get(part))
            .map(|part| part.said);
        if let (Some(before), Some(said)) = (before, said) {
            totals.insert(hash.clone(), before + said);
        }
    }
    totals
}

/// What is wrong with a link, if anything.
fn broken(link: &Link, links: &HashMap<ContentHash, Link>) -> Option<String> {
    if let Some(part) = &link.part {
        let wanted = match link.kind {
            RefKind::Series => RefKind::Episode,
            _ => RefKind::Exchange,
        };
        if links.get(part).map(|part| part.kind) != Some(wanted) {
            return Some(format!("its {wanted} {part} is not there"));
        }
    }
    let before = match &link.parent {
        None => 0,
        Some(parent) => match links.get(parent) {
            Some(found) if found.kind == link.kind => found.length,
            _ => return Some(format!("{parent}, which it goes on from, is not there")),
        },
    };
    (Some(link.length) != before.checked_add(1))
        .then(|| format!("{} is not its place in the chain", link.length))
}
