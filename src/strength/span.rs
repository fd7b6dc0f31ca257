//! The commits between which a change lies.

use super::found::Ask;
use crate::check::{Base, find_base};
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_core::machine::short;

/// Where a change lies.
pub(super) struct Span {
    /// Its last commit.
    pub head: String,
    pub base: Base,
    /// Commands that are run for it beside the gates of the settings.
    pub commands: Vec<String>,
}

/// Of a slice as the log has it, else from the base to HEAD.
pub(super) fn find(workspace: &Workspace, ask: &Ask) -> Result<Span, Failure> {
    let head = workspace.repo.head()?.commit;
    let Some(id) = ask.slice else {
        let Some(head) = head else {
            let refusal = Refusal::new(Code::UnbornHead, "the repository has no commit yet");
            let hint = "commit the change, then run `cook strength`";
            return Err(refusal.replace_hints([hint]).into());
        };
        let base = find_base(&workspace.repo, &head, ask.base)?;
        return Ok(Span {
            head,
            base,
            commands: Vec::new(),
        });
    };
    let (_, snapshot) = workspace.require()?;
    let Some(slice) = snapshot.plan.slice(id) else {
        let what = format!("the plan has no slice `{id}`");
        return Err(Failure::unknown(Code::SliceUnknown, what));
    };
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
    Ok(Span {
        head: resolve(&upto)?,
        base,
        commands: slice.verification_commands.clone().unwrap_or_default(),
    })
}
