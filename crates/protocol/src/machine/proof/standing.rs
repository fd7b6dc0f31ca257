//! What done slices rest on, where HEAD moved and the project's end is what comes next.

use crate::diagnostic::{Code, Finding};
use crate::machine::facts::{AnchorQuestion, Facts, StandingQuestion, Verdict};
use crate::model::{Evidence, EvidenceRecord, Slice, SliceStatus, Snapshot};

/// What the done slices rest on, to be looked for at HEAD where it is not the commit that was seen.
pub(in crate::machine) fn standing_question(snapshot: &Snapshot, seen: &str) -> StandingQuestion {
    let stored = list_closed(snapshot).flat_map(|slice| {
        list_proofs(slice).map(move |record| AnchorQuestion::ask_stored(slice, record))
    });
    StandingQuestion {
        seen: seen.to_owned(),
        anchors: stored.collect(),
    }
}

fn list_proofs(slice: &Slice) -> impl Iterator<Item = &EvidenceRecord> {
    let records = slice.evidence.iter().filter_map(Evidence::record);
    records.filter(|record| record.retired.is_none())
}

/// Done slices, and those that were cancelled as there already.
fn list_closed(snapshot: &Snapshot) -> impl Iterator<Item = &Slice> {
    let slices = snapshot.plan.candidate_slices.iter();
    slices.filter(|slice| slice.rests_on_proof())
}

/// Slices that any re-ground opens again, as far as the facts tell.
pub(in crate::machine) fn find_lost(snapshot: &Snapshot, facts: &Facts) -> Vec<Finding> {
    let lost = |slice: &Slice| {
        let id = &slice.slice_id;
        let gone = list_proofs(slice).find(|record| {
            let answer = facts
                .standing
                .get(&AnchorQuestion::ask_stored(slice, record).key());
            answer.is_some_and(|answer| answer.verdict == Verdict::Missing)
        })?;
        let was = match slice.status {
            SliceStatus::Done => "done",
            _ => "cancelled as there already",
        };
        let what = format!(
            "slice `{id}` is {was} in the log, and the proof of `{}` no longer holds: {}; any re-ground opens the slice again, and may change or cancel it",
            gone.criterion, gone.anchor
        );
        Some(Finding::new(Code::ProofBroken, what).at(id.clone()))
    };
    list_closed(snapshot).filter_map(lost).collect()
}
