//! What is not committed while a role is due: whoever works or judges next to it has to know, and
//! whoever hands a report in has to know how it is taken.

use super::workspace::Workspace;
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::machine::{Dispatch, Facts, Worktree};
use cook_protocol::model::{Role, Snapshot};

/// Paths that are named.
const NAMED: usize = 20;

/// The worktree, where something of it is not committed.
///
/// # Errors
/// git that does not answer.
pub fn find_uncommitted(workspace: &Workspace, facts: &Facts) -> Result<Option<Worktree>, Failure> {
    let worktree = match &facts.worktree {
        Some(worktree) => worktree.clone(),
        None => workspace.repo.status()?.worktree,
    };
    Ok(Some(worktree).filter(|worktree| !worktree.is_clean()))
}

/// Something came since the last transition that is not committed: a report of a role that may
/// change nothing is taken with a ticket alone.
pub fn needs_ticket(snapshot: &Snapshot, worktree: &Worktree) -> bool {
    let seen = snapshot.ledger.status_seen.as_ref();
    seen.is_some_and(|seen| *seen != worktree.digest)
}

/// What the role that is due has to know of it, where no rule says it already.
pub fn tell_uncommitted(
    snapshot: &Snapshot,
    dispatch: &Dispatch,
    worktree: &Worktree,
) -> Option<Finding> {
    let is_named = |finding: &Finding| finding.code == Code::DirtyWorktree;
    let is_told = dispatch.findings.iter().any(is_named);
    let paths = worktree.name_dirty(NAMED);
    let what = match dispatch.role? {
        Role::Bootstrapper => return None,
        Role::Regrounder if is_told => return None,
        Role::Regrounder => format!(
            "the worktree is not clean: {paths}; before the user commits or removes that, no slice can be selected or accepted"
        ),
        Role::Implementer => format!(
            "not committed: {paths}; what of it lies on the slice's surfaces belongs into its commit, else the slice comes back; the rest is somebody else's"
        ),
        Role::Reviewer | Role::Auditor | Role::StopJudge => {
            let named = match is_told {
                true => None,
                false => Some(format!("not committed, and no part of any commit: {paths}")),
            };
            let moved = needs_ticket(snapshot, worktree).then(|| {
                "the worktree changed since the last transition: a report is taken with the ticket that `cook next` prints now, and with no other".to_owned()
            });
            let parts: Vec<String> = named.into_iter().chain(moved).collect();
            match parts.is_empty() {
                true => return None,
                false => parts.join("; "),
            }
        }
    };
    Some(Finding::new(Code::DirtyWorktree, what))
}
