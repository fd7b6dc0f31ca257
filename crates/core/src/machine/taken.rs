//! A committed slice whose commit counts no more, because HEAD does not hold it or nothing of its
//! work: it is in progress again, for a report as for whoever is shown the state.

use super::work::Work;
use super::{asked, drift, gone, slices};
use crate::diagnostic::Refusal;
use crate::model::{ActiveStatus, SliceStatus};

/// The committed slice's commit is not on HEAD.
pub(super) fn has_vanished(work: &Work) -> Result<bool, Refusal> {
    if work.next.active.status != ActiveStatus::Committed {
        return Ok(false);
    }
    let id = work.next.active.slice_id.as_ref();
    let ledger = id.and_then(|id| work.before.ledger.slices.get(id));
    match ledger.and_then(|ledger| ledger.head.as_ref()) {
        Some(head) => Ok(!work.facts.on_head(head)?),
        None => Ok(true),
    }
}

/// Why nothing of the committed slice's work counts although its commit is on HEAD.
pub(super) fn tell_taken_back(work: &Work) -> Option<String> {
    let others = drift::list_others_since(work.before, work.facts);
    gone::tell_taken_back(work.before, work.facts, &others)
}

/// What the commit fixed is to be fixed again, and a review's no stays. A commit that was not
/// rejected may be reported again once its work is back.
pub(super) fn take_commit_away(work: &mut Work, id: &str, why: Option<String>) {
    let mut must = work.ledger(id).fixed.clone();
    let is_rejected = slices::rejection(&work.next).is_some();
    asked::add_new(&mut must, work.take_review(id));
    work.set_audit_aside(id);
    let ledger = work.ledger(id);
    let head = ledger.head.take();
    let is_barred = is_rejected || must.is_empty() && why.is_none();
    ledger.last_head = head.filter(|_| is_barred);
    ledger.head_tree = None;
    ledger.receipts.clear();
    asked::add_new(&mut must, why);
    work.must_fix(id, must);
    work.next.active.status = ActiveStatus::InProgress;
}

/// Puts a slice in progress whose commit left HEAD while others of its own are there to be reported.
pub(super) fn take_vanished_away(work: &mut Work) -> Result<(), Refusal> {
    if !has_vanished(work)? {
        return Ok(());
    }
    let Some(id) = work.active_id() else {
        return Ok(());
    };
    take_commit_away(work, &id, None);
    if let Some(slice) = work.next.plan.slice_mut(&id) {
        slice.status = SliceStatus::InProgress;
    }
    work.sync_handoff();
    Ok(())
}
