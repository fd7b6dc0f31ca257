//! An episode or a series as a single file, for moving it to another repository or machine.
//!
//! Invariants: reading a file recomputes every hash and count before anything is written, so a file that was changed in
//! transit is refused; its refs keep their names if these are free; objects that are damaged in the store and intact in
//! the file are repaired, and the damaged files are set aside.

use super::failures::{corrupt, not_found, wrong_kind};
use super::session_check::{Links, mend};
use super::session_record::{Batch, CallRecord};
use super::session_store::{GitStore, bytes, load_episode, load_series};
use super::session_values::{ContentHash, Entry, Episode, Exchange, Object, Ref, RefKind, Series};
use crate::clock::Clock;
use cook_protocol::diagnostic::Failure;
use cook_protocol::model::is_hidden;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::PathBuf;

/// Longest field of a ref, in bytes; names from suppliers are much shorter.
const MAX_FIELD: usize = 4096;

/// The value in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// One episode.
    Episode(Episode),
    /// A series.
    Series(Series),
}

impl Content {
    fn windows(&self) -> &[Episode] {
        match self {
            Self::Episode(episode) => std::slice::from_ref(episode),
            Self::Series(series) => series.episodes(),
        }
    }
}

/// A value together with its refs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    /// Always 1.
    pub schema_version: u32,
    /// The value.
    pub content: Content,
    /// The ref of the episode; for a series, of its current episode.
    pub episode: Entry,
    /// The ref of the series.
    pub series: Option<Entry>,
}

impl Archive {
    /// The value that a ref names.
    ///
    /// # Errors
    /// If it is not in the store, or is an exchange.
    pub fn of(store: &GitStore, name: Ref) -> Result<Self, Failure> {
        let entry = store
            .entry(name)?
            .ok_or_else(|| not_found(RefKind::Episode, name))?;
        let (content, episode, series) = match name.kind() {
            RefKind::Exchange => {
                let wanted = RefKind::Episode;
                return Err(wrong_kind(&name.to_string(), name, wanted));
            }
            RefKind::Episode => {
                let episode = load_episode(store, &entry.hash, None)?;
                (Content::Episode(episode), entry, None)
            }
            RefKind::Series => {
                let current = entry.episode.map(|name| store.entry(name)).transpose()?;
                let current = current
                    .flatten()
                    .ok_or_else(|| corrupt(name, "its current window is not here"))?;
                let series = load_series(store, &entry.hash)?;
                (Content::Series(series), current, Some(entry))
            }
        };
        let chained = series.is_some();
        Ok(Self {
            schema_version: 1,
            content,
            episode: portable(episode, chained),
            series: series.map(|series| portable(series, chained)),
        })
    }

    /// Stores the value and its refs. Nothing is written before everything is checked.
    ///
    /// # Errors
    /// `object_corrupt` if the refs do not match the value, or a ref already names another value.
    pub fn keep(&self, store: &GitStore, at: &str) -> Result<TakenIn, Failure> {
        let mut objects = list_objects(&self.content);
        if let Some(why) = self.objection(&objects) {
            return Err(wrong(why));
        }
        let mut aside = mend(store)?.aside;
        let mut new = Vec::new();
        for entry in self.entries() {
            let entry = portable(entry.clone(), self.series.is_some());
            match store.entry(entry.name)? {
                None => new.push(entry),
                Some(there) if there.hash == entry.hash => {}
                Some(_) => {
                    return Err(wrong(format!("{} names something else here", entry.name)));
                }
            }
        }
        aside.extend(store.mend_exchanges(&objects)?);
        let known: HashSet<ContentHash> = store.objects()?.into_iter().collect();
        objects.retain(|object| !known.contains(&object.hash()));
        let names = self.entries().map(|entry| entry.name);
        let line = CallRecord {
            imported: Some(names.collect()),
            ..CallRecord::at(at)
        };
        // All refs of the file are recorded, so that existing objects are kept as long as new ones.
        store.keep(&Batch {
            objects,
            line: Some(line),
            entries: new,
            ..Batch::default()
        })?;
        let name = self.series.as_ref().unwrap_or(&self.episode).name;
        Ok(TakenIn { name, aside })
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        std::iter::once(&self.episode).chain(&self.series)
    }

