//! What a run takes while it goes on: requests to a model and tokens, as far as its program
//! tells them before its end, held against what is left to take.

use super::usage::{Counter, compute_price, micro_usd, tokens};
use super::{Preset, event};
use cook_core::model::{Counting, Price, Rule};
use serde_json::Value;

/// What a run may take; none = no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds {
    /// Millionths of a dollar.
    pub micro_usd: Option<u64>,
    /// Tokens, where its cost is not known.
    pub tokens: Option<u64>,
    /// Requests to a model.
    pub requests: Option<u64>,
    /// What its tokens cost, where it does not tell itself.
    pub price: Option<Price>,
}

/// Counts what a run takes.
#[derive(Debug, Default)]
pub(super) struct Meter {
    bounds: Bounds,
    requests: u64,
    /// What told the last request from others.
    last: Option<Value>,
    spent: Counter,
}

impl Meter {
    pub(super) fn of(bounds: Bounds) -> Self {
        Self {
            bounds,
            ..Self::default()
        }
    }

    /// Takes in what one event tells. A program may tell of one request in several events.
    pub(super) fn take(&mut self, rule: &Rule, told: &Value) {
        let Some(path) = &rule.set.request else {
            return;
        };
        let Some(request) = event::find(told, path).into_iter().next() else {
            return;
        };
        if request.is_string() && self.last.as_ref() == Some(request) {
            return;
        }
        self.last = Some(request.clone());
        self.count();
        let spent = rule.set.spent.as_ref();
        let spent = spent.and_then(|path| event::find(told, path).into_iter().next());
        if let Some(spent) = spent.filter(|spent| spent.is_object()) {
            self.spent.report(Counting::Event, spent);
        }
    }

    /// One request more.
    pub(super) fn count(&mut self) {
        self.requests += 1;
    }

    /// Tokens that were told request by request.
    pub(super) fn sum_tokens(&self) -> Option<&Value> {
        self.spent.total()
    }

    /// The limit that the run is over; none when there is none.
    pub(super) fn exceeds(
        &self,
        preset: &Preset,
        usage: &Counter,
        cost: &Counter,
    ) -> Option<String> {
        let told = |counting| counting == Counting::Event;
        let usage = match told(preset.usage_counting()) {
            true => usage.total(),
            false => self.sum_tokens(),
        };
        let cost = cost
            .total()
            .filter(|_| told(preset.cost_counting()))
            .and_then(micro_usd)
            .filter(|micro| *micro > 0)
            .or_else(|| compute_price(self.bounds.price?, usage?));
        let over = |limit: Option<u64>, taken: u64| limit.filter(|limit| taken > *limit);
        if let Some(limit) = over(self.bounds.requests, self.requests) {
            return Some(format!(
                "it made {} requests to its model, and a session may make {limit} (`[limits] requests`)",
                self.requests
            ));
        }
        if let Some(micro) = cost {
            return over(self.bounds.micro_usd, micro).map(|limit| {
                format!(
                    "it cost {:.4} US dollars, and {:.4} were left (`[limits] cost_usd`)",
                    micro as f64 / 1e6,
                    limit as f64 / 1e6
                )
            });
        }
        let taken = usage.and_then(tokens).map_or(0, |tokens| tokens.all());
        over(self.bounds.tokens, taken).map(|limit| {
            format!("it took {taken} tokens, and {limit} were left (`[limits] tokens`)")
        })
    }
}
