//! `Regrounded`: reconcile → plan → conclude → select → policy, all or nothing.

use super::facts::FactSet;
use super::planning::{self, Merged};
use super::proof;
use super::rule::Rule;
use super::slices::{self, SliceGraph, waits_for};
use super::wave;
use super::work::{Work, active_from, attach};
use crate::diagnostic::{Code, Finding, Refusal};
use crate::model::{
    ActiveStatus, Conclude, Count, Decision, Outcome, Policy, PolicyChange, Reconcile, Reground,
    STOP_VERIFIER, SliceRecordType, SliceStatus, Snapshot, Subject, Submission,
    VerificationEvidence, Waiting, WaitingKind,
};
use std::collections::BTreeSet;

/// What must be measured beside the facts of `dispatch`.
pub(super) fn needs(snapshot: &Snapshot, block: &Reground, set: &mut FactSet) {
    set.worktree = true;
    set.config = true;
    set.contract_committed = block.select.is_some();
    set.anchors = proof::questions(snapshot, block);
    set.stop_verifier = matches!(block.conclude, Some(Conclude::Stop));
    if let Some(select) = &block.select
        && let Some(basis) = snapshot
            .ledger
            .slices
            .get(select)
            .and_then(|slice| slice.basis.clone())
    {
        set.ranges.insert(basis);
    }
    set.trust = named_commands(snapshot, block);
    set.brief = super::brief::reground_question(snapshot, block.brief.as_ref());
}

/// Commands of every slice that may be open after this block (a done one may be reopened),
/// and the one that the project's end rests on.
fn named_commands(snapshot: &Snapshot, block: &Reground) -> BTreeSet<String> {
    let planned = block.plan.iter().flat_map(|plan| &plan.candidate_slices);
    let kept = &snapshot.plan.candidate_slices;
    planned
        .flat_map(|slice| &slice.verification_commands)
        .chain(
            kept.iter()
                .flat_map(|slice| slice.verification_commands.iter().flatten()),
        )
        .cloned()
        .chain([STOP_VERIFIER.to_owned()])
        .collect()
}

/// Commands that open slices name, and the one that the project's end rests on.
pub(super) fn open_commands(snapshot: &Snapshot) -> BTreeSet<String> {
    snapshot
        .plan
        .open_slices()
        .flat_map(|slice| slice.verification_commands.iter().flatten().cloned())
        .chain([STOP_VERIFIER.to_owned()])
        .collect()
}

/// Applies the block.
pub(super) fn apply(
    work: &mut Work,
    block: &Reground,
    submission: &Submission,
) -> Result<(), Refusal> {
    if work.due.rule == Rule::Recover {
        work.displace = true;
        heal(work)?;
    }
    let answered = answer_noes(work, block)?;
    proof::require_distinct(work, block)?;
    let mut opened = revalidate_done(work, block, submission)?;
    if let Some(reconcile) = &block.reconcile {
        opened.extend(apply_reconcile(work, reconcile, submission)?);
    } else if work.due.rule == Rule::Reconcile && block.policy.is_none() {
        return Err(Refusal::new(
            Code::NoProgress,
            "a committed slice waits to be reconciled: accepted or reopened",
        ));
    }
    let merged = match &block.plan {
        Some(plan) => planning::merge(work, plan, block, submission)?,
        None => Merged::default(),
    };
    if let Some(reconcile) = &block.reconcile
        && reconcile.decision == Decision::Accepted
    {
        require_acceptable(work, &reconcile.slice_id)?;
        if !work.facts.worktree()?.is_clean() {
            hold_back(work, &reconcile.slice_id, submission)?;
            record_reground(work, block);
            return ask_for_trust(work);
        }
        proof::stamp(work, block)?;
        accept(work, block, &reconcile.slice_id, submission)?;
    } else {
        proof::stamp(work, block)?;
    }
    opened.extend(merged.opened.iter().cloned());
    let concluded = conclude(work, block, &opened)?;
    super::brief::regrounded(work, block.brief.as_ref(), submission)?;
    record_reground(work, block);
    if let Some(select) = &block.select {
        apply_select(work, select)?;
    }
    apply_policy(work, block)?;
    ask_for_trust(work)?;
    require_progress(
        work,
        block,
        merged.changed || !opened.is_empty() || answered || concluded,
    )
}

