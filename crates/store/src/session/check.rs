//! Checking a store: every hash and digest recomputed, every link followed, whatever else lies
//! in its directories named.
//!
//! Invariant: what is wrong with one file keeps no other from being looked at.

use super::error::Fault;
use super::file::{FileStore, Found, Line};
use super::hash::ContentHash;
use super::reference::{Grade, Ref};
use super::store::SessionStore;
use super::stored::{Entry, Object};
use super::value::Kind;
use std::collections::{BTreeMap, BTreeSet};

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
    /// Refs, marks, names and lines of an older cook's, which carry no digest of themselves.
    pub older: usize,
    /// What is damaged, and how it shows.
    pub damaged: Vec<(String, String)>,
}

/// The place of an object in its chain, and what it stands on.
pub(super) struct Link {
    grade: Grade,
    length: u64,
    pub(super) parent: Option<ContentHash>,
    pub(super) part: Option<ContentHash>,
    /// Bytes said in an exchange.
    said: u64,
    is_recap: bool,
}

/// Recomputes every hash and digest and follows every link.
///
/// # Errors
/// Never for what one file or directory holds: that is a finding.
pub fn verify(store: &FileStore) -> Result<Checked, Fault> {
    let mut look = Look {
        store,
        checked: Checked::default(),
        links: BTreeMap::new(),
        totals: BTreeMap::new(),
        entries: BTreeMap::new(),
        unreadable: BTreeSet::new(),
        older: BTreeSet::new(),
        sealed: BTreeMap::new(),
        expired: BTreeSet::new(),
        imported: BTreeSet::new(),
        recorded: BTreeSet::new(),
        is_record_whole: true,
    };
    look.strays();
    look.objects();
    look.lines();
    look.refs();
    look.marks();
    for (name, entry) in &look.entries {
        if !look.is_recorded(*name) {
            continue;
        }
        for why in look.objections(entry) {
            look.checked.damaged.push((name.to_string(), why));
        }
    }
    look.index();
    look.names();
    Ok(look.checked)
}

struct Look<'a> {
    store: &'a FileStore,
    checked: Checked,
    links: BTreeMap<ContentHash, Link>,
    /// Bytes said in each window.
    totals: BTreeMap<ContentHash, u64>,
    entries: BTreeMap<Ref, Entry>,
    /// Refs that are there and cannot be read.
    unreadable: BTreeSet<Ref>,
    /// Refs without a digest.
    older: BTreeSet<Ref>,
    /// Marks of windows; none where one cannot be read.
    sealed: BTreeMap<Ref, Option<Ref>>,
    /// Refs that were let go of.
    expired: BTreeSet<String>,
    /// Refs that came from another store, without the marks of their sealed windows.
    imported: BTreeSet<String>,
    /// Refs of calls that have ended, and those that a name of the user's stands for.
    recorded: BTreeSet<Ref>,
    /// Every line of the record can be read.
    is_record_whole: bool,
}

