//! Merges a regrounder's plan into the log's, and refuses changes that a plan may not make.

use super::slices::{SliceGraph, criteria_sha256, id_is_valid, looks_like_id};
use super::user_answers::conditions;
use super::work::Work;
use super::{proof, user_answers};
use crate::model::{EvidenceClaim, PlanBlock};
use crate::prelude::*;
use crate::report::is_named;

/// Maximum number of slices in a plan.
pub const MAX_SLICES: usize = 5_000;

/// The result of a merge, for later steps.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// Whether the plan differs from the one before.
    pub changed: bool,
    /// Ids of the new slices.
    pub opened: Vec<String>,
}

/// Merges the block's plan, all or nothing.
pub(super) fn merge(
    work: &mut Work,
    plan: &PlanBlock,
    block: &Reground,
) -> Result<Merged, Refusal> {
    well_formed(plan)?;
    let mut merged = Merged::default();
    for slice in &work.next.plan.candidate_slices {
        let mut planned = plan.candidate_slices.iter();
        if !planned.any(|planned| planned.slice_id == slice.slice_id) {
            return Err(refusal!(
                Code::SliceRemoved,
                "the plan leaves out slice `{}`",
                slice.slice_id
            ));
        }
    }
    let before = work.next.plan.candidate_slices.clone();
    let mut slices = Vec::new();
    for planned in &plan.candidate_slices {
        user_answers::require_own_notes(&work.next.ledger, planned)?;
        let mut known = before.iter();
        match known.find(|slice| slice.slice_id == planned.slice_id) {
            None => {
                merged.opened.push(planned.slice_id.clone());
                let slice = introduce(planned)?;
                keep_why_blocked(work, &slice, planned);
                slices.push(slice.into());
            }
            Some(slice) => {
                let next = revise(work, slice, planned, block)?;
                keep_why_blocked(work, &next, planned);
                slices.push(if next == **slice {
                    slice.clone()
                } else {
                    next.into()
                });
            }
        }
    }
    work.next.plan.candidate_slices = slices;
    work.next.plan.plan_basis = plan.plan_basis.clone();
    if let Some(circle) = SliceGraph::new(&work.next.plan).cycle() {
        return Err(refusal!(
            Code::DependencyCycle,
            "slices wait for each other in a cycle: {}",
            circle.join(" waits before ")
        ));
    }
    require_settleable(work, block)?;
    unselect(work);
    note_unknown_blockers(work);
    user_answers::note(work);
    merged.changed = work.next.plan.candidate_slices != before;
    Ok(merged)
}

fn well_formed(plan: &PlanBlock) -> Result<(), Refusal> {
    if plan.candidate_slices.len() > MAX_SLICES {
        return Err(refusal!(
            Code::PlanTooLarge,
            "the plan has {} slices; the limit is {MAX_SLICES}",
            plan.candidate_slices.len()
        ));
    }
    let mut seen = BTreeSet::new();
    for slice in &plan.candidate_slices {
        let id = &slice.slice_id;
        if !id_is_valid(id) {
            return Err(refusal!(
                Code::SliceIdInvalid,
                "`{}` is not a valid slice id",
                id.chars()
                    .take(60)
                    .flat_map(char::escape_debug)
                    .collect::<String>()
            ));
        }
        if !seen.insert(id) {
            return Err(refusal!(
                Code::SliceDuplicated,
                "two slices have the id `{id}`"
            ));
        }
        if let Some(command) = slice
            .verification_commands
            .iter()
            .flatten()
            .find(|command| shell_words::split(command).map_or(true, |words| words.is_empty()))
        {
            return Err(refusal!(
                Code::CommandMalformed,
                "the command `{command}` of slice `{id}` is empty or has an unclosed quote; commands run without a shell"
            ));
        }
        let distinct: BTreeSet<&String> = slice.acceptance_criteria.iter().collect();
        if distinct.len() != slice.acceptance_criteria.len() {
            return Err(refusal!(
                Code::CriterionDuplicated,
                "slice `{id}` lists the same criterion twice"
            ));
        }
    }
    Ok(())
}

/// Requires a goal and criteria of an open slice; blank ones of an imported slice may stay.
fn require_criteria(planned: &PlannedSlice, known: Option<&Slice>) -> Result<(), Refusal> {
    let is_blank = |text: &str| text.trim().is_empty();
    let is_known = |text| known.is_some_and(|known| known.acceptance_criteria.contains(text));
    let criteria = &planned.acceptance_criteria;
    let lacks = if is_blank(&planned.goal) && known.is_none_or(|known| !is_blank(&known.goal)) {
        "a goal"
    } else if criteria.is_empty()
        || criteria
            .iter()
            .any(|text| is_blank(text) && !is_known(text))
    {
        "an acceptance criterion with a text"
    } else {
        return Ok(());
    };
    Err(refusal!(
        Code::CriteriaEmpty,
        "slice `{}` lacks {lacks}",
        planned.slice_id
    ))
}

