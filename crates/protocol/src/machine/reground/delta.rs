//! Expands a plan that lists changes into the whole plan: every slice, in order.

use crate::model::{ChangedSlice, PlanBlock};
use crate::prelude::*;
use std::borrow::Cow;

/// Returns the block with its whole plan. `lost` are done slices that are open again because their proof is gone.
pub(super) fn expand<'a>(
    plan: &Plan,
    block: &'a Reground,
    lost: &BTreeSet<String>,
) -> Result<Cow<'a, Reground>, Refusal> {
    let Some(delta) = block.plan.as_ref().filter(|plan| plan.is_delta()) else {
        return Ok(Cow::Borrowed(block));
    };
    let reopened = block.reopen.iter().map(|reopen| &reopen.slice_id);
    let opened = reopened.chain(lost).map(String::as_str).collect();
    let whole = PlanBlock {
        plan_basis: match delta.plan_basis.trim().is_empty() {
            true => plan.plan_basis.clone(),
            false => delta.plan_basis.clone(),
        },
        candidate_slices: apply_delta(plan, delta, lost, &opened)?,
        ..PlanBlock::default()
    };
    Ok(Cow::Owned(Reground {
        plan: Some(whole),
        ..block.clone()
    }))
}

/// Whether the plan names slices that are done, or were cancelled as there already.
pub(super) fn names_done(plan: &Plan, block: &Reground) -> bool {
    let delta = block.plan.as_ref().filter(|plan| plan.is_delta());
    let named = delta.into_iter().flat_map(|delta| {
        let changed = delta.change.iter().map(|slice| &slice.slice_id);
        let cancelled = delta.cancel.iter().map(|slice| &slice.slice_id);
        changed.chain(cancelled).chain(&delta.order)
    });
    let mut slices = named.filter_map(|id| plan.slice(id));
    slices.any(Slice::rests_on_proof)
}

/// Returns the whole plan. `opened` are the done slices that the report opens again, and `lost` those of them
/// whose proof is gone.
fn apply_delta(
    plan: &Plan,
    delta: &PlanBlock,
    lost: &BTreeSet<String>,
    opened: &BTreeSet<&str>,
) -> Result<Vec<PlannedSlice>, Refusal> {
    if !delta.candidate_slices.is_empty() {
        return Err(Refusal::new(
            Code::PlanTwice,
            "the plan lists both every slice and single changes; give one of the two",
        ));
    }
    require_once(delta)?;
    let slices = plan.candidate_slices.iter();
    let mut slices: Vec<PlannedSlice> = slices.map(|slice| slice.restate()).collect();
    for cancelled in &delta.cancel {
        let is_open = lost.contains(&cancelled.slice_id);
        let slice = find_open(&mut slices, plan, &cancelled.slice_id, is_open)?;
        slice.status = Some(SliceStatus::Cancelled);
        slice.reason = Some(cancelled.reason.clone());
    }
    for changed in &delta.change {
        let is_open = opened.contains(&*changed.slice_id);
        let slice = find_open(&mut slices, plan, &changed.slice_id, is_open)?;
        change(slice, changed)?;
        if lost.contains(&changed.slice_id) && slice.status == Some(SliceStatus::Planned) {
            // It is planned already.
            slice.status = None;
        }
    }
    for added in &delta.add {
        if plan.slice(&added.slice_id).is_some() {
            return Err(refusal!(
                Code::SliceDuplicated,
                "slice `{}` is in the plan already",
                added.slice_id
            )
            .replace_hints(["name it in `change`, or give the new slice another id"]));
        }
        slices.push(added.clone());
    }
    order(slices, plan, delta, opened)
}

/// Refuses a plan that names a slice more than once in its lists.
fn require_once(delta: &PlanBlock) -> Result<(), Refusal> {
    let added = delta.add.iter().map(|slice| &slice.slice_id);
    let changed = delta.change.iter().map(|slice| &slice.slice_id);
    let cancelled = delta.cancel.iter().map(|slice| &slice.slice_id);
    let mut seen = BTreeSet::new();
    let mut all = added.chain(changed).chain(cancelled);
    match all.find(|id| !seen.insert(*id)) {
        None => Ok(()),
        Some(id) => Err(
            refusal!(Code::SliceDuplicated, "the plan names slice `{id}` twice")
                .replace_hints(["name each slice once, in `add`, `change` or `cancel`"]),
        ),
    }
}

