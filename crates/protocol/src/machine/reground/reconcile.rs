//! Accepts or reopens the committed slice.

use super::choices;
use crate::machine::active::active_from;
use crate::machine::assurance::note_accepted;
use crate::machine::wave::{add_new, list_requests};
use crate::machine::work::{Work, attach};
use crate::machine::{planning, proof};
use crate::model::{Accepted, Reconcile, surface_matches};
use crate::prelude::*;
use crate::report::is_named;

pub(super) fn apply_reconcile(
    work: &mut Work,
    reconcile: &Reconcile,
    submission: Option<&Submission>,
) -> Result<Vec<String>, Refusal> {
    let id = &reconcile.slice_id;
    let slice = work.find_planned(id)?;
    let status = slice.status;
    let is_active = work.active_id().as_deref() == Some(id);
    let rule = work.due.rule;
    let is_due = is_active && choices::is_to_be_reconciled(rule, &work.next);
    let may_send_back = is_active && choices::may_send_back(rule, &work.next);
    match reconcile.decision {
        Decision::Accepted if is_due => match reconcile.findings.iter().find(|it| is_named(it)) {
            None => Ok(Vec::new()),
            Some(finding) => Err(refusal!(Code::BlockersOpen, "the report accepts slice `{id}` but also names a finding: {finding}")
            .replace_hints([
                "reopen it with these `findings`; or accept it without them, and plan the remaining work as a slice",
            ])),
        },
        Decision::Reopened if may_send_back || status == SliceStatus::Done => {
            let findings = list_findings_to_fix(work, id, &reconcile.findings)?;
            work.reopen(id, findings, submission);
            Ok(vec![id.clone()])
        }
        _ => Err(refusal!(Code::ReconcileNotDue, "slice `{id}` is {} and is not waiting to be accepted or reopened",
                status.id())),
    }
}

/// Reopens the slices that the block names. If `at` names a commit on HEAD that holds the work, it may be reported
/// as it is.
pub(super) fn reopen(
    work: &mut Work,
    block: &Reground,
    submission: Option<&Submission>,
) -> Result<Vec<String>, Refusal> {
    let mut opened = Vec::new();
    for reopen in &block.reopen {
        let id = &reopen.slice_id;
        let status = work.find_planned(id)?.status;
        let committed = work.next.active.status == ActiveStatus::Committed
            && work.active_id().as_deref() == Some(id);
        let may = status == SliceStatus::Done || status.is_open() && reopen.at.is_some();
        if !may || committed {
            return Err(refusal!(Code::ReconcileNotDue, "slice `{id}` is {}; only a done slice can be reopened", status.id())
            .replace_hints([
                "for an open slice, name the commit that contains its work in `at`; for a committed slice, use `reconcile`",
            ]));
        }
        if let Some(at) = &reopen.at
            && !work.facts.on_head(at)?
        {
            return Err(refusal!(
                Code::ReopenElsewhere,
                "`at` of slice `{id}` is `{at}`, which is not a commit on HEAD"
            ));
        }
        if status == SliceStatus::Done {
            let why = reopen.why.lines().map(str::to_owned).collect();
            work.reopen(id, why, submission);
            opened.push(id.clone());
        }
        let ledger = work.ledger(id);
        ledger.holds.clone_from(&reopen.at);
        if reopen.at.is_some() {
            ledger.last_head = None;
        }
    }
    Ok(opened)
}

/// The required fixes of the next attempt: the review's findings and follow-up, and the regrounder's additions. An
/// audit's words on the rest of the project belong to the plan. If the review said yes, it asks for nothing, so
/// the regrounder must.
fn list_findings_to_fix(work: &Work, id: &str, more: &[String]) -> Result<Vec<String>, Refusal> {
    let ledger = work.next.find_ledger(id);
    let review = ledger.and_then(|ledger| ledger.review.as_deref());
    let mut findings = review.map(list_requests).unwrap_or_default();
    let more: Vec<&String> = more.iter().filter(|text| is_named(text)).collect();
    if more.is_empty() && !review.is_some_and(ReviewNote::rejects) {
        return Err(refusal!(
            Code::ReopenWithoutReason,
            "slice `{id}` is reopened without findings that the next attempt must fix"
        )
        .replace_hints(["list them: `\"findings\": [\"…\"]` in `reconcile`"]));
    }
    add_new(&mut findings, more.into_iter().cloned());
    Ok(findings)
}