/// Puts right what rule 2 found in the documents, so that after an accepted
/// re-ground none of its conditions holds.
fn heal(work: &mut Work) -> Result<(), Refusal> {
    heal_selection(work);
    let Some(id) = work.active_id() else {
        return Ok(());
    };
    if work.next.plan.slice(&id).is_none() {
        work.go_idle();
        return Ok(());
    }
    let head = work.head()?;
    let basis = match &work.next.active.handoff {
        Some(handoff) => handoff.basis_commit.clone(),
        None => head.clone(),
    };
    let range = work.facts.range(&basis)?;
    let basis = if !range.resolves {
        head
    } else if range.ancestor {
        basis
    } else {
        range.merge_base.clone().unwrap_or(head)
    };
    let vanished = match work
        .before
        .ledger
        .slices
        .get(&id)
        .and_then(|slice| slice.head.clone())
    {
        Some(slice_head) if work.next.active.status == ActiveStatus::Committed => {
            !work.facts.on_head(&slice_head)?
        }
        _ => work.next.active.status == ActiveStatus::Committed,
    };
    let ledger = work.ledger(&id);
    ledger.basis = Some(basis.clone());
    if vanished {
        ledger.last_head = ledger.head.take();
        ledger.review = None;
        ledger.audit = None;
        ledger.head_tree = None;
        ledger.receipts.clear();
    }
    if vanished {
        work.next.active.status = ActiveStatus::InProgress;
    }
    let wanted = match work.next.active.status {
        ActiveStatus::Selected => SliceStatus::Selected,
        _ => SliceStatus::InProgress,
    };
    if let Some(slice) = work.next.plan.slice_mut(&id) {
        slice.basis_commit = Some(basis);
        slice.status = wanted;
        if slice.acceptance_criteria.is_empty() {
            // An imported slice without criteria cannot stay in work; the plan gives it some.
            slice.status = SliceStatus::Planned;
        }
    }
    if work
        .next
        .plan
        .slice(&id)
        .is_some_and(|slice| slice.status == SliceStatus::Planned)
    {
        work.go_idle();
    }
    work.sync_handoff();
    Ok(())
}

/// At most the active slice is selected in the plan.
fn heal_selection(work: &mut Work) {
    let active = work.active_id();
    for slice in &mut work.next.plan.candidate_slices {
        if matches!(
            slice.status,
            SliceStatus::Selected | SliceStatus::InProgress
        ) && active.as_deref() != Some(slice.slice_id.as_str())
        {
            slice.status = SliceStatus::Planned;
        }
    }
    let last = work.next.active.slice_id.clone();
    if let Some(id) = last
        && work.next.active.status == ActiveStatus::Done
        && work
            .next
            .plan
            .slice(&id)
            .is_none_or(|slice| slice.status != SliceStatus::Done)
    {
        work.go_idle();
    }
}

/// Outside rule 9 every `no` that is owed must be answered.
fn answer_noes(work: &mut Work, block: &Reground) -> Result<bool, Refusal> {
    if work.due.rule == Rule::Conclude {
        return Ok(false);
    }
    wave::void(&mut work.next);
    let owed = work.next.ledger.unanswered.clone();
    let open: Vec<Finding> = owed
        .iter()
        .filter(|no| !block.answers.iter().any(|answer| answer.no == no.id))
        .map(|no| {
            Finding::new(
                Code::NoUnanswered,
                format!("{} is not answered: {}", no.id, no.what.join("; ")),
            )
            .at(no.id.clone())
        })
        .collect();
    if let Some(first) = open.first() {
        let shape = format!(
            "add `\"answers\": [{{\"no\": \"{}\", \"reason\": …}}]`: the slice that takes it up, or why it no longer holds",
            owed.first().map_or("", |no| no.id.as_str())
        );
        return Err(Refusal::new(Code::NoUnanswered, first.message.clone())
            .with(open)
            .replace_hints([shape]));
    }
    work.next.ledger.unanswered.clear();
    Ok(!owed.is_empty())
}

/// Reopens done slices whose proof is gone; a changed one must be anchored again.
fn revalidate_done(
    work: &mut Work,
    block: &Reground,
    submission: &Submission,
) -> Result<Vec<String>, Refusal> {
    let done: Vec<String> = work
        .before
        .plan
        .candidate_slices
        .iter()
        .filter(|slice| slice.status == SliceStatus::Done)
        .map(|slice| slice.slice_id.clone())
        .collect();
    let mut reopened = Vec::new();
    let mut changed = Vec::new();
    for id in done {
        let lost = proof::revalidate(work, block, &id)?;
        if !lost.gone.is_empty() {
            for what in &lost.gone {
                work.findings
                    .push(Finding::new(Code::CriterionLostProof, what.clone()).at(id.clone()));
            }
            work.reopen(&id, lost.gone, Some(submission));
            reopened.push(id);
        } else {
            changed.extend(
                lost.changed
                    .into_iter()
                    .map(|what| Finding::new(Code::EvidenceChanged, what).at(id.clone())),
            );
        }
    }
    if let Some(first) = changed.first() {
        return Err(Refusal::new(Code::EvidenceChanged, first.message.clone()).with(changed));
    }
    Ok(reopened)
}

