//! Exchange, Episode, Series: what was said and answered, as immutable values.
//!
//! Invariants: every field is private and has a getter only; each operation makes a new value
//! and leaves the old one as it was; a hash is always that of the content, also after reading
//! one from JSON. `exid` is a supplier's own name for a call and stays outside the hash.
//!
//! ```compile_fail
//! let mut exchange = cook_store::session::Exchange::new(cook_store::session::Kind::Say, "a", "b", None);
//! exchange.hash = exchange.hash.clone(); // private
//! ```
//! ```compile_fail
//! let episode = cook_store::session::Episode::empty();
//! episode.exchanges().push(todo!()); // a slice, not a vector
//! ```
//! ```compile_fail
//! let mut series = cook_store::session::Series::empty();
//! series.episodes = Vec::new(); // private
//! ```

use super::hash::ContentHash;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What an exchange was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something was asked.
    Say,
    /// Something was ordered to be done.
    Act,
    /// What a new context window begins with: a summary of the one before.
    Recap,
    /// An answer was asked for again, because it did not fit its schema.
    Repair,
}

impl Kind {
    fn id(self) -> &'static str {
        match self {
            Self::Say => "say",
            Self::Act => "act",
            Self::Recap => "recap",
            Self::Repair => "repair",
        }
    }
}

/// One request and its response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawExchange")]
pub struct Exchange {
    kind: Kind,
    input: String,
    output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exid: Option<String>,
    hash: ContentHash,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawExchange {
    kind: Kind,
    input: String,
    output: String,
    #[serde(default)]
    exid: Option<String>,
    hash: ContentHash,
}

impl Exchange {
    /// `input` exactly as it was sent, `output` the final text or data.
    pub fn new(
        kind: Kind,
        input: impl Into<String>,
        output: impl Into<String>,
        exid: Option<String>,
    ) -> Self {
        let (input, output) = (input.into(), output.into());
        let parts = [kind.id().as_bytes(), input.as_bytes(), output.as_bytes()];
        let hash = ContentHash::of("cook/exchange/1", &parts);
        Self {
            kind,
            input,
            output,
            exid,
            hash,
        }
    }

    /// What it was for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The request.
    pub fn input(&self) -> &str {
        &self.input
    }

    /// The response.
    pub fn output(&self) -> &str {
        &self.output
    }

    /// The supplier's own name for the call.
    pub fn exid(&self) -> Option<&str> {
        self.exid.as_deref()
    }

    /// Fingerprint of kind, input and output.
    pub fn hash(&self) -> &ContentHash {
        &self.hash
    }
}

impl TryFrom<RawExchange> for Exchange {
    type Error = String;

    fn try_from(raw: RawExchange) -> Result<Self, String> {
        let made = Self::new(raw.kind, raw.input, raw.output, raw.exid);
        matching("exchange", &made.hash, &raw.hash)?;
        Ok(made)
    }
}

fn each<T: Serialize, S: serde::Serializer>(
    values: &[Arc<T>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(Arc::as_ref))
}

fn matching(what: &str, content: &ContentHash, named: &ContentHash) -> Result<(), String> {
    if content == named {
        return Ok(());
    }
    Err(format!("the {what} hashes to {content}, and names {named}"))
}

/// One context window: the exchanges a supplier had before it at that moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawEpisode")]
pub struct Episode {
    #[serde(serialize_with = "each")]
    exchanges: Vec<Arc<Exchange>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exid: Option<String>,
    hash: ContentHash,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEpisode {
    exchanges: Vec<Exchange>,
    #[serde(default)]
    exid: Option<String>,
    hash: ContentHash,
}

const EPISODE: &str = "cook/episode/1";
const SERIES: &str = "cook/series/1";

/// The hash of an episode that goes on by one exchange; nothing = it is the first.
pub(super) fn episode_hash(parent: Option<&ContentHash>, exchange: &ContentHash) -> ContentHash {
    chained(EPISODE, parent, exchange)
}

/// The hash of a series that goes on by one episode; nothing = it is the first.
pub(super) fn series_hash(parent: Option<&ContentHash>, episode: &ContentHash) -> ContentHash {
    chained(SERIES, parent, episode)
}

fn chained(tag: &str, parent: Option<&ContentHash>, link: &ContentHash) -> ContentHash {
    let parent = parent.map_or("", ContentHash::as_str);
    ContentHash::of(tag, &[parent.as_bytes(), link.as_str().as_bytes()])
}

impl Episode {
    /// Before anything was said.
    pub fn empty() -> Self {
        Self {
            exchanges: Vec::new(),
            exid: None,
            hash: ContentHash::of(EPISODE, &[]),
        }
    }

