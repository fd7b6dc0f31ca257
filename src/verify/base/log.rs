//! The log held against the contract that decides: its judges, its assurance, the criteria that the
//! base states.

use crate::scaffold::plans;
use crate::service::{Judging, Workspace};
use crate::verify::outcome::Outcome;
use cook_core::change::{Difference, compare_criteria};
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_core::model::{Plan, Snapshot};
use cook_os::disk::TemporaryDir;
use std::path::Path;

/// Files beside a plan that are read with it.
const MAX_BESIDE: usize = 200;

/// Votes that must agree: no fewer than the contract that decides asks for.
pub(in crate::verify) fn judges(workspace: &Workspace, snapshot: &Snapshot) -> u64 {
    let own = snapshot.profile.required_stop_judges.0;
    let judging = workspace.judging.as_ref();
    let asked = judging.and_then(|judging| judging.profile.as_ref());
    asked.map_or(own, |profile| profile.required_stop_judges.0.max(own))
}

/// What the log proves less than the contract that decides asks for.
pub(in crate::verify) fn hold(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let Some(judging) = &workspace.judging else {
        return Ok(());
    };
    if let Some(profile) = &judging.profile
        && snapshot.lowest_assurance() < profile.assurance
    {
        let what = format!(
            "slices or votes rest on the assurance `{}`, and the contract that decides asks for `{}`",
            snapshot.lowest_assurance(),
            profile.assurance
        );
        outcome.find(Code::ContractWeaker, what, ".agent/profile.json");
    }
    let Some(source) = &snapshot.ledger.plan_source else {
        return Ok(());
    };
    for one in criteria(workspace, judging, &source.path, &snapshot.plan)? {
        let finding = Finding::new(Code::ContractWeaker, one.describe());
        outcome.findings.push(finding.at(one.file));
    }
    outcome.add_checked(format!(
        "what `{}` of the contract that decides lists, against what was proven",
        source.path
    ));
    Ok(())
}

fn criteria(
    workspace: &Workspace,
    judging: &Judging,
    path: &str,
    proven: &Plan,
) -> Result<Vec<Difference>, Failure> {
    let Some(base) = read_plan_at(workspace, &judging.commit, path)? else {
        return Ok(Vec::new());
    };
    let head = workspace.repo.head()?.commit;
    let fork = match head {
        Some(head) => workspace.repo.only_merge_base(&judging.commit, &head)?,
        None => None,
    };
    let fork = match fork.filter(|fork| *fork != judging.commit) {
        Some(fork) => read_plan_at(workspace, &fork, path)?,
        None => None,
    };
    Ok(compare_criteria(path, &base, fork.as_ref(), proven))
}

/// The plan that a file of a commit lists, read as `cook init --from` reads it; none where it is not there.
fn read_plan_at(workspace: &Workspace, commit: &str, path: &str) -> Result<Option<Plan>, Failure> {
    let dir = Path::new(path).parent().and_then(Path::to_str);
    let below = dir.filter(|dir| !dir.is_empty());
    let files = workspace
        .repo
        .list_files_under(commit, &[below.unwrap_or(path)])?;
    if !files.contains_key(path) {
        return Ok(None);
    }
    let failure = |error: std::io::Error| {
        Failure::state(Code::NotWritable, "a directory for a plan").with_cause(&error)
    };
    let place = TemporaryDir::make().map_err(failure)?;
    let is_beside = |file: &str| Path::new(file).parent() == Path::new(path).parent();
    let beside = files
        .iter()
        .filter(|(file, entry)| is_beside(file) && entry.mode.starts_with("100"));
    let own = files.get_key_value(path).into_iter();
    for (file, entry) in own.chain(beside.take(MAX_BESIDE)) {
        let Some(bytes) = workspace.repo.blob(&entry.id)? else {
            continue;
        };
        let target = place.path().join(file);
        if let Some(dir) = target.parent() {
            std::fs::create_dir_all(dir).map_err(failure)?;
        }
        std::fs::write(&target, bytes).map_err(failure)?;
    }
    Ok(plans::read(place.path(), path)?.import.plan)
}
