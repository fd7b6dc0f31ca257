//! The user's own doors: pause, resume, cancel, refocus, adopt, restore, undo, amend.

use super::facts::FactSet;
use super::planning;
use super::reground::open_commands;
use super::wave;
use super::work::Work;
use crate::diagnostic::{Code, Finding, Refusal};
use crate::model::{
    ActiveSlice, ActiveStatus, Amendment, Count, Evidence, Limits, Plan, PlanBlock, PlannedSlice,
    Policy, Reground, ReportRecord, Resume, Role, Slice, SliceStatus, Snapshot, Submission, Undone,
    VerificationEvidence, Waiting, WaitingKind, mission_anchor,
};
use std::collections::BTreeMap;

fn closed(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::DoorClosed, message)
}

/// Stops the work until the user resumes.
pub(super) fn paused(work: &mut Work, why: &str) -> Result<(), Refusal> {
    if work.next.state.continuation_policy != Policy::Continue {
        return Err(closed(format!(
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
    });
}

/// Ends the workflow; open slices are cancelled.
pub(super) fn cancelled(work: &mut Work, why: &str) -> Result<(), Refusal> {
    if is_cancelled(&work.next) || work.next.state.continuation_policy == Policy::Done {
        return Err(closed("the workflow has ended already"));
    }
    for slice in &mut work.next.plan.candidate_slices {
        if slice.status.is_open() {
            slice.status = SliceStatus::Cancelled;
        }
    }
    work.go_idle();
    wave::void(&mut work.next);
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

fn is_cancelled(snapshot: &Snapshot) -> bool {
    snapshot
        .ledger
        .waiting
        .as_ref()
        .is_some_and(|waiting| waiting.kind == WaitingKind::Cancel)
}

/// The runner, or a spent budget, stops the work.
pub(super) fn blocked(work: &mut Work, why: &str, exit: &str) -> Result<(), Refusal> {
    if work.next.state.continuation_policy != Policy::Continue {
        return Err(closed(format!(
            "the work is stopped already: {}",
            work.next.state.continuation_policy
        )));
    }
    wait(work, Policy::Blocked, WaitingKind::Outside, why, exit);
    Ok(())
}

/// What a `Resumed` wants measured.
pub(super) fn resumed_needs(snapshot: &Snapshot, resume: &Resume, set: &mut FactSet) {
    set.worktree = true;
    set.trust = open_commands(snapshot);
    set.contract |= resume.settings;
    if resume.review_again {
        set.on_head.extend(reviewed_head(snapshot));
    }
}

/// The commit at which the slice in work was sent back, while no newer one was reported.
fn reviewed_head(snapshot: &Snapshot) -> Option<String> {
    let id = snapshot.active.slice_id.as_ref()?;
    let ledger = snapshot.ledger.slices.get(id)?;
    let is_newest = ledger.head.is_none() && ledger.reported == ledger.last_head;
    ledger.last_head.clone().filter(|_| is_newest)
}

/// The one way out of every stopped state.
pub(super) fn resumed(work: &mut Work, resume: &Resume) -> Result<(), Refusal> {
    grant(work, resume);
    if resume.settings {
        work.next.ledger.settings = work.facts.settings()?.clone();
    }
    if resume.review_again {
        return review_again(work);
    }
    let policy = work.before.state.continuation_policy;
    if trust_changes_nothing(work, resume)? {
        return Ok(());
    }
    if policy == Policy::Continue {
        if resume.budget.is_some() {
            return Ok(());
        }
        if resume.new_wave {
            return new_wave(work);
        }
        return Err(closed("the work is not stopped"));
    }
    leave(work, resume)?;
    let moved = moved(work)?;
    work.next.state.continuation_policy = Policy::Continue;
    work.next.state.contract_status = "in_work".to_owned();
    work.next.ledger.waiting = None;
    if moved {
        work.next.state.requires_reground = true;
    }
    if resume.new_wave {
        new_wave(work)?;
    }
    Ok(())
}

/// Trust that nothing waits for, or that is not all that is waited for, is written down
/// and moves nothing.
fn trust_changes_nothing(work: &Work, resume: &Resume) -> Result<bool, Refusal> {
    let only_trust = (!resume.trust.is_empty() || resume.settings)
        && resume.answer.is_none()
        && resume.budget.is_none()
        && !resume.new_wave;
    let waiting = work.before.ledger.waiting.as_ref();
    let waited_for = waiting.is_some_and(|waiting| waiting.kind == WaitingKind::Trust);
    Ok(only_trust
        && (!waited_for
            || !work
                .facts
                .untrusted(&open_commands(work.before))?
                .is_empty()))
}

/// What the stopped state names must be brought.
fn leave(work: &mut Work, resume: &Resume) -> Result<(), Refusal> {
    let kind = work
        .before
        .ledger
        .waiting
        .as_ref()
        .map(|waiting| waiting.kind);
    match (work.before.state.continuation_policy, kind) {
        (Policy::Done, _) => {
            let still_there = work.facts.head()?.commit == work.before.ledger.head_seen;
            if still_there && !resume.new_wave {
                return Err(closed("the project is done and HEAD has not moved")
                    .hint("run `cook refocus --mission TEXT` for new work"));
            }
            work.next.state.requires_reground = true;
        }
        (_, Some(WaitingKind::Question)) => {
            let Some(answer) = resume
                .answer
                .as_ref()
                .filter(|text| !text.trim().is_empty())
            else {
                return Err(Refusal::new(
                    Code::AnswerMissing,
                    "a question waits for an answer",
                ));
            };
            if work.next.mission.is_empty() {
                set_mission(work, answer)?;
            }
            work.next.ledger.answered = Some(answer.clone());
            work.next.state.requires_reground = true;
        }
        (_, Some(WaitingKind::Trust)) => {
            let untrusted = work.facts.untrusted(&open_commands(work.before))?;
            if let Some(command) = untrusted.first() {
                return Err(Refusal::new(
                    Code::TrustMissing,
                    format!("`{command}` is not trusted"),
                )
                .replace_hints([format!("run `cook trust {}`", super::quoted(command))]));
            }
        }
        (_, Some(WaitingKind::Budget)) => {
            let adds = |limits: &Limits| {
                limits.steps.unwrap_or(0) > 0 || limits.attempts_per_slice.unwrap_or(0) > 0
            };
            if !resume.budget.as_ref().is_some_and(adds) {
                return Err(
                    Refusal::new(Code::BudgetSpent, "the budget is spent").hint(format!(
                        "run `{}`",
                        work.before
                            .ledger
                            .waiting
                            .as_ref()
                            .map_or("cook resume --budget steps=20", |waiting| &waiting.exit)
                    )),
                );
            }
        }
        (_, Some(WaitingKind::Outside | WaitingKind::Worktree | WaitingKind::Cancel)) => {
            work.next.state.requires_reground = true;
        }
        (_, Some(WaitingKind::Pause) | None) => {}
    }
    Ok(())
}

/// HEAD, branch or tree are not as they were when the work stopped.
fn moved(work: &Work) -> Result<bool, Refusal> {
    let head = work.facts.head()?;
    let tree = work.facts.worktree()?;
    let tree_moved = work
        .before
        .ledger
        .status_seen
        .as_ref()
        .is_some_and(|seen| *seen != tree.digest);
    Ok(head.commit != work.before.ledger.head_seen
        || head.branch != work.before.ledger.branch
        || tree_moved)
}

fn grant(work: &mut Work, resume: &Resume) {
    let Some(budget) = &resume.budget else { return };
    let add = |have: Option<u64>, more: Option<u64>| match (have, more) {
        (have, None) => have,
        (have, Some(more)) => Some(have.unwrap_or(0).saturating_add(more)),
    };
    let granted = &mut work.next.counters.granted;
    *granted = Limits {
        attempts_per_slice: add(granted.attempts_per_slice, budget.attempts_per_slice),
        steps: add(granted.steps, budget.steps),
        wall: budget.wall.clone().or_else(|| granted.wall.clone()),
        cost_micro_usd: add(granted.cost_micro_usd, budget.cost_micro_usd),
    };
}

/// Voids the review (and audit) of the slice in work: committed, or reopened at the same commit.
fn review_again(work: &mut Work) -> Result<(), Refusal> {
    if work.before.state.continuation_policy != Policy::Continue {
        return Err(closed("the work is stopped; resume it first"));
    }
    let Some(id) = work.active_id() else {
        return Err(closed("no slice is in work"));
    };
    if work.next.active.status == ActiveStatus::Committed {
        let ledger = work.ledger(&id);
        if ledger.review.take().is_none() {
            return Err(closed(format!("slice `{id}` has no review to void")));
        }
        ledger.audit = None;
        return Ok(());
    }
    let Some(head) = reviewed_head(work.before) else {
        return Err(closed(format!(
            "slice `{id}` has no commit that was reviewed last"
        )));
    };
    if !work.facts.on_head(&head)? {
        return Err(closed("the reviewed commit is not on HEAD any more"));
    }
    let ledger = work.ledger(&id);
    ledger.head = Some(head);
    ledger.review = None;
    ledger.audit = None;
    work.next.active.status = ActiveStatus::Committed;
    if let Some(slice) = work.next.plan.slice_mut(&id) {
        slice.status = SliceStatus::InProgress;
        slice.must_fix_findings = Some(Vec::new());
    }
    work.sync_handoff();
    Ok(())
}

fn new_wave(work: &mut Work) -> Result<(), Refusal> {
    if work.next.plan.open_slices().next().is_some() || super::drift::in_work(&work.next) {
        return Err(closed("slices are open, so no wave is due"));
    }
    wave::void(&mut work.next);
    work.next.ledger.wave.opened = Count(0);
    work.next.ledger.wave.opened_at = None;
    work.next.ledger.wave.running = false;
    work.next.state.requires_reground = true;
    Ok(())
}

/// A new mission: the old plan stays in the log.
pub(super) fn refocused(work: &mut Work, mission: &str) -> Result<(), Refusal> {
    set_mission(work, mission)?;
    let next = &mut work.next;
    next.plan.candidate_slices.clear();
    next.plan.plan_basis = String::new();
    next.plan.last_reground_at = None;
    next.active = ActiveSlice::idle(&next.state.mission_anchor);
    next.evidence = VerificationEvidence::none();
    next.ledger.slices.clear();
    next.ledger.wave.votes.clear();
    next.ledger.wave.running = false;
    next.ledger.unanswered.clear();
    next.ledger.amendments.clear();
    next.ledger.remarks.clear();
    next.ledger.high_value_gaps.clear();
    next.ledger.regrounded = false;
    next.ledger.returned = None;
    next.ledger.answered = None;
    next.ledger.waiting = None;
    next.ledger.branch = work.facts.head()?.branch.clone();
    let state = &mut work.next.state;
    state.continuation_policy = Policy::Continue;
    state.requires_reground = true;
    state.release_blocker_ids.clear();
    state.remaining_release_blockers = None;
    state.remaining_high_value_gaps = None;
    state.last_auditor_verdict = None;
    state.last_reground_at = None;
    state.latest_completed_slice = None;
    state.latest_verified_slice = None;
    state.contract_status = "bootstrapped".to_owned();
    work.displace = true;
    Ok(())
}

/// The mission that init asked for, given by a later init.
pub(super) fn learn_mission(work: &mut Work, mission: &str) -> Result<(), Refusal> {
    set_mission(work, mission)?;
    let asked = work.next.ledger.waiting.as_ref();
    if asked.is_some_and(|waiting| waiting.kind == WaitingKind::Question) {
        work.next.state.continuation_policy = Policy::Continue;
        work.next.ledger.waiting = None;
    }
    Ok(())
}

/// Mission text and its anchor, the same in every document.
pub(super) fn set_mission(work: &mut Work, mission: &str) -> Result<(), Refusal> {
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

/// An edited `plan.json`, when it is a legal successor of the log's.
pub(super) fn adopted(work: &mut Work, plan: &Plan) -> Result<(), Refusal> {
    let block = Reground {
        plan: Some(PlanBlock {
            plan_basis: plan.plan_basis.clone(),
            candidate_slices: plan.candidate_slices.iter().map(planned).collect(),
        }),
        ..Reground::default()
    };
    let submission = own_hand(work);
    let merged = block
        .plan
        .as_ref()
        .map(|plan| planning::merge(work, plan, &block, &submission));
    if let Some(Err(refusal)) = merged {
        let finding = Finding::new(refusal.code, refusal.message.clone());
        return Err(Refusal::new(
            Code::AdoptIllegal,
            format!(
                "the edited plan cannot follow the plan of the log: {}",
                refusal.message
            ),
        )
        .with(vec![finding]));
    }
    for edited in &plan.candidate_slices {
        let Some(taken) = work.next.plan.slice(&edited.slice_id) else {
            continue;
        };
        let fields = cook_owned_differences(edited, taken);
        if !fields.is_empty() {
            return Err(Refusal::new(
                Code::AdoptIllegal,
                format!(
                    "slice `{}`: only cook sets {}",
                    edited.slice_id,
                    fields.join(", ")
                ),
            ));
        }
    }
    if plan.mission_anchor != work.before.plan.mission_anchor {
        return Err(
            Refusal::new(Code::AdoptIllegal, "the mission anchor was edited")
                .hint("run `cook refocus --mission TEXT`"),
        );
    }
    work.displace = true;
    work.next.state.requires_reground = true;
    Ok(())
}

/// The user's own edit, in the shape in which records name their source.
fn own_hand(work: &Work) -> Submission {
    Submission {
        report: ReportRecord {
            role: Role::Regrounder,
            fields: BTreeMap::new(),
            rubric: None,
        },
        report_sha256: String::new(),
        session: None,
        ticket: None,
        mission_anchor: work.before.state.mission_anchor.clone(),
        remaining_contract_ids: Vec::new(),
        worktree_clean: None,
    }
}

fn planned(slice: &Slice) -> PlannedSlice {
    PlannedSlice {
        slice_id: slice.slice_id.clone(),
        goal: slice.goal.clone(),
        acceptance_criteria: slice.acceptance_criteria.clone(),
        contract_ids: slice.contract_ids.clone(),
        priority: slice.priority.clone(),
        status: Some(slice.status),
        why_now: slice.why_now.clone(),
        blocked_on: slice.blocked_on.clone(),
        implementation_surfaces: slice.implementation_surfaces.clone().unwrap_or_default(),
        verification_commands: slice.verification_commands.clone().unwrap_or_default(),
        locked_notes: slice.locked_notes.clone().unwrap_or_default(),
        reason: Some("the user edited the plan".to_owned()),
    }
}

fn cook_owned_differences(edited: &Slice, taken: &Slice) -> Vec<&'static str> {
    let mut fields = Vec::new();
    if edited.evidence != taken.evidence {
        fields.push("evidence");
    }
    if edited.must_fix_findings.as_deref().unwrap_or_default()
        != taken.must_fix_findings.as_deref().unwrap_or_default()
    {
        fields.push("must_fix_findings");
    }
    if edited.basis_commit != taken.basis_commit {
        fields.push("basis_commit");
    }
    if edited.remaining_contract_ids_before != taken.remaining_contract_ids_before
        || edited.release_blocker_count_before != taken.release_blocker_count_before
        || edited.high_value_gap_count_before != taken.high_value_gap_count_before
    {
        fields.push("the counts at selection");
    }
    fields
}

/// The workflow goes on on the branch that is checked out.
pub(super) fn branch_adopted(work: &mut Work) -> Result<(), Refusal> {
    let branch = work.facts.head()?.branch.clone();
    if branch == work.before.ledger.branch {
        return Err(closed("this branch is the workflow's already"));
    }
    work.next.ledger.branch = branch;
    work.next.state.requires_reground = true;
    Ok(())
}

/// Puts back the log's version of every edited file.
pub(super) fn restored(work: &mut Work) -> Result<(), Refusal> {
    if work.facts.outside_edits()?.is_empty() {
        return Err(closed("nothing in `.agent/` differs from the log"));
    }
    work.displace = true;
    Ok(())
}

/// Takes transitions back: the documents as they were; histories, counters and
/// judges' noes never revert.
pub(super) fn undone(
    work: &mut Work,
    to: &Snapshot,
    to_seq: u64,
    seqs: &[u64],
) -> Result<(), Refusal> {
    if to_seq >= work.before.ledger.seq.0 || to.ledger.seq.0 != to_seq {
        return Err(Refusal::new(
            Code::UndoTooFar,
            format!("transition {to_seq} is not an earlier one"),
        ));
    }
    let mut current = work.before.clone();
    wave::void(&mut current);
    let mut next = to.clone();
    wave::void(&mut next);
    next.counters = current.counters;
    // What was void at `to`, and all that came after it: taking an undo back makes what it
    // had voided count again.
    let mut undone: Vec<u64> = to.undone.seqs.clone();
    undone.extend(
        seqs.iter()
            .copied()
            .filter(|seq| !to.undone.seqs.contains(seq)),
    );
    undone.sort_unstable();
    next.undone = Undone { seqs: undone };
    next.ledger.seq = current.ledger.seq;
    next.ledger.lease_epoch = current.ledger.lease_epoch;
    next.ledger.script_doors = current.ledger.script_doors;
    next.ledger.settings = std::mem::take(&mut current.ledger.settings);
    // Answers that came after `to` are taken back with the rest.
    let owed = std::mem::take(&mut current.ledger.unanswered);
    for no in owed {
        if !next.ledger.unanswered.contains(&no) {
            next.ledger.unanswered.push(no);
        }
    }
    super::brief::undone(work, to, &mut next);
    next.ledger.wave = current.ledger.wave;
    next.ledger.wave.running = false;
    next.state.current_stop_wave_id = current.state.current_stop_wave_id;
    keep_negative_reviews(&current.ledger.slices, &mut next);
    next.state.requires_reground = true;
    if next.state.continuation_policy == Policy::Done {
        next.state.continuation_policy = Policy::Continue;
    }
    work.next = next;
    work.displace = true;
    Ok(())
}

/// A review that said no stays, whatever is taken back; `cook resume --review-again` voids it.
fn keep_negative_reviews(
    current: &BTreeMap<String, crate::model::SliceLedger>,
    next: &mut Snapshot,
) {
    for (id, slice) in &mut next.ledger.slices {
        let negative = current
            .get(id)
            .and_then(|slice| slice.review.as_ref())
            .filter(|review| !review.acceptable);
        if let Some(review) = negative {
            slice.review = Some(review.clone());
        }
    }
}

/// The user corrects a criterion that proved false.
pub(super) fn amended(
    work: &mut Work,
    slice_id: &str,
    number: u64,
    text: &str,
    reason: &str,
) -> Result<(), Refusal> {
    if text.trim().is_empty() || reason.trim().is_empty() {
        return Err(Refusal::new(
            Code::CriteriaEmpty,
            "an amendment needs a text and a reason",
        ));
    }
    let Some(slice) = work.next.plan.slice_mut(slice_id) else {
        return Err(Refusal::new(
            Code::SliceUnknown,
            format!("no slice `{slice_id}` in the plan"),
        ));
    };
    if !slice.status.is_open() {
        return Err(Refusal::new(
            Code::SelectClosed,
            format!(
                "slice `{slice_id}` is {}; its criteria stay",
                slice.status.id()
            ),
        ));
    }
    let index = usize::try_from(number)
        .ok()
        .and_then(|number| number.checked_sub(1));
    let count = slice.acceptance_criteria.len();
    if slice
        .acceptance_criteria
        .iter()
        .any(|criterion| criterion == text)
    {
        return Err(Refusal::new(
            Code::CriterionDuplicated,
            "the slice has that criterion already",
        ));
    }
    let Some(place) = index.and_then(|index| slice.acceptance_criteria.get_mut(index)) else {
        return Err(Refusal::new(
            Code::SliceUnknown,
            format!("slice `{slice_id}` has {count} criteria, not number {number}"),
        ));
    };
    let old = std::mem::replace(place, text.to_owned());
    slice
        .evidence
        .retain(|entry| !matches!(entry, Evidence::Record(record) if record.criterion == old));
    work.next.ledger.amendments.push(Amendment {
        slice_id: slice_id.to_owned(),
        old,
        new: text.to_owned(),
        reason: reason.to_owned(),
    });
    work.sync_handoff();
    Ok(())
}
