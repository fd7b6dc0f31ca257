//! Slices that nobody is to build: given up, or shown to be there already.

use super::proof;
use super::work::Work;
use crate::diagnostic::{Code, Refusal};
use crate::model::{Anchor, EvidenceClaim, PlannedSlice, Reground, Slice, SliceStatus};
use std::collections::BTreeSet;

/// No open slice waits for one that nobody will build, but for what this report shows to be there.
pub(super) fn require_settleable(work: &Work, block: &Reground) -> Result<(), Refusal> {
    let plan = &work.next.plan;
    let is_shown = |slice: &&Slice| {
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
                return Err(Refusal::new(
                    Code::BlockedOnCancelled,
                    format!(
                        "slice `{}` waits for `{entry}`, which is cancelled",
                        slice.slice_id
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// A slice that nobody is to build: given up, or there already, with proof of each criterion.
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
        return Err(Refusal::new(
            Code::EvidenceMissing,
            format!(
                "slice `{id}` is cancelled with proof of some criteria, and `{criterion}` has none"
            ),
        )
        .replace_hints(["give `evidence` for each of its criteria, or for none of them"]));
    }
    require_other_place(work, id, block)?;
    let why = planned.reason.as_deref().unwrap_or_default();
    let source = work
        .before
        .ledger
        .slices
        .get(id)
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

/// The slice was in work, and something came since.
fn is_behind(work: &Work, id: &str) -> Result<bool, Refusal> {
    let ledger = work.before.ledger.slices.get(id);
    let basis = ledger.and_then(|ledger| ledger.basis.as_ref());
    Ok(basis.is_some() && basis != work.facts.head()?.commit.as_ref())
}

/// The file that calls a task done proves nothing of it.
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
        Some(claim) => Err(Refusal::new(
            Code::EvidenceUnrelated,
            format!(
                "`{}` ({}): the plan that calls it done is no proof of it",
                claim.criterion, claim.anchor
            ),
        )
        .replace_hints(["point at what the repository does now, or leave the slice to be done"])),
    }
}
