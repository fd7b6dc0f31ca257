//! Goals (`docs/goal.md`). A goal is a mission with one slice, whose criteria are the user's commands. Only rules
//! S and 4 ever apply to it, and the results of the commands at HEAD decide.

use super::active::active_from;
use super::dispatch::not_your_turn;
use super::rule::Rule;
use super::user;
use super::work::{Work, require_reground};
use crate::model::{
    Accepted, Assurance, Assured, CheckVerdict, EvidenceRecord, GOAL_SLICE, Goal, GoalFound,
    GoalLedger, Outcome,
};
use crate::prelude::*;

/// The command that shows how far the goal is.
pub const ASK: &str = "cook goal";
/// The contract status of a reached goal.
pub(super) const REACHED: &str = "goal_reached";

/// Adds the slice and the ledger that a goal begins with.
pub(super) fn begin(next: &mut Snapshot, goal: &Goal) {
    let slice = Slice {
        slice_id: GOAL_SLICE.to_owned(),
        goal: goal.words.clone(),
        acceptance_criteria: goal.list_criteria(),
        status: SliceStatus::Selected,
        verification_commands: Some(goal.checks.iter().map(|it| it.run.clone()).collect()),
        must_fix_findings: Some(Vec::new()),
        basis_commit: Some(goal.base.clone()),
        remaining_contract_ids_before: Some(Vec::new()),
        release_blocker_count_before: Some(Count(0)),
        high_value_gap_count_before: Some(Count(0)),
        ..Slice::default()
    };
    let anchor = next.state.mission_anchor.clone();
    next.active = active_from(&slice, ActiveStatus::Selected, &anchor);
    next.plan.candidate_slices = vec![slice.into()];
    let ledger = &mut next.ledger;
    ledger.regrounded = true;
    let entry = ledger.slices.entry(GOAL_SLICE.to_owned()).or_default();
    entry.basis = Some(goal.base.clone());
    ledger.goal = Some(Box::new(GoalLedger {
        goal: goal.clone(),
        found: None,
    }));
}

/// Sets another goal, once the last one is over.
pub(super) fn set(work: &mut Work, goal: &Goal, branch: &str) -> Result<(), Refusal> {
    if !is_over(work.before) {
        return Err(exists(work.before));
    }
    user::set_mission(work, &goal.words)?;
    let next = &mut work.next;
    next.ledger.slices.clear();
    next.ledger.remarks.clear();
    next.ledger.waiting = None;
    next.ledger.branch = Some(branch.to_owned());
    next.ledger.assured = Assured::default();
    next.evidence = VerificationEvidence::default();
    next.state.requires_reground = false;
    next.state.continuation_policy = Policy::Continue;
    next.state.latest_completed_slice = None;
    next.state.latest_verified_slice = None;
    begin(next, goal);
    work.displace = true;
    Ok(())
}

/// The refusal because a goal or a mission exists already.
fn exists(before: &Snapshot) -> Refusal {
    let anchor = &before.state.mission_anchor;
    match before.goal() {
        Some(_) => refusal!(Code::GoalExists, "this branch has a goal: {anchor}"),
        None => refusal!(Code::GoalExists, "this worktree has a mission: {anchor}")
            .replace_hints(["run `cook next`, which names the role that works on it"]),
    }
}

/// The refusal because a mission exists already, or a goal, which the user must first turn into a mission.
pub fn has_mission(before: &Snapshot) -> Refusal {
    match before.goal() {
        Some(_) => refusal!(Code::GoalExists, "the log is of a goal").replace_hints([
            "the user makes a mission of it with `cook init --assurance standard`, then changes that with `cook plan refocus --mission TEXT`",
        ]),
        None => Refusal::new(Code::DoesNotApply, "the workflow has a mission already")
            .hint("run `cook plan refocus --mission TEXT` to change it"),
    }
}

/// Whether the goal was reached or dropped.
pub(super) fn is_over(snapshot: &Snapshot) -> bool {
    snapshot.ledger.goal.is_some() && snapshot.plan.open_slices().next().is_none()
}

/// The refusal because the goal is over.
pub(super) fn nothing_open() -> Refusal {
    Refusal::new(Code::GoalNone, "the goal of this worktree is over")
}

/// Decides by the results of the checks at HEAD: the goal is reached, or the work continues.
pub(super) fn weigh(work: &mut Work) -> Result<(), Refusal> {
    let Some(pursued) = work.before.ledger.goal.clone() else {
        return Err(Refusal::new(Code::GoalNone, "this worktree has no goal"));
    };
    if is_over(work.before) && work.before.state.continuation_policy != Policy::Done {
        return Err(nothing_open());
    }
    let head = work.head()?;
    if work.due.rule == Rule::Stopped && work.due.policy != Policy::Done {
        return Err(not_your_turn(Role::Implementer, &work.due));
    }
    let found = work.facts.goal(&pursued.goal)?.clone();
    if found.commit != head || !found.is_borne_out(&pursued.goal) {
        let what = "the stated results of the checks differ from their runs at HEAD";
        return Err(Refusal::new(Code::StaleFacts, what));
    }
    work.next.ledger.goal = Some(Box::new(GoalLedger {
        found: Some(found.without_receipts()),
        ..*pursued
    }));
    work.displace = true;
    match found.verdict() {
        CheckVerdict::Green => reach(work, &head, &found),
        CheckVerdict::Red | CheckVerdict::NotKnown => go_on(work, &head, &found),
    }
    Ok(())
}

