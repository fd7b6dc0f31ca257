//! What comes on HEAD while nobody works on the slice in work: written down, for a history that is
//! written anew later shows no more whose it was.

use super::work::Work;
use crate::model::{ActiveStatus, Event, Role};

/// Writes down what came after the slice's commit was reported, or between the last transition and
/// the start of its implementer's session. At other times it may be the implementer's.
pub(super) fn note_arrivals(work: &mut Work, event: &Event) {
    let before = work.before;
    let Some(id) = before.find_slice_in_work() else {
        return;
    };
    let (after, upto) = if before.active.status == ActiveStatus::Committed {
        let ledger = before.ledger.slices.get(id);
        let head = ledger.and_then(|ledger| ledger.head.clone());
        let on_head = |head: &String| work.facts.on_head.get(head) == Some(&true);
        (head.filter(on_head), work.next_head())
    } else if event.role() == Some(Role::Implementer) {
        let began = event.submission().and_then(|it| it.began_at.clone());
        (before.ledger.head_seen.clone(), began)
    } else {
        return;
    };
    if let (Some(after), Some(ledger)) = (after, work.next.ledger.slices.get_mut(id)) {
        ledger.note_arrival(after, upto);
    }
}
