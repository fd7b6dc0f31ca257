//! Stopping the work until the user resumes it, or for good.

use super::refusal;
use crate::diagnostic::Refusal;
use crate::machine::wave;
use crate::machine::work::Work;
use crate::model::{Policy, SliceStatus, Snapshot, Waiting, WaitingKind};

/// Stops the work until the user resumes.
pub(in crate::machine) fn pause(work: &mut Work, why: &str) -> Result<(), Refusal> {
    if work.next.state.continuation_policy != Policy::Continue {
        return Err(refusal(format!(
            "the work is stopped already: {}",
            work.next.state.continuation_policy
        )));
    }
    wait(work, Policy::Paused, WaitingKind::Pause, why, "cook resume");
    Ok(())
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
    if is_cancelled(&work.next) || work.next.state.continuation_policy == Policy::Done {
        return Err(refusal("the workflow has ended already"));
    }
    cancel_open(work);
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
    let again = wave::owed_again(&mut work.next, &work.before.plan);
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
