//! Which criteria of done slices are asked about, each with its proof.

use cook_core::machine::{AnchorQuestion, Required};
use cook_core::model::{Basis, Evidence, EvidenceRecord, Slice, SliceStatus, Snapshot};

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
            (Some(slice), Some(record)) => AnchorQuestion::ask_stored(slice, record),
            _ => AnchorQuestion {
                slice_id: self.slice_id.clone(),
                criterion: self.criterion.clone(),
                anchor: String::new(),
                basis: Basis::Observed,
                required: Required::AtHead,
            },
        }
    }
}

/// The criteria of done slices, or of one of them, each with its proof.
pub(super) fn list_asked(snapshot: &Snapshot, slice: Option<&str>) -> Vec<Asked> {
    let slices = snapshot.plan.candidate_slices.iter().filter(|known| {
        known.status == SliceStatus::Done && slice.is_none_or(|slice| known.slice_id == slice)
    });
    slices.flat_map(list_criteria).collect()
}

/// The criteria of a slice, those that it was rid of with proof among them.
pub(super) fn list_criteria(slice: &Slice) -> Vec<Asked> {
    let records: Vec<&EvidenceRecord> =
        slice.evidence.iter().filter_map(Evidence::record).collect();
    let asked = |criterion: &String, record: Option<&EvidenceRecord>| Asked {
        slice_id: slice.slice_id.clone(),
        criterion: criterion.clone(),
        record: record.cloned(),
    };
    let mut all = Vec::new();
    for criterion in &slice.acceptance_criteria {
        let record = records.iter().find(|record| &record.criterion == criterion);
        all.push(asked(criterion, record.copied()));
    }
    let dropped = records
        .iter()
        .filter(|record| !slice.acceptance_criteria.contains(&record.criterion));
    all.extend(dropped.map(|record| asked(&record.criterion, Some(record))));
    all
}
