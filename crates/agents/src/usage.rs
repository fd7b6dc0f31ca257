//! Tokens and cost from the reports of programs, which may count an event, a run or a whole thread. The stored numbers
//! are always those of this run.

use super::Preset;
use super::preset::find_values;
use cook_protocol::model::{Counting, Price, Rule};
use cook_repo::session::{CallRecord, combine};
use serde_json::Value;

/// The maximum nesting depth at which token reports are compared.
const MAX_DEPTH: usize = 8;

/// Accumulates the reports of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Counter {
    seen: Option<Value>,
}

impl Counter {
    /// Adds a report.
    pub(super) fn report(&mut self, counting: Counting, value: &Value) {
        let sum = match (counting, &self.seen) {
            (Counting::Event, Some(seen)) => combine(seen, value, |a, b| a + b),
            _ => value.clone(),
        };
        self.seen = Some(sum);
    }

    /// The program's present count, which is subtracted in the next run.
    pub(super) fn total(&self) -> Option<&Value> {
        self.seen.as_ref()
    }

    /// The amount used by this run, if the thread's count was `before` at its start.
    pub(super) fn count_taken(&self, counting: Counting, before: Option<&Value>) -> Option<Value> {
        let seen = self.seen.as_ref()?;
        match (counting, before) {
            // If a count has decreased, the program has restarted it.
            (Counting::Thread, Some(before)) if !fell(seen, before, 0) => {
                Some(combine(seen, before, |now, before| now - before))
            }
            _ => Some(seen.clone()),
        }
    }
}

fn fell(now: &Value, before: &Value, depth: usize) -> bool {
    match (now, before) {
        (Value::Number(now), Value::Number(before)) => {
            now.as_f64().unwrap_or_default() < before.as_f64().unwrap_or_default()
        }
        (Value::Object(now), Value::Object(before)) if depth < MAX_DEPTH => before
            .iter()
            .any(|(key, before)| now.get(key).is_some_and(|now| fell(now, before, depth + 1))),
        _ => false,
    }
}

/// The tokens of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Input tokens, except cached ones.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cached: u64,
}

impl Tokens {
    /// The sum of all tokens.
    pub fn all(self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cached)
    }
}

/// The tokens in a report; `None` if it contains none. The keys are those that various programs use.
pub fn tokens(usage: &Value) -> Option<Tokens> {
    let first = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| usage.pointer(name).and_then(Value::as_f64))
            .map(|count| count.max(0.0) as u64)
    };
    let input = first(&["/input_tokens", "/inputTokens", "/input", "/prompt_tokens"]);
    let output = first(&[
        "/output_tokens",
        "/outputTokens",
        "/output",
        "/completion_tokens",
    ]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let within = first(&["/cached_input_tokens", "/cached", "/cachedInputTokens"]);
    let beside = first(&[
        "/cache_read_input_tokens",
        "/cacheRead",
        "/cache/read",
        "/cachedReadTokens",
        "/cacheReadTokens",
    ]);
    let written = first(&[
        "/cache_creation_input_tokens",
        "/cacheWrite",
        "/cache/write",
        "/cachedWriteTokens",
        "/cacheWriteTokens",
    ]);
    let input = input.unwrap_or(0).saturating_add(written.unwrap_or(0));
    Some(Tokens {
        // Some programs include cached tokens in the input count, others count them separately.
        input: input.saturating_sub(within.unwrap_or(0)),
        output: output.unwrap_or(0),
        cached: within.or(beside).unwrap_or(0),
    })
}

/// The input tokens of a call, including cached ones; `None` if its report contains none.
pub fn prompt_tokens(usage: &Value) -> Option<u64> {
    let tokens = tokens(usage)?;
    Some(tokens.input.saturating_add(tokens.cached))
}

/// The cost of the tokens in a report, in millionths of a dollar; `None` if it contains none.
pub(super) fn compute_price(price: Price, usage: &Value) -> Option<u64> {
    let tokens = tokens(usage)?;
    // Dollars per million tokens equal millionths of a dollar per token.
    let cost = tokens.input as f64 * price.input.0
        + tokens.output as f64 * price.output.0
        + tokens.cached as f64 * price.cached.unwrap_or(price.input).0;
    Some(cost.round() as u64)
}

/// Converts dollars to millionths; `None` if the value is not an amount.
pub(super) fn micro_usd(value: &Value) -> Option<u64> {
    let dollars = value.as_f64()?;
    (dollars.is_finite() && (0.0..1e9).contains(&dollars))
        .then(|| (dollars * 1_000_000.0).round() as u64)
}

/// The limits of a run; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds {
    /// Millionths of a dollar.
    pub micro_usd: Option<u64>,
    /// Tokens, used if the cost is unknown.
    pub tokens: Option<u64>,
    /// Requests to a model.
    pub requests: Option<u64>,
    /// The price of its tokens, used if the program does not report a cost.
    pub price: Option<Price>,
}

/// Counts the requests, tokens and cost of a run against its limits.
#[derive(Debug, Default)]
pub(super) struct Meter {
    bounds: Bounds,
    requests: u64,
    /// The id of the last request.
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

