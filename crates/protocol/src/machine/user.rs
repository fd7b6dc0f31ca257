//! The user's commands: pause, cancel, refocus, adopt, restore, amend, retire and undo.

use super::work::{Work, require_reground};
use super::{assurance, brief_changes, planning, wave};
use crate::diagnostic::list_with_verb;
use crate::model::{
    Actor, Amendment, CANCELLED_BY_HAND, PAUSED_BY_HAND, PlanBlock, Undone, mission_anchor,
};
use crate::prelude::*;
use crate::report::is_named;

/// The refusal of a command that does not apply.
pub(super) fn refusal(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::DoesNotApply, message)
}

// Stopping the work, until the user resumes it or for good.

/// Stops the work until the user resumes it.
pub(super) fn pause(work: &mut Work, why: &str, actor: Actor) -> Result<(), Refusal> {
    if work.next.state.continuation_policy != Policy::Continue {
        return Err(refusal(format!(
            "the work is stopped already: {}",
            work.next.state.continuation_policy
        ))
        .hint("run `cook brief say TEXT` to leave a message"));
    }
    if actor != Actor::Role && is_said(why) {
        brief_changes::hear(work, why);
    }
    let (policy, kind) = (Policy::Paused, WaitingKind::Pause);
    work.next.wait(policy, kind, why, "cook resume");
    Ok(())
}

/// What a role or the user said that no re-ground has decided on and that would be lost with the plan. The next
/// re-ground is told.
fn find_unheard(before: &Snapshot) -> Vec<String> {
    let remarked = before.plan.open_slices().filter_map(|slice| {
        let id = &slice.slice_id;
        let said = before.find_ledger(id)?.remarked.as_ref()?;
        Some(format!(
            "of slice `{id}`, which is gone with the plan, its implementer said: {said}"
        ))
    });
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
    remarked.chain(stopped).collect()
}

/// Whether the user gave a reason in their own words, which bind the later work.
fn is_said(why: &str) -> bool {
    is_named(why) && ![PAUSED_BY_HAND, CANCELLED_BY_HAND].contains(&why)
}

/// Ends the workflow, and cancels the open slices.
pub(super) fn cancel(work: &mut Work, why: &str) -> Result<(), Refusal> {
    let is_done = work.next.state.continuation_policy == Policy::Done;
    if is_cancelled(&work.next) || is_done && work.next.ledger.goal.is_none() {
        return Err(refusal("the workflow has ended already")
            .hint("run `cook brief say TEXT` to leave a message"));
    }
    cancel_open(work);
    for cause in find_unheard(work.before) {
        require_reground(&mut work.next, cause);
    }
    if is_said(why) {
        brief_changes::hear(work, why);
    }
    let (policy, kind) = (Policy::Paused, WaitingKind::Cancel);
    work.next.wait(policy, kind, why, "cook resume");
    work.next.state.contract_status = "cancelled".to_owned();
    Ok(())
}

/// Cancels the open slices. Rejections that were answered with them are owed again.
fn cancel_open(work: &mut Work) {
    for slice in &mut work.next.plan.candidate_slices {
        if slice.status.is_open() {
            slice.status = SliceStatus::Cancelled;
        }
    }
    work.go_idle();
    wave::void(&mut work.next);
    owe_again(work);
}

