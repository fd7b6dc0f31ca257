//! The log held against the contract that decides: its judges, its assurance, the criteria that the
//! base states.

use crate::scaffold::plans;
use crate::service::{Judging, Workspace};
use crate::verify::outcome::Outcome;
use cook_core::diagnostic::{Code, Failure, Lines, clean};
use cook_core::model::{Plan, Slice, SliceStatus, Snapshot};
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
    for what in list_unproven(workspace, judging, &source.path, &snapshot.plan)? {
        outcome.find(Code::ContractWeaker, what, &source.path);
    }
    outcome.add_checked(format!(
        "what `{}` of the contract that decides lists, against what was proven",
        source.path
    ));
    Ok(())
}

/// What of the base's plan was not proven, of what the branch found there when it began.
fn list_unproven(
    workspace: &Workspace,
    judging: &Judging,
    path: &str,
    proven: &Plan,
) -> Result<Vec<String>, Failure> {
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
    Ok(compare_plans(&base, fork.as_ref().unwrap_or(&base), proven))
}

fn compare_plans(base: &Plan, fork: &Plan, proven: &Plan) -> Vec<String> {
    let holds = |slice: Option<&Slice>, text: &str| {
        let mut known = slice.iter().flat_map(|slice| &slice.acceptance_criteria);
        known.any(|known| known.trim() == text.trim())
    };
    let mut found = Vec::new();
    for slice in &base.candidate_slices {
        let id = &slice.slice_id;
        let Some(known) = fork.slice(id) else {
            continue;
        };
        let kept = proven.slice(id);
        let kept = kept.filter(|kept| kept.status != SliceStatus::Cancelled);
        if kept.is_none() {
            found.push(format!(
                "the slice `{}` is not in what was proven: {}",
                show(id),
                show(&slice.goal)
            ));
            continue;
        }
        let asked = slice.acceptance_criteria.iter();
        let lost = asked.filter(|text| holds(Some(known), text) && !holds(kept, text));
        found.extend(lost.map(|text| {
            format!(
                "the slice `{}` was proven without, or with other words for: {}",
                show(id),
                show(text)
            )
        }));
    }
    found
}

/// A text as it is shown: one line, not too long.
fn show(text: &str) -> String {
    let line = clean(text.trim(), Lines::Fold);
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use cook_core::model::SchemaVersion;

    fn plan(slices: &[(&str, &[&str])]) -> Plan {
        let slice = |(id, criteria): &(&str, &[&str])| Slice {
            slice_id: (*id).to_owned(),
            acceptance_criteria: criteria.iter().map(|text| (*text).to_owned()).collect(),
            ..Slice::default()
        };
        Plan {
            schema_version: SchemaVersion,
            mission_anchor: String::new(),
            last_reground_at: None,
            plan_basis: String::new(),
            candidate_slices: slices.iter().map(slice).collect(),
        }
    }

    #[test]
    fn a_dropped_slice_and_a_dropped_or_reworded_criterion_are_named() {
        let base = plan(&[("a", &["one", "two"]), ("b", &["three"])]);
        let count = |proven: &Plan| compare_plans(&base, &base, proven).len();
        assert_eq!(count(&base), 0);
        assert_eq!(
            count(&plan(&[("a", &["one", "two", "more"]), ("b", &["three"])])),
            0
        );
        assert_eq!(count(&plan(&[("a", &["one"]), ("b", &["three"])])), 1);
        assert_eq!(
            count(&plan(&[("a", &["one", "two, mostly"]), ("b", &["three"])])),
            1
        );
        let mut cancelled = base.clone();
        cancelled.candidate_slices[1].status = SliceStatus::Cancelled;
        assert_eq!(count(&cancelled), 1);
        // What the base took up later is not asked of a branch.
        let fork = plan(&[("a", &["one"])]);
        assert_eq!(compare_plans(&base, &fork, &fork).len(), 0);
    }
}
