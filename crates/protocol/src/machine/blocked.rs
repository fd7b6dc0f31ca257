//! Why a slice is blocked: a plan says it, and it stands with the slice until it is blocked no more.

use super::work::Work;
use crate::diagnostic::{Code, Refusal};
use crate::model::{PlannedSlice, Slice, SliceStatus};
use crate::report::is_named;

/// A slice is blocked by what `blocked_on` names, or for a reason.
pub(super) fn require_why_blocked(planned: &PlannedSlice) -> Result<(), Refusal> {
    let reason = planned.reason.as_deref().unwrap_or_default();
    let waits = planned.blocked_on.as_ref();
    if is_named(reason) || waits.is_some_and(|entries| !entries.is_empty()) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::BlockWithoutReason,
        format!("slice `{}` is blocked without a reason", planned.slice_id),
    ))
}

/// The reason stands with the slice while it is blocked.
pub(super) fn keep_why_blocked(work: &mut Work, slice: &Slice, planned: &PlannedSlice) {
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