    /// Counts the request in an event. A program may report one request in several events.
    pub(super) fn take(&mut self, rule: &Rule, told: &Value) {
        let Some(path) = &rule.set.request else {
            return;
        };
        let Some(request) = find_values(told, path).into_iter().next() else {
            return;
        };
        if request.is_string() && self.last.as_ref() == Some(request) {
            return;
        }
        self.last = Some(request.clone());
        self.count();
        let spent = rule.set.spent.as_ref();
        let spent = spent.and_then(|path| find_values(told, path).into_iter().next());
        if let Some(spent) = spent.filter(|spent| spent.is_object()) {
            self.spent.report(Counting::Event, spent);
        }
    }

    /// Counts one request.
    pub(super) fn count(&mut self) {
        self.requests += 1;
    }

    /// The sum of the tokens that were reported for each request.
    pub(super) fn sum_tokens(&self) -> Option<&Value> {
        self.spent.total()
    }

    /// Describes the limit that the run has exceeded; `None` if it is within all limits.
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

/// The total of several calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// The number of calls.
    pub calls: u64,
    /// The cost of the calls whose cost is known, in millionths of a dollar.
    pub micro_usd: u64,
    /// The number of calls whose cost is unknown.
    pub unpriced: u64,
    /// The tokens of those calls, as far as they were reported.
    pub unpriced_tokens: u64,
}

impl Spent {
    /// The total of one workflow's calls.
    pub fn of(lines: &[CallRecord], workflow: &str) -> Self {
        let mut spent = Self::default();
        let calls = lines.iter().filter(|line| line.is_of(workflow));
        for answer in calls.filter_map(|line| line.answer.as_ref()) {
            spent.add(answer.cost_micro_usd, answer.usage.as_ref());
        }
        spent
    }

    /// Adds a call.
    pub fn add(&mut self, micro_usd: Option<u64>, usage: Option<&Value>) {
        self.calls += 1;
        match micro_usd {
            Some(micro) => self.micro_usd = self.micro_usd.saturating_add(micro),
            None => {
                self.unpriced += 1;
                let told = usage.and_then(tokens).map_or(0, |tokens| tokens.all());
                self.unpriced_tokens = self.unpriced_tokens.saturating_add(told);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cook_protocol::model::Dollars;
    use serde_json::json;

    #[test]
    fn events_are_added_up_and_threads_subtracted() {
        let mut events = Counter::default();
        events.report(Counting::Event, &json!({"in": 5, "out": 1, "c": {"x": 1}}));
        events.report(
            Counting::Event,
            &json!({"in": 7, "out": 2, "c": {"x": 3}, "new": 4}),
        );
        let sum = json!({"in": 12, "out": 3, "c": {"x": 4}, "new": 4});
        assert_eq!(events.count_taken(Counting::Event, None), Some(sum));

        let mut thread = Counter::default();
        thread.report(Counting::Thread, &json!({"in": 100, "out": 10}));
        let before = json!({"in": 60, "out": 10});
        assert_eq!(
            thread.count_taken(Counting::Thread, Some(&before)),
            Some(json!({"in": 40, "out": 0}))
        );
        assert_eq!(
            thread.count_taken(Counting::Thread, Some(&json!({"in": 600}))),
            Some(json!({"in": 100, "out": 10}))
        );
        assert_eq!(Counter::default().count_taken(Counting::Run, None), None);
    }

    #[test]
    fn tokens_of_every_dialect_have_their_price() {
        let price = Price {
            input: Dollars(3.0),
            output: Dollars(15.0),
            cached: Some(Dollars(0.3)),
        };
        for (usage, expected) in [
            (
                json!({"input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 1000}),
                750,
            ),
            (
                json!({"input_tokens": 1100, "cached_input_tokens": 1000, "output_tokens": 10}),
                750,
            ),
            (
                json!({"input": 100, "output": 10, "cacheRead": 1000, "cacheWrite": 0}),
                750,
            ),
            (
                json!({"input": 60, "output": 10, "cache": {"read": 1000, "write": 40}}),
                750,
            ),
            (
                json!({"inputTokens": 60, "outputTokens": 10, "totalTokens": 1110,
                    "cachedReadTokens": 1000, "cachedWriteTokens": 40}),
                750,
            ),
        ] {
            assert_eq!(compute_price(price, &usage), Some(expected), "{usage}");
        }
        let plain = Price {
            cached: None,
            ..price
        };
        assert_eq!(
            compute_price(plain, &json!({"input": 1, "cacheRead": 1})),
            Some(6)
        );
        assert_eq!(compute_price(price, &json!({"requests": 3})), None);
    }

    #[test]
    fn unknown_is_not_nothing() {
        assert_eq!(micro_usd(&json!(0.25)), Some(250_000));
        assert_eq!(micro_usd(&json!(0)), Some(0));
        for wrong in [json!("x"), json!(null), json!(-1), json!(1e12)] {
            assert_eq!(micro_usd(&wrong), None);
        }
    }
}