/// Builds a slice that the plan names for the first time.
fn introduce(planned: &PlannedSlice) -> Result<Slice, Refusal> {
    require_criteria(planned, None)?;
    let status = planned.status.unwrap_or(SliceStatus::Planned);
    match status {
        SliceStatus::Done => return Err(marks_done(&planned.slice_id)),
        SliceStatus::Blocked => require_why_blocked(planned)?,
        SliceStatus::Planned => {}
        other => return Err(illegal_status(&planned.slice_id, "new", other)),
    }
    Ok(with_plan_fields(
        Slice {
            slice_id: planned.slice_id.clone(),
            ..Slice::default()
        },
        planned,
        status,
    ))
}

fn with_plan_fields(mut slice: Slice, planned: &PlannedSlice, status: SliceStatus) -> Slice {
    slice.goal = planned.goal.clone();
    slice.acceptance_criteria = planned.acceptance_criteria.clone();
    if let Some(ids) = &planned.contract_ids {
        slice.contract_ids.clone_from(ids);
    }
    slice.priority = planned.priority.clone();
    slice.status = status;
    if !planned.why_now.is_empty() {
        slice.why_now.clone_from(&planned.why_now);
    }
    if let Some(ids) = &planned.blocked_on {
        slice.blocked_on.clone_from(ids);
    }
    for (kept, given) in [
        (
            &mut slice.implementation_surfaces,
            &planned.implementation_surfaces,
        ),
        (
            &mut slice.verification_commands,
            &planned.verification_commands,
        ),
        (&mut slice.locked_notes, &planned.locked_notes),
    ] {
        let given = given.as_ref().or(kept.as_ref());
        *kept = Some(given.cloned().unwrap_or_default());
    }
    slice
}

fn marks_done(id: &str) -> Refusal {
    refusal!(Code::PlanMarksDone, "the plan marks slice `{id}` done")
}

fn illegal_status(id: &str, from: &str, to: SliceStatus) -> Refusal {
    refusal!(
        Code::PlanStatusIllegal,
        "the plan turns slice `{id}` from {from} to {}",
        to.id()
    )
}

/// Updates a slice that the plan already holds.
fn revise(
    work: &mut Work,
    slice: &Slice,
    planned: &PlannedSlice,
    block: &Reground,
) -> Result<Slice, Refusal> {
    let status = next_status(work, slice, planned, block)?;
    let id = &slice.slice_id;
    let closed = matches!(slice.status, SliceStatus::Done | SliceStatus::Cancelled)
        && status == slice.status;
    if closed {
        let differs =
            planned.acceptance_criteria != slice.acceptance_criteria || planned.goal != slice.goal;
        // The goal and criteria of a cancelled slice bind nobody.
        if slice.status == SliceStatus::Done && differs {
            return Err(refusal!(
                Code::GoalChanged,
                "slice `{id}` is {}; its goal and criteria cannot change",
                slice.status.id()
            ));
        }
        return Ok(slice.clone());
    }
    require_criteria(planned, Some(slice))?;
    let in_work = slice.status.is_selected();
    if in_work && planned.goal != slice.goal {
        return Err(refusal!(
            Code::GoalChanged,
            "the goal of slice `{id}` was changed while it is in work"
        ));
    }
    for criterion in &slice.acceptance_criteria {
        if planned.acceptance_criteria.contains(criterion) {
            continue;
        }
        if work.next.is_committed(id) {
            return Err(refusal!(
                Code::UnreconciledCommit,
                "slice `{id}` is committed and not yet reconciled; until then its criterion `{criterion}` cannot change"
            ));
        }
        if !proof::may_drop(work.before, block, id, criterion) {
            return Err(refusal!(
                Code::CriteriaWeakened,
                "the plan drops or rewords the criterion `{criterion}` of slice `{id}` without proof that it holds"
            ));
        }
        let anchors = proof::list_dropping_anchors(work.before, block, id, criterion);
        let what = format!("`{criterion}` was dropped as satisfied already, by {anchors}");
        work.remark(Code::CriterionDropped, id, what);
    }
    let commands = slice.verification_commands.as_deref().unwrap_or_default();
    for command in commands {
        let given = planned.verification_commands.as_ref();
        if in_work && given.is_some_and(|given| !given.contains(command)) {
            let what = format!("`{command}` no longer has to pass");
            work.remark(Code::CommandDropped, id, what);
        }
    }
    let mut next = with_plan_fields(slice.clone(), planned, status);
    if status == SliceStatus::Cancelled {
        cancel(work, &next, planned, block)?;
        // Only the evidence of this report counts for a cancelled slice.
        next.evidence.clear();
    }
    Ok(next)
}

