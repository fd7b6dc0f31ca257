//! What a call asks for, and what comes back of it.

use crate::session::hash::ContentHash;
use crate::session::reference::{On, Ref};
use crate::session::supplier::{Action, Answer, Transport, combine};
use cook_core::schema::GivenSchema;
use serde::{Deserialize, Serialize};

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

/// What is asked or ordered.
pub struct Call<'a> {
    /// The words.
    pub say: &'a str,
    /// Whether anything may change.
    pub action: Action,
    /// What it goes on from.
    pub on: Option<On>,
    /// What the answer must fit.
    pub schema: Option<&'a GivenSchema>,
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
    /// The final text; the data, when a schema was given; what the whole call took and did.
    pub answer: Answer,
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
    /// Answers that were asked for until one fitted.
    pub attempts: u32,
}

impl Reply {
    /// Takes in what an earlier turn of the same call took and did.
    pub(super) fn follows(&mut self, before: Self) {
        self.recap = self.recap.take().or(before.recap);
        let (now, before) = (&mut self.answer, before.answer);
        // What one of several answers took is not what the call took.
        now.cost_micro_usd = before
            .cost_micro_usd
            .zip(now.cost_micro_usd)
            .map(|(one, two)| one.saturating_add(two));
        now.usage = before
            .usage
            .zip(now.usage.take())
            .map(|(one, two)| combine(&one, &two, |a, b| a + b));
        now.head_before = before.head_before;
        now.head_after = now.head_after.take().or(before.head_after);
        now.commits.splice(..0, before.commits);
        now.changed.extend(before.changed);
        now.changed.sort();
        now.changed.dedup();
    }
}
