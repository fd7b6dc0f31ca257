//! `Regrounded`: reconcile → plan → conclude → select → policy, all or nothing.

mod choices;
mod delta;
mod reconcile;
mod rejections;

use super::active::{has_vanished, take_commit_away, take_vanished_away};
use super::facts::{Facts, Verdict};
use super::planning::Merged;
use super::rule::{Dispatch, Rule};
use super::slices::open_commands;
use super::work::{Work, quote_word};
use super::{brief_changes, drift, planning, proof, user_answers, wave};
use crate::model::PolicyChange;
use crate::prelude::*;
use crate::question::AnchorQuestion;
use crate::report::{advice, is_named, list_deviations};
pub use choices::Choice;
use choices::{apply_select, find_unsettled};
use reconcile::{accept, apply_reconcile, hold_back, reopen, require_acceptable};
use rejections::{
    answer_audit, answer_left, answer_rejections, answer_review, conclude, note_slices,
};

/// Applies the block.
pub(super) fn apply(
    work: &mut Work,
    block: &Reground,
    submission: Option<&Submission>,
) -> Result<(), Refusal> {
    require_named_once(block)?;
    ask_anchors(work, block)?;
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
            "a committed slice is waiting for a decision: accept or reopen it",
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
            user_answers::note(work);
            answer_left(work, block)?;
            record_reground(work, block, submission);
            return ask_for_trust(work);
        }
        proof::stamp(work, block)?;
        accept(work, block, &reconcile.slice_id, submission)?;
    } else {
        proof::stamp(work, block)?;
    }
    let placed = user_answers::place(work, block)?;
    let answered = answer_review(work, block)? || answered;
    let answered = answer_left(work, block)? || answered;
    opened.extend(merged.opened.iter().cloned());
    let concluded = conclude(work, block, &opened)?;
    brief_changes::reground(work, block.brief.as_ref(), submission)?;
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

/// Asks for the block's anchors. At the end of the project, caches of earlier commits prove nothing.
fn ask_anchors(work: &Work, block: &Reground) -> Result<(), Refusal> {
    let ends = matches!(block.conclude, Some(Conclude::Stop));
    let asked = proof::list_questions(work.before, block);
    work.facts.ask_anchors(asked, ends)
}

/// Done slices that any report reopens because their proof is gone. Only computed if the plan names a done slice:
/// it may change that slice as the prompt shows it.
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

/// Notes a report that calls a slice selected although its block does not select it.
fn note_other_selection(work: &mut Work, block: &Reground, submission: Option<&Submission>) {
    let fields = submission.map(|submission| &submission.report.fields);
    let named = fields.and_then(|fields| fields.get("current_selected_slice").cloned());
    let Some(named) = named.filter(|_| block.select.is_none()) else {
        return;
    };
    let is_open = work.next.plan.is_open(&named);
    let active = work.active_id();
    if is_open && active.as_deref() != Some(named.as_str()) {
        let what = format!("the report calls slice `{named}` selected, but its block does not");
        work.note(Code::SelectionDiffers, named, what);
    }
}

/// Sets the fields that every accepted re-ground sets.
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
    // A model's advice to the next role stays until another model gives its own.
    if let Some(submission) = submission {
        next.ledger.advice = advice(&submission.report);
    }
    // A re-ground that asks the user has not decided on it yet.
    if block.policy.is_none() {
        next.ledger.returned = None;
    }
    next.ledger.answered = None;
    next.ledger.stopped_for = None;
    next.ledger.due_for.clear();
}

/// Names entries that the last re-ground called missing and that a list of this block leaves out.
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
            work.findings.push(finding!(
                Code::BlockersCleared,
                "`{key}` no longer names {}",
                cleared.join(", ")
            ));
        }
    }
}

/// Refuses to end the project while the regrounder itself names something as missing.
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
    Err(refusal!(
        Code::BlockersOpen,
        "the project would end although a re-ground names these as missing: {}",
        named.join(", ")
    )
    .hint(
        "report a point that blocks nothing in `Exact handoff payload`, not as a blocker or a deviation",
    ))
}