/// Requires that the current review accepts the slice under its present criteria.
pub(super) fn require_acceptable(work: &Work, id: &str) -> Result<(), Refusal> {
    if !choices::is_accepted_by_review(work.before) {
        let ledger = work.before.find_ledger(id);
        let is_weak = ledger
            .and_then(|ledger| ledger.review.as_deref())
            .is_some_and(|it| it.weak);
        let why = match is_weak {
            true => {
                ": it leaves a changed test, or planted defects that the gates do not notice, without an answer"
            }
            false => "",
        };
        return Err(refusal!(
            Code::ReviewNegative,
            "the review of slice `{id}` does not accept it{why}"
        ));
    }
    if !planning::key_changed(work, id) {
        return Ok(());
    }
    let criteria = |snapshot: &Snapshot| {
        let slice = snapshot.plan.slice(id);
        slice.map(|slice| slice.acceptance_criteria.clone())
    };
    Err(match criteria(work.before) == criteria(&work.next) {
        true => refusal!(Code::ReviewNegative, "this report changes the user's answers that bind slice `{id}`, so its review does not cover them")
        .replace_hints([format!(
            "keep the answers of slice `{id}` (name the slice in the `slices` of each) and accept it; or change them in a report that does not accept it, and it is reviewed again"
        )]),
        false => refusal!(Code::ReviewNegative, "this report changes the criteria of slice `{id}`, so its review does not cover them"),
    })
}

/// Accepts a slice: the only way to `done`, on a clean worktree and after a review that says yes.
pub(super) fn accept(
    work: &mut Work,
    block: &Reground,
    id: &str,
    submission: Option<&Submission>,
) -> Result<(), Refusal> {
    proof::require_complete(work, block, id)?;
    note_accepted(work);
    work.keep_audit(id);
    work.keep_no(id);
    let ledger = work.ledger(id);
    let commit = ledger.head.take().unwrap_or_default();
    ledger.last_head = Some(commit.clone());
    ledger.basis = None;
    ledger.review = None;
    ledger.sent_back = None;
    ledger.fixed.clear();
    ledger.fixes.clear();
    ledger.fixes_before.clear();
    ledger.checked = None;
    ledger.red_gates.clear();
    ledger.offered.clear();
    ledger.offered_by = None;
    ledger.remarked = None;
    let receipts = std::mem::take(&mut ledger.receipts);
    let seq = work.seq();
    let basis = work.find_planned(id)?.basis_commit.clone();
    work.ledger(id).accepted = Some(Accepted {
        basis: basis.unwrap_or_default(),
        head: commit.clone(),
        seq,
    });
    let record = work.slice_record(SliceRecordType::Accepted, id, &commit);
    match submission {
        Some(submission) => attach(record, submission),
        None => record.by = Some(ByCook::BY.to_owned()),
    }
    record.receipts = Some(receipts);
    if let Some(slice) = work.next.plan.slice_mut(id) {
        slice.status = SliceStatus::Done;
        slice.must_fix_findings = Some(Vec::new());
    }
    work.next.active.status = ActiveStatus::Done;
    if let Some(slice) = work.next.plan.slice(id) {
        work.next.active = active_from(slice, ActiveStatus::Done, &work.next.state.mission_anchor);
    }
    work.next.state.latest_completed_slice = Some(id.to_owned());
    Ok(())
}

/// Handles rule 7 with a dirty worktree. The implementer must commit changes on the slice's surfaces, so the slice
/// is reopened; any others are the user's, who is asked. The rest of the report (evidence, a selection, a policy)
/// builds on the acceptance and waits with it.
pub(super) fn hold_back(
    work: &mut Work,
    id: &str,
    submission: Option<&Submission>,
) -> Result<(), Refusal> {
    let worktree = work.facts.worktree()?;
    let (dirty, unlisted) = (worktree.dirty.clone(), worktree.more);
    let surfaces = work.next.plan.surfaces(id).to_vec();
    let (own, others): (Vec<_>, Vec<_>) = dirty.into_iter().partition(|path| {
        surfaces
            .iter()
            .any(|surface| surface_matches(surface, path))
    });
    let named = |paths: &[String]| {
        let rest = paths.len().saturating_sub(5) as u64 + unlisted;
        let mut named = paths.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        if rest > 0 {
            named.push_str(&format!(" and {rest} more"));
        }
        named
    };
    let finding = |what: String| Finding::new(Code::AcceptDirty, what).at(id);
    if own.is_empty() {
        let paths = named(&others);
        work.findings.push(finding(format!(
            "slice `{id}` is not accepted yet: {paths} is not committed"
        )));
        let what = format!(
            "slice `{id}` can be accepted on a clean worktree only; commit, stash or ignore: {paths}"
        );
        let (policy, kind) = (Policy::AwaitUserInput, WaitingKind::Worktree);
        work.next.wait(policy, kind, what, "cook resume");
        return Ok(());
    }
    let paths = named(&own);
    work.findings.push(finding(format!(
        "slice `{id}` is reopened instead of accepted: {paths} is not committed"
    )));
    let must = vec![format!(
        "commit or take back what is uncommitted on the slice's surfaces: {paths}"
    )];
    work.reopen(id, must, submission);
    Ok(())
}