impl Look<'_> {
    fn damage(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.checked.damaged.push((what.into(), why.into()));
    }

    /// Whether a ref is expected to have all that belongs to it. One that is in no line is what a
    /// call left that was cut while it was being kept: nothing leads to it, and clearing takes
    /// it away.
    fn is_recorded(&self, name: Ref) -> bool {
        !self.is_record_whole
            || self.recorded.contains(&name)
            || self.imported.contains(&name.to_string())
    }

    fn fault(&mut self, what: impl Into<String>, fault: &Fault) {
        self.damage(what, reason(fault));
    }

    /// A list that is needed; what keeps it from being read is a finding.
    fn listed<T>(&mut self, what: &str, list: Result<Vec<T>, Fault>) -> Vec<T> {
        list.unwrap_or_else(|fault| {
            self.fault(what, &fault);
            Vec::new()
        })
    }

    /// What is in none of the places that anything has.
    fn strays(&mut self) {
        let is_ref = |name: &str| name.parse::<Ref>().is_ok();
        let is_document = |name: &str| name.strip_suffix(".json").is_some_and(is_ref);
        let is_hash = |digits: &str| ContentHash::try_from(format!("sha256:{digits}")).is_ok();
        let is_hex = |name: &str| name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let labels: BTreeSet<String> = self
            .store
            .label_names()
            .unwrap_or_default()
            .into_iter()
            .collect();
        let refs = self.lying_in("refs");
        self.stray("refs", &refs, |one| is_document(&one.name));
        let sealed = self.lying_in("sealed");
        self.stray("sealed", &sealed, |one| is_ref(&one.name));
        let names = self.lying_in("names");
        self.stray("names", &names, |one| labels.contains(&one.name));
        let shards = self.lying_in("objects");
        self.stray("objects", &shards, |one| {
            one.is_dir && one.name.len() == 2 && is_hex(&one.name)
        });
        for shard in shards.iter().filter(|one| one.is_dir) {
            let place = format!("objects/{}", shard.name);
            let files = self.lying_in(&place);
            let digits = |name: &str| format!("{}{}", shard.name, name.trim_end_matches(".json"));
            self.stray(&place, &files, |one| {
                one.name.ends_with(".json") && is_hash(&digits(&one.name))
            });
        }
        let index = self.lying_in("naming");
        self.stray("naming", &index, |one| one.is_dir && is_hash(&one.name));
        for hash in index.iter().filter(|one| one.is_dir) {
            let place = format!("naming/{}", hash.name);
            let files = self.lying_in(&place);
            self.stray(&place, &files, |one| {
                one.is_file && one.length == 0 && is_ref(&one.name)
            });
        }
        let notes = self.lying_in("inflight");
        self.stray("inflight", &notes, |one| {
            one.is_file && is_document(&one.name)
        });
        for note in notes.iter().filter(|one| is_document(&one.name)) {
            if self.store.note(&note.name).is_err() {
                self.damage(
                    format!("inflight/{}", note.name),
                    "the note of a call cannot be read: nothing is known of the call but its name; remove the file",
                );
            }
        }
    }

    fn lying_in(&mut self, place: &str) -> Vec<Found> {
        let found = self.store.lying_in(place);
        self.listed(place, found)
    }

    fn stray(&mut self, place: &str, found: &[Found], belongs: impl Fn(&Found) -> bool) {
        for one in found {
            // What a killed writer left, and what was damaged and is mended, means nothing.
            let is_left = one.name.starts_with(".cook-") && one.name.ends_with(".tmp");
            if !is_left && !one.name.ends_with(".damaged") && !belongs(one) {
                let what = format!("{place}/{}", one.name.escape_debug());
                self.damage(what, "it is no part of the store; remove it");
            }
        }
    }

    fn objects(&mut self) {
        let hashes = self.store.objects();
        for hash in self.listed("objects", hashes) {
            self.checked.objects += 1;
            match self.store.get(&hash) {
                Ok(object) => {
                    self.links.insert(hash, link(&object));
                }
                Err(fault) => self.fault(hash.to_string(), &fault),
            }
        }
        for (hash, link) in &self.links {
            if let Some(why) = broken(link, &self.links) {
                self.checked.damaged.push((hash.to_string(), why));
            }
        }
        self.totals = totals(&self.links);
    }

    fn lines(&mut self) {
        let mut lines: Vec<Line> = Vec::new();
        if let Err(fault) = self.store.each_line(|line| lines.push(line)) {
            self.fault("log.jsonl", &fault);
        }
        for line in lines {
            self.checked.lines += 1;
            let place = format!("log.jsonl, line {}", line.number);
            match line.value {
                Ok((value, carried)) => {
                    self.checked.older += usize::from(!carried);
                    // Of a call that was cut nothing but the name is known.
                    let is_cut = value["error"] == "interrupted";
                    let named = ["exchange", "episode", "series"].map(|key| value[key].as_str());
                    let named = named.into_iter().flatten().filter(|_| !is_cut);
                    self.recorded
                        .extend(named.filter_map(|name| name.parse::<Ref>().ok()));
                    for (key, refs) in [
                        ("expired", &mut self.expired),
                        ("imported", &mut self.imported),
                    ] {
                        let names = value[key].as_array().into_iter().flatten();
                        refs.extend(names.filter_map(|name| name.as_str().map(str::to_owned)));
                    }
                    if !line.ended {
                        self.damage(place, "it is torn: its end is missing");
                    }
                }
                Err(why) => {
                    self.is_record_whole = false;
                    self.damage(
                        place,
                        format!("it is torn or damaged ({why}) and left out; the lines after it hold; take it out by hand"),
                    );
                }
            }
        }
    }

    fn refs(&mut self) {
        for label in self.store.label_names().unwrap_or_default() {
            if let Ok(Some((name, _))) = self.store.mark("names", &label) {
                self.recorded.insert(name);
            }
        }
        let names = self.store.beginning_with("");
        for name in self.listed("refs", names) {
            self.checked.refs += 1;
            match self.store.document(name) {
                Ok(Some((entry, carried))) => {
                    if !carried {
                        self.checked.older += 1;
                        self.older.insert(name);
                    }
                    self.entries.insert(name, entry);
                }
                Ok(None) => {}
                Err(fault) => {
                    self.unreadable.insert(name);
                    self.fault(name.to_string(), &fault);
                }
            }
        }
    }

    /// Whether a ref is neither here nor was let go of.
    fn is_gone(&self, name: Ref) -> bool {
        !self.entries.contains_key(&name)
            && !self.unreadable.contains(&name)
            && !self.expired.contains(&name.to_string())
    }

    fn objections(&self, entry: &Entry) -> Vec<String> {
        let grade = entry.name.grade();
        let Some(link) = self.links.get(&entry.hash) else {
            return vec![format!("{} is not here, or is damaged", entry.hash)];
        };
        let mut wrong = Vec::new();
        if link.grade != grade || link.length != entry.length {
            wrong.push(format!("{} is no such {grade}", entry.hash));
        }
        if grade == Grade::Episode {
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
        if grade != Grade::Series {
            wrong.extend(self.chain(entry));
        }
        if grade == Grade::Series && self.lacks_mark(entry, link) {
            wrong.push(
                "the window that was sealed before its current one, or its mark, is gone"
                    .to_owned(),
            );
        }
        wrong
    }

    /// What is wrong with the window that an exchange or a series names.
    fn window(&self, entry: &Entry, link: &Link) -> Option<String> {
        let Some(name) = entry.episode else {
            return (entry.name.grade() == Grade::Series)
                .then(|| "it names no current window".to_owned());
        };
        if self.is_gone(name) {
            return Some(format!("its window {name} is gone"));
        }
        let window = self.entries.get(&name)?;
        let holds = match entry.name.grade() {
            Grade::Series => link.part.as_ref() == Some(&window.hash),
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
        let series = self.entries.get(&name)?;
        (series.episode != Some(window)).then(|| format!("{name} is not its series"))
    }

    /// Whether a series that has just begun a window lacks the one that was sealed for it.
    fn lacks_mark(&self, entry: &Entry, link: &Link) -> bool {
        let recorded =
            !self.older.contains(&entry.name) && !self.imported.contains(&entry.name.to_string());
        let before = link
            .parent
            .as_ref()
            .and_then(|parent| self.links.get(parent)?.part.as_ref());
        let (true, Some(before)) = (recorded && self.has_just_begun(link), before) else {
            return false;
        };
        let is_before = |window: &Ref| {
            self.entries
                .get(window)
                .is_some_and(|window| window.hash == *before)
        };
        !self
            .sealed
            .iter()
            .any(|(window, series)| *series == Some(entry.name) || is_before(window))
    }

    /// Whether the current window holds its recap and one exchange.
    fn has_just_begun(&self, series: &Link) -> bool {
        let at = |hash: &Option<ContentHash>| hash.as_ref().and_then(|hash| self.links.get(hash));
        let Some(window) = at(&series.part).filter(|window| window.length == 2) else {
            return false;
        };
        at(&window.parent)
            .and_then(|first| at(&first.part))
            .is_some_and(|recap| recap.is_recap)
    }

    fn marks(&mut self) {
        let windows = self.store.marked_windows();
        for window in self.listed("sealed", windows) {
            let mark = self.store.mark("sealed", &window.to_string());
            self.sealed.insert(
                window,
                mark.as_ref()
                    .ok()
                    .and_then(|mark| mark.map(|(series, _)| series)),
            );
            let place = format!("sealed/{window}");
            match mark {
                Ok(Some((series, carried))) => {
                    self.checked.older += usize::from(!carried);
                    for name in [window, series] {
                        if self.is_gone(name) {
                            self.damage(&place, format!("{name} is gone"));
                        }
                    }
                    if self.is_other(window, series) {
                        self.damage(&place, format!("{series} does not go on from it"));
                    }
                }
                Ok(None) => {}
                Err(fault) => {
                    let why = reason(&fault);
                    self.damage(place, format!("{why}; no copy holds it: remove it, and the window can be branched from again"));
                }
            }
        }
    }

    /// Whether a series that is here did not seal the window.
    fn is_other(&self, window: Ref, series: Ref) -> bool {
        let (Some(window), Some(series)) = (self.entries.get(&window), self.entries.get(&series))
        else {
            return false;
        };
        let Some(link) = self.links.get(&series.hash) else {
            return false;
        };
        let before = link
            .parent
            .as_ref()
            .and_then(|parent| self.links.get(parent)?.part.as_ref());
        before != Some(&window.hash) || !self.has_just_begun(link)
    }

    /// What is here is indexed, and what is indexed is here.
    fn index(&mut self) {
        let index = self.store.index();
        let index: BTreeSet<(ContentHash, Ref)> =
            self.listed("naming", index).into_iter().collect();
        for (hash, name) in &index {
            let fits = match self.entries.get(name) {
                Some(entry) => entry.hash == *hash,
                None => self.unreadable.contains(name),
            };
            if !fits {
                self.damage(
                    format!("naming/{}/{name}", hash.digits()),
                    format!("{name} is gone or names something else; `cook session gc` takes this out, an import brings the ref back"),
                );
            }
        }
        let unindexed: Vec<Ref> = self
            .entries
            .values()
            .filter(|entry| self.is_recorded(entry.name))
            .filter(|entry| !index.contains(&(entry.hash.clone(), entry.name)))
            .map(|entry| entry.name)
            .collect();
        for name in unindexed {
            self.damage(
                name.to_string(),
                "its entry in `naming` is gone; `cook session gc` writes it again",
            );
        }
    }

    fn names(&mut self) {
        let labels = self.store.label_names();
        for label in self.listed("names", labels) {
            self.checked.names += 1;
            match self.store.mark("names", &label) {
                Ok(Some((name, carried))) => {
                    self.checked.older += usize::from(!carried);
                    if !self.entries.contains_key(&name) && !self.unreadable.contains(&name) {
                        self.damage(label, format!("it stands for {name}, which is not here"));
                    }
                }
                Ok(None) => {}
                Err(fault) => {
                    let why = format!(
                        "{}; give it again: `cook session name REF {label}`",
                        reason(&fault)
                    );
                    self.damage(label, why);
                }
            }
        }
    }
}

fn reason(fault: &Fault) -> String {
    match fault {
        Fault::ObjectCorrupt { why, .. } => why.clone(),
        Fault::Store(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// The place of an object.
pub(super) fn link(object: &Object) -> Link {
    let grade = object.grade();
    let (length, parent, part) = match object {
        Object::Exchange { .. } => (1, None, None),
        Object::Episode {
            parent,
            exchange,
            length,
        } => (*length, parent.clone(), Some(exchange.clone())),
        Object::Series {
            parent,
            episode,
            length,
        } => (*length, parent.clone(), Some(episode.clone())),
    };
    let (said, is_recap) = match object {
        Object::Exchange {
            kind,
            input,
            output,
        } => ((input.len() + output.len()) as u64, *kind == Kind::Recap),
        _ => (0, false),
    };
    Link {
        grade,
        length,
        parent,
        part,
        said,
        is_recap,
    }
}

/// Bytes said in each window whose chain is whole, each from the one before it.
fn totals(links: &BTreeMap<ContentHash, Link>) -> BTreeMap<ContentHash, u64> {
    let mut windows: Vec<_> = links
        .iter()
        .filter(|(_, link)| link.grade == Grade::Episode)
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
    (Some(link.length) != before.checked_add(1))
        .then(|| format!("{} is not its place in the chain", link.length))
}