fn apply_reconcile(
    work: &mut Work,
    reconcile: &Reconcile,
    submission: &Submission,
) -> Result<Vec<String>, Refusal> {
    let id = &reconcile.slice_id;
    let Some(slice) = work.next.plan.slice(id) else {
        return Err(Refusal::new(
            Code::SliceUnknown,
            format!("no slice `{id}` in the plan"),
        ));
    };
    let status = slice.status;
    let is_due = work.due.rule == Rule::Reconcile && work.active_id().as_deref() == Some(id);
    match reconcile.decision {
        Decision::Accepted if is_due => Ok(Vec::new()),
        Decision::Reopened if is_due => {
            let findings = must_fix(work, id, &reconcile.findings);
            work.reopen(id, findings, Some(submission));
            Ok(vec![id.clone()])
        }
        Decision::Reopened if status == SliceStatus::Done => {
            let findings = if reconcile.findings.is_empty() {
                vec!["the re-ground reopened it".to_owned()]
            } else {
                reconcile.findings.clone()
            };
            work.reopen(id, findings, Some(submission));
            Ok(vec![id.clone()])
        }
        _ => Err(Refusal::new(
            Code::ReconcileNotDue,
            format!(
                "slice `{id}` is {} and does not wait for a reconciliation",
                status.id()
            ),
        )),
    }
}

/// What the next attempt must fix: review findings, the follow-up, open audit
/// findings, and what the regrounder adds.
fn must_fix(work: &Work, id: &str, more: &[String]) -> Vec<String> {
    let mut findings: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        if !text.trim().is_empty() && !findings.iter().any(|old| old == text) {
            findings.push(text.to_owned());
        }
    };
    if let Some(ledger) = work.next.ledger.slices.get(id) {
        if let Some(review) = &ledger.review {
            review.findings.iter().for_each(|text| add(text));
            review.follow_up.iter().for_each(|text| add(text));
            review
                .fails
                .iter()
                .for_each(|dimension| add(&format!("the review fails {dimension}")));
        }
        if let Some(audit) = &ledger.audit {
            audit.findings.iter().for_each(|text| add(text));
        }
    }
    more.iter().for_each(|text| add(text));
    if findings.is_empty() {
        findings.push("the slice was reopened".to_owned());
    }
    findings
}

/// The review in hand says yes, to the criteria as they stand.
fn require_acceptable(work: &Work, id: &str) -> Result<(), Refusal> {
    let accepts = slices::current_review(work.before)
        .is_some_and(|review| review.acceptable && review.fails.is_empty());
    if !accepts {
        return Err(Refusal::new(
            Code::ReviewNegative,
            format!("the review of slice `{id}` does not accept it"),
        ));
    }
    if planning::key_changed(work, id) {
        return Err(Refusal::new(
            Code::ReviewNegative,
            format!(
                "the criteria of slice `{id}` change in this report, so its review does not cover them"
            ),
        ));
    }
    Ok(())
}