fn next_status(
    work: &mut Work,
    slice: &Slice,
    planned: &PlannedSlice,
    block: &Reground,
) -> Result<SliceStatus, Refusal> {
    use SliceStatus::{Blocked, Cancelled, Done, InProgress, Planned, Selected};
    let id = &slice.slice_id;
    let Some(wanted) = planned.status else {
        return Ok(slice.status);
    };
    if wanted == slice.status {
        return Ok(wanted);
    }
    if matches!(slice.status, Done | Cancelled) && matches!(wanted, Done | Cancelled | Planned) {
        let what = format!(
            "slice `{id}` is {}; the status {} in the plan is ignored",
            slice.status.id(),
            wanted.id()
        );
        work.note(Code::PlanStatusIgnored, id, what);
        return Ok(slice.status);
    }
    let committed = work.next.is_committed(id);
    match (slice.status, wanted) {
        (_, Done) => Err(marks_done(id)),
        (_, Selected | InProgress) if block.select.as_deref() == Some(id) => Ok(slice.status),
        (Planned | Blocked | Selected | InProgress, Planned | Blocked | Cancelled) if committed => {
            Err(refusal!(
                Code::UnreconciledCommit,
                "slice `{id}` is committed and not reconciled; it cannot become {}",
                wanted.id()
            ))
        }
        (Planned | Blocked | Selected | InProgress, Cancelled) => {
            if planned
                .reason
                .as_deref()
                .is_none_or(|reason| reason.trim().is_empty())
            {
                return Err(refusal!(
                    Code::CancelWithoutReason,
                    "slice `{id}` is cancelled without a reason"
                ));
            }
            Ok(Cancelled)
        }
        (Planned | Selected | InProgress, Blocked) => {
            require_why_blocked(planned)?;
            Ok(Blocked)
        }
        (Blocked | Selected | InProgress, Planned) => Ok(wanted),
        (from, to) => Err(illegal_status(id, from.id(), to)),
    }
}

/// Leaves no slice active if the plan took the active one out of work.
fn unselect(work: &mut Work) {
    let Some(id) = work.active_id() else { return };
    let slice = work.next.plan.slice(&id);
    if !slice.is_some_and(|slice| slice.status.is_selected()) {
        work.go_idle();
    }
}

fn note_unknown_blockers(work: &mut Work) {
    let plan = &work.next.plan;
    for slice in plan.open_slices() {
        for entry in &slice.blocked_on {
            if looks_like_id(entry) && plan.slice(entry).is_none() {
                let what = format!(
                    "slice `{}` waits for `{entry}`, which is not a slice of the plan",
                    slice.slice_id
                );
                work.findings
                    .push(Finding::new(Code::BlockedOnUnknown, what).at(&*slice.slice_id));
            }
        }
    }
}

/// Whether the slice's criteria or answers changed, which voids review and audit.
pub(super) fn key_changed(work: &Work, id: &str) -> bool {
    let digest = |slice: Option<&Slice>| slice.map(|slice| criteria_sha256(&conditions(slice)));
    digest(work.before.plan.slice(id)) != digest(work.next.plan.slice(id))
}

// Why a slice is blocked: the plan gives the reason, and the slice keeps it while it is blocked.

/// Requires that a blocked slice has an entry in `blocked_on`, or a reason.
fn require_why_blocked(planned: &PlannedSlice) -> Result<(), Refusal> {
    let reason = planned.reason.as_deref().unwrap_or_default();
    let waits = planned.blocked_on.as_ref();
    if is_named(reason) || waits.is_some_and(|entries| !entries.is_empty()) {
        return Ok(());
    }
    Err(refusal!(
        Code::BlockWithoutReason,
        "slice `{}` is blocked without a reason",
        planned.slice_id
    ))
}

/// Keeps the reason with the slice while it is blocked.
fn keep_why_blocked(work: &mut Work, slice: &Slice, planned: &PlannedSlice) {
    let id = &slice.slice_id;
    let is_blocked = slice.status == SliceStatus::Blocked;
    if let Some(reason) = planned.reason.as_ref().filter(|_| is_blocked) {
        work.ledger(id).blocked = Some(reason.clone());
    } else if let Some(ledger) = work.next.ledger.slices.get_mut(id)
        && !is_blocked
    {
        ledger.blocked = None;
    }
}

