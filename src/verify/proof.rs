//! The proof of done slices, checked again: which criterion lost it, and how.

use super::outcome::Outcome;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_core::machine::{AnchorQuestion, FactSet, Verdict};
use cook_core::model::{Caches, Evidence, SliceStatus, Snapshot};

pub(super) fn check(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let mut set = FactSet {
        head: true,
        existing_receipts_only: workspace.caches == Caches::Kept,
        ..FactSet::default()
    };
    let done = snapshot
        .plan
        .candidate_slices
        .iter()
        .filter(|slice| slice.status == SliceStatus::Done);
    for slice in done {
        for record in slice.evidence.iter().filter_map(Evidence::record) {
            if !slice.acceptance_criteria.contains(&record.criterion) {
                set.anchors
                    .insert(AnchorQuestion::stored(snapshot, slice, record));
            }
        }
        for criterion in &slice.acceptance_criteria {
            let stamped = slice.evidence.iter().filter_map(Evidence::record);
            let Some(record) = stamped
                .into_iter()
                .find(|record| &record.criterion == criterion)
            else {
                outcome.find(
                    Code::EvidenceImported,
                    format!("`{criterion}` has no evidence that can be checked"),
                    &slice.slice_id,
                );
                continue;
            };
            set.anchors
                .insert(AnchorQuestion::stored(snapshot, slice, record));
        }
    }
    if set.anchors.is_empty() {
        return Ok(());
    }
    let questions = set.anchors.clone();
    let facts = workspace.measure(&set, Some(snapshot))?;
    let mut verified = 0;
    for question in &questions {
        let Some(answer) = facts.anchors.get(&question.key()) else {
            continue;
        };
        let code = match answer.verdict {
            Verdict::Verified | Verdict::Moved => {
                verified += 1;
                continue;
            }
            Verdict::Changed | Verdict::Stale => Code::ProofStale,
            Verdict::Missing | Verdict::Unverifiable | Verdict::Malformed => {
                Code::CriterionLostProof
            }
        };
        outcome.find(
            code,
            format!(
                "`{}` rests on {}: {}",
                question.criterion, question.anchor, answer.why
            ),
            &question.slice_id,
        );
    }
    outcome.add_checked(format!(
        "{verified} of {} proofs of done slices hold",
        questions.len()
    ));
    Ok(())
}
