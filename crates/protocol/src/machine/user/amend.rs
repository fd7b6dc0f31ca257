//! Correcting a criterion that proved false, and giving up the proof of one.

use crate::diagnostic::{Code, Refusal};
use crate::machine::work::Work;
use crate::model::{Amendment, Evidence};

/// The user corrects a criterion that proved false.
pub(in crate::machine) fn amend(
    work: &mut Work,
    slice_id: &str,
    number: u64,
    text: &str,
    reason: &str,
) -> Result<(), Refusal> {
    if text.trim().is_empty() || reason.trim().is_empty() {
        return Err(Refusal::new(
            Code::CriteriaEmpty,
            "an amendment needs a text and a reason",
        ));
    }
    let slice = work.find_planned(slice_id)?;
    if !slice.status.is_open() {
        return Err(Refusal::new(
            Code::SelectClosed,
            format!(
                "slice `{slice_id}` is {}; its criteria stay",
                slice.status.id()
            ),
        ));
    }
    let index = usize::try_from(number)
        .ok()
        .and_then(|number| number.checked_sub(1));
    let count = slice.acceptance_criteria.len();
    if slice
        .acceptance_criteria
        .iter()
        .any(|criterion| criterion == text)
    {
        return Err(Refusal::new(
            Code::CriterionDuplicated,
            "the slice has that criterion already",
        ));
    }
    let Some(place) = index.and_then(|index| slice.acceptance_criteria.get_mut(index)) else {
        return Err(Refusal::new(
            Code::SliceUnknown,
            format!("slice `{slice_id}` has {count} criteria, not number {number}"),
        ));
    };
    let old = std::mem::replace(place, text.to_owned());
    slice
        .evidence
        .retain(|entry| !matches!(entry, Evidence::Record(record) if record.criterion == old));
    work.next.ledger.amendments.push(Amendment {
        slice_id: slice_id.to_owned(),
        old,
        new: text.to_owned(),
        reason: reason.to_owned(),
    });
    work.sync_handoff();
    Ok(())
}

/// The user gives up the proof of a criterion of a closed slice, which stays closed.
pub(in crate::machine) fn retire(
    work: &mut Work,
    slice_id: &str,
    number: u64,
    reason: &str,
) -> Result<(), Refusal> {
    if reason.trim().is_empty() {
        return Err(Refusal::new(
            Code::CriteriaEmpty,
            "to give up a proof takes a reason",
        ));
    }
    let slice = work.find_planned(slice_id)?;
    if !slice.rests_on_proof() {
        let what = format!(
            "slice `{slice_id}` is {}: nothing that was accepted proves it",
            slice.status.id()
        );
        return Err(Refusal::new(Code::EvidenceMissing, what).replace_hints([
            "correct the criterion with `cook plan criteria amend`, or cancel the slice in a re-ground",
        ]));
    }
    let index = usize::try_from(number)
        .ok()
        .and_then(|it| it.checked_sub(1));
    let criteria = &slice.acceptance_criteria;
    let count = criteria.len();
    let Some(criterion) = index.and_then(|index| criteria.get(index)) else {
        return Err(Refusal::new(
            Code::SliceUnknown,
            format!("slice `{slice_id}` has {count} criteria, not number {number}"),
        ));
    };
    let mut records = slice.evidence.iter_mut().filter_map(|entry| match entry {
        Evidence::Record(record) if record.criterion == *criterion => Some(record),
        _ => None,
    });
    match records.next() {
        Some(record) => record.retired = Some(reason.to_owned()),
        None => {
            let what = format!("no proof of `{criterion}` is on record");
            return Err(Refusal::new(Code::EvidenceMissing, what));
        }
    }
    Ok(())
}
