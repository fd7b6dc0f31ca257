//! What the ticks of a plan that was taken in are worth.

use super::criterion_proof::{Criterion, Judge, ProofVerdict, Rerun, list_criteria};
use super::verify_outcome::Outcome;
use crate::init::plans::Worth;
use crate::service::Workspace;
use cook_protocol::diagnostic::{Failure, count_noun};
use cook_protocol::model::{Slice, SliceStatus, Snapshot};
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
        let known = snapshot.ledger.slices.get(&slice.slice_id);
        // It was closed before, and is open again.
        let was_accepted = known.is_some_and(|known| known.last_head.is_some());
        let worth = match find_criteria(&judge, slice, &criteria)? {
            None if was_accepted => Worth::Lost("it was opened again".to_owned()),
            None => Worth::Never,
            Some(criteria) => weigh(&criteria),
        };
        worths.insert(slice.slice_id.clone(), worth);
    }
    Ok(worths)
}

/// The worst of its criteria.
fn weigh(criteria: &[Criterion]) -> Worth {
    let find = |is_wanted: fn(ProofVerdict) -> bool| {
        let found = criteria.iter().find(|one| is_wanted(one.verdict));
        found.map(|one| format!("`{}`: {}", one.text, one.why))
    };
    if let Some(why) = find(ProofVerdict::is_lost) {
        return Worth::Lost(why);
    }
    let untold = find(|it| it == ProofVerdict::NotReproducible);
    let none = || {
        criteria
            .is_empty()
            .then(|| "it has no criterion".to_owned())
    };
    untold.or_else(none).map_or(Worth::Holds, Worth::Untold)
}

/// The criteria of what was built here or shown to be there; none of what is open.
fn find_criteria(
    judge: &Judge,
    slice: &Slice,
    done: &[Criterion],
) -> Result<Option<Vec<Criterion>>, Failure> {
    if slice.is_satisfied() {
        return judge.judge(list_criteria(slice)).map(Some);
    }
    let own = done.iter().filter(|one| one.slice == slice.slice_id);
    Ok((slice.status == SliceStatus::Done).then(|| own.cloned().collect()))
}

/// How many of the tasks that the source calls done hold: they were built here, or shown to be there.
pub(super) fn count(
    judge: &Judge,
    snapshot: &Snapshot,
    criteria: &[Criterion],
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let Some(source) = &snapshot.ledger.plan_source else {
        return Ok(());
    };
    let (mut ticked, mut bare) = (0, Vec::new());
    for slice in &snapshot.plan.candidate_slices {
        let known = snapshot.ledger.slices.get(&slice.slice_id);
        let from = known.and_then(|known| known.source.as_ref());
        if !from.is_some_and(|from| from.ticked) {
            continue;
        }
        ticked += 1;
        let own = find_criteria(judge, slice, criteria)?.unwrap_or_default();
        if own.is_empty() || own.iter().any(|one| one.verdict.is_lost()) {
            bare.push(format!("`{}`", slice.slice_id));
        }
    }
    if ticked == 0 {
        return Ok(());
    }
    let rest = match bare.is_empty() {
        true => String::new(),
        false => format!("; nothing shows {}", bare.join(", ")),
    };
    let held = ticked - bare.len();
    let count = count_noun(ticked as u64, "tick");
    outcome.add_checked(format!("{held} of {count} in {} hold{rest}", source.path));
    Ok(())
}
