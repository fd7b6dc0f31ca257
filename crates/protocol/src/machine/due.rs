//! What a re-ground is due for: whoever makes it is told what brought it about.

use crate::model::Snapshot;

/// Causes that are kept: the newest.
const KEPT: usize = 5;

/// A re-ground is due from now on, for this beside what it is due for already.
pub(super) fn require_reground(next: &mut Snapshot, cause: String) {
    next.state.requires_reground = true;
    let causes = &mut next.ledger.due_for;
    causes.retain(|known| *known != cause);
    causes.push(cause);
    let over = causes.len().saturating_sub(KEPT);
    causes.drain(..over);
}