/// Returns a slice that may change: one that is in the plan and open, or done and reopened by the same report.
fn find_open<'a>(
    slices: &'a mut [PlannedSlice],
    plan: &Plan,
    id: &str,
    is_opened: bool,
) -> Result<&'a mut PlannedSlice, Refusal> {
    if let Some(slice) = plan.slice(id)
        && !slice.status.is_open()
        && !(is_opened && slice.rests_on_proof())
    {
        return Err(refusal!(Code::GoalChanged, "slice `{id}` is {} and cannot change", slice.status.id())
        .replace_hints([
            "open a done slice again with `reopen`, in the same report if you like; replace a cancelled slice by a new one",
        ]));
    }
    let mut slices = slices.iter_mut();
    slices
        .find(|slice| slice.slice_id == id)
        .ok_or_else(|| refusal!(Code::SliceUnknown, "no slice `{id}` in the plan"))
}

fn change(slice: &mut PlannedSlice, changed: &ChangedSlice) -> Result<(), Refusal> {
    let count = slice.acceptance_criteria.len();
    let dropped: BTreeSet<usize> = changed
        .drop_criteria
        .iter()
        .map(|number| usize::try_from(number.0).unwrap_or(usize::MAX))
        .collect();
    if let Some(number) = dropped.iter().find(|number| !(1..=count).contains(*number)) {
        return Err(refusal!(
            Code::CriteriaWeakened,
            "slice `{}` has criteria 1 to {count}, so criterion {number} does not exist: `drop_criteria` lists numbers, for example `[{count}]`",
            slice.slice_id
        ));
    }
    let mut number = 0;
    slice.acceptance_criteria.retain(|_| {
        number += 1;
        !dropped.contains(&number)
    });
    let added = changed.add_criteria.iter().cloned();
    slice.acceptance_criteria.extend(added);
    let take = |to: &mut Option<Vec<String>>, from: &Option<Vec<String>>| {
        if from.is_some() {
            to.clone_from(from);
        }
    };
    take(&mut slice.contract_ids, &changed.contract_ids);
    take(&mut slice.blocked_on, &changed.blocked_on);
    take(
        &mut slice.implementation_surfaces,
        &changed.implementation_surfaces,
    );
    take(
        &mut slice.verification_commands,
        &changed.verification_commands,
    );
    take(&mut slice.locked_notes, &changed.locked_notes);
    if let Some(goal) = &changed.goal {
        slice.goal.clone_from(goal);
    }
    if let Some(priority) = &changed.priority {
        slice.priority = priority.clone();
    }
    if let Some(why_now) = &changed.why_now {
        slice.why_now.clone_from(why_now);
    }
    slice.status = changed.status;
    slice.reason.clone_from(&changed.reason);
    Ok(())
}

/// Orders the open slices as named; the others follow in their previous order.
fn order(
    mut slices: Vec<PlannedSlice>,
    plan: &Plan,
    delta: &PlanBlock,
    opened: &BTreeSet<&str>,
) -> Result<Vec<PlannedSlice>, Refusal> {
    let mut seen = BTreeSet::new();
    for id in &delta.order {
        let closed = plan.slice(id).filter(|slice| !slice.status.is_open());
        let is_here = slices.iter().any(|slice| slice.slice_id == *id);
        let wrong = match closed {
            Some(slice) if !opened.contains(&**id) => {
                Some(format!("which is {}", slice.status.id()))
            }
            _ if !is_here => Some("which is not a slice of the plan".to_owned()),
            _ if !seen.insert(id) => Some("and names it twice".to_owned()),
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(refusal!(
                Code::OrderUnknown,
                "`order` names `{id}`, {wrong}"
            ));
        }
    }
    let place = |slice: &PlannedSlice| {
        let place = delta.order.iter().position(|id| *id == slice.slice_id);
        place.unwrap_or(usize::MAX)
    };
    slices.sort_by_key(place);
    Ok(slices)
}
