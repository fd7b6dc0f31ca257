//! Which anchors must be looked at, and which claim speaks for which criterion.

use crate::machine::drift;
use crate::machine::facts::{AnchorQuestion, Required};
use crate::model::{
    Anchor, Basis, Decision, Evidence, EvidenceClaim, EvidenceRecord, Reground, Slice, Snapshot,
};
use std::collections::{BTreeMap, BTreeSet};

/// Every anchor that must be looked at before this block can be judged.
pub(in crate::machine) fn questions(
    snapshot: &Snapshot,
    block: &Reground,
) -> BTreeSet<AnchorQuestion> {
    let mut by_key: BTreeMap<String, AnchorQuestion> = BTreeMap::new();
    for slice in &snapshot.plan.candidate_slices {
        let is_accepted = find_accepted(block) == Some(slice.slice_id.as_str());
        let records = slice.evidence.iter().filter_map(Evidence::record);
        let is_asked = |record: &&EvidenceRecord| {
            is_accepted || slice.rests_on_proof() && record.retired.is_none()
        };
        for record in records.filter(is_asked) {
            let question = ask_again(snapshot, block, slice, record);
            by_key.insert(question.key(), question);
        }
    }
    for claim in &block.evidence {
        if let Some(question) = fresh_question(snapshot, block, claim) {
            by_key.insert(question.key(), question);
        }
    }
    by_key.into_values().collect()
}

pub(super) fn fresh_question(
    snapshot: &Snapshot,
    block: &Reground,
    claim: &EvidenceClaim,
) -> Option<AnchorQuestion> {
    let slice_id = claim_slice(snapshot, block, claim)?;
    let claimed = match find_accepted(block) == Some(slice_id.as_str()) {
        true => ask_of_work(snapshot, &slice_id),
        false => None,
    };
    Some(AnchorQuestion {
        slice_id,
        criterion: claim.criterion.clone(),
        anchor: claim.anchor.clone(),
        basis: claim.basis,
        required: claimed.unwrap_or(Required::AtHead),
    })
}

/// What a stored record is asked: of the slice to accept, as a claim.
pub(super) fn ask_again(
    snapshot: &Snapshot,
    block: &Reground,
    slice: &Slice,
    record: &EvidenceRecord,
) -> AnchorQuestion {
    let mut stored = AnchorQuestion::ask_stored(slice, record);
    if find_accepted(block) == Some(slice.slice_id.as_str())
        && let Some(claimed) = ask_of_work(snapshot, &slice.slice_id)
    {
        stored.required = claimed;
    }
    if let (Required::Accepted(kept), Ok(Anchor::Test(name))) =
        (&mut stored.required, Anchor::parse(&record.anchor))
    {
        kept.declared_at = find_declaring_head(snapshot, block, &name);
    }
    stored
}

/// The head of the slice that is accepted, where its commits declare that this test changed.
fn find_declaring_head(snapshot: &Snapshot, block: &Reground, name: &str) -> Option<String> {
    let ledger = snapshot.ledger.slices.get(find_accepted(block)?)?;
    let mut changes = ledger.test_changes.iter();
    let is_declared = changes.any(|change| change.is_declared_of(name));
    ledger.head.clone().filter(|_| is_declared)
}

fn ask_of_work(snapshot: &Snapshot, slice_id: &str) -> Option<Required> {
    Some(Required::Claimed {
        basis: snapshot.plan.slice(slice_id)?.basis_commit.clone()?,
        head: snapshot.ledger.slices.get(slice_id)?.head.clone()?,
    })
}

/// The question whose answer speaks for this record: the fresh claim it was
/// stamped from in this block, or the stored one.
pub(super) fn find_question(
    snapshot: &Snapshot,
    block: &Reground,
    slice: &Slice,
    record: &EvidenceRecord,
) -> AnchorQuestion {
    list_claims(snapshot, block, &slice.slice_id, &record.criterion)
        .filter(|claim| claim.anchor == record.anchor)
        .find_map(|claim| fresh_question(snapshot, block, claim))
        .unwrap_or_else(|| ask_again(snapshot, block, slice, record))
}

/// The slice a claim speaks of: the one it names, else the one that is
/// reconciled, else the active one, else the only one with that criterion.
pub(in crate::machine) fn claim_slice(
    snapshot: &Snapshot,
    block: &Reground,
    claim: &EvidenceClaim,
) -> Option<String> {
    if let Some(id) = &claim.slice_id {
        return Some(id.clone());
    }
    if let Some(reconcile) = &block.reconcile {
        return Some(reconcile.slice_id.clone());
    }
    if drift::in_work(snapshot) {
        return snapshot.active.slice_id.clone();
    }
    let mut owners = snapshot
        .plan
        .candidate_slices
        .iter()
        .filter(|slice| slice.acceptance_criteria.contains(&claim.criterion));
    match (owners.next(), owners.next()) {
        (Some(only), None) => Some(only.slice_id.clone()),
        _ => None,
    }
}

pub(super) fn list_claims<'a>(
    snapshot: &'a Snapshot,
    block: &'a Reground,
    id: &'a str,
    criterion: &'a str,
) -> impl Iterator<Item = &'a EvidenceClaim> {
    block.evidence.iter().filter(move |claim| {
        claim.criterion == criterion && claim_slice(snapshot, block, claim).as_deref() == Some(id)
    })
}

impl AnchorQuestion {
    /// What an anchor is asked that would be claimed for the slice in work, of no criterion yet.
    pub fn ask_claimed(
        snapshot: &Snapshot,
        slice_id: &str,
        anchor: &str,
        basis: Basis,
    ) -> Option<Self> {
        Some(Self {
            slice_id: slice_id.to_owned(),
            criterion: String::new(),
            anchor: anchor.to_owned(),
            basis,
            required: ask_of_work(snapshot, slice_id)?,
        })
    }
}

/// The slice this block wants accepted.
pub(super) fn find_accepted(block: &Reground) -> Option<&str> {
    block
        .reconcile
        .as_ref()
        .filter(|reconcile| reconcile.decision == Decision::Accepted)
        .map(|reconcile| reconcile.slice_id.as_str())
}

/// A criterion may leave a slice only with proof, given in the same report.
pub(in crate::machine) fn may_drop(
    snapshot: &Snapshot,
    block: &Reground,
    id: &str,
    criterion: &str,
) -> bool {
    list_claims(snapshot, block, id, criterion).next().is_some()
}

/// The anchors by which a criterion leaves a slice.
pub(in crate::machine) fn list_dropping_anchors(
    snapshot: &Snapshot,
    block: &Reground,
    id: &str,
    criterion: &str,
) -> String {
    let claims = list_claims(snapshot, block, id, criterion);
    let anchors: Vec<String> = claims.map(|claim| format!("`{}`", claim.anchor)).collect();
    anchors.join(", ")
}
