//! Stopping the work until the user resumes it, or for good.

use super::refusal;
use crate::diagnostic::Refusal;
use crate::machine::due::require_reground;
use crate::machine::work::Work;
use crate::machine::{brief, wave};
use crate::model::{
    Actor, CANCELLED_BY_HAND, PAUSED_BY_HAND, Policy, SliceStatus, Snapshot, Waiting, WaitingKind,
};
use crate::report::is_named;

/// Stops the work until the user resumes.
pub(in crate::machine) fn pause(work: &mut Work, why: &str, actor: Actor) -> Result<(), Refusal> {
    if work.next.state.continuation_policy != Policy::Continue {
        return Err(refusal(format!(
            "the work is stopped already: {}",
            work.next.state.continuation_policy
        ))
        .hint("`cook brief say TEXT` keeps what you want to say"));
    }
    if actor != Actor::Role && is_said(why) {
        brief::hear(work, why);
    }
    wait(work, Policy::Paused, WaitingKind::Pause, why, "cook resume");
    Ok(())
}

/// What a role or the user said that no re-ground has decided on, and that ends with the plan: the next
/// one is told.
pub(super) fn find_unheard(before: &Snapshot) -> Vec<String> {
    let mut unheard = Vec::new();
    for slice in before.plan.open_slices() {
        let ledger = before.ledger.slices.get(&slice.slice_id);
        if let Some(said) = ledger.and_then(|ledger| ledger.remarked.as_ref()) {
            unheard.push(format!(
                "of slice `{}`, which is gone with the plan, its implementer said: {said}",
                slice.slice_id
            ));
        }
    }
    let waiting = before.ledger.waiting.as_ref();
    let stopped = waiting.and_then(|waiting| match waiting.kind {
        WaitingKind::Question => Some(format!("nobody answered the question: {}", waiting.what)),
        WaitingKind::Outside | WaitingKind::Worktree => {
            Some(format!("the work was stopped for: {}", waiting.what))
        }
        WaitingKind::Pause | WaitingKind::Cancel if is_said(&waiting.what) => Some(format!(
            "the user stopped the work and said: {}",
            waiting.what
        )),
        _ => None,
    });
    unheard.extend(stopped);
    unheard
}

/// The user gave words of their own: those bind whoever goes on.
fn is_said(why: &str) -> bool {
    is_named(why) && ![PAUSED_BY_HAND, CANCELLED_BY_HAND].contains(&why)
}

fn wait(work: &mut Work, policy: Policy, kind: WaitingKind, what: &str, exit: &str) {
    work.next.state.continuation_policy = policy;
    work.next.ledger.waiting = Some(Waiting {
        kind,
        what: what.to_owned(),
        exit: exit.to_owned(),
        asker: None,
    });
}

/// Ends the workflow; open slices are cancelled.
pub(in crate::machine) fn cancel(work: &mut Work, why: &str) -> Result<(), Refusal> {
    let is_done = work.next.state.continuation_policy == Policy::Done;
    if is_cancelled(&work.next) || is_done && work.next.ledger.goal.is_none() {
        return Err(refusal("the workflow has ended already")
            .hint("`cook brief say TEXT` keeps what you want to say"));
    }
    cancel_open(work);
    for cause in find_unheard(work.before) {
        require_reground(&mut work.next, cause);
    }
    if is_said(why) {
        brief::hear(work, why);
    }
    wait(
        work,
        Policy::Paused,
        WaitingKind::Cancel,
        why,
        "cook resume",
    );
    work.next.state.contract_status = "cancelled".to_owned();
    Ok(())
}

/// Nobody builds what is open any more, and what was answered with it is owed again.
pub(super) fn cancel_open(work: &mut Work) {
    for slice in &mut work.next.plan.candidate_slices {
        if slice.status.is_open() {
            slice.status = SliceStatus::Cancelled;
        }
    }
    work.go_idle();
    wave::void(&mut work.next);
    let again = wave::take_back_answers(&mut work.next, &work.before.plan);
    wave::owe(&mut work.next.ledger.unanswered, again);
}

fn is_cancelled(snapshot: &Snapshot) -> bool {
    snapshot
        .ledger
        .waiting
        .as_ref()
        .is_some_and(|waiting| waiting.kind == WaitingKind::Cancel)
}

/// The runner, or a spent budget, stops the work.
pub(in crate::machine) fn block(work: &mut Work, why: &str, exit: &str) -> Result<(), Refusal> {
    if work.next.state.continuation_policy != Policy::Continue {
        return Err(refusal(format!(
            "the work is stopped already: {}",
            work.next.state.continuation_policy
        )));
    }
    wait(work, Policy::Blocked, WaitingKind::Outside, why, exit);
    Ok(())
}
