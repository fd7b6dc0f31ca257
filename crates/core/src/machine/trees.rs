//! The trees of commits that the state rests on.

use super::facts::Facts;
use crate::model::{Evidence, Snapshot};
use std::collections::BTreeSet;

/// Notes what was measured of commits that slices and their proofs rest on, and lets go of the others.
pub(super) fn keep(next: &mut Snapshot, facts: &Facts) {
    let cited = list_cited(next);
    let trees = &mut next.ledger.trees;
    let head = facts.head.iter();
    let head = head.filter_map(|head| Some((head.commit.clone()?, head.tree.clone()?)));
    let commit = facts.commit.iter();
    let commit = commit.filter_map(|commit| Some((commit.id.clone()?, commit.tree.clone()?)));
    // What takes the place of a commit that is gone has its tree.
    let gone = facts.ranges.iter().filter(|(_, range)| !range.resolves);
    let again: Vec<(String, String)> = gone
        .filter_map(|(of, range)| Some((range.merge_base.clone()?, trees.get(of)?.clone())))
        .collect();
    trees.extend(head.chain(commit).chain(again));
    trees.retain(|commit, _| cited.contains(commit));
}

fn list_cited(snapshot: &Snapshot) -> BTreeSet<String> {
    let mut cited = BTreeSet::new();
    for slice in snapshot.ledger.slices.values() {
        let heads = [&slice.basis, &slice.head, &slice.last_head];
        cited.extend(heads.into_iter().flatten().cloned());
        if let Some(accepted) = &slice.accepted {
            cited.extend([accepted.basis.clone(), accepted.head.clone()]);
        }
    }
    for slice in &snapshot.plan.candidate_slices {
        let records = slice.evidence.iter().filter_map(Evidence::record);
        cited.extend(records.map(|record| record.head_sha.clone()));
    }
    cited
}
