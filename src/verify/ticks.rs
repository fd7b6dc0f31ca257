//! What the ticks of a plan that was taken in are worth.

use super::asked::list_criteria;
use super::criteria::{Judge, Rerun};
use super::criterion::{Criterion, ProofVerdict};
use super::outcome::Outcome;
use crate::scaffold::plans::Worth;
use crate::service::Workspace;
use cook_core::diagnostic::{Failure, count_noun};
use cook_core::model::{Slice, SliceStatus, Snapshot};
use std::collections::BTreeMap;

/// What each slice is worth at HEAD, by its id: for the ticks of a plan that was taken in.
///
/// # Errors
/// When git or the log cannot be read.
pub fn measure_worths(
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<BTreeMap<String, Worth>, Failure> {
    let head = workspace.repo.head()?;
    let judge = Judge::new(workspace, snapshot, &head, Rerun::No);
    let criteria = judge.criteria(None)?;
    let mut worths = BTreeMap::new();
    for slice in &snapshot.plan.candidate_slices {
        let of_slice = find_criteria(&judge, slice, &criteria)?;
        let known = snapshot.ledger.slices.get(&slice.slice_id);
        // It was closed before, and is open again.
        let was_accepted = known.is_some_and(|known| known.last_head.is_some());
        let worth = match &of_slice {
            None if was_accepted => Worth::Lost("it was opened again".to_owned()),
            None => Worth::Never,
            Some(criteria) => weigh(criteria),
        };
        worths.insert(slice.slice_id.clone(), worth);
    }
    Ok(worths)
}

/// The worst of its criteria.
fn weigh(criteria: &[Criterion]) -> Worth {
    let find = |wanted: fn(ProofVerdict) -> bool| {
        let found = criteria.iter().find(|one| wanted(one.verdict));
        found.map(|one| format!("`{}`: {}", one.text, one.why))
    };
    match (
        find(is_lost),
        find(|it| it == ProofVerdict::NotReproducible),
    ) {
        (Some(why), _) => Worth::Lost(why),
        (None, Some(why)) => Worth::Untold(why),
        (None, None) if criteria.is_empty() => Worth::Untold("it has no criterion".to_owned()),
        (None, None) => Worth::Holds,
    }
}

fn is_lost(verdict: ProofVerdict) -> bool {
    matches!(verdict, ProofVerdict::Differs | ProofVerdict::Lost)
}

/// The criteria of what was built here or shown to be there; none of what is open.
fn find_criteria(
    judge: &Judge,
    slice: &Slice,
    done: &[Criterion],
) -> Result<Option<Vec<Criterion>>, Failure> {
    Ok(match slice.is_satisfied() {
        true => Some(judge.judge(list_criteria(slice))?),
        false if slice.status == SliceStatus::Done => {
            let own = done.iter().filter(|one| one.slice == slice.slice_id);
            Some(own.cloned().collect())
        }
        false => None,
    })
}

/// How many of the tasks that the source calls done hold: they were built here, or shown to be there.
///
/// # Errors
/// When git or the log cannot be read.
pub(super) fn count(
    judge: &Judge,
    snapshot: &Snapshot,
    criteria: &[Criterion],
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let Some(source) = &snapshot.ledger.plan_source else {
        return Ok(());
    };
    let is_ticked = |slice: &&Slice| {
        let known = snapshot.ledger.slices.get(&slice.slice_id);
        let source = known.and_then(|known| known.source.as_ref());
        source.is_some_and(|source| source.ticked)
    };
    let ticked: Vec<&Slice> = snapshot
        .plan
        .candidate_slices
        .iter()
        .filter(is_ticked)
        .collect();
    if ticked.is_empty() {
        return Ok(());
    }
    let mut held = 0;
    let mut bare = Vec::new();
    for slice in &ticked {
        let of_slice = find_criteria(judge, slice, criteria)?.unwrap_or_default();
        match !of_slice.is_empty() && !of_slice.iter().any(|one| is_lost(one.verdict)) {
            true => held += 1,
            false => bare.push(format!("`{}`", slice.slice_id)),
        }
    }
    let count = count_noun(ticked.len() as u64, "tick");
    let rest = match bare.is_empty() {
        true => String::new(),
        false => format!("; nothing shows {}", bare.join(", ")),
    };
    outcome.add_checked(format!("{held} of {count} in {} hold{rest}", source.path));
    Ok(())
}