/// Refuses a re-ground that does not change what happens next.
fn require_progress(work: &Work, block: &Reground, changed: bool) -> Result<(), Refusal> {
    let head = work.facts.head()?;
    let is_red = wave::find_room(&work.next, head).is_some_and(|room| !room.red.is_empty());
    if is_red
        && drift::end_is_near(&work.next)
        && work.next.state.continuation_policy == Policy::Continue
    {
        return Err(Refusal::new(
            Code::NoProgress,
            "judges cannot vote while a gate is red at HEAD: open or reopen a slice, ask the user, or name the blocker",
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
    Err(refusal!(
        Code::NoProgress,
        "this report changes nothing: rule {} would apply again to the same facts",
        work.due.rule
    ))
}

// A list of a block names each thing once, and two lists that exclude each other do not name the same slice.

/// Refuses duplicates, because one of two entries for the same thing would be lost.
fn require_named_once(block: &Reground) -> Result<(), Refusal> {
    let reopened = || block.reopen.iter().map(|reopen| reopen.slice_id.as_str());
    once("reopen", reopened())?;
    once("answers", block.answers.iter().map(|given| &*given.no))?;
    let placed = block.answers_to.iter();
    once("answers_to", placed.clone().map(|placed| &*placed.answer))?;
    for placed in placed {
        once("slices", placed.slices.iter().map(String::as_str))?;
    }
    for (list, ids) in [
        ("release_blocker_ids", &block.release_blocker_ids),
        ("high_value_gaps", &block.high_value_gaps),
    ] {
        once(list, ids.iter().flatten().map(String::as_str))?;
    }
    let plan = block.plan.as_ref();
    for changed in plan.iter().flat_map(|plan| &plan.change) {
        let numbers: Vec<String> = changed
            .drop_criteria
            .iter()
            .map(|number| number.0.to_string())
            .collect();
        once("drop_criteria", numbers.iter().map(String::as_str))?;
    }
    let cancelled = plan.iter().flat_map(|plan| &plan.cancel);
    once(
        "reopen and cancel",
        reopened().chain(cancelled.map(|slice| &*slice.slice_id)),
    )?;
    let reconciled = block.reconcile.iter().map(|it| &*it.slice_id);
    once("reopen and reconcile", reopened().chain(reconciled))
}

fn once<'a>(list: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Refusal> {
    let mut seen = BTreeSet::new();
    let mut names = names;
    match names.find(|name| !seen.insert(*name)) {
        None => Ok(()),
        Some(name) => Err(refusal!(Code::NamedTwice, "{list} names `{name}` twice")),
    }
}

// Whether the work continues: the report may stop it, or the user must first trust commands.

fn apply_policy(work: &mut Work, block: &Reground) -> Result<(), Refusal> {
    let Some(change) = &block.policy else {
        return Ok(());
    };
    if work.next.state.continuation_policy == Policy::Done {
        return Err(Refusal::new(
            Code::ConcludeNotDue,
            "the report concludes with `stop`, so its `policy` must not stop the work for another reason",
        ));
    }
    match change {
        PolicyChange::AwaitUserInput { question } => {
            user_answers::require_new(work, question)?;
            let (policy, kind) = (Policy::AwaitUserInput, WaitingKind::Question);
            work.next
                .wait(policy, kind, question, "cook resume --answer 'TEXT'");
        }
        PolicyChange::Blocked { why, .. } if !is_named(why) => {
            return Err(
                Refusal::new(Code::BlockWithoutReason, "the work is blocked without a reason")
                    .replace_hints(["name the blocker in `why`: `\"policy\": {\"to\": \"blocked\", \"why\": \"…\", \"exit\": \"COMMAND\"}`"]),
            );
        }
        PolicyChange::Blocked { why, exit } => {
            work.next
                .wait(Policy::Blocked, WaitingKind::Outside, why, exit);
        }
    }
    Ok(())
}

/// Asks the user, once, about commands of the plan that are not yet trusted here.
fn ask_for_trust(work: &mut Work) -> Result<(), Refusal> {
    if work.next.state.continuation_policy != Policy::Continue {
        return Ok(());
    }
    let commands = work.facts.list_untrusted(&open_commands(&work.next))?;
    if commands.is_empty() {
        return Ok(());
    }
    let exit = commands
        .iter()
        .map(|command| format!("cook trust {}", quote_word(command)))
        .collect::<Vec<_>>()
        .join(" && ");
    let what = format!("may cook run these commands: {}", commands.join(" · "));
    let (policy, kind) = (Policy::AwaitUserInput, WaitingKind::Trust);
    work.next.wait(policy, kind, what, exit);
    Ok(())
}

// The state that a report finds: what rule 2 objects to is repaired, and done slices whose work or proof is gone
// are open again. `apply` begins there, and so does what a role is shown, so that the slices listed for selection
// are those that may be selected.

/// The state as a report finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The documents.
    pub snapshot: Snapshot,
    /// Slices that are done in the log but not in the repository.
    pub findings: Vec<Finding>,
    /// What prevents a selection, apart from the plan.
    pub selection: Selection,
}

/// What prevents selections according to the repository, which the plan alone does not show.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Why nothing can be selected now; `None` if a selection is possible.
    pub held: Option<String>,
    /// Done slices whose proof needs a run that was not made at HEAD, with the anchors to run.
    pub unrun: BTreeMap<String, String>,
}

impl Selection {
    /// The done slices that this one waits for and whose proof is unknown at HEAD, with their anchors.
    pub fn rests_on<'a>(&'a self, slice: &'a Slice) -> Vec<(&'a str, &'a str)> {
        let waits = slice.blocked_on.iter();
        let unrun = waits.filter_map(|id| self.unrun.get_key_value(id));
        unrun
            .map(|(id, what)| (id.as_str(), what.as_str()))
            .collect()
    }
}

