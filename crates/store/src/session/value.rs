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
//! let episode = cook_store::session::Episode::of(Vec::new(), None);
//! episode.exchanges().push(todo!()); // a slice, not a vector
//! ```
//! ```compile_fail
//! let mut series = cook_store::session::Series::of(Vec::new());
//! series.episodes = Vec::new(); // private
//! ```

use super::hash::ContentHash;
use serde::{Deserialize, Serialize};

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
    exchanges: Vec<Exchange>,
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
    link_hash(EPISODE, parent, exchange)
}

/// The hash of a series that goes on by one episode; nothing = it is the first.
pub(super) fn series_hash(parent: Option<&ContentHash>, episode: &ContentHash) -> ContentHash {
    link_hash(SERIES, parent, episode)
}

fn link_hash(tag: &str, parent: Option<&ContentHash>, link: &ContentHash) -> ContentHash {
    let parent = parent.map_or("", ContentHash::as_str);
    ContentHash::of(tag, &[parent.as_bytes(), link.as_str().as_bytes()])
}

/// The hash of a whole chain.
fn chain_hash<'a>(tag: &str, links: impl Iterator<Item = &'a ContentHash>) -> ContentHash {
    let newest = links.fold(None, |parent, link| {
        Some(link_hash(tag, parent.as_ref(), link))
    });
    newest.unwrap_or_else(|| ContentHash::of(tag, &[]))
}

impl Episode {
    /// All at once, oldest first, under the supplier's name for the window.
    pub fn of(exchanges: Vec<Exchange>, exid: Option<String>) -> Self {
        Self {
            hash: chain_hash(EPISODE, exchanges.iter().map(Exchange::hash)),
            exchanges,
            exid,
        }
    }

    /// In the order in which they were said.
    pub fn exchanges(&self) -> &[Exchange] {
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
    episodes: Vec<Episode>,
    hash: ContentHash,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSeries {
    episodes: Vec<Episode>,
    hash: ContentHash,
}

impl Series {
    /// All at once, oldest first.
    pub fn of(episodes: Vec<Episode>) -> Self {
        Self {
            hash: chain_hash(SERIES, episodes.iter().map(Episode::hash)),
            episodes,
        }
    }

    /// Oldest first.
    pub fn episodes(&self) -> &[Episode] {
        &self.episodes
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
