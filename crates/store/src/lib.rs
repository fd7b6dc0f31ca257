//! What cook keeps below the common git directory: the log of transitions with its view in
//! `.agent/`, receipts of gates, and sessions with agents.

pub mod receipt;
pub mod session;
pub mod store;

use cook_core::machine::{self, Facts};
use cook_core::model::{Actor, Event, Snapshot};
use cook_core::{prompt, report};
use receipt::is_sealed;
use store::Replayed;

/// Runs an event again: its receipts are as they were made, it says what its report amounts to, and the
/// machine accepts it.
///
/// # Errors
/// Why it is not accepted.
pub fn run_again(
    before: Option<&Snapshot>,
    event: &Event,
    facts: &Facts,
    actor: Actor,
) -> Result<Replayed, String> {
    let mut receipts = facts.receipts().into_iter();
    if let Some(other) = receipts.find(|receipt| !is_sealed(receipt)) {
        return Err(format!("the receipt {} was changed", other.id));
    }
    let own_words = |made: &Event| match before {
        Some(before) => prompt::in_own_words(made, before),
        None => made.clone(),
    };
    if let Some(what) = report::find_contradiction(event, own_words) {
        return Err(what);
    }
    let step =
        machine::apply(before, facts, event, actor).map_err(|refusal| refusal.to_string())?;
    Ok(Replayed {
        snapshot: step.snapshot,
        records: step.records,
        rule: step.rule.id().to_owned(),
    })
}
