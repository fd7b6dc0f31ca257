//! `Regrounded`: reconcile → plan → conclude → select → policy, all or nothing.

mod choices;
mod conclude;
mod delta;
mod found;
mod once;
mod policy;
mod reconcile;
mod recover;
mod rejections;
mod select;

use crate::diagnostic::{Code, Finding, Refusal};
use crate::machine::facts::FactSet;
use crate::machine::planning::Merged;
use crate::machine::rule::Rule;
use crate::machine::text::quote_word;
use crate::machine::trust::list_named_commands;
use crate::machine::work::Work;
use crate::machine::{answers, brief, drift, planning, proof, wave};
use crate::model::{
    Caches, Conclude, Count, Decision, Policy, Reground, SliceStatus, Snapshot, Submission,
};
use crate::report::{advice, list_deviations};
pub use choices::Choice;
use conclude::conclude;
use found::put_right;
pub use found::{Found, Selection, find_slice, find_state, list_needs};
use policy::{apply_policy, ask_for_trust};
use reconcile::{accept, apply_reconcile, hold_back, reopen, require_acceptable};
use rejections::{answer_audit, answer_left, answer_rejections, answer_review, note_slices};
use select::apply_select;
use std::collections::BTreeSet;

/// What must be measured beside the facts of `dispatch`.
pub(super) fn needs(snapshot: &Snapshot, block: &Reground, set: &mut FactSet) {
    // What cannot be applied is refused when it is; which done slices are open by then is not known.
    let done = snapshot.plan.candidate_slices.iter();
    let done = done.filter(|slice| slice.status == SliceStatus::Done);
    let done = done.map(|slice| slice.slice_id.clone()).collect();
    let whole = delta::expand(&snapshot.plan, block, &done);
    let block = whole.as_ref().map_or(block, AsRef::as_ref);
    set.worktree = true;
    set.config = true;
    set.contract_committed = block.select.is_some();
    set.anchors = proof::questions(snapshot, block);
    let reopened = block.reopen.iter();
    set.on_head
        .extend(reopened.filter_map(|reopen| reopen.at.clone()));
    // What a cache of an earlier commit holds is nobody's proof of this one.
    let stops = matches!(block.conclude, Some(Conclude::Stop));
    set.stop_verifier = stops.then_some(Caches::Empty);
    if let Some(select) = &block.select
        && let Some(slice) = snapshot.ledger.slices.get(select)
    {
        let accepted = slice.accepted.as_ref().map(|accepted| &accepted.basis);
        let basis = slice.basis.as_ref().or(accepted);
        set.ranges.extend(basis.cloned());
    }
    set.trust = list_named_commands(snapshot, block);
    set.brief = brief::reground_question(snapshot, block.brief.as_ref());
}

/// Applies the block.
pub(super) fn apply(
    work: &mut Work,
    block: &Reground,
    submission: Option<&Submission>,
) -> Result<(), Refusal> {
    once::require_named_once(block)?;
    let lost = find_lost(work, block)?;
    let whole = delta::expand(&work.before.plan, block, &lost)?;
    let block = whole.as_ref();
    put_right(work)?;
    let answered = answer_rejections(work, block)?;
    proof::require_distinct(work, block)?;
    let mut opened = reopen(work, block, submission)?;
    opened.extend(proof::revalidate_done(work, block, submission)?);
    if let Some(reconcile) = &block.reconcile {
        opened.extend(apply_reconcile(work, reconcile, submission)?);
    } else if choices::is_to_be_reconciled(work.due.rule, work.before) && block.policy.is_none() {
        return Err(Refusal::new(
            Code::NoProgress,
            "a committed slice waits to be reconciled: accepted or reopened",
        ));
    }
    let merged = match &block.plan {
        Some(plan) => planning::merge(work, plan, block)?,
        None => Merged::default(),
    };
    if let Some(reconcile) = &block.reconcile
        && reconcile.decision == Decision::Accepted
    {
        require_acceptable(work, &reconcile.slice_id)?;
        if !work.facts.worktree()?.is_clean() {
            hold_back(work, &reconcile.slice_id, submission)?;
            answers::note(work);
            answer_left(work, block)?;
            record_reground(work, block, submission);
            return ask_for_trust(work);
        }
        proof::stamp(work, block)?;
        accept(work, block, &reconcile.slice_id, submission)?;
    } else {
        proof::stamp(work, block)?;
    }
    let placed = answers::place(work, block)?;
    let answered = answer_review(work, block)? || answered;
    let answered = answer_left(work, block)? || answered;
    opened.extend(merged.opened.iter().cloned());
    let concluded = conclude(work, block, &opened)?;
    brief::reground(work, block.brief.as_ref(), submission)?;
    record_reground(work, block, submission);
    if let Some(select) = &block.select {
        apply_select(work, block, select)?;
    }
    note_other_selection(work, block, submission);
    apply_policy(work, block)?;
    ask_for_trust(work)?;
    require_nothing_named(work, block, submission)?;
    answer_audit(work, block)?;
    note_slices(work, &opened);
    require_progress(
        work,
        block,
        merged.changed || !opened.is_empty() || answered || placed || concluded,
    )
}

