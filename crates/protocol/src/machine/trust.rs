//! Which commands this machine must trust before a step is taken.

use crate::model::{Reground, STOP_VERIFIER, Snapshot};
use std::collections::BTreeSet;

/// Commands of every slice that may be open after this block (a done one may be reopened),
/// and the one that the project's end rests on.
pub(super) fn list_named_commands(snapshot: &Snapshot, block: &Reground) -> BTreeSet<String> {
    let planned = block.plan.iter().flat_map(|plan| &plan.candidate_slices);
    let kept = &snapshot.plan.candidate_slices;
    planned
        .flat_map(|slice| slice.verification_commands.iter().flatten())
        .chain(
            kept.iter()
                .flat_map(|slice| slice.verification_commands.iter().flatten()),
        )
        .cloned()
        .chain([STOP_VERIFIER.to_owned()])
        .collect()
}

/// Commands that open slices name, and the one that the project's end rests on.
pub(super) fn open_commands(snapshot: &Snapshot) -> BTreeSet<String> {
    snapshot
        .plan
        .open_slices()
        .flat_map(|slice| slice.verification_commands.iter().flatten().cloned())
        .chain([STOP_VERIFIER.to_owned()])
        .collect()
}

/// Commands that the handoff names.
pub(super) fn handoff_commands(snapshot: &Snapshot) -> BTreeSet<String> {
    let handoff = snapshot.active.handoff.iter();
    handoff
        .flat_map(|handoff| handoff.verification_commands.iter().flatten())
        .cloned()
        .collect()
}
