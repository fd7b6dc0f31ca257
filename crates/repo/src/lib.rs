//! What cook reads, keeps and runs in a git repository.
//!
//! [`clock`], [`disk`], [`process`] and [`thread`] are what is asked of the operating system; [`git`] is the user's
//! repository; [`room`] a directory that holds one commit and nothing else; [`store`] the log with its view in
//! `.agent/`; [`receipt`] the gates and what is kept of their runs; [`session`] what agents said; [`remote`] how the
//! log travels.

pub mod clock;
pub mod disk;
pub mod git;
pub mod process;
pub mod receipt;
pub mod remote;
pub mod room;
pub mod session;
pub mod store;
pub mod thread;
use cook_protocol::machine::{self, Facts};
use cook_protocol::model::{Actor, Event, Snapshot};
use cook_protocol::{prompt, report};
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