/// Done slices that any report opens again, where a plan says what changes of one: it may be changed
/// as it is shown.
fn find_lost(work: &Work, block: &Reground) -> Result<BTreeSet<String>, Refusal> {
    let mut lost = BTreeSet::new();
    if !delta::names_done(&work.before.plan, block) {
        return Ok(lost);
    }
    let mut found = Work::new(work.before, work.facts, work.due.clone());
    put_right(&mut found)?;
    let planless = Reground {
        plan: None,
        select: None,
        ..block.clone()
    };
    lost.extend(proof::revalidate_done(&mut found, &planless, None)?);
    Ok(lost)
}

/// A report that calls a slice selected which its block does not select.
fn note_other_selection(work: &mut Work, block: &Reground, submission: Option<&Submission>) {
    let fields = submission.map(|submission| &submission.report.fields);
    let named = fields.and_then(|fields| fields.get("current_selected_slice").cloned());
    let Some(named) = named.filter(|_| block.select.is_none()) else {
        return;
    };
    let is_open = work
        .next
        .plan
        .slice(&named)
        .is_some_and(|slice| slice.status.is_open());
    let active = work.active_id();
    if is_open && active.as_deref() != Some(named.as_str()) {
        let what = format!("the report calls slice `{named}` selected, and its block selects none");
        work.findings
            .push(Finding::new(Code::SelectionDiffers, what).at(named));
    }
}

/// The fields every accepted re-ground sets.
fn record_reground(work: &mut Work, block: &Reground, submission: Option<&Submission>) {
    let now = work.now();
    tell_cleared(work, block);
    let next = &mut work.next;
    next.state.requires_reground = false;
    next.state.last_reground_at = Some(now.clone());
    next.state.slices_since_last_reground = Count(0);
    if let Some(ids) = &block.release_blocker_ids {
        next.state.release_blocker_ids.clone_from(ids);
    }
    if let Some(gaps) = &block.high_value_gaps {
        next.ledger.high_value_gaps.clone_from(gaps);
    }
    let (ids, gaps) = (
        &next.state.release_blocker_ids,
        &next.ledger.high_value_gaps,
    );
    next.state.remaining_release_blockers = Some(Count(ids.len() as u64));
    next.state.remaining_high_value_gaps = Some(Count(gaps.len() as u64));
    next.plan.last_reground_at = Some(now);
    next.ledger.regrounded = true;
    // What a model wants the next role to know holds until another says more.
    if let Some(submission) = submission {
        next.ledger.advice = advice(&submission.report);
    }
    // Whoever asks the user has not decided on it yet.
    if block.policy.is_none() {
        next.ledger.returned = None;
    }
    next.ledger.answered = None;
    next.ledger.stopped_for = None;
    next.ledger.due_for.clear();
}

/// Names what a list of the block leaves out that the last re-ground named as missing.
fn tell_cleared(work: &mut Work, block: &Reground) {
    let next = &work.next;
    let (blockers, gaps) = (
        &next.state.release_blocker_ids,
        &next.ledger.high_value_gaps,
    );
    for (key, named, given) in [
        ("release_blocker_ids", blockers, &block.release_blocker_ids),
        ("high_value_gaps", gaps, &block.high_value_gaps),
    ] {
        let Some(given) = given else { continue };
        let cleared = named.iter().filter(|id| !given.contains(id));
        let cleared: Vec<String> = cleared.map(|id| quote_word(id)).collect();
        if !cleared.is_empty() {
            let what = format!("`{key}` no longer names {}", cleared.join(", "));
            work.findings
                .push(Finding::new(Code::BlockersCleared, what));
        }
    }
}

/// What the regrounder itself names as missing is taken up before the end.
fn require_nothing_named(
    work: &Work,
    block: &Reground,
    submission: Option<&Submission>,
) -> Result<(), Refusal> {
    if block.policy.is_some() || !drift::end_is_near(&work.next) {
        return Ok(());
    }
    let blockers = &work.next.state.release_blocker_ids;
    let gaps = &work.next.ledger.high_value_gaps;
    let mut named: Vec<String> = blockers
        .iter()
        .chain(gaps)
        .map(|id| quote_word(id))
        .collect();
    let deviations = submission.map(|it| list_deviations(&it.report));
    named.extend(deviations.into_iter().flatten());
    if named.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the project would come to its end with what a re-ground names as missing: {}",
        named.join(", ")
    );
    Err(Refusal::new(Code::BlockersOpen, message).hint(
        "what holds nothing up is told in `Exact handoff payload`, not as a blocker or deviation",
    ))
}

/// A re-ground must change what happens next.
fn require_progress(work: &Work, block: &Reground, changed: bool) -> Result<(), Refusal> {
    let head = work.facts.head()?;
    let is_red = wave::find_room(&work.next, head).is_some_and(|room| !room.red.is_empty());
    if is_red
        && drift::end_is_near(&work.next)
        && work.next.state.continuation_policy == Policy::Continue
    {
        return Err(Refusal::new(
            Code::NoProgress,
            "no judge is asked while a gate is red at HEAD: open or reopen a slice, ask the user, or name what blocks",
        ));
    }
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
