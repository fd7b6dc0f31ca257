//! `cook status --cost`.

use super::{Page, Show, Tone};
use serde::{Serialize, Serializer};
use std::time::Duration;

/// What one agent has cost in one role.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    #[cfg_attr(feature = "schema", schemars(with = "f64", range(min = 0)))]
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

    fn tokens(&self) -> String {
        let Self {
            input_tokens,
            cached_tokens,
            output_tokens,
            ..
        } = self;
        match input_tokens + cached_tokens + output_tokens {
            0 => "tokens unknown".to_owned(),
            _ => format!("{input_tokens} + {cached_tokens} cached tokens in, {output_tokens} out"),
        }
    }

    pub(crate) fn cost(&self) -> String {
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
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostAnswer {
    /// By role and agent.
    pub(crate) rows: Vec<CostRow>,
    pub(crate) total: CostRow,
}

/// Millionths of a dollar, written as dollars.
fn write_dollars<S: Serializer>(micro_usd: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*micro_usd as f64 / 1e6)
}

impl CostAnswer {
    /// The rows and their sum.
    pub fn of(rows: Vec<CostRow>) -> Self {
        let mut total = CostRow::new("all", "");
        for row in &rows {
            total.calls += row.calls;
            total.failed += row.failed;
            total.milliseconds += row.milliseconds;
            total.micro_usd += row.micro_usd;
            total.unknown += row.unknown;
            total.input_tokens += row.input_tokens;
            total.cached_tokens += row.cached_tokens;
            total.output_tokens += row.output_tokens;
        }
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