    /// This one and one exchange more, under the supplier's name for the window.
    #[must_use]
    pub fn with(&self, exchange: Exchange, exid: Option<String>) -> Self {
        let parent = (!self.exchanges.is_empty()).then_some(&self.hash);
        let hash = episode_hash(parent, exchange.hash());
        let mut exchanges = Vec::with_capacity(self.exchanges.len() + 1);
        exchanges.extend(self.exchanges.iter().cloned());
        exchanges.push(Arc::new(exchange));
        Self {
            exchanges,
            exid,
            hash,
        }
    }

    /// All at once, oldest first.
    pub(super) fn of(exchanges: Vec<Exchange>, exid: Option<String>) -> Self {
        let mut hash = None;
        for exchange in &exchanges {
            hash = Some(episode_hash(hash.as_ref(), exchange.hash()));
        }
        Self {
            hash: hash.unwrap_or_else(|| ContentHash::of(EPISODE, &[])),
            exchanges: exchanges.into_iter().map(Arc::new).collect(),
            exid,
        }
    }

    /// In the order in which they were said.
    pub fn exchanges(&self) -> &[Arc<Exchange>] {
        &self.exchanges
    }

    /// The supplier's own name for the window.
    pub fn exid(&self) -> Option<&str> {
        self.exid.as_deref()
    }

    /// Fingerprint of the exchanges in their order.
    pub fn hash(&self) -> &ContentHash {
        &self.hash
    }

    /// The summary it begins with, when it follows another window.
    pub fn recap(&self) -> Option<&Exchange> {
        self.exchanges
            .first()
            .map(Arc::as_ref)
            .filter(|first| first.kind == Kind::Recap)
    }
}

impl TryFrom<RawEpisode> for Episode {
    type Error = String;

    fn try_from(raw: RawEpisode) -> Result<Self, String> {
        let made = Self::of(raw.exchanges, raw.exid);
        matching("episode", &made.hash, &raw.hash)?;
        Ok(made)
    }
}

/// A chain of context windows, bridged by recaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawSeries")]
pub struct Series {
    #[serde(serialize_with = "each")]
    episodes: Vec<Arc<Episode>>,
    hash: ContentHash,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSeries {
    episodes: Vec<Episode>,
    hash: ContentHash,
}

impl Series {
    /// Before anything was said.
    pub fn empty() -> Self {
        Self::from_episodes(Vec::new())
    }

    /// One that begins with this window: fresh, or a branch from a checkpoint.
    pub fn starting(episode: Episode) -> Self {
        Self::from_episodes(vec![Arc::new(episode)])
    }

    /// The current window replaced by one that goes on from it.
    #[must_use]
    pub fn with_current(&self, episode: Episode) -> Self {
        let mut episodes = self.episodes.clone();
        episodes.pop();
        episodes.push(Arc::new(episode));
        Self::from_episodes(episodes)
    }

    /// The current window sealed, and one that begins with a recap after it.
    #[must_use]
    pub fn with_next(&self, episode: Episode) -> Self {
        let mut episodes = self.episodes.clone();
        episodes.push(Arc::new(episode));
        Self::from_episodes(episodes)
    }

    /// All at once, oldest first.
    pub(super) fn of(episodes: Vec<Episode>) -> Self {
        Self::from_episodes(episodes.into_iter().map(Arc::new).collect())
    }

    fn from_episodes(episodes: Vec<Arc<Episode>>) -> Self {
        let mut hash = None;
        for episode in &episodes {
            hash = Some(series_hash(hash.as_ref(), episode.hash()));
        }
        Self {
            hash: hash.unwrap_or_else(|| ContentHash::of(SERIES, &[])),
            episodes,
        }
    }

    /// Oldest first.
    pub fn episodes(&self) -> &[Arc<Episode>] {
        &self.episodes
    }

    /// The window that goes on.
    pub fn current(&self) -> Option<&Episode> {
        self.episodes.last().map(Arc::as_ref)
    }

    /// What bridges the windows: the first exchange of each but the first.
    pub fn recaps(&self) -> impl Iterator<Item = &Exchange> {
        self.episodes
            .iter()
            .skip(1)
            .filter_map(|episode| episode.exchanges.first())
            .map(Arc::as_ref)
    }

    /// Fingerprint of the episodes in their order.
    pub fn hash(&self) -> &ContentHash {
        &self.hash
    }
}

impl TryFrom<RawSeries> for Series {
    type Error = String;

    fn try_from(raw: RawSeries) -> Result<Self, String> {
        let made = Self::of(raw.episodes);
        matching("series", &made.hash, &raw.hash)?;
        Ok(made)
    }
}
