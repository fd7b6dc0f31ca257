//! A committed slice whose history was written anew while it is looked at: where a commit on HEAD
//! has its tree, and the tree that it began from, it is the same work under another name, and what
//! was said of it holds.

use super::text::short;
use crate::diagnostic::{Code, Finding};
use crate::model::{ActiveStatus, Snapshot};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Ask where a committed slice's commit went.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ReboundQuestion {
    /// The slice, whose trailer makes a commit its own.
    pub slice_id: String,
    /// Its basis.
    pub basis: String,
    /// The basis's tree, where it was written down.
    pub basis_tree: Option<String>,
    /// Its head.
    pub head: String,
    /// The head's tree, where it was written down.
    pub tree: Option<String>,
    /// Commits that it claims.
    pub claimed: BTreeSet<String>,
}

/// The commit on HEAD that holds a committed slice as it was reported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rebound {
    /// The slice.
    pub slice_id: String,
    /// The commit that was reported, and is not on HEAD any more.
    pub from: String,
    /// The one that has its tree.
    pub head: String,
    /// The one that has the tree of its basis.
    pub basis: String,
    /// Commits between the two that are its own.
    pub claimed: Vec<String>,
}

impl Rebound {
    pub(super) fn finding(&self) -> Finding {
        let what = format!(
            "its commit {} is not on HEAD any more, and {} has the same tree on the same basis",
            short(&self.from),
            short(&self.head)
        );
        Finding::new(Code::Rebound, what).at(self.slice_id.clone())
    }
}

/// What must be measured before anything else.
pub fn rebound_question(snapshot: &Snapshot) -> Option<ReboundQuestion> {
    if snapshot.active.status != ActiveStatus::Committed {
        return None;
    }
    let slice_id = snapshot.active.slice_id.clone()?;
    let ledger = snapshot.ledger.slices.get(&slice_id)?;
    let basis = snapshot.active.handoff.as_ref()?.basis_commit.clone();
    Some(ReboundQuestion {
        basis_tree: snapshot.ledger.trees.get(&basis).cloned(),
        basis,
        head: ledger.head.clone()?,
        tree: ledger.head_tree.clone(),
        claimed: ledger.claimed.iter().cloned().collect(),
        slice_id,
    })
}

/// The state as it speaks of the history that is there now.
pub fn follow<'a>(snapshot: &'a Snapshot, found: Option<&Rebound>) -> Cow<'a, Snapshot> {
    let is_of = |found: &&Rebound| {
        let ledger = snapshot.ledger.slices.get(&found.slice_id);
        snapshot.active.status == ActiveStatus::Committed
            && snapshot.active.slice_id.as_ref() == Some(&found.slice_id)
            && ledger.is_some_and(|ledger| ledger.head.as_ref() == Some(&found.from))
    };
    let Some(found) = found.filter(is_of) else {
        return Cow::Borrowed(snapshot);
    };
    let mut next = snapshot.clone();
    let basis = next
        .active
        .handoff
        .as_ref()
        .map(|handoff| &handoff.basis_commit);
    let trees = &mut next.ledger.trees;
    for (was, is) in [(Some(&found.from), &found.head), (basis, &found.basis)] {
        if let Some(tree) = was.and_then(|was| trees.get(was)).cloned() {
            trees.insert(is.clone(), tree);
        }
    }
    if let Some(ledger) = next.ledger.slices.get_mut(&found.slice_id) {
        let review = ledger.review.as_mut().map(|review| &mut review.commit);
        let audit = ledger.audit.as_mut().map(|audit| &mut audit.commit);
        let heads = ledger.head.as_mut().into_iter().chain(&mut ledger.reported);
        for commit in heads.chain(review).chain(audit) {
            if *commit == found.from {
                commit.clone_from(&found.head);
            }
        }
        ledger.basis = Some(found.basis.clone());
        ledger.claimed.clone_from(&found.claimed);
    }
    if let Some(slice) = next.plan.slice_mut(&found.slice_id) {
        slice.basis_commit = Some(found.basis.clone());
    }
    if let Some(handoff) = &mut next.active.handoff {
        handoff.basis_commit.clone_from(&found.basis);
    }
    Cow::Owned(next)
}