/// The one way to `done` for a slice, on a clean tree and with a review that says yes.
fn accept(
    work: &mut Work,
    block: &Reground,
    id: &str,
    submission: &Submission,
) -> Result<(), Refusal> {
    proof::require_complete(work, block, id)?;
    let ledger = work.ledger(id);
    let commit = ledger.head.take().unwrap_or_default();
    ledger.last_head = Some(commit.clone());
    ledger.basis = None;
    ledger.review = None;
    ledger.audit = None;
    let receipts = std::mem::take(&mut ledger.receipts);
    let record = work.slice_record(SliceRecordType::Accepted, id, &commit);
    attach(record, submission);
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

/// Rule 7 on a dirty tree. What lies on the slice's surfaces is its implementer's to commit, so
/// it goes back; anything else is the user's, who is asked. What else the report wanted
/// (evidence, a selection, a policy) builds on the acceptance and waits with it.
fn hold_back(work: &mut Work, id: &str, submission: &Submission) -> Result<(), Refusal> {
    let worktree = work.facts.worktree()?;
    let (dirty, unlisted) = (worktree.dirty.clone(), worktree.more);
    let surfaces = work
        .next
        .plan
        .slice(id)
        .and_then(|slice| slice.implementation_surfaces.clone())
        .unwrap_or_default();
    let (own, others): (Vec<_>, Vec<_>) = dirty.into_iter().partition(|path| {
        surfaces
            .iter()
            .any(|surface| crate::model::surface_matches(surface, path))
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
        work.next.state.continuation_policy = Policy::AwaitUserInput;
        work.next.ledger.waiting = Some(Waiting {
            kind: WaitingKind::Worktree,
            what: format!(
                "slice `{id}` can be accepted on a clean worktree only; commit, stash or ignore: {paths}"
            ),
            exit: "cook resume".to_owned(),
        });
        return Ok(());
    }
    let paths = named(&own);
    work.findings.push(finding(format!(
        "slice `{id}` is reopened instead of accepted: {paths} is not committed"
    )));
    let must = vec![format!(
        "commit or take back what is uncommitted on the slice's surfaces: {paths}"
    )];
    work.reopen(id, must, Some(submission));
    Ok(())
}

/// Ends the wave. Returns true when a new one was asked for with a reason.
fn conclude(work: &mut Work, block: &Reground, opened: &[String]) -> Result<bool, Refusal> {
    let due = work.due.rule == Rule::Conclude;
    match (&block.conclude, due) {
        (None, false) => Ok(false),
        (None, true) if block.policy.is_some() => Ok(false),
        (None, true) => Err(Refusal::new(
            Code::ConcludeMissing,
            "all votes are in; the report must conclude the wave with stop or go_on",
        )),
        (Some(_), false) => Err(Refusal::new(
            Code::ConcludeNotDue,
            format!(
                "rule {} answers, so there is no wave to conclude",
                work.due.rule
            ),
        )),
        (Some(Conclude::Stop), true) => stop(work).map(|()| true),
        (Some(Conclude::GoOn { reason }), true) => go_on(work, reason.as_deref(), opened),
    }
}

fn stop(work: &mut Work) -> Result<(), Refusal> {
    let head = work.facts.head()?;
    if !wave::unanimous(work.before, head) {
        return Err(Refusal::new(
            Code::StopNotUnanimous,
            "not every judge of this wave said yes with no blocker and no gap",
        ));
    }
    if let Some(open) = work.next.plan.open_slices().next() {
        return Err(Refusal::new(
            Code::StopNotUnanimous,
            format!("slice `{}` is open", open.slice_id),
        ));
    }
    let worktree = work.facts.worktree()?;
    if !worktree.is_clean() {
        return Err(Refusal::new(
            Code::StopDirty,
            format!("the worktree is not clean: {}", worktree.first_dirty()),
        ));
    }
    let run = work.facts.stop_verifier()?;
    let verifier = [STOP_VERIFIER.to_owned()].into();
    if let Some(command) = work.facts.untrusted(&verifier)?.first() {
        return Err(Refusal::new(
            Code::TrustMissing,
            "the stop verifier was not run: this machine does not trust its scripts",
        )
        .hint(format!("run `cook trust {}`", super::quoted(command))));
    }
    if !run.passed() {
        let why = match (&run.problem, &run.receipt) {
            (Some(problem), _) => problem.clone(),
            (None, Some(receipt)) => {
                format!("it {}: {}", receipt.ending(), last_line(&receipt.tail))
            }
            (None, None) => "it did not run".to_owned(),
        };
        return Err(Refusal::new(
            Code::StopVerifierRed,
            format!("the stop verifier does not pass: {why}"),
        ));
    }
    let evidence = VerificationEvidence {
        subject_type: Subject::CurrentHead,
        head_sha: head.commit.clone(),
        verification_commands: run
            .receipt
            .iter()
            .map(|receipt| receipt.command.clone())
            .collect(),
        outcome: Outcome::Passed,
        recorded_at: Some(work.now()),
        summary: "the stop verifier passed at the HEAD the judges agreed on".to_owned(),
        runs: run.receipt.iter().cloned().collect(),
        ..VerificationEvidence::none()
    };
    work.next.evidence = evidence;
    work.next.state.continuation_policy = Policy::Done;
    work.next.ledger.waiting = None;
    Ok(())
}

fn last_line(text: &str) -> &str {
    text.lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("no output")
}

fn go_on(work: &mut Work, reason: Option<&str>, opened: &[String]) -> Result<bool, Refusal> {
    let head = work.facts.head()?.clone();
    let takes_up = opened.iter().any(|id| {
        work.next
            .plan
            .slice(id)
            .is_some_and(|slice| slice.status.is_open())
    });
    if takes_up {
        work.next.ledger.wave.votes.clear();
        return Ok(false);
    }
    if reason.is_none_or(|reason| reason.trim().is_empty()) {
        return Err(Refusal::new(
            Code::ConcludeMissing,
            "go_on needs a new or reopened slice, or a reason for another wave",
        ));
    }
    if !wave::may_open(work.before, &head) {
        return Err(Refusal::new(
            Code::WaveLimit,
            format!("{} waves were held at this HEAD", wave::WAVES_PER_HEAD),
        )
        .replace_hints([
            "plan a slice, or stop with `policy`; the user may run `cook resume --new-wave`",
        ]));
    }
    work.next.ledger.wave.votes.clear();
    Ok(true)
}

/// The fields every accepted re-ground sets.
fn record_reground(work: &mut Work, block: &Reground) {
    let now = work.now();
    let next = &mut work.next;
    next.state.requires_reground = false;
    next.state.last_reground_at = Some(now.clone());
    next.state.slices_since_last_reground = Count(0);
    next.state.release_blocker_ids = block.release_blocker_ids.clone();
    next.state.remaining_release_blockers = Some(Count(block.release_blocker_ids.len() as u64));
    next.state.remaining_high_value_gaps = Some(Count(block.high_value_gaps.len() as u64));
    next.plan.last_reground_at = Some(now);
    next.ledger.high_value_gaps = block.high_value_gaps.clone();
    next.ledger.regrounded = true;
    next.ledger.returned = None;
    next.ledger.answered = None;
}

/// After a `stop` every slice is closed, so that none can be selected.
fn apply_select(work: &mut Work, id: &str) -> Result<(), Refusal> {
    let Some(slice) = work.next.plan.slice(id).cloned() else {
        return Err(Refusal::new(
            Code::SliceUnknown,
            format!("no slice `{id}` in the plan"),
        ));
    };
    let active = work.active_id();
    if active.as_deref() == Some(id) {
        return Ok(());
    }
    if work.next.active.status == ActiveStatus::Committed {
        return Err(Refusal::new(
            Code::UnreconciledCommit,
            format!(
                "slice `{}` is committed and not reconciled",
                active.unwrap_or_default()
            ),
        ));
    }
    may_select(work, &slice)?;
    let head = work.head()?;
    let basis = kept_basis(work, id)?.unwrap_or_else(|| head.clone());
    let own_commits = basis_has_own(work, id, &basis);
    set_selected(work, &slice.slice_id, basis, own_commits);
    note_order(work, id);
    Ok(())
}

fn may_select(work: &Work, slice: &crate::model::Slice) -> Result<(), Refusal> {
    let id = &slice.slice_id;
    if !slice.status.is_open() {
        return Err(Refusal::new(
            Code::SelectClosed,
            format!("slice `{id}` is {}", slice.status.id()),
        ));
    }
    let waits = waits_for(&work.next.plan, slice);
    if slice.status == SliceStatus::Blocked || !waits.is_empty() {
        let what = if waits.is_empty() {
            "it is marked blocked".to_owned()
        } else {
            waits.join(", ")
        };
        return Err(Refusal::new(
            Code::SelectBlocked,
            format!("slice `{id}` waits for {what}"),
        ));
    }
    if slice.acceptance_criteria.is_empty() {
        return Err(Refusal::new(
            Code::CriteriaEmpty,
            format!("slice `{id}` has no acceptance criteria"),
        ));
    }
    let uncommitted = work.facts.contract_uncommitted()?;
    if !uncommitted.is_empty() {
        return Err(Refusal::new(
            Code::ContractUncommittedRefusal,
            format!("not committed: {}", uncommitted.join(", ")),
        ));
    }
    let worktree = work.facts.worktree()?;
    if !worktree.is_clean() {
        return Err(Refusal::new(
            Code::SelectDirty,
            format!("the worktree is not clean: {}", worktree.first_dirty()),
        ));
    }
    Ok(())
}

/// The basis of an earlier selection, while the slice has own commits since it.
fn kept_basis(work: &Work, id: &str) -> Result<Option<String>, Refusal> {
    let Some(basis) = work
        .before
        .ledger
        .slices
        .get(id)
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
    Ok(basis.filter(|_| has_own(work, id, range)))
}

fn basis_has_own(work: &Work, id: &str, basis: &str) -> bool {
    work.facts
        .ranges
        .get(basis)
        .is_some_and(|range| has_own(work, id, range))
        || work
            .before
            .ledger
            .slices
            .get(id)
            .is_some_and(|slice| !slice.claimed.is_empty() && slice.basis.is_some())
}

fn has_own(work: &Work, id: &str, range: &super::facts::Range) -> bool {
    let claimed = work
        .before
        .ledger
        .slices
        .get(id)
        .map(|slice| slice.claimed.clone())
        .unwrap_or_default();
    range
        .commits
        .iter()
        .any(|commit| commit.slice.as_deref() == Some(id) || claimed.contains(&commit.id))
}

fn set_selected(work: &mut Work, id: &str, basis: String, own_commits: bool) {
    let (plan_status, active_status) = if own_commits {
        (SliceStatus::InProgress, ActiveStatus::InProgress)
    } else {
        (SliceStatus::Selected, ActiveStatus::Selected)
    };
    for slice in &mut work.next.plan.candidate_slices {
        if matches!(
            slice.status,
            SliceStatus::Selected | SliceStatus::InProgress
        ) {
            slice.status = SliceStatus::Planned;
        }
    }
    let remaining = open_contracts(&work.next);
    let blockers = work
        .next
        .state
        .remaining_release_blockers
        .unwrap_or_default();
    let gaps = work
        .next
        .state
        .remaining_high_value_gaps
        .unwrap_or_default();
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
    ledger.review = None;
    ledger.audit = None;
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
            ..VerificationEvidence::none()
        };
        work.next.evidence = evidence;
    }
}

