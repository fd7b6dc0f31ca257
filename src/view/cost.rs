//! `cook status --cost`.

use super::{Page, Show, Tone};
use cook_agents::tokens;
use cook_repo::session::CallRecord;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

/// What one agent has cost in one role.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub struct CostRow {
    /// `-` outside the workflow.
    pub role: String,
    /// The agent.
    pub agent: String,
    /// Calls.
    pub calls: u64,
    /// Those that gave no answer.
    pub failed: u64,
    /// Time of all of them.
    pub milliseconds: u64,
    /// US dollars, of the calls that say so.
    #[serde(rename = "cost_usd", serialize_with = "write_dollars")]
    #[schemars(with = "f64", range(min = 0))]
    pub micro_usd: u64,
    /// Calls whose cost nobody told.
    #[serde(rename = "cost_unknown")]
    pub unknown: u64,
    /// Tokens that went in and were not kept from before, as far as agents tell.
    pub input_tokens: u64,
    /// Those that were.
    pub cached_tokens: u64,
    /// Tokens that came out.
    pub output_tokens: u64,
}

impl CostRow {
    /// Of a role and an agent.
    pub fn new(role: &str, agent: &str) -> Self {
        Self {
            role: role.to_owned(),
            agent: agent.to_owned(),
            ..Self::default()
        }
    }

    fn add(&mut self, answer: &cook_repo::session::Answer, failed: bool) {
        self.calls += 1;
        self.failed += u64::from(failed);
        self.milliseconds += answer.duration_ms;
        if let Some(tokens) = answer.usage.as_ref().and_then(tokens) {
            self.input_tokens += tokens.input;
            self.cached_tokens += tokens.cached;
            self.output_tokens += tokens.output;
        }
        match answer.cost_micro_usd {
            Some(micro) => self.micro_usd += micro,
            // A program that was never started cost nothing.
            None if answer.exit.is_none() && answer.duration_ms == 0 => {}
            None => self.unknown += 1,
        }
    }

    fn tokens(&self) -> String {
        let (new, cached, out) = (self.input_tokens, self.cached_tokens, self.output_tokens);
        match new + cached + out {
            0 => "tokens unknown".to_owned(),
            _ => format!("{new} + {cached} cached tokens in, {out} out"),
        }
    }

    pub fn cost(&self) -> String {
        let known = tell_dollars(self.micro_usd);
        match (self.unknown, self.calls) {
            (0, _) => known,
            (unknown, calls) if unknown == calls => "unknown".to_owned(),
            (unknown, _) => format!("{known}, {unknown} unknown"),
        }
    }
}

/// An amount of money, in millionths of a dollar.
pub(crate) fn tell_dollars(micro: u64) -> String {
    match micro {
        0 => "0 US dollars".to_owned(),
        micro => format!("{:.4} US dollars", micro as f64 / 1e6),
    }
}

/// What agents have cost.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct CostAnswer {
    /// By role and agent.
    pub rows: Vec<CostRow>,
    pub total: CostRow,
}

/// Millionths of a dollar, written as dollars.
fn write_dollars<S: Serializer>(micro_usd: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*micro_usd as f64 / 1e6)
}

impl CostAnswer {
    /// What the calls have cost, by role and agent.
    pub fn sum(calls: &[CallRecord]) -> Self {
        let mut rows: BTreeMap<(String, String), CostRow> = BTreeMap::new();
        let mut total = CostRow::new("all", "");
        for call in calls {
            // Lines about refs that expired name no supplier.
            let Some(supplier) = call.supplier.as_deref() else {
                continue;
            };
            let answer = call.answer.clone().unwrap_or_default();
            let role = answer.role.as_deref().unwrap_or("-");
            let key = (role.to_owned(), supplier.to_owned());
            let row = rows.entry(key);
            let row = row.or_insert_with(|| CostRow::new(role, supplier));
            for row in [row, &mut total] {
                row.add(&answer, call.error.is_some());
            }
        }
        let rows = rows.into_values().collect();
        Self { rows, total }
    }
}

impl Show for CostAnswer {
    fn human(&self, page: &mut Page) {
        if self.rows.is_empty() {
            page.line("no agent was called yet");
            return;
        }
        for row in self.rows.iter().chain([&self.total]) {
            page.add_toned(Tone::Strong, &format!("{:<14}", row.role));
            // Money only where there is some.
            let money = match self.total.micro_usd {
                0 => String::new(),
                _ => format!(", {}", row.cost()),
            };
            page.line(&format!(
                "{:<10} {:>4} calls, {} failed, {:>12}, {}{money}",
                row.agent,
                row.calls,
                row.failed,
                humantime::format_duration(Duration::from_secs(row.milliseconds / 1_000))
                    .to_string(),
                row.tokens(),
            ));
        }
    }
}
