//! What the ticks of a plan that was taken in are worth.

use super::asked::asked_of;
use super::criteria::Judge;
use super::criterion::{Criterion, ProofVerdict};
use super::outcome::Outcome;
use cook_core::diagnostic::{Failure, counted};
use cook_core::model::{Slice, SliceStatus, Snapshot};

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
        let of_slice: Vec<Criterion> = match slice.is_satisfied() {
            true => judge.judge(asked_of(slice))?,
            false if slice.status == SliceStatus::Done => {
                let own = criteria.iter().filter(|one| one.slice == slice.slice_id);
                own.cloned().collect()
            }
            false => Vec::new(),
        };
        let stands =
            |one: &Criterion| !matches!(one.verdict, ProofVerdict::Differs | ProofVerdict::Lost);
        match !of_slice.is_empty() && of_slice.iter().all(stands) {
            true => held += 1,
            false => bare.push(format!("`{}`", slice.slice_id)),
        }
    }
    let count = counted(ticked.len() as u64, "tick");
    let rest = match bare.is_empty() {
        true => String::new(),
        false => format!("; nothing shows {}", bare.join(", ")),
    };
    outcome.add_checked(format!("{held} of {count} in {} hold{rest}", source.path));
    Ok(())
}
