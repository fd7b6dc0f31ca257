//! An episode or a series as one file, to be moved to another repository or machine.
//!
//! Invariant: reading one back recomputes every hash, so a file that was changed on the
//! way is refused; the refs in it stay what they are where they are free.

use super::error::Fault;
use super::reference::{Grade, Ref};
use super::store::{SessionStore, load_episode, load_series};
use super::stored::{Entry, Object};
use super::value::{Episode, Series};
use serde::{Deserialize, Serialize};

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
        match name.grade() {
            Grade::Exchange => Err(Fault::RefKindMismatch {
                name: name.to_string(),
                found: name,
                wanted: Grade::Episode,
            }),
            Grade::Episode => Ok(Self {
                schema_version: 1,
                content: Content::Episode(load_episode(store, &entry.hash, None)?),
                episode: portable(entry, false),
                series: None,
            }),
            Grade::Series => {
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

    /// Keeps the value and its refs; the ref to go on from.
    ///
    /// # Errors
    /// `object_corrupt` when the refs do not name the value, or a ref is taken by another.
    pub fn keep(&self, store: &dyn SessionStore) -> Result<Ref, Fault> {
        let episodes: Vec<&Episode> = match &self.content {
            Content::Episode(episode) => vec![episode],
            Content::Series(series) => series.episodes().iter().map(AsRef::as_ref).collect(),
        };
        let (current, hash) = match (episodes.last(), &self.content) {
            (Some(current), Content::Series(series)) => (*current, Some(series.hash())),
            (Some(current), Content::Episode(_)) => (*current, None),
            (None, _) => return Err(wrong("it holds no window")),
        };
        let fits = self.episode.hash == *current.hash()
            && self.episode.name.grade() == Grade::Episode
            && self.series.as_ref().map(|entry| &entry.hash) == hash
            && self
                .series
                .as_ref()
                .is_none_or(|entry| entry.name.grade() == Grade::Series)
            && self
                .series
                .as_ref()
                .is_none_or(|entry| entry.episode == Some(self.episode.name))
            && self.episode.length == current.exchanges().len() as u64
            && !current.exchanges().is_empty();
        if !fits {
            return Err(wrong("its refs do not name what it holds"));
        }
        let entries = [Some(&self.episode), self.series.as_ref()];
        for entry in entries.into_iter().flatten() {
            if store
                .entry(entry.name)?
                .is_some_and(|there| there.hash != entry.hash)
            {
                return Err(wrong(&format!("{} names something else here", entry.name)));
            }
        }
        for episode in &episodes {
            keep_episode(store, episode)?;
        }
        if let Content::Series(series) = &self.content {
            keep_series(store, series)?;
        }
        store.name(&portable(self.episode.clone(), self.series.is_some()))?;
        if let Some(series) = &self.series {
            store.name(&portable(series.clone(), true))?;
        }
        Ok(self
            .series
            .as_ref()
            .map_or(self.episode.name, |series| series.name))
    }
}

/// Without what means something on one machine only.
fn portable(entry: Entry, chained: bool) -> Entry {
    Entry {
        native: None,
        series: entry.series.filter(|_| chained),
        ..entry
    }
}

fn keep_episode(store: &dyn SessionStore, episode: &Episode) -> Result<(), Fault> {
    let mut parent = None;
    for (index, exchange) in episode.exchanges().iter().enumerate() {
        let exchange = store.put(&Object::of_exchange(exchange))?;
        parent = Some(store.put(&Object::Episode {
            parent,
            exchange,
            length: index as u64 + 1,
        })?);
    }
    Ok(())
}

fn keep_series(store: &dyn SessionStore, series: &Series) -> Result<(), Fault> {
    let mut parent = None;
    for (index, episode) in series.episodes().iter().enumerate() {
        parent = Some(store.put(&Object::Series {
            parent,
            episode: episode.hash().clone(),
            length: index as u64 + 1,
        })?);
    }
    Ok(())
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
