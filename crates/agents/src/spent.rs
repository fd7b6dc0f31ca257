//! What calls took in all: dollars of those that say so, tokens of those that do not.

use super::usage::tokens;
use cook_store::session::CallRecord;
use serde_json::Value;

/// A sum over calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Calls.
    pub calls: u64,
    /// Millionths of a dollar, of the calls whose cost is known.
    pub micro_usd: u64,
    /// Calls whose cost is not known.
    pub unpriced: u64,
    /// Tokens of those, as far as they tell.
    pub unpriced_tokens: u64,
}

impl Spent {
    /// Of one workflow's calls, by the record of calls.
    pub fn of(lines: &[CallRecord], workflow: &str) -> Self {
        let mut spent = Self::default();
        let calls = lines.iter().filter(|line| line.is_of(workflow));
        for answer in calls.filter_map(|line| line.answer.as_ref()) {
            spent.add(answer.cost_micro_usd, answer.usage.as_ref());
        }
        spent
    }

    /// One call more.
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