    /// The first reason to refuse the file, if any.
    fn objection(&self, objects: &[Object]) -> Option<String> {
        if self.schema_version != 1 || self.entries().any(|entry| entry.schema_version != 1) {
            return Some("its schema version is not 1".to_owned());
        }
        let windows = self.content.windows();
        if windows.is_empty() || windows.iter().any(|one| one.exchanges().is_empty()) {
            return Some("it holds a window in which nothing was said, or none".to_owned());
        }
        if objects.iter().any(|object| bytes(object).is_err()) {
            return Some("one of its exchanges is too long".to_owned());
        }
        let mut links = Links::default();
        for object in objects {
            links.add(object);
        }
        links.sum_up();
        for entry in self.entries() {
            links.index.entries.insert(entry.name, entry.clone());
        }
        let is_kind = match (&self.content, &self.series) {
            (Content::Episode(_), None) => true,
            (Content::Series(_), Some(series)) => {
                series.name.kind() == RefKind::Series && series.series.is_none()
            }
            _ => false,
        };
        let of_episode = self.episode.name.kind() == RefKind::Episode;
        if !is_kind || !of_episode || self.episode.episode.is_some() {
            return Some("its refs do not name what it holds".to_owned());
        }
        self.entries().find_map(|entry| {
            let why = links.objections(entry).into_iter().next();
            why.or_else(|| unclean(entry).map(str::to_owned))
                .map(|why| format!("{}: {why}", entry.name))
        })
    }
}

/// The result of storing a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenIn {
    /// The ref from which to continue.
    pub name: Ref,
    /// The new paths of damaged files.
    pub aside: Vec<PathBuf>,
}

/// Removes fields that are meaningful on one machine only.
fn portable(entry: Entry, chained: bool) -> Entry {
    Entry {
        native: None,
        series: entry.series.filter(|_| chained),
        ..entry
    }
}

/// The problem with the text fields of a ref, if any.
fn unclean(entry: &Entry) -> Option<&'static str> {
    let more = [&entry.exid, &entry.head, &entry.tree];
    let mut texts = std::iter::once(&entry.supplier).chain(more.into_iter().flatten());
    let is_unclean = |text: &String| text.len() > MAX_FIELD || text.chars().any(is_hidden);
    if entry.supplier.is_empty() || texts.any(is_unclean) {
        return Some("it holds characters that nobody sees, no supplier, or too much");
    }
    Clock::parse_seconds(&entry.at)
        .is_none()
        .then_some("it has no moment")
}

/// The objects under which the value is stored, without duplicates.
fn list_objects(content: &Content) -> Vec<Object> {
    let windows = content.windows();
    let exchanges = windows.iter().flat_map(Episode::exchanges);
    let mut objects: Vec<Object> = exchanges.map(Object::of_exchange).collect();
    for window in windows {
        let parts = window.exchanges().iter().map(Exchange::hash);
        objects.extend(chain(parts, |parent, part, length| Object::Episode {
            parent,
            exchange: part,
            length,
        }));
    }
    if let Content::Series(series) = content {
        let parts = series.episodes().iter().map(Episode::hash);
        objects.extend(chain(parts, |parent, part, length| Object::Series {
            parent,
            episode: part,
            length,
        }));
    }
    let mut seen = HashSet::new();
    objects.retain(|object| seen.insert(object.hash()));
    objects
}

/// A chain of objects, each with the previous one as its parent.
fn chain<'a>(
    parts: impl Iterator<Item = &'a ContentHash>,
    make: impl Fn(Option<ContentHash>, ContentHash, u64) -> Object,
) -> Vec<Object> {
    let mut objects: Vec<Object> = Vec::new();
    for (part, length) in parts.zip(1..) {
        let parent = objects.last().map(Object::hash);
        objects.push(make(parent, part.clone(), length));
    }
    objects
}

fn wrong(why: String) -> Failure {
    corrupt("the file", why)
}
