//! Putting right what rule 2 found in the documents.

use crate::diagnostic::Refusal;
use crate::machine::vanished::{has_vanished, take_commit_away};
use crate::machine::work::Work;
use crate::model::{ActiveStatus, SliceStatus};

/// Puts right what rule 2 found in the documents, so that after an accepted
/// re-ground none of its conditions holds.
pub(super) fn heal(work: &mut Work) -> Result<(), Refusal> {
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
        if slice.status.is_selected() && active.as_deref() != Some(slice.slice_id.as_str()) {
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
