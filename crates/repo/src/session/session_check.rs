//! Verifying the whole record: every object is read, every hash recomputed, every link followed in both directions; and
//! repairing a record that is partly unreadable.
//!
//! Invariant: damage in one part prevents no other part from being checked.
//!
//! Clearing a store of unreferenced values.
//!
//! Invariants: what remains is complete, including sealed episodes and their marks; while something is unreadable,
//! nothing to which it may refer is removed.

use super::failures::{OfStore, as_damage, find_why};
use super::session_record::{
    CallRecord, Event, Held, Index, REF, Stored, Writer, read_event, read_events, read_value,
    segments,
};
use super::session_store::{GitStore, list_names};
use super::session_values::{ContentHash, Entry, Object, On, Ref, RefKind};
use crate::clock::Clock;
use crate::disk::{is_directory, is_unfinished, remove_tree};
use crate::store::odb::{FOLDER, Log};
use crate::store::{Place, branches, log_place};
use cook_protocol::diagnostic::Failure;
use git2::Oid;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Attempts, if damage is found: packing may have moved an object that could not be read.
const RETRIES: usize = 3;

/// The result of a verification.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Number of objects.
    pub objects: usize,
    /// Number of refs.
    pub refs: usize,
    /// Number of names that the user gave.
    pub names: usize,
    /// Number of lines in the record of calls.
    pub lines: usize,
    /// Damaged parts, and how that was noticed.
    pub damaged: Vec<(String, String)>,
}

/// Reads every object, recomputes every hash and follows every link.
///
/// # Errors
/// If there is a log that cannot be opened. Damage inside it is reported as a finding.
pub fn verify(store: &GitStore) -> Result<Checked, Failure> {
    let (mut links, mut damaged) = (Links::default(), Vec::new());
    for _ in 0..RETRIES {
        (links, damaged) = match branches::open(store.place())? {
            Some(log) => read_all(&log).map_err(as_damage)?,
            None => break,
        };
        if damaged.is_empty() {
            break;
        }
    }
    damaged.extend(strays(store));
    let notes = store.bad_notes()?.into_iter();
    damaged.extend(notes.map(|(file, why)| (file, why.to_owned())));
    damaged.extend(links.list_broken());
    Ok(Checked {
        objects: links.index.objects.len(),
        refs: links.index.entries.len(),
        names: links.index.labels.len(),
        lines: links.index.lines.len(),
        damaged,
    })
}

/// The contents of all commits, and the unreadable parts.
fn read_all(log: &Log) -> Result<(Links, Vec<(String, String)>), Failure> {
    let found = Inspected::of(log)?;
    let (mut links, mut damaged) = (Links::default(), found.damaged);
    let mut seen: HashMap<&ContentHash, &Held> = HashMap::new();
    for Stored { hash, at } in found.events.values().flat_map(|event| &event.objects) {
        if seen.insert(hash, at) == Some(at) {
            continue;
        }
        match read_value(log, at) {
            Err(error) => damaged.push((hash.to_string(), find_why(&error))),
            Ok(object) if object.hash() != *hash => {
                let why = format!("its content hashes to {}", object.hash());
                damaged.push((hash.to_string(), why));
            }
            Ok(object) => links.add(&object),
        }
    }
    links.sum_up();
    links.index.take_in(found.events.into_values());
    Ok((links, damaged))
}

/// Other files in the directory of the record's ref.
fn strays(store: &GitStore) -> Vec<(String, String)> {
    let (dir, record) = REF.rsplit_once('/').unwrap_or((REF, ""));
    match list_names(&store.place().log_dir().join(dir)) {
        Err(error) => vec![(dir.to_owned(), error.to_string())],
        Ok(names) => {
            let strays = names
                .iter()
                .filter(|name| *name != record && !is_unfinished(name));
            let why = "it is not part of the store; remove it";
            let found = |name: &String| (format!("{dir}/{}", name.escape_debug()), why.to_owned());
            strays.map(found).collect()
        }
    }
}

/// The position of an object in its chain, and the objects it refers to.
struct Link {
    kind: RefKind,
    length: u64,
    parent: Option<ContentHash>,
    part: Option<ContentHash>,
    /// Bytes of text in an exchange or an episode; `None` if unknown.
    said: Option<u64>,
}

/// Objects, and the refs that name them.
#[derive(Default)]
pub(super) struct Links {
    links: HashMap<ContentHash, Link>,
    pub(super) index: Index,
}

impl Links {
    pub(super) fn add(&mut self, object: &Object) {
        let [parent, part] = object.stands_on().map(Option::<&ContentHash>::cloned);
        let link = Link {
            kind: object.kind(),
            length: object.length(),
            parent,
            part,
            said: match object {
                Object::Exchange { input, output, .. } => Some((input.len() + output.len()) as u64),
                _ => None,
            },
        };
        self.links.insert(object.hash(), link);
    }

