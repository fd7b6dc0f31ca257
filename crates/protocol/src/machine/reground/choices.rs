//! What a block may contain. `apply` refuses by these conditions and prompts offer by them, so that a prompt never
//! offers what would be refused in any case.

use crate::diagnostic::list_with_verb;
use crate::machine::active::active_from;
use crate::machine::facts::{Facts, Range, stale_stop_verifier};
use crate::machine::rule::Rule;
use crate::machine::slices::{SliceGraph, require_selectable, waits_for};
use crate::machine::work::Work;
use crate::machine::{slices, wave};
use crate::model::all;
use crate::prelude::*;
use strum::VariantArray;

/// A part of a block that may or may not be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum Choice {
    /// `reconcile` with `accepted`.
    Accept,
    /// `reconcile` with `reopened`.
    SendBack,
    /// `reopen` of a done slice.
    Reopen,
    /// `drop_criteria` in a plan's `change`.
    DropCriteria,
    /// `evidence`.
    Evidence,
    /// `conclude` with `go_on`.
    GoOn,
    /// `conclude` with `stop`.
    Stop,
    /// `answers`.
    Answers,
    /// `answers_to`.
    AnswersTo,
    /// `select`.
    Select,
}

impl Choice {
    /// All choices.
    pub const ALL: [Choice; 10] = all();

    /// Whether a report under this rule may contain it. `held` means that the state of the repository allows
    /// neither a selection nor the end of the project.
    pub fn is_open(self, rule: Rule, snapshot: &Snapshot, held: bool) -> bool {
        let mut slices = snapshot.plan.candidate_slices.iter();
        match self {
            Choice::Accept => may_accept(rule, snapshot),
            Choice::SendBack => may_send_back(rule, snapshot),
            Choice::Reopen => slices.any(|slice| slice.status == SliceStatus::Done),
            Choice::DropCriteria => slices.any(|slice| may_drop_criterion(snapshot, slice)),
            Choice::Evidence => slices.any(|slice| slice.status != SliceStatus::Cancelled),
            Choice::GoOn => is_wave_over(rule),
            Choice::Stop => !held && may_stop(rule, snapshot),
            Choice::Answers => {
                !wave::list_owed(snapshot).is_empty()
                    || wave::find_audit_to_answer(snapshot).is_some()
            }
            Choice::AnswersTo => !snapshot.ledger.answers.is_empty(),
            Choice::Select => !held && may_select(rule, snapshot),
        }
    }
}

/// Whether a committed slice with its review and audit waits for a decision.
pub(super) fn is_to_be_reconciled(rule: Rule, snapshot: &Snapshot) -> bool {
    rule == Rule::Reconcile && snapshot.find_slice_in_work().is_some()
}

fn may_accept(rule: Rule, snapshot: &Snapshot) -> bool {
    is_to_be_reconciled(rule, snapshot) && is_accepted_by_review(snapshot)
}

/// Whether the current review accepts the slice under its present criteria.
pub(super) fn is_accepted_by_review(snapshot: &Snapshot) -> bool {
    slices::current_review(snapshot).is_some_and(|review| !review.rejects())
}

/// Whether the slice in work may be reopened: it is to be reconciled, a review rejects it, or it was committed
/// when the repository moved.
pub(super) fn may_send_back(rule: Rule, snapshot: &Snapshot) -> bool {
    is_to_be_reconciled(rule, snapshot)
        || slices::rejection(snapshot).is_some()
        || rule == Rule::Recover && was_reported(snapshot)
}

/// Whether every judge of the wave says yes and no slice is open. The votes of a full wave are for HEAD.
fn may_stop(rule: Rule, snapshot: &Snapshot) -> bool {
    let votes = &snapshot.ledger.wave.votes;
    let head = votes.last().map(|vote| vote.head.as_str());
    let is_closed = snapshot.plan.open_slices().next().is_none();
    is_wave_over(rule) && is_closed && wave::unanimous(snapshot, head)
}

/// Whether no committed slice waits, or the report has to decide on it.
fn may_select(rule: Rule, snapshot: &Snapshot) -> bool {
    is_free(snapshot) || is_to_be_reconciled(rule, snapshot)
}

/// Whether a criterion of the slice may be dropped, given proof that it holds.
fn may_drop_criterion(snapshot: &Snapshot, slice: &Slice) -> bool {
    slice.status.is_open() && !snapshot.is_committed(&slice.slice_id)
}

