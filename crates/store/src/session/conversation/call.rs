//! What a call asks for, and what comes back of it.

use crate::session::hash::ContentHash;
use crate::session::reference::{On, Ref};
use crate::session::supplier::{Action, combined};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether a supplier's own record is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NativeUse {
    /// Where it is still what it was.
    #[default]
    Auto,
    /// Never: what came before is told.
    Never,
    /// Only that: otherwise nothing is sent.
    Require,
}

/// How what came before reached the supplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Nothing came before.
    Fresh,
    /// Its own record, forked.
    Fork,
    /// It was told.
    Replay,
}

/// Says what is wrong with an answer's data, by path.
pub type Check<'a> = &'a dyn Fn(&Value) -> Vec<String>;

/// What is asked or ordered.
pub struct Call<'a> {
    /// The words.
    pub say: &'a str,
    /// Whether anything may change.
    pub deed: Action,
    /// What it goes on from.
    pub on: Option<On>,
    /// Checks an answer; what is wrong with it, by path.
    pub schema: Option<Check<'a>>,
    /// The schema itself, for suppliers that take one.
    pub schema_text: Option<&'a Value>,
    /// Whether a supplier's own record may be used.
    pub native: NativeUse,
    /// What a new window begins with, when cook knows it without asking.
    pub recap: Option<&'a dyn Fn() -> String>,
    /// The moment, RFC 3339.
    pub at: &'a str,
}

/// An answer and the refs to go on from.
#[derive(Debug)]
pub struct Reply {
    /// The final text.
    pub output: String,
    /// The data, when a schema was given.
    pub data: Option<Value>,
    /// The exchange.
    pub exchange: Ref,
    /// The window after it.
    pub episode: Ref,
    /// The chain after it; none for an atom.
    pub series: Option<Ref>,
    /// Hash of the exchange.
    pub exchange_hash: ContentHash,
    /// Hash of the window.
    pub episode_hash: ContentHash,
    /// Hash of the chain.
    pub series_hash: Option<ContentHash>,
    /// How what came before reached the supplier.
    pub transport: Transport,
    /// The summary, when a new window was begun.
    pub recap: Option<String>,
    /// As the supplier reports it.
    pub usage: Option<Value>,
    /// In millionths of a US dollar; none = unknown.
    pub cost_micro_usd: Option<u64>,
    /// What changed in the repository.
    pub changed: Vec<String>,
    /// Commits that came, oldest first.
    pub commits: Vec<String>,
    /// HEAD before the call.
    pub head_before: Option<String>,
    /// HEAD after it.
    pub head_after: Option<String>,
    /// Answers that were asked for until one fitted.
    pub attempts: u32,
}

impl Reply {
    /// Takes in what an earlier turn of the same call took and did.
    pub(super) fn follows(&mut self, before: Self) {
        // What one of several answers took is not what the call took.
        self.cost_micro_usd = before
            .cost_micro_usd
            .zip(self.cost_micro_usd)
            .map(|(one, two)| one.saturating_add(two));
        self.usage = before
            .usage
            .zip(self.usage.take())
            .map(|(one, two)| combined(&one, &two, |a, b| a + b));
        self.recap = self.recap.take().or(before.recap);
        self.head_before = before.head_before;
        self.head_after = self.head_after.take().or(before.head_after);
        let later = std::mem::replace(&mut self.commits, before.commits);
        self.commits.extend(later);
        let later = std::mem::replace(&mut self.changed, before.changed);
        self.changed.extend(later);
        self.changed.sort();
        self.changed.dedup();
    }
}