/// The anchors that decide a re-ground.
pub fn list_questions(snapshot: &Snapshot, event: &Event) -> BTreeSet<AnchorQuestion> {
    let block = event.block();
    block.map_or_else(BTreeSet::new, |block| {
        proof::list_questions(snapshot, block)
    })
}

/// The state from which any report of the due role begins.
///
/// # Errors
/// As [`dispatch`](super::dispatch).
pub fn find_state(snapshot: &Snapshot, facts: &Facts, due: &Dispatch) -> Result<Found, Refusal> {
    let mut work = Work::new(snapshot, facts, due.clone());
    let stored = proof::list_questions(snapshot, &Reground::default());
    facts.ask_anchors(stored, false)?;
    // Before the first commit there is nothing to compare the documents with.
    if facts.head()?.commit.is_some() {
        put_right(&mut work)?;
        proof::revalidate_done(&mut work, &Reground::default(), None)?;
    }
    let is_open = |id: &str| work.next.plan.is_open(id);
    let slices = snapshot.plan.candidate_slices.iter();
    let lost = slices
        .filter(|slice| slice.rests_on_proof() && is_open(&slice.slice_id))
        .map(|slice| {
            let id = &slice.slice_id;
            finding!(Code::ProofBroken, "slice `{id}` is {} in the log, but its proof is gone: the next re-ground opens it again, and may change or cancel it",
                slice.status.id()).at(id.clone())
        })
        .collect();
    let held = find_unsettled(facts).map(|refusal| refusal.message.clone());
    let unrun = find_unrun(&work);
    Ok(Found {
        snapshot: work.next,
        findings: lost,
        selection: Selection { held, unrun },
    })
}

/// Slices that stay done by the kept results, with the runs that the report will make.
fn find_unrun(work: &Work) -> BTreeMap<String, String> {
    let mut unrun = BTreeMap::new();
    let slices = work.next.plan.candidate_slices.iter();
    for slice in slices.filter(|slice| slice.status == SliceStatus::Done) {
        let records = slice.evidence.iter().filter_map(Evidence::record);
        let stale = records.filter(|record| {
            let before = work.before.plan.slice(&slice.slice_id);
            let key = before
                .map(|before| AnchorQuestion::ask_stored(before, record).key())
                .unwrap_or_default();
            let answer = work.facts.anchors.get(&key);
            answer.is_some_and(|answer| answer.verdict == Verdict::Stale)
        });
        let anchors: Vec<&str> = stale.map(|record| record.anchor.as_str()).collect();
        if !anchors.is_empty() {
            unrun.insert(slice.slice_id.clone(), anchors.join(", "));
        }
    }
    unrun
}

/// The state from which an implementer's report begins.
///
/// # Errors
/// As [`find_state`].
pub fn find_slice(snapshot: &Snapshot, facts: &Facts, due: &Dispatch) -> Result<Snapshot, Refusal> {
    let mut work = Work::new(snapshot, facts, due.clone());
    put_right(&mut work)?;
    Ok(work.next)
}

/// Repairs what rule 2 objects to, and takes back a vanished commit that an implementer reports anew.
fn put_right(work: &mut Work) -> Result<(), Refusal> {
    match work.due.rule {
        Rule::Recover => {
            work.displace = true;
            heal(work)
        }
        Rule::Implement => take_vanished_away(work),
        _ => Ok(()),
    }
}

/// Repairs what rule 2 found in the documents, so that none of its conditions holds after an accepted re-ground.
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
    let basis = match range.ancestor {
        true => basis,
        false => range.merge_base.clone().unwrap_or(head),
    };
    let is_gone = has_vanished(work)?;
    work.ledger(&id).basis = Some(basis.clone());
    if is_gone {
        take_commit_away(work, &id);
    }
    let wanted = match work.next.active.status {
        ActiveStatus::Selected => SliceStatus::Selected,
        _ => SliceStatus::InProgress,
    };
    if let Some(slice) = work.next.plan.slice_mut(&id) {
        slice.basis_commit = Some(basis);
        slice.status = wanted;
        if slice.acceptance_criteria.is_empty() {
            // An imported slice without criteria cannot stay in work; the plan must add some.
            slice.status = SliceStatus::Planned;
        }
    }
    let slice = work.next.plan.slice(&id);
    if slice.is_some_and(|slice| slice.status == SliceStatus::Planned) {
        work.go_idle();
    }
    work.sync_handoff();
    Ok(())
}

/// Leaves at most the active slice selected in the plan.
fn heal_selection(work: &mut Work) {
    let active = work.active_id();
    for slice in &mut work.next.plan.candidate_slices {
        if slice.status.is_selected() && active.as_deref() != Some(slice.slice_id.as_str()) {
            slice.status = SliceStatus::Planned;
        }
    }
    let last = work.next.active.slice_id.clone();
    if let Some(id) = last
        && work.next.active.status == ActiveStatus::Done
        && !work.next.plan.is_done(&id)
    {
        work.go_idle();
    }
}
