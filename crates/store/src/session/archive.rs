//! An episode or a series as one file, to be moved to another repository or machine.
//!
//! Invariants: reading one back recomputes every hash and count before anything is written, so
//! a file that was changed on the way is refused; the refs in it stay what they are where they
//! are free; what is damaged here and whole there is mended, and set aside.

use super::error::Fault;
use super::event::Batch;
use super::git::{GitStore, MAX_OBJECT};
use super::hash::ContentHash;
use super::reference::{Ref, RefKind};
use super::store::{SessionStore, load_episode, load_series};
use super::stored::{Entry, Object};
use super::value::{Episode, Series};
use cook_core::model::is_hidden;
use cook_os::clock::Clock;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashSet;
use std::path::PathBuf;

/// Longest field of a ref, in bytes: a supplier's names are far shorter.
const MAX_FIELD: usize = 4096;

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// One window.
    Episode(Episode),
    /// A chain of windows.
    Series(Series),
}

/// A value with the refs that lead to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    /// Always 1.
    pub schema_version: u32,
    /// What it is.
    pub content: Content,
    /// The ref of the window, the current one of a chain.
    pub episode: Entry,
    /// The ref of the chain.
    pub series: Option<Entry>,
}

impl Archive {
    /// The value that a ref names.
    ///
    /// # Errors
    /// When it is not in the store, or is an exchange.
    pub fn of(store: &dyn SessionStore, name: Ref) -> Result<Self, Fault> {
        let entry = store
            .entry(name)?
            .ok_or_else(|| Fault::EpisodeNotFound(name.to_string()))?;
        match name.kind() {
            RefKind::Exchange => Err(Fault::RefKindMismatch {
                name: name.to_string(),
                found: name,
                wanted: RefKind::Episode,
            }),
            RefKind::Episode => Ok(Self {
                schema_version: 1,
                content: Content::Episode(load_episode(store, &entry.hash, None)?),
                episode: portable(entry, false),
                series: None,
            }),
            RefKind::Series => {
                let current = entry.episode.ok_or_else(|| no_window(name))?;
                let episode = store.entry(current)?.ok_or_else(|| no_window(name))?;
                Ok(Self {
                    schema_version: 1,
                    content: Content::Series(load_series(store, &entry.hash)?),
                    episode: portable(episode, true),
                    series: Some(portable(entry, true)),
                })
            }
        }
    }

    /// Keeps the value and its refs. Nothing is written before all of it was checked.
    ///
    /// # Errors
    /// `object_corrupt` when the refs do not name the value, or a ref is taken by another.
    pub fn keep(&self, store: &GitStore, at: &str) -> Result<TakenIn, Fault> {
        let episodes = self.episodes();
        if let Some(why) = self.objection(&episodes) {
            return Err(wrong(&why));
        }
        let mut aside = store.mend()?.aside;
        if let Some(why) = self.misses(store)? {
            return Err(wrong(&why));
        }
        let mut entries = vec![portable(self.episode.clone(), self.series.is_some())];
        entries.extend(self.series.clone().map(|series| portable(series, true)));
        let names: Vec<Ref> = entries.iter().map(|entry| entry.name).collect();
        let mut new = Vec::new();
        for entry in entries {
            match store.entry(entry.name)? {
                None => new.push(entry),
                Some(there) if there.hash == entry.hash => {}
                Some(_) => {
                    return Err(wrong(&format!("{} names something else here", entry.name)));
                }
            }
        }
        let mut objects = objects_of(&self.content, &episodes);
        aside.extend(store.mend_exchanges(&objects)?);
        let known: HashSet<ContentHash> = store.objects()?.into_iter().collect();
        objects.retain(|object| !known.contains(&object.hash()));
        if !new.is_empty() || !objects.is_empty() {
            let line = json!({"schema_version": 1, "at": at, "imported": names});
            store.keep(&Batch {
                objects,
                line: Some(line).filter(|_| !new.is_empty()),
                entries: new,
                ..Batch::default()
            })?;
        }
        let series = self.series.as_ref().map(|series| series.name);
        Ok(TakenIn {
            name: series.unwrap_or(self.episode.name),
            aside,
        })
    }

    fn episodes(&self) -> Vec<&Episode> {
        match &self.content {
            Content::Episode(episode) => vec![episode],
            Content::Series(series) => series.episodes().iter().map(AsRef::as_ref).collect(),
        }
    }

    /// What is wrong with the file by itself, if anything.
    fn objection(&self, episodes: &[&Episode]) -> Option<String> {
        let versions = [Some(&self.episode), self.series.as_ref()];
        let mut versions = versions
            .into_iter()
            .flatten()
            .map(|entry| entry.schema_version);
        if self.schema_version != 1 || versions.any(|version| version != 1) {
            return Some("its schema version is not 1".to_owned());
        }
        let Some(current) = episodes.last() else {
            return Some("it holds no window".to_owned());
        };
        if episodes
            .iter()
            .any(|episode| episode.exchanges().is_empty())
        {
            return Some("it holds a window in which nothing was said".to_owned());
        }
        if let Some(why) = too_long(episodes) {
            return Some(why);
        }
        let why = fits(
            &self.episode,
            RefKind::Episode,
            current.exchanges().len(),
            current,
        )
        .or_else(|| self.chain_objection(current, episodes.len()));
        if why.is_some() {
            return why;
        }
        if self.episode.hash != *current.hash() || self.episode.episode.is_some() {
            return Some("its refs do not name what it holds".to_owned());
        }
        let own = self.series.as_ref().map(|series| series.name)?;
        let other = self.episode.series.filter(|name| *name != own)?;
        Some(format!(
            "its window is said to be of {other}, which is not in it"
        ))
    }

