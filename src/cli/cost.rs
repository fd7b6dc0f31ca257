//! `cook status --cost`: what agents have cost, by role and agent, from the record of their calls.

use super::call::store;
use super::context::{Answer, Context, answer};
use crate::view::{CostAnswer, CostRow};
use cook_agents::tokens;
use cook_store::session::CallRecord;
use std::collections::BTreeMap;

pub(super) fn cost(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    answer(sum_cost(&store(&workspace)?.lines()?))
}

/// What the calls have cost, by role and agent.
pub(super) fn sum_cost(lines: &[CallRecord]) -> CostAnswer {
    let mut rows: BTreeMap<(String, String), CostRow> = BTreeMap::new();
    for line in lines {
        // Lines about refs that expired name no supplier.
        let Some(supplier) = line.supplier.as_deref() else {
            continue;
        };
        let answer = line.answer.clone().unwrap_or_default();
        let role = answer.role.as_deref().unwrap_or("-");
        let row = rows
            .entry((role.to_owned(), supplier.to_owned()))
            .or_insert_with(|| CostRow::new(role, supplier));
        row.calls += 1;
        row.failed += u64::from(line.error.is_some());
        row.milliseconds += answer.duration_ms;
        if let Some(tokens) = answer.usage.as_ref().and_then(tokens) {
            row.input_tokens += tokens.input;
            row.cached_tokens += tokens.cached;
            row.output_tokens += tokens.output;
        }
        match answer.cost_micro_usd {
            Some(micro) => row.micro_usd += micro,
            // A program that was never started cost nothing.
            None if answer.exit.is_none() && answer.duration_ms == 0 => {}
            None => row.unknown += 1,
        }
    }
    CostAnswer::of(rows.into_values().collect())
}