/// Whether the slice in work is committed, or was and is in progress again.
fn was_reported(snapshot: &Snapshot) -> bool {
    let ledger = snapshot
        .find_slice_in_work()
        .and_then(|id| snapshot.find_ledger(id));
    ledger.is_some_and(|ledger| ledger.reported.is_some())
        && matches!(
            snapshot.active.status,
            ActiveStatus::Committed | ActiveStatus::InProgress
        )
}

/// Whether no committed slice must be reconciled before another is selected.
fn is_free(snapshot: &Snapshot) -> bool {
    snapshot.active.status != ActiveStatus::Committed
}

/// Whether all votes are in.
pub(super) fn is_wave_over(rule: Rule) -> bool {
    rule == Rule::Conclude
}

// Selecting the slice to work on.

/// Selects a slice. After a `stop` every slice is closed, so that none can be selected.
pub(super) fn apply_select(work: &mut Work, block: &Reground, id: &str) -> Result<(), Refusal> {
    let slice = work.find_planned(id)?.clone();
    let active = work.active_id();
    if active.as_deref() == Some(id) {
        return match holds_up(work, block, &slice) {
            true => require_selectable(&work.next.plan, &slice),
            false => Ok(()),
        };
    }
    if !is_free(&work.next) {
        return Err(refusal!(
            Code::UnreconciledCommit,
            "slice `{}` is committed and not reconciled",
            active.unwrap_or_default()
        ));
    }
    require_selectable(&work.next.plan, &slice)
        .map_err(|refusal| say_lost(work, &slice, refusal))?;
    require_settled(work)?;
    let head = work.head()?;
    let basis = find_kept_basis(work, id)?.unwrap_or_else(|| head.clone());
    let own_commits = basis_has_own(work, id, &basis);
    if work.facts.stop_verifier_stale {
        work.findings.push(stale_stop_verifier());
    }
    set_selected(work, &slice.slice_id, basis, own_commits);
    note_order(work, id);
    Ok(())
}

/// Whether the report itself makes the slice in work wait: it reopens a slice that this one waits for, or adds
/// one.
fn holds_up(work: &Work, block: &Reground, slice: &Slice) -> bool {
    let before = &work.before.plan;
    let waited = before.slice(&slice.slice_id);
    let waited = waited.map_or_else(Vec::new, |slice| waits_for(before, slice));
    let was_done = |id: &String| before.is_done(id);
    let is_opened = |id: &String| {
        let reconcile = block.reconcile.as_ref();
        let reconcile = reconcile.filter(|it| it.decision == Decision::Reopened);
        block.reopen.iter().any(|it| it.slice_id == *id)
            || reconcile.is_some_and(|it| it.slice_id == *id)
    };
    let waits = waits_for(&work.next.plan, slice);
    waits
        .iter()
        .any(|id| is_opened(id) || !waited.contains(id) && !was_done(id))
}

/// Replaces the hint if the slice waits for one that was done until this report was checked against the
/// repository.
fn say_lost(work: &Work, slice: &Slice, refusal: Refusal) -> Refusal {
    let is_lost = |id: &String| work.before.plan.is_done(id);
    let lost: Vec<String> = waits_for(&work.next.plan, slice)
        .into_iter()
        .filter(is_lost)
        .collect();
    match lost.first() {
        None => refusal,
        Some(first) => refusal.replace_hints([format!(
            "{} no longer done, and the next report opens it again: select `{first}`, or a slice that `cook status --ready` lists",
            list_with_verb(&lost)
        )]),
    }
}

/// Refuses a selection that the state of the repository does not allow.
fn require_settled(work: &Work) -> Result<(), Refusal> {
    work.facts.contract_uncommitted()?;
    work.facts.worktree()?;
    find_unsettled(work.facts).map_or(Ok(()), Err)
}

/// The same check on facts that were measured already.
pub(super) fn find_unsettled(facts: &Facts) -> Option<Refusal> {
    let uncommitted = facts.contract_uncommitted.as_deref().unwrap_or_default();
    if !uncommitted.is_empty() {
        return Some(refusal!(
            Code::ContractUncommittedRefusal,
            "not committed: {}",
            uncommitted.join(", ")
        ));
    }
    let worktree = facts.worktree.as_ref()?;
    (!worktree.is_clean()).then(|| {
        let refusal = refusal!(
            Code::SelectDirty,
            "the worktree is not clean: {}",
            worktree.first_dirty()
        );
        match worktree.contract_hint() {
            Some(hint) => refusal.hint(hint),
            None => refusal,
        }
    })
}