    /// What the file needs and is neither in it nor here.
    fn misses(&self, store: &GitStore) -> Result<Option<String>, Fault> {
        let series = self.episode.series.filter(|_| self.series.is_none());
        let Some(name) = series else { return Ok(None) };
        Ok(store.entry(name)?.is_none().then(|| {
            format!("its window is said to be of {name}, which is neither in it nor here")
        }))
    }

    fn chain_objection(&self, current: &Episode, windows: usize) -> Option<String> {
        let mismatch = || Some("its refs do not name what it holds".to_owned());
        match (&self.content, &self.series) {
            (Content::Episode(_), None) => None,
            (Content::Series(series), Some(entry)) => {
                let names = entry.hash == *series.hash()
                    && entry.episode == Some(self.episode.name)
                    && entry.series.is_none();
                if names {
                    fits(entry, RefKind::Series, windows, current)
                } else {
                    mismatch()
                }
            }
            _ => mismatch(),
        }
    }
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenIn {
    /// The ref to go on from.
    pub name: Ref,
    /// Where what was damaged here lies now.
    pub aside: Vec<PathBuf>,
}

/// What is wrong with a ref by itself and beside the window it leads to.
fn fits(entry: &Entry, kind: RefKind, length: usize, window: &Episode) -> Option<String> {
    let name = entry.name;
    let said = window
        .exchanges()
        .iter()
        .map(|one| (one.input().len() + one.output().len()) as u64)
        .sum::<u64>();
    let texts = [
        Some(&entry.supplier),
        entry.exid.as_ref(),
        entry.head.as_ref(),
        entry.tree.as_ref(),
    ];
    let is_unclean = |text: &String| text.len() > MAX_FIELD || text.chars().any(is_hidden);
    if name.kind() != kind {
        return Some(format!("{name} is no {kind}"));
    }
    if entry.length != length as u64 {
        return Some(format!(
            "{name} has length {}, and {length} are held",
            entry.length
        ));
    }
    if entry.bytes != said {
        return Some(format!(
            "{name} has {} bytes, and {said} were said",
            entry.bytes
        ));
    }
    if entry.supplier.is_empty() || texts.into_iter().flatten().any(is_unclean) {
        return Some(format!(
            "{name} holds characters that nobody sees, no supplier, or too much"
        ));
    }
    if Clock::seconds_of(&entry.at).is_none() {
        return Some(format!("{name} has no moment"));
    }
    None
}

/// Whether an exchange could not be read again.
fn too_long(episodes: &[&Episode]) -> Option<String> {
    let mut exchanges = episodes.iter().flat_map(|episode| episode.exchanges());
    let is_long = |one: &std::sync::Arc<super::value::Exchange>| {
        let object = Object::of_exchange(one);
        // What takes six bytes for one is a control character.
        let most = (one.input().len() + one.output().len()) as u64 * 6 + 1024;
        most > MAX_OBJECT
            && serde_json::to_vec(&object).map_or(0, |bytes| bytes.len() as u64) > MAX_OBJECT
    };
    exchanges
        .any(is_long)
        .then(|| format!("one of its exchanges takes more than {MAX_OBJECT} bytes"))
}

/// Without what means something on one machine only.
fn portable(entry: Entry, chained: bool) -> Entry {
    Entry {
        native: None,
        series: entry.series.filter(|_| chained),
        ..entry
    }
}

/// The values as they are kept, each once.
fn objects_of(content: &Content, episodes: &[&Episode]) -> Vec<Object> {
    let mut objects = Vec::new();
    for episode in episodes {
        let mut parent = None;
        for (index, exchange) in episode.exchanges().iter().enumerate() {
            objects.push(Object::of_exchange(exchange));
            let window = Object::Episode {
                parent,
                exchange: exchange.hash().clone(),
                length: index as u64 + 1,
            };
            parent = Some(window.hash());
            objects.push(window);
        }
    }
    if let Content::Series(_) = content {
        let mut parent = None;
        for (index, episode) in episodes.iter().enumerate() {
            let chain = Object::Series {
                parent,
                episode: episode.hash().clone(),
                length: index as u64 + 1,
            };
            parent = Some(chain.hash());
            objects.push(chain);
        }
    }
    let mut seen = HashSet::new();
    objects.retain(|object| seen.insert(object.hash()));
    objects
}

fn wrong(why: &str) -> Fault {
    Fault::ObjectCorrupt {
        what: "the file".to_owned(),
        why: why.to_owned(),
    }
}

fn no_window(name: Ref) -> Fault {
    Fault::ObjectCorrupt {
        what: name.to_string(),
        why: "its current window is not here".to_owned(),
    }
}
