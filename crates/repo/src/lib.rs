//! Everything that cook reads, keeps and runs in a git repository.
//!
//! [`clock`], [`disk`], [`process`] and [`thread`] wrap the operating system; [`git`] is the user's repository;
//! [`room`] is a clean room, a directory that holds one commit and nothing else; [`store`] is the log and its view in
//! `.agent/`; [`receipt`] runs gates and keeps their receipts; [`session`] keeps the output of agent sessions;
//! [`remote`] pushes and pulls the log.

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

/// Replays an event: checks that its receipts are unchanged, that it is the event its report amounts to, and that the
/// machine accepts it.
///
/// # Errors
/// The reason why the event is not accepted.
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