/// The basis of an earlier selection, if the slice has own commits since then.
fn find_kept_basis(work: &Work, id: &str) -> Result<Option<String>, Refusal> {
    let Some(basis) = work
        .next
        .find_ledger(id)
        .and_then(|slice| slice.basis.clone())
    else {
        return Ok(None);
    };
    let range = work.facts.range(&basis)?;
    let basis = if range.ancestor {
        Some(basis)
    } else {
        range.merge_base.clone()
    };
    // Commits that it claimed may have been rewritten in the meantime.
    let claims = work
        .next
        .find_ledger(id)
        .is_some_and(|ledger| !ledger.claimed.is_empty());
    Ok(basis.filter(|_| claims || has_own(work, id, range)))
}

/// Whether the slice has own commits since this basis, or claimed some after an earlier selection.
fn basis_has_own(work: &Work, id: &str, basis: &str) -> bool {
    work.facts
        .ranges
        .get(basis)
        .is_some_and(|range| has_own(work, id, range))
        || work
            .before
            .find_ledger(id)
            .is_some_and(|slice| !slice.claimed.is_empty() && slice.basis.is_some())
}

fn has_own(work: &Work, id: &str, range: &Range) -> bool {
    let ledger = work.next.find_ledger(id);
    let is_named = |commit: &String| {
        ledger.is_some_and(|it| it.claimed.contains(commit) || it.is_held_by(commit))
    };
    range
        .commits
        .iter()
        .any(|commit| commit.slice.as_deref() == Some(id) || is_named(&commit.id))
}

fn set_selected(work: &mut Work, id: &str, basis: String, own_commits: bool) {
    let (plan_status, active_status) = if own_commits {
        (SliceStatus::InProgress, ActiveStatus::InProgress)
    } else {
        (SliceStatus::Selected, ActiveStatus::Selected)
    };
    for slice in &mut work.next.plan.candidate_slices {
        if slice.status.is_selected() {
            slice.status = SliceStatus::Planned;
        }
    }
    let remaining = work.next.plan.list_open_contracts();
    let state = &work.next.state;
    let blockers = state.remaining_release_blockers.unwrap_or_default();
    let gaps = state.remaining_high_value_gaps.unwrap_or_default();
    if let Some(slice) = work.next.plan.slice_mut(id) {
        slice.status = plan_status;
        slice.basis_commit = Some(basis.clone());
        slice.remaining_contract_ids_before = Some(remaining);
        slice.release_blocker_count_before = Some(blockers);
        slice.high_value_gap_count_before = Some(gaps);
        slice.must_fix_findings.get_or_insert_default();
    }
    let ledger = work.ledger(id);
    ledger.last_head = ledger.head.take().or(ledger.last_head.take());
    if !own_commits {
        ledger.claimed.clear();
        ledger.reported = None;
    }
    ledger.basis = Some(basis);
    work.set_audit_aside(id);
    let unfixed = work.take_review(id);
    work.must_fix(id, unfixed);
    let anchor = work.next.state.mission_anchor.clone();
    if let Some(slice) = work.next.plan.slice(id) {
        work.next.active = active_from(slice, active_status, &anchor);
        let evidence = VerificationEvidence {
            subject_type: Subject::SelectedSlice,
            slice_id: Some(id.to_owned()),
            goal: Some(slice.goal.clone()),
            contract_ids: slice.contract_ids.clone(),
            basis_commit: slice.basis_commit.clone(),
            verification_commands: slice.verification_commands.clone().unwrap_or_default(),
            summary: "selected; nothing verified yet".to_owned(),
            ..VerificationEvidence::default()
        };
        work.next.evidence = evidence;
    }
}

fn note_order(work: &mut Work, id: &str) {
    let rows = SliceGraph::new(&work.next.plan).ready(&work.next.plan);
    let slice = work.next.plan.slice(id);
    let reasoned = slice.is_some_and(|slice| !slice.why_now.trim().is_empty());
    if let Some(first) = rows.first()
        && first.slice_id != id
        && !reasoned
    {
        let what = format!(
            "slice `{id}` is selected, although `{}` is first in the order of work",
            first.slice_id
        );
        work.note(Code::SelectionNotFirst, id, what);
    }
}
