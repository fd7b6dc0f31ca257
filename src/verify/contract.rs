//! The tracked contract: there, readable, committed, and in step with the repository.

use super::outcome::Outcome;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_core::machine::{self, CONTRACT_TEXTS};
use cook_core::model::{Profile, Snapshot};
use cook_core::schema;

pub(super) fn check(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let missing = workspace.repo.contract_missing()?;
    for path in &missing {
        outcome.find(
            Code::ContractMissing,
            format!("`{path}` is not in the worktree"),
            path,
        );
    }
    let head = workspace.repo.head()?;
    for path in workspace.repo.contract_uncommitted(&head)? {
        if !missing.contains(&path) {
            outcome.find(
                Code::ContractUntracked,
                format!("`{path}` is not committed as it stands"),
                &path,
            );
        }
    }
    profile(workspace, outcome)?;
    for path in workspace.contract_differs(snapshot)? {
        let take_in = machine::take_in_command(&path);
        let what = format!("`{path}` differs from the log's; `{take_in}` takes it in");
        outcome.find(Code::ContractEdited, what, &path);
    }
    if workspace.is_stop_verifier_stale()? {
        outcome.findings.push(machine::stale_stop_verifier());
    }
    outcome.add_checked("the tracked contract");
    Ok(())
}

fn profile(workspace: &Workspace, outcome: &mut Outcome) -> Result<(), Failure> {
    let [_, profile] = CONTRACT_TEXTS;
    let Some(bytes) = workspace.read_contract_text(profile)? else {
        return Ok(());
    };
    if let Err(findings) = schema::read_document::<Profile>(&bytes, schema::MAX_DOCUMENT_BYTES) {
        let named = findings
            .into_iter()
            .map(|finding| super::documents::in_file(finding, "profile.json"));
        outcome.findings.extend(named);
    }
    Ok(())
}