    /// Computes the bytes of text in each episode whose chain is complete.
    pub(super) fn sum_up(&mut self) {
        let windows = self
            .links
            .iter()
            .filter(|(_, link)| link.kind == RefKind::Episode);
        let mut windows: Vec<_> = windows
            .map(|(hash, link)| (link.length, hash.clone()))
            .collect();
        windows.sort();
        let said = |links: &Self, of: &Option<ContentHash>| links.links.get(of.as_ref()?)?.said;
        for (_, hash) in windows {
            let link = &self.links[&hash];
            let before = match link.parent {
                None => Some(0),
                Some(_) => said(self, &link.parent),
            };
            let sum = before
                .zip(said(self, &link.part))
                .map(|(one, two)| one + two);
            self.links.entry(hash).and_modify(|link| link.said = sum);
        }
    }

    /// All objects, refs, marks and names that refer to something missing or wrong.
    fn list_broken(&self) -> Vec<(String, String)> {
        let mut wrong = Vec::new();
        for (hash, link) in &self.links {
            wrong.extend(self.gap(link).map(|why| (hash.to_string(), why)));
        }
        for entry in self.index.entries.values() {
            let found = self.objections(entry).into_iter();
            wrong.extend(found.map(|why| (entry.name.to_string(), why)));
        }
        for (window, series) in &self.index.sealed {
            let what = format!("the mark of {window}");
            for name in [window, series]
                .into_iter()
                .filter(|name| self.is_gone(**name))
            {
                wrong.push((what.clone(), format!("{name} is gone")));
            }
            if self.is_other(*window, *series) {
                wrong.push((what, format!("{series} does not go on from it")));
            }
        }
        for (label, name) in &self.index.labels {
            if !self.index.entries.contains_key(name) {
                let why = format!(
                    "it stands for {name}, which is not here; give it again: `cook session name REF {label}`"
                );
                wrong.push((label.clone(), why));
            }
        }
        wrong.sort();
        wrong
    }

    /// The problem with an object's position or references, if any.
    fn gap(&self, link: &Link) -> Option<String> {
        if let Some(part) = &link.part {
            let wanted = match link.kind {
                RefKind::Series => RefKind::Episode,
                _ => RefKind::Exchange,
            };
            if self.links.get(part).map(|part| part.kind) != Some(wanted) {
                return Some(format!("its {wanted} {part} is not there"));
            }
        }
        let before = match &link.parent {
            None => 0,
            Some(parent) => match self.links.get(parent) {
                Some(found) if found.kind == link.kind => found.length,
                _ => return Some(format!("{parent}, which it goes on from, is not there")),
            },
        };
        (Some(link.length) != before.checked_add(1))
            .then(|| format!("{} is not its place in the chain", link.length))
    }

    /// Whether a ref is missing without having been removed by clearing.
    fn is_gone(&self, name: Ref) -> bool {
        !self.index.entries.contains_key(&name) && !self.index.is_expired(&name.to_string())
    }

    /// The problems with a ref.
    pub(super) fn objections(&self, entry: &Entry) -> Vec<String> {
        let kind = entry.name.kind();
        let Some(link) = self.links.get(&entry.hash) else {
            return vec![format!("{} is not here, or is damaged", entry.hash)];
        };
        let mut wrong = Vec::new();
        if link.kind != kind || link.length != entry.length {
            wrong.push(format!("{} is not a {kind} that is known here", entry.hash));
        }
        match kind {
            RefKind::Episode => {
                if link.said.is_some_and(|said| said != entry.bytes) {
                    wrong.push(format!("{} bytes are not what was said in it", entry.bytes));
                }
            }
            _ => wrong.extend(self.window(entry, link)),
        }
        if kind != RefKind::Series {
            wrong.extend(self.chain(entry));
        }
        wrong
    }

