//! What is not committed when a run begins: put aside as a ref, and back when it ends.

use super::operator::Operator;
use crate::service::Workspace;
use cook_core::diagnostic::Failure;
use cook_git::Unparked;

pub(super) fn count_uncommitted(workspace: &Workspace) -> Result<u64, Failure> {
    let worktree = workspace.repo.status()?.worktree;
    Ok(worktree.dirty.len() as u64 + worktree.more)
}

/// Puts what is not committed aside.
pub(super) fn park(operator: &dyn Operator, workspace: &Workspace) -> Result<(), Failure> {
    let paths = count_uncommitted(workspace)?;
    let name = workspace
        .repo
        .park(workspace.store_id(), &cook_store::store::fresh_id())?;
    operator.note(&format!("{} parked as `{name}`", paths_are(paths)));
    Ok(())
}

/// Puts parked changes of this workflow back, newest first: they lie on each other so.
pub(super) fn put_back(operator: &dyn Operator, workspace: &Workspace) -> Result<(), Failure> {
    for name in workspace
        .repo
        .list_parked(workspace.store_id())?
        .into_iter()
        .rev()
    {
        match workspace.repo.unpark(&name)? {
            Unparked::PutBack => operator.note("what was parked is in the worktree again"),
            Unparked::Stay(why) => {
                operator.warn(&format!("parked changes stay where they are, because {why}: `git stash apply --index {name}` puts them back, then `git update-ref -d {name}`"),
                );
                break;
            }
        }
    }
    Ok(())
}

pub fn paths_are(paths: u64) -> String {
    match paths {
        1 => "1 path is".to_owned(),
        paths => format!("{paths} paths are"),
    }
}