/// Union of the contract ids of open slices, in plan order.
fn open_contracts(snapshot: &Snapshot) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for id in snapshot
        .plan
        .open_slices()
        .flat_map(|slice| &slice.contract_ids)
    {
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
    ids
}

fn note_order(work: &mut Work, id: &str) {
    let rows = SliceGraph::new(&work.next.plan).ready(&work.next.plan);
    let reasoned = work
        .next
        .plan
        .slice(id)
        .is_some_and(|slice| !slice.why_now.trim().is_empty());
    if let Some(first) = rows.first()
        && first.slice_id != id
        && !reasoned
    {
        work.findings.push(
            Finding::new(
                Code::SelectionNotFirst,
                format!(
                    "slice `{id}` is selected, `{}` is first in order of work",
                    first.slice_id
                ),
            )
            .at(id),
        );
    }
}

fn apply_policy(work: &mut Work, block: &Reground) -> Result<(), Refusal> {
    let Some(change) = &block.policy else {
        return Ok(());
    };
    if work.next.state.continuation_policy == Policy::Done {
        return Err(Refusal::new(
            Code::ConcludeNotDue,
            "the report concludes with stop and stops for something else",
        ));
    }
    work.next.state.continuation_policy = match change {
        PolicyChange::AwaitUserInput { .. } => Policy::AwaitUserInput,
        PolicyChange::Blocked { .. } => Policy::Blocked,
    };
    work.next.ledger.waiting = Some(change.into());
    Ok(())
}