    /// The problem with the episode that an exchange or a series names.
    fn window(&self, entry: &Entry, link: &Link) -> Option<String> {
        let Some(name) = entry.episode else {
            return (entry.name.kind() == RefKind::Series)
                .then(|| "it names no current window".to_owned());
        };
        if self.is_gone(name) {
            return Some(format!("its window {name} is gone"));
        }
        let window = self.index.entries.get(&name)?;
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

    /// The problem with the series that an exchange or an episode names.
    fn chain(&self, entry: &Entry) -> Option<String> {
        let name = entry.series?;
        if self.is_gone(name) {
            return Some(format!("its series {name} is gone"));
        }
        let window = entry.episode.unwrap_or(entry.name);
        let series = self.index.entries.get(&name)?;
        (series.episode != Some(window)).then(|| format!("{name} is not its series"))
    }

    /// Whether the series, if it is here, is not the one that continues this sealed episode.
    fn is_other(&self, window: Ref, series: Ref) -> bool {
        let entries = &self.index.entries;
        let (Some(window), Some(series)) = (entries.get(&window), entries.get(&series)) else {
            return false;
        };
        let before = self.links.get(&series.hash).and_then(|link| {
            let parent = self.links.get(link.parent.as_ref()?)?;
            parent.part.as_ref()
        });
        before != Some(&window.hash)
    }
}

/// The result of reading every commit and tree of the record.
#[derive(Default)]
pub(super) struct Inspected {
    /// All readable events, by number.
    pub(super) events: BTreeMap<u64, Event>,
    /// Unreadable parts, and how that was noticed.
    pub(super) damaged: Vec<(String, String)>,
    /// Unreadable objects.
    lost: BTreeSet<Oid>,
}

impl Inspected {
    /// Reads everything reachable from the record. Damage in one part prevents no other part from being read.
    pub(super) fn of(log: &Log) -> Result<Self, Failure> {
        let mut found = Self::default();
        let tip = log.find_ref(REF);
        let mut at = tip.unwrap_or_else(|error| {
            found.damaged.push((REF.to_owned(), find_why(&error)));
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

    fn look<T>(&mut self, id: Oid, outcome: Result<T, Failure>) -> Option<T> {
        match outcome {
            Ok(found) => Some(found),
            Err(error) => {
                self.lost.insert(id);
                let what = format!("object {id} of the log");
                self.damaged.push((what, find_why(&error)));
                None
            }
        }
    }

    /// Adds an event, and the earlier events in its tree. The blobs of exchanges are read later, by the code that
    /// compares their content.
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

    /// Searches all objects for events, because the chain of commits is broken.
    fn search(&mut self, log: &Log, base: Option<u64>) -> Result<(), Failure> {
        let all = log.all()?.into_iter();
        let mut commits: Vec<_> = all.filter_map(|id| read_event(log, id).ok()).collect();
        let base = base.or(commits.iter().map(|(event, _)| event.base).max());
        commits.retain(|(event, _)| Some(event.base) == base);
        // A lone event may be from a writer that was killed before the event counted.
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

/// The result of repairing a damaged record.
#[derive(Debug, Default)]
pub(super) struct Mended {
    /// Unreadable parts, and why.
    pub(super) damaged: Vec<(String, String)>,
    /// The new paths of damaged files.
    pub(super) aside: Vec<PathBuf>,
}

/// If a part of the record other than the text of exchanges is unreadable, restarts the record with everything
/// readable.
pub(super) fn mend(store: &GitStore) -> Result<Mended, Failure> {
    mend_record(store.place(), &store.aside()).map_err(as_damage)
}

fn mend_record(place: &Place, aside: &Path) -> Result<Mended, Failure> {
    let mut mended = Mended::default();
    if branches::open(place)?.is_none() {
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
        let moved = log_place::set_aside(&place.log_dir().join(REF), aside, &name)?;
        mended.aside.extend(moved);
    }
    let events: Vec<Event> = found.events.into_values().collect();
    writer.begin_anew(&events, Event::default())?;
    Ok(mended)
}

/// The result of clearing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Cleared {
    /// Removed refs.
    pub expired: Vec<Ref>,
    /// Number of removed objects.
    pub objects: usize,
    /// Number of calls without a ref whose output was removed.
    pub attempts: usize,
    /// Number of remaining refs.
    pub kept: usize,
    /// Unreadable parts that may have referred to anything, and why. If there are any, no ref or object was removed.
    pub unreadable: Vec<(String, String)>,
}

/// Removes refs that no name leads to, no record cites and that were last created, continued or imported before
/// `since_ms` (since 1970), objects that no other ref leads to, and the stored output of those calls and of failed
/// calls before then. A damaged record is only restarted with its readable parts. A `preview` writes nothing.
///
/// # Errors
/// If a call is in progress, or the store cannot be read or written.
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

/// When refs were last continued or imported, in seconds since 1970.
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

/// The remaining events, and a last one that names the removed refs; `None` if nothing is removed.
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

/// The refs and objects that remain, with everything they lead to.
#[derive(Default)]
struct Reached {
    names: BTreeSet<Ref>,
    objects: BTreeSet<ContentHash>,
    /// Episodes of series.
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
                // The current episode of a series is needed to continue it, and the episode of an exchange is its
                // context.
                open.extend(entry.episode);
                open.extend(entry.series);
                open.extend(index.sealed.get(&name));
            }
            // The sealed episodes of a series.
            let sealed = index.sealed.keys().filter(|name| {
                let entry = index.entries.get(name);
                entry.is_some_and(|entry| self.windows.contains(&entry.hash))
            });
            open.extend(sealed.filter(|name| !self.names.contains(name)));
        }
    }

    /// Adds an object and everything it refers to.
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
    match is_directory(&attempt) {
        true => remove_tree(&attempt).of_store(),
        false => Ok(()),
    }
}

/// Calls without a ref whose output is stored: failed answers, and probes.
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
