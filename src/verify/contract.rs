//! The tracked contract: there, readable, committed, and in step with the repository.

use super::outcome::Outcome;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_core::machine;
use cook_core::model::{Profile, Snapshot};
use cook_core::schema;

/// Largest contract file that is read.
const MAX_FILE: u64 = 4 << 20;
use cook_os::disk::{self, Links};

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
    profile(workspace, outcome);
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

fn read(workspace: &Workspace, name: &str) -> Option<Vec<u8>> {
    let path = workspace.repo.root().join(".agent").join(name);
    disk::read(&path, MAX_FILE, Links::Refuse).ok()?
}

fn profile(workspace: &Workspace, outcome: &mut Outcome) {
    let Some(bytes) = read(workspace, "profile.json") else {
        return;
    };
    if let Err(findings) = schema::read_document::<Profile>(&bytes, schema::MAX_DOCUMENT_BYTES) {
        let named = findings
            .into_iter()
            .map(|finding| super::documents::in_file(finding, "profile.json"));
        outcome.findings.extend(named);
    }
}