/// Makes rejections owed again that were answered with slices which are cancelled now.
fn owe_again(work: &mut Work) {
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

/// Stops the work, for the runner or because a budget is spent.
pub(super) fn block(work: &mut Work, why: &str, exit: &str) -> Result<(), Refusal> {
    if work.next.state.continuation_policy != Policy::Continue {
        return Err(refusal(format!(
            "the work is stopped already: {}",
            work.next.state.continuation_policy
        )));
    }
    work.next
        .wait(Policy::Blocked, WaitingKind::Outside, why, exit);
    Ok(())
}

// The mission: one that is given late, or a new one.

/// Sets a new mission. The old plan stays in the history of the log.
pub(super) fn refocus(work: &mut Work, mission: &str) -> Result<(), Refusal> {
    set_mission(work, mission)?;
    for answer in &work.before.ledger.answers {
        work.findings
            .push(Finding::new(Code::AnswersEnded, answer.note()));
    }
    // No rejection ends with a mission: the next re-ground answers it.
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
    next.evidence = VerificationEvidence::default();
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

/// Takes the mission that `cook init` asked for from a later `cook init`.
pub(super) fn learn_mission(work: &mut Work, mission: &str) -> Result<(), Refusal> {
    set_mission(work, mission)?;
    let asked = work.next.ledger.waiting.as_ref();
    if asked.is_some_and(|waiting| waiting.kind == WaitingKind::Question) {
        work.next.state.continuation_policy = Policy::Continue;
        work.next.ledger.waiting = None;
    }
    Ok(())
}

/// Sets the mission, and its anchor in every document.
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

// Changes made outside cook, which the log takes in or discards.

/// Takes in an edited `plan.json`, if the log's plan may change to it.
pub(super) fn adopt(work: &mut Work, plan: &Plan) -> Result<(), Refusal> {
    let block = Reground {
        plan: Some(PlanBlock {
            plan_basis: plan.plan_basis.clone(),
            candidate_slices: plan
                .candidate_slices
                .iter()
                .map(|it| as_planned(it))
                .collect(),
            ..PlanBlock::default()
        }),
        ..Reground::default()
    };
    let merged = block
        .plan
        .as_ref()
        .map(|plan| planning::merge(work, plan, &block));
    if let Some(Err(refusal)) = merged {
        let finding = Finding::new(refusal.code, refusal.message.clone());
        return Err(refusal!(
            Code::AdoptIllegal,
            "the log's plan cannot change to the edited plan: {}",
            refusal.message
        )
        .with(vec![finding]));
    }
    for edited in &plan.candidate_slices {
        let Some(taken) = work.next.plan.slice(&edited.slice_id) else {
            continue;
        };
        let fields = cook_owned_differences(edited, taken);
        if !fields.is_empty() {
            return Err(refusal!(
                Code::AdoptIllegal,
                "slice `{}`: only cook sets {}",
                edited.slice_id,
                fields.join(", ")
            ));
        }
    }
    if plan.mission_anchor != work.before.plan.mission_anchor {
        return Err(
            Refusal::new(Code::AdoptIllegal, "the mission anchor was edited")
                .hint("run `cook plan refocus --mission TEXT`"),
        );
    }
    take_up_again(work, plan)?;
    owe_again(work);
    work.displace = true;
    let changed = list_changed(work);
    let cause = format!("the user edited the plan, and `cook plan adopt` took that in: {changed}");
    require_reground(&mut work.next, cause);
    Ok(())
}

/// Names the slices that the edit changed.
fn list_changed(work: &Work) -> String {
    let before = &work.before.plan;
    let slices = work.next.plan.candidate_slices.iter();
    let changed = slices.filter(|slice| before.slice(&slice.slice_id) != Some(slice));
    let named: Vec<String> = changed
        .map(|slice| format!("`{}`", slice.slice_id))
        .collect();
    match named.len() {
        0 => "no slice is another, but perhaps their order".to_owned(),
        1..=NAMED => format!("{} new or changed", list_with_verb(&named)),
        more => format!("{more} slices are new or changed"),
    }
}

/// Maximum number of slices that are named.
const NAMED: usize = 10;

/// Reopens each done slice that the user's edit calls planned, and refuses any other change of a status.
fn take_up_again(work: &mut Work, plan: &Plan) -> Result<(), Refusal> {
    let ignored = Code::PlanStatusIgnored;
    work.findings.retain(|finding| finding.code != ignored);
    let submission = user_submission(work);
    for edited in &plan.candidate_slices {
        let id = &edited.slice_id;
        let taken = work.next.plan.slice(id).map(|slice| slice.status);
        match (taken, edited.status) {
            (Some(SliceStatus::Done), SliceStatus::Planned) => {
                let why = "the user edited the plan".to_owned();
                work.reopen(id, vec![why], Some(&submission));
            }
            (Some(is), wanted) if is != wanted => {
                return Err(refusal!(
                    Code::AdoptIllegal,
                    "slice `{id}` is {}, and this status cannot change",
                    is.id()
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The user's edit as a submission, the form in which records name their source.
fn user_submission(work: &Work) -> Submission {
    Submission {
        report: ReportRecord {
            role: Role::Regrounder,
            fields: BTreeMap::new(),
            rubric: None,
        },
        report_sha256: String::new(),
        session: None,
        ticket: None,
        began_at: None,
        mission_anchor: work.before.state.mission_anchor.clone(),
        remaining_contract_ids: Vec::new(),
        worktree_clean: None,
    }
}

fn as_planned(slice: &Slice) -> PlannedSlice {
    PlannedSlice {
        status: Some(slice.status),
        implementation_surfaces: Some(slice.implementation_surfaces.clone().unwrap_or_default()),
        verification_commands: Some(slice.verification_commands.clone().unwrap_or_default()),
        locked_notes: Some(slice.locked_notes.clone().unwrap_or_default()),
        reason: Some("the user edited the plan".to_owned()),
        ..slice.restate()
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

/// Moves the workflow to the checked-out branch.
pub(super) fn adopt_branch(work: &mut Work) -> Result<(), Refusal> {
    let branch = work.facts.head()?.branch.clone();
    if branch == work.before.ledger.branch {
        return Err(refusal("the workflow already runs on this branch"));
    }
    let name = |branch: &Option<String>| {
        let name = branch.as_deref();
        name.map_or_else(|| "a detached HEAD".to_owned(), |name| format!("`{name}`"))
    };
    let cause = format!(
        "the user moved the work from {} to {} with `cook plan adopt --branch`",
        name(&work.before.ledger.branch),
        name(&branch)
    );
    work.next.ledger.branch = branch;
    require_reground(&mut work.next, cause);
    Ok(())
}

/// Restores the log's version of every edited file.
pub(super) fn restore(work: &mut Work) -> Result<(), Refusal> {
    if work.facts.outside_edits()?.is_empty() {
        return Err(refusal("nothing in `.agent/` differs from the log"));
    }
    work.displace = true;
    Ok(())
}

// Correcting a criterion that proved false, and giving up the proof of one.

/// The user corrects a criterion that proved false.
pub(super) fn amend(
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
    let slice = work.find_planned(slice_id)?;
    if !slice.status.is_open() {
        return Err(refusal!(
            Code::SelectClosed,
            "slice `{slice_id}` is {}; its criteria cannot change",
            slice.status.id()
        ));
    }
    if slice.acceptance_criteria.iter().any(|known| known == text) {
        return Err(Refusal::new(
            Code::CriterionDuplicated,
            "the slice already has that criterion",
        ));
    }
    let place = find_criterion(slice, number)?;
    let old = std::mem::replace(&mut slice.acceptance_criteria[place], text.to_owned());
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

fn find_criterion(slice: &Slice, number: u64) -> Result<usize, Refusal> {
    let (id, count) = (&slice.slice_id, slice.acceptance_criteria.len());
    let place = usize::try_from(number.wrapping_sub(1)).unwrap_or(usize::MAX);
    if place >= count {
        return Err(refusal!(
            Code::SliceUnknown,
            "slice `{id}` has {count} criteria; criterion {number} does not exist"
        ));
    }
    Ok(place)
}

/// The user gives up the proof of a criterion of a closed slice, which stays closed.
pub(super) fn retire(
    work: &mut Work,
    slice_id: &str,
    number: u64,
    reason: &str,
) -> Result<(), Refusal> {
    if reason.trim().is_empty() {
        return Err(Refusal::new(
            Code::CriteriaEmpty,
            "giving up a proof requires a reason",
        ));
    }
    let slice = work.find_planned(slice_id)?;
    if !slice.rests_on_proof() {
        return Err(refusal!(Code::EvidenceMissing, "slice `{slice_id}` is {}, so it does not have an accepted proof",
            slice.status.id()).replace_hints([
            "correct the criterion with `cook plan criteria amend`, or cancel the slice in a re-ground",
        ]));
    }
    let criterion = slice.acceptance_criteria[find_criterion(slice, number)?].clone();
    let mut records = slice.evidence.iter_mut().filter_map(|entry| match entry {
        Evidence::Record(record) if record.criterion == criterion => Some(record),
        _ => None,
    });
    match records.next() {
        Some(record) => record.retired = Some(reason.to_owned()),
        None => {
            return Err(refusal!(
                Code::EvidenceMissing,
                "the log does not have a proof of `{criterion}`"
            ));
        }
    }
    Ok(())
}

// Undoing transitions.

/// Undoes transitions: the documents return to an earlier state, but histories, counters and judges' rejections do
/// not.
pub(super) fn undo(
    work: &mut Work,
    to: &Snapshot,
    to_seq: u64,
    seqs: &[u64],
) -> Result<(), Refusal> {
    if to_seq >= work.before.ledger.seq.0 || to.ledger.seq.0 != to_seq {
        return Err(refusal!(
            Code::UndoTooFar,
            "transition {to_seq} is not earlier than the newest transition"
        ));
    }
    let mut current = work.before.clone();
    wave::void(&mut current);
    let noes = wave::list_noes(&current);
    let mut next = to.clone();
    wave::void(&mut next);
    next.counters = current.counters;
    // The records that were void at `to`, and all later ones. If an undo is undone, the records that it had voided
    // count again.
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
    // A re-ground is due, and commits that it has accounted for are not asked about again.
    next.ledger.mark = current.ledger.mark.take();
    next.ledger.scripted_commands = current.ledger.scripted_commands;
    next.ledger.settings = std::mem::take(&mut current.ledger.settings);
    let owed = std::mem::take(&mut current.ledger.unanswered);
    wave::owe(&mut next.ledger.unanswered, owed);
    let gone = current.ledger.answers.iter();
    for answer in gone.filter(|answer| !next.ledger.answers.contains(answer)) {
        work.findings.push(finding!(
            Code::AnswersEnded,
            "undone with the rest: {}",
            answer.note()
        ));
    }
    brief_changes::undo(work, to, &mut next);
    next.ledger.wave = current.ledger.wave;
    next.ledger.wave.running = false;
    next.state.current_stop_wave_id = current.state.current_stop_wave_id;
    keep_negative_reviews(&current.ledger.slices, &mut next);
    keep_noes(noes, &mut next);
    let cause = format!(
        "the user took back with `cook undo` what came after transition {to_seq} (`cook log {}` and the numbers after it tell what that was)",
        to_seq + 1
    );
    require_reground(&mut next, cause);
    if next.state.continuation_policy == Policy::Done {
        next.state.continuation_policy = Policy::Continue;
    }
    work.next = next;
    work.displace = true;
    Ok(())
}

/// Keeps every rejection: one that the undo removes, or whose answer it removes, is owed an answer.
fn keep_noes(noes: Vec<Blocker>, next: &mut Snapshot) {
    let standing = wave::list_noes(next);
    let stands = |no: &Blocker| standing.iter().any(|known| known.id == no.id);
    // The user's own words are undone with the rest.
    let lost = noes.into_iter().filter(|no| !no.is_users() && !stands(no));
    wave::owe(&mut next.ledger.unanswered, lost);
}

/// Keeps each review that said no, even if it has sent the slice back since. Only `cook resume --review-again`
/// voids it.
fn keep_negative_reviews(current: &BTreeMap<String, Shared<SliceLedger>>, next: &mut Snapshot) {
    for (id, slice) in current {
        if next.plan.slice(id).is_none() {
            continue;
        }
        for review in [&slice.sent_back, &slice.review].into_iter().flatten() {
            let kept = next.ledger.slices.entry(id.clone()).or_default();
            let known = [&kept.sent_back, &kept.review];
            let is_known = known
                .into_iter()
                .flatten()
                .any(|known| known.seq == review.seq);
            if is_known || !review.rejects() {
                continue;
            }
            let earlier = kept.review.replace(review.clone());
            kept.sent_back = earlier
                .filter(|review| review.rejects())
                .or(kept.sent_back.take());
        }
    }
}
