//! The mission: given late, or a new one.

use super::stop::{cancel_open, find_unheard};
use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::due::require_reground;
use crate::machine::work::Work;
use crate::machine::{assurance, wave};
use crate::model::{ActiveSlice, Policy, VerificationEvidence, WaitingKind, mission_anchor};

/// A new mission: the old plan stays in the log.
pub(in crate::machine) fn refocus(work: &mut Work, mission: &str) -> Result<(), Refusal> {
    set_mission(work, mission)?;
    for answer in &work.before.ledger.answers {
        work.findings
            .push(Finding::new(Code::AnswersEnded, answer.note()));
    }
    // Nobody's no ends with a mission: the next re-ground says what becomes of it.
    let audit = wave::find_audit_to_answer(work.before);
    cancel_open(work);
    let mut noes = wave::list_left(&work.next);
    noes.retain(|no| !no.is_users());
    noes.extend(audit);
    let next = &mut work.next;
    wave::owe(&mut next.ledger.unanswered, noes);
    next.plan.candidate_slices.clear();
    next.plan.plan_basis = String::new();
    next.plan.last_reground_at = None;
    next.active = ActiveSlice::idle(&next.state.mission_anchor);
    next.evidence = VerificationEvidence::none();
    next.ledger.slices.clear();
    next.ledger.wave.running = false;
    next.ledger.open_audit = None;
    next.ledger.amendments.clear();
    next.ledger.remarks.clear();
    next.ledger.high_value_gaps.clear();
    next.ledger.regrounded = false;
    assurance::forget(next);
    next.ledger.returned = None;
    next.ledger.answered = None;
    next.ledger.stopped_for = None;
    next.ledger.due_for.clear();
    next.ledger.answers.clear();
    next.ledger.advice = None;
    next.ledger.answered_rejections.clear();
    next.ledger.waiting = None;
    next.ledger.branch = work.facts.head()?.branch.clone();
    let state = &mut work.next.state;
    state.continuation_policy = Policy::Continue;
    state.release_blocker_ids.clear();
    state.remaining_release_blockers = None;
    state.remaining_high_value_gaps = None;
    state.last_auditor_verdict = None;
    state.last_reground_at = None;
    state.latest_completed_slice = None;
    state.latest_verified_slice = None;
    state.contract_status = "bootstrapped".to_owned();
    let cause = "the user gave another mission with `cook plan refocus`, and the plan of the last one is gone";
    require_reground(&mut work.next, cause.to_owned());
    let returned = work.before.ledger.returned.as_ref();
    let returned = returned.map(|why| format!("an implementer gave its slice back: {why}"));
    for cause in returned.into_iter().chain(find_unheard(work.before)) {
        require_reground(&mut work.next, cause);
    }
    work.displace = true;
    Ok(())
}

/// The mission that init asked for, given by a later init.
pub(in crate::machine) fn learn_mission(work: &mut Work, mission: &str) -> Result<(), Refusal> {
    set_mission(work, mission)?;
    let asked = work.next.ledger.waiting.as_ref();
    if asked.is_some_and(|waiting| waiting.kind == WaitingKind::Question) {
        work.next.state.continuation_policy = Policy::Continue;
        work.next.ledger.waiting = None;
    }
    Ok(())
}

/// Mission text and its anchor, the same in every document.
pub(in crate::machine) fn set_mission(work: &mut Work, mission: &str) -> Result<(), Refusal> {
    let Some(anchor) = mission_anchor(mission) else {
        return Err(Refusal::new(
            Code::MissionMissing,
            "the mission has no line of text",
        ));
    };
    let next = &mut work.next;
    next.mission = mission.to_owned();
    next.state.mission_anchor = anchor.clone();
    next.plan.mission_anchor = anchor.clone();
    next.active.mission_anchor = anchor;
    Ok(())
}