// Slices that are not to be built: given up, or shown to be there already.

/// Refuses if an open slice waits for a cancelled one that is not shown to be there already.
fn require_settleable(work: &Work, block: &Reground) -> Result<(), Refusal> {
    let plan = &work.next.plan;
    let is_shown = |slice: &&Shared<Slice>| {
        let mut criteria = slice.acceptance_criteria.iter();
        !slice.acceptance_criteria.is_empty()
            && criteria
                .all(|criterion| proof::may_drop(work.before, block, &slice.slice_id, criterion))
    };
    let satisfied = work.next.plan.candidate_slices.iter().filter(is_shown);
    let satisfied: BTreeSet<String> = satisfied.map(|slice| slice.slice_id.clone()).collect();
    for slice in plan.open_slices() {
        for entry in &slice.blocked_on {
            let waits_for = plan
                .slice(entry)
                .filter(|other| !other.is_satisfied() && !satisfied.contains(&other.slice_id));
            if waits_for.is_some_and(|other| other.status == SliceStatus::Cancelled) {
                return Err(refusal!(
                    Code::BlockedOnCancelled,
                    "slice `{}` waits for `{entry}`, which is cancelled",
                    slice.slice_id
                ));
            }
        }
    }
    Ok(())
}

/// Cancels a slice: it is given up, or it is there already, with proof of each criterion.
pub(super) fn cancel(
    work: &mut Work,
    slice: &Slice,
    planned: &PlannedSlice,
    block: &Reground,
) -> Result<(), Refusal> {
    let id = &slice.slice_id;
    let is_shown = |criterion: &&String| proof::may_drop(work.before, block, id, criterion);
    let (shown, bare): (Vec<&String>, Vec<&String>) =
        slice.acceptance_criteria.iter().partition(is_shown);
    if let (false, Some(criterion)) = (shown.is_empty(), bare.first()) {
        return Err(refusal!(
            Code::EvidenceMissing,
            "slice `{id}` is cancelled with proof of some criteria, but `{criterion}` is without proof"
        )
        .replace_hints(["give `evidence` for each of its criteria, or for none of them"]));
    }
    require_other_place(work, id, block)?;
    let why = planned.reason.as_deref().unwrap_or_default();
    let source = work
        .before
        .find_ledger(id)
        .and_then(|slice| slice.source.as_ref());
    let tick = source
        .filter(|source| source.ticked)
        .map(|source| &source.at);
    let shown_by = match (shown.is_empty(), tick) {
        (true, None) => String::new(),
        (true, Some(at)) => format!("; that `{at}` calls it done is not shown"),
        (false, _) => {
            let shown = shown.iter();
            let anchors = shown
                .map(|criterion| proof::list_dropping_anchors(work.before, block, id, criterion));
            format!(
                "; shown to be there by {}",
                anchors.collect::<Vec<_>>().join(", ")
            )
        }
    };
    let since = match is_behind(work, id)? {
        true if !shown.is_empty() => {
            "; HEAD is not where it was selected at, and no review accepted what came since"
        }
        _ => "",
    };
    let what = format!("cancelled ({}): {why}{shown_by}{since}", slice.goal);
    work.remark(Code::SliceCancelled, id, what);
    Ok(())
}

/// Whether the slice was in work and HEAD has moved since it was selected.
fn is_behind(work: &Work, id: &str) -> Result<bool, Refusal> {
    let ledger = work.before.find_ledger(id);
    let basis = ledger.and_then(|ledger| ledger.basis.as_ref());
    Ok(basis.is_some() && basis != work.facts.head()?.commit.as_ref())
}

/// Refuses evidence from the plan file that calls the task done, because a tick proves nothing.
fn require_other_place(work: &Work, id: &str, block: &Reground) -> Result<(), Refusal> {
    let Some(source) = &work.before.ledger.plan_source else {
        return Ok(());
    };
    let is_tick = |claim: &&EvidenceClaim| {
        let anchor = Anchor::parse(&claim.anchor).ok();
        let file = anchor.as_ref().and_then(Anchor::file);
        claim.slice_id.as_deref() == Some(id) && file == Some(source.path.as_str())
    };
    match block.evidence.iter().find(is_tick) {
        None => Ok(()),
        Some(claim) => Err(refusal!(
            Code::EvidenceUnrelated,
            "`{}` ({}): a tick in the plan does not prove the criterion",
            claim.criterion,
            claim.anchor
        )
        .replace_hints(["cite evidence in the repository as it is now, or leave the slice open"])),
    }
}
