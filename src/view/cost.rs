//! `cook cost`.

use super::{Page, Show, Tone};
use serde_json::{Value, json};
use std::time::Duration;

/// What one agent has cost in one role.
#[derive(Debug, Default)]
pub struct CostRow {
    /// The role; `-` outside the workflow.
    pub role: String,
    /// The agent.
    pub agent: String,
    /// Calls.
    pub calls: u64,
    /// Those that gave no answer.
    pub failed: u64,
    /// Time of all of them.
    pub milliseconds: u64,
    /// Millionths of a dollar, of the calls that say so.
    pub micro_usd: u64,
    /// Calls whose cost nobody told.
    pub unknown: u64,
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

    fn cost(&self) -> String {
        let known = format!("{:.4} US dollars", self.micro_usd as f64 / 1e6);
        match (self.unknown, self.calls) {
            (0, _) => known,
            (unknown, calls) if unknown == calls => "unknown".to_owned(),
            (unknown, _) => format!("{known}, {unknown} unknown"),
        }
    }

    fn json(&self) -> Value {
        json!({
            "role": self.role,
            "agent": self.agent,
            "calls": self.calls,
            "failed": self.failed,
            "milliseconds": self.milliseconds,
            "cost_usd": self.micro_usd as f64 / 1e6,
            "cost_unknown": self.unknown,
        })
    }
}

/// All of them.
#[derive(Debug)]
pub struct CostAnswer {
    /// By role and agent.
    pub rows: Vec<CostRow>,
}

impl CostAnswer {
    fn total(&self) -> CostRow {
        let mut total = CostRow::new("all", "");
        for row in &self.rows {
            total.calls += row.calls;
            total.failed += row.failed;
            total.milliseconds += row.milliseconds;
            total.micro_usd += row.micro_usd;
            total.unknown += row.unknown;
        }
        total
    }
}

impl Show for CostAnswer {
    fn human(&self, page: &mut Page) {
        if self.rows.is_empty() {
            page.line("no agent was called yet");
            return;
        }
        for row in self.rows.iter().chain([&self.total()]) {
            page.toned(Tone::Strong, &format!("{:<14}", row.role));
            page.line(&format!(
                "{:<10} {:>4} calls, {} failed, {:>12}, {}",
                row.agent,
                row.calls,
                row.failed,
                humantime::format_duration(Duration::from_secs(row.milliseconds / 1_000))
                    .to_string(),
                row.cost()
            ));
        }
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "rows": self.rows.iter().map(CostRow::json).collect::<Vec<_>>(),
            "total": self.total().json(),
        })
    }
}
