//! Correcting a criterion that proved false.

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
