//! What the reports of reviewer, auditor and judge have in common.

use crate::diagnostic::{Code, Refusal};
use crate::machine::facts::FactSet;
use crate::machine::work::Work;

/// What reviewer, auditor and judge want measured.
pub(in crate::machine) fn read_only_needs(set: &mut FactSet) {
    set.worktree = true;
    set.config = true;
}

/// A read-only role leaves the worktree as it was at the last transition.
pub(super) fn require_same_tree(work: &Work) -> Result<(), Refusal> {
    let worktree = work.facts.worktree()?;
    let same = work
        .before
        .ledger
        .status_seen
        .as_ref()
        .is_none_or(|seen| seen == &worktree.digest);
    if same || worktree.is_clean() {
        return Ok(());
    }
    Err(Refusal::new(
        Code::TreeChanged,
        format!(
            "the worktree changed since the last transition: {}",
            worktree.dirty.iter().take(5).cloned().collect::<Vec<_>>().join(", ")
        ),
    )
    .replace_hints(["commit, stash or put back these paths; `cook pause` then `cook resume` takes the tree as it is"]))
}
