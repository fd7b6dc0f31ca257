//! How values lie in a store: an exchange once, an episode as its parent and its newest
//! exchange, a series as its sealed part and its current episode. So what a call adds is
//! proportional to what was said in it, whatever came before.

use super::hash::ContentHash;
use super::reference::{Ref, RefKind};
use super::value::{Exchange, Kind, episode_hash, series_hash};
use serde::{Deserialize, Serialize};

/// An object under its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename_all = "snake_case", deny_unknown_fields)]
pub enum Object {
    /// One request and its response.
    Exchange {
        /// What it was for.
        kind: Kind,
        /// The request.
        input: String,
        /// The response.
        output: String,
    },
    /// A context window, from the one it goes on from.
    Episode {
        /// The window one exchange earlier; none = this is its first.
        parent: Option<ContentHash>,
        /// The newest exchange.
        exchange: ContentHash,
        /// Number of exchanges.
        length: u64,
    },
    /// A chain of windows, from the chain of sealed ones before the current.
    Series {
        /// The chain without its current window; none = there is one window only.
        parent: Option<ContentHash>,
        /// The current window.
        episode: ContentHash,
        /// Number of windows.
        length: u64,
    },
}

impl Object {
    /// An exchange as it is stored: without the supplier's own name, which its ref keeps.
    pub fn of_exchange(exchange: &Exchange) -> Self {
        Self::Exchange {
            kind: exchange.kind(),
            input: exchange.input().to_owned(),
            output: exchange.output().to_owned(),
        }
    }

    /// What the content hashes to.
    pub fn hash(&self) -> ContentHash {
        match self {
            Self::Exchange {
                kind,
                input,
                output,
            } => Exchange::new(*kind, input.as_str(), output.as_str(), None)
                .hash()
                .clone(),
            Self::Episode {
                parent, exchange, ..
            } => episode_hash(parent.as_ref(), exchange),
            Self::Series {
                parent, episode, ..
            } => series_hash(parent.as_ref(), episode),
        }
    }

    /// What it stands on: the chain it goes on from, and its newest part.
    pub(super) fn stands_on(&self) -> [Option<&ContentHash>; 2] {
        match self {
            Self::Exchange { .. } => [None, None],
            Self::Episode {
                parent,
                exchange: part,
                ..
            }
            | Self::Series {
                parent,
                episode: part,
                ..
            } => [parent.as_ref(), Some(part)],
        }
    }

    /// Its place in its chain, from 1.
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Exchange { .. } => 1,
            Self::Episode { length, .. } | Self::Series { length, .. } => *length,
        }
    }

    /// Whether it is an exchange: the only one that holds what was said.
    pub(super) fn is_exchange(&self) -> bool {
        matches!(self, Self::Exchange { .. })
    }

    /// What kind of value it is.
    pub fn kind(&self) -> RefKind {
        match self {
            Self::Exchange { .. } => RefKind::Exchange,
            Self::Episode { .. } => RefKind::Episode,
            Self::Series { .. } => RefKind::Series,
        }
    }
}

/// A supplier's own record of a conversation, for going on natively by a fork of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Native {
    /// The supplier's name for it.
    pub session: String,
    /// SHA-256 of its transcript file right after the call, where the preset names one.
    pub transcript_sha256: Option<String>,
    /// What the supplier counted in this thread so far, where its counts go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<serde_json::Value>,
}

/// What a ref says of the value it names. Written once, never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Always 1.
    pub schema_version: u32,
    /// The name.
    pub name: Ref,
    /// The object it names.
    pub hash: ContentHash,
    /// The supplier's own name for the exchange or the window.
    pub exid: Option<String>,
    /// Who answered last.
    pub supplier: String,
    /// An episode's or exchange's chain; none for an atom's.
    pub series: Option<Ref>,
    /// A series' current window; an exchange's window.
    pub episode: Option<Ref>,
    /// Number of exchanges or windows.
    pub length: u64,
    /// UTF-8 bytes of all that was said in the window, for the estimate of tokens.
    pub bytes: u64,
    /// How the supplier itself can go on.
    pub native: Option<Native>,
    /// HEAD after the call; none outside a repository or before its first commit.
    pub head: Option<String>,
    /// A digest of what the worktree held beside HEAD after the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// When, RFC 3339.
    pub at: String,
}
