//! The commits between which a change lies.

use super::found::Ask;
use crate::check::{Base, find_base};
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_core::machine::short;

/// The change's last commit, and what it is compared with: of a slice as the log has it, else HEAD
/// and the base.
pub(super) fn find(workspace: &Workspace, ask: &Ask) -> Result<(String, Base), Failure> {
    let head = workspace.repo.head()?.commit;
    let Some(id) = ask.slice else {
        let Some(head) = head else {
            let refusal = Refusal::new(Code::UnbornHead, "the repository has no commit yet");
            let hint = "commit the change, then run `cook strength`";
            return Err(refusal.replace_hints([hint]).into());
        };
        let base = find_base(&workspace.repo, &head, ask.base)?;
        return Ok((head, base));
    };
    let (_, snapshot) = workspace.require()?;
    if snapshot.plan.slice(id).is_none() {
        let what = format!("the plan has no slice `{id}`");
        return Err(Refusal::new(Code::SliceUnknown, what).into());
    }
    let ledger = snapshot.ledger.slices.get(id);
    let accepted = ledger.and_then(|ledger| ledger.accepted.as_ref());
    let ends = match accepted {
        Some(accepted) => Some((accepted.basis.clone(), accepted.head.clone())),
        None => ledger.and_then(|ledger| {
            let own = ledger.head.clone().or_else(|| ledger.reported.clone());
            Some((ledger.basis.clone()?, own.or(head)?))
        }),
    };
    let Some((basis, upto)) = ends else {
        let what = format!("the slice `{id}` has no commit yet");
        return Err(Refusal::new(Code::SliceUnknown, what)
            .replace_hints(["name a slice that was worked on, or run `cook strength --base REF`"])
            .into());
    };
    let resolve = |id: &str| match workspace.repo.resolve(id)? {
        Some(commit) => Ok(commit),
        None => {
            let what = format!("{} is not in this clone", short(id));
            let hint = "fetch the whole history: `git fetch --unshallow`";
            Err(Failure::from(
                Refusal::new(Code::CommitUnknown, what).replace_hints([hint]),
            ))
        }
    };
    let base = Base {
        commit: resolve(&basis)?,
        why: format!("the basis of slice {id}"),
    };
    Ok((resolve(&upto)?, base))
}
