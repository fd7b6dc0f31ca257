//! The proof of done slices, checked again: which criterion lost it, and how.

use super::criteria::{Judge, Rerun};
use super::outcome::Outcome;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_core::machine::{AnchorQuestion, FactSet, Verdict};
use cook_core::model::{Basis, Caches, Evidence, EvidenceRecord, SliceStatus, Snapshot};

/// A criterion of a done slice and what is on record as its proof; of one that was dropped too.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub slice_id: String,
    pub criterion: String,
    pub record: Option<EvidenceRecord>,
}

impl Asked {
    /// What is asked of the repository.
    pub fn question(&self, snapshot: &Snapshot) -> AnchorQuestion {
        let slice = snapshot.plan.slice(&self.slice_id);
        match (slice, &self.record) {
            (Some(slice), Some(record)) => AnchorQuestion::stored(snapshot, slice, record),
            _ => AnchorQuestion {
                slice_id: self.slice_id.clone(),
                criterion: self.criterion.clone(),
                anchor: String::new(),
                basis: Basis::Observed,
                stamped_at: None,
                work: None,
            },
        }
    }
}

/// The criteria of done slices, or of one of them, each with its proof.
pub(super) fn asked(snapshot: &Snapshot, slice: Option<&str>) -> Vec<Asked> {
    let slices = snapshot.plan.candidate_slices.iter().filter(|known| {
        known.status == SliceStatus::Done && slice.is_none_or(|slice| known.slice_id == slice)
    });
    let mut all = Vec::new();
    for slice in slices {
        let records: Vec<&EvidenceRecord> =
            slice.evidence.iter().filter_map(Evidence::record).collect();
        let asked = |criterion: &String, record: Option<&EvidenceRecord>| Asked {
            slice_id: slice.slice_id.clone(),
            criterion: criterion.clone(),
            record: record.cloned(),
        };
        for criterion in &slice.acceptance_criteria {
            let record = records.iter().find(|record| &record.criterion == criterion);
            all.push(asked(criterion, record.copied()));
        }
        let dropped = records
            .iter()
            .filter(|record| !slice.acceptance_criteria.contains(&record.criterion));
        all.extend(dropped.map(|record| asked(&record.criterion, Some(record))));
    }
    all
}

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
    let mut with_record = Vec::new();
    for asked in asked(snapshot, None) {
        if asked.record.is_some() {
            set.anchors.insert(asked.question(snapshot));
            with_record.push(asked);
        } else {
            outcome.find(
                Code::EvidenceImported,
                format!("`{}` has no evidence that can be checked", asked.criterion),
                &asked.slice_id,
            );
        }
    }
    if set.anchors.is_empty() {
        return Ok(());
    }
    let facts = workspace.measure(&set, Some(snapshot))?;
    let head = workspace.repo.head()?;
    let judge = Judge::new(workspace, snapshot, &head, Rerun::No);
    let (mut verified, mut recorded) = (0, 0);
    for asked in with_record {
        let question = asked.question(snapshot);
        let Some(answer) = facts.anchors.get(&question.key()) else {
            continue;
        };
        let code = match answer.verdict {
            Verdict::Verified | Verdict::Moved => {
                verified += 1;
                continue;
            }
            Verdict::Changed | Verdict::Stale => Code::ProofStale,
            // It ran on another machine.
            _ if judge.is_recorded(asked, answer)? => {
                recorded += 1;
                continue;
            }
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
    let elsewhere = match recorded {
        0 => String::new(),
        recorded => format!(", {recorded} by the log alone"),
    };
    outcome.add_checked(format!(
        "{verified} of {} proofs of done slices hold{elsewhere}",
        set.anchors.len()
    ));
    Ok(())
}