/// Spends an attempt if the session did not reach the goal.
pub(super) fn spend_attempt(work: &mut Work) {
    if work.next.state.continuation_policy == Policy::Continue {
        let attempts = &mut work.next.counters.attempts;
        attempts.entry(GOAL_SLICE.to_owned()).or_default().0 += 1;
    }
}

/// Records that every check is green at this commit.
fn reach(work: &mut Work, head: &str, found: &GoalFound) {
    let Some(goal) = work.next.goal().cloned() else {
        return;
    };
    let (seq, now) = (work.seq(), work.now());
    let receipts = found.checks.iter().filter_map(|run| run.receipt.clone());
    let receipts: Vec<Receipt> = receipts.collect();
    let record = |(criterion, (check, run)): (
        String,
        (&crate::model::GoalCheck, &crate::model::CheckRun),
    )| {
        Evidence::Record(EvidenceRecord {
            criterion,
            anchor: format!("cmd:{}#exit", check.run),
            basis: Basis::Output,
            receipt: run.receipt.as_ref().map(|receipt| receipt.id.clone()),
            head_sha: head.to_owned(),
            recorded_at: now.clone(),
            text: None,
            tests: Some(goal.tests.clone()),
            held_at: None,
            retired: None,
        })
    };
    let runs = goal.checks.iter().zip(&found.checks);
    let evidence = goal.list_criteria().into_iter().zip(runs).map(record);
    let evidence = evidence.collect();
    if let Some(slice) = work.next.plan.slice_mut(GOAL_SLICE) {
        slice.status = SliceStatus::Done;
        slice.evidence = evidence;
    }
    let ledger = work.ledger(GOAL_SLICE);
    ledger.last_head = Some(head.to_owned());
    ledger.accepted = Some(Accepted {
        basis: goal.base.clone(),
        head: head.to_owned(),
        seq,
    });
    let made = work.slice_record(SliceRecordType::Accepted, GOAL_SLICE, head);
    made.by = Some(ByCook::BY.to_owned());
    made.receipts = Some(receipts.iter().map(|receipt| receipt.id.clone()).collect());
    let next = &mut work.next;
    next.active = ActiveSlice::idle(&next.state.mission_anchor);
    next.state.latest_completed_slice = Some(GOAL_SLICE.to_owned());
    next.state.latest_verified_slice = Some(GOAL_SLICE.to_owned());
    next.state.continuation_policy = Policy::Done;
    next.ledger.waiting = None;
    next.ledger.assured.lowest = Assurance::Goal;
    next.evidence = VerificationEvidence {
        subject_type: Subject::CurrentHead,
        goal: Some(goal.words.clone()),
        basis_commit: Some(goal.base.clone()),
        head_sha: Some(head.to_owned()),
        verification_commands: goal.checks.iter().map(|it| it.run.clone()).collect(),
        outcome: Outcome::Passed,
        recorded_at: Some(now),
        summary: "every check of the goal is green".to_owned(),
        runs: receipts,
        ..VerificationEvidence::default()
    };
}

/// Continues because a check is red or its result unknown; reopens a goal that was reached before.
fn go_on(work: &mut Work, head: &str, found: &GoalFound) {
    if work.next.state.continuation_policy == Policy::Done {
        work.next.state.continuation_policy = Policy::Continue;
        work.next.ledger.assured.lowest = Assurance::default();
        work.ledger(GOAL_SLICE).accepted = None;
    }
    let must_fix = work.next.goal().map(|goal| found.list_reasons(goal));
    let anchor = work.next.state.mission_anchor.clone();
    if let Some(slice) = work.next.plan.slice_mut(GOAL_SLICE) {
        slice.status = SliceStatus::InProgress;
        slice.evidence.clear();
        slice.must_fix_findings = must_fix;
        work.next.active = active_from(slice, ActiveStatus::InProgress, &anchor);
    }
    work.ledger(GOAL_SLICE).reported = Some(head.to_owned());
    work.next.evidence = VerificationEvidence::default();
}

/// Refuses the profile `goal` for a mission, and `standard` or `strict` without judges.
pub(super) fn check_profile(profile: &Profile, is_goal: bool) -> Result<(), Refusal> {
    let what = match profile.assurance {
        Assurance::Goal if !is_goal => "the profile `goal` is a goal's, which `cook goal` sets",
        Assurance::Standard | Assurance::Strict if profile.required_stop_judges.0 == 0 => {
            "`required_stop_judges` is 0 in .agent/profile.json, which only the assurance `lite` allows"
        }
        _ => return Ok(()),
    };
    Err(Refusal::new(Code::DoesNotApply, what))
}

/// Turns a goal into a mission: its slice is planned anew under the contract.
pub(super) fn leave(work: &mut Work, profile: &Profile) {
    if work.before.ledger.goal.is_none() || profile.assurance == Assurance::Goal {
        return;
    }
    work.next.ledger.goal = None;
    work.next.ledger.slices.remove(GOAL_SLICE);
    work.next.plan.candidate_slices.clear();
    work.next.ledger.regrounded = false;
    work.next.ledger.waiting = None;
    work.next.state.continuation_policy = Policy::Continue;
    work.next.ledger.assured.lowest = Assurance::default();
    work.go_idle();
    work.displace = true;
    let cause = "the user made a mission of a goal, which has no plan yet";
    require_reground(&mut work.next, cause.to_owned());
}