/// Commands of the plan that nobody trusted here yet: the user is asked, once.
fn ask_for_trust(work: &mut Work) -> Result<(), Refusal> {
    if work.next.state.continuation_policy != Policy::Continue {
        return Ok(());
    }
    let commands = work.facts.untrusted(&open_commands(&work.next))?;
    if commands.is_empty() {
        return Ok(());
    }
    let exit = commands
        .iter()
        .map(|command| format!("cook trust {}", super::quoted(command)))
        .collect::<Vec<_>>()
        .join(" && ");
    work.next.state.continuation_policy = Policy::AwaitUserInput;
    work.next.ledger.waiting = Some(Waiting {
        kind: WaitingKind::Trust,
        what: format!("may cook run these commands: {}", commands.join(" · ")),
        exit,
    });
    Ok(())
}

/// A re-ground must change what happens next.
fn require_progress(work: &Work, block: &Reground, changed: bool) -> Result<(), Refusal> {
    let moved = changed
        || block.reconcile.is_some()
        || block.select.is_some()
        || block.policy.is_some()
        || !work.before.ledger.regrounded
        || work.due.rule == Rule::Recover;
    if moved {
        return Ok(());
    }
    Err(Refusal::new(
        Code::NoProgress,
        format!(
            "after this report rule {} would answer again on the same facts",
            work.due.rule
        ),
    ))
}
