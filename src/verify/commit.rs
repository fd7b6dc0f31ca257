//! What a transition says of a reported commit and of its gates, asked of git again.

use crate::measure::read_settings_at;
use crate::scaffold::SETTINGS;
use crate::service::Workspace;
use cook_core::diagnostic::Failure;
use cook_core::machine::{CommitFacts, CommitQuestion, FactSet, Facts, Head, MAX_PATHS, short};
use cook_core::model::GateSpec;
use cook_store::receipt::merge_gates;

/// What git contradicts, in words. What rests on a commit that is not here is not asked.
pub(super) fn contradiction(
    workspace: &Workspace,
    head: &Head,
    facts: &Facts,
    asked: &FactSet,
) -> Result<Option<String>, Failure> {
    let (Some(question), Some(said)) = (&asked.commit, &facts.commit) else {
        return Ok(None);
    };
    let Some(id) = &said.id else {
        return Ok(None);
    };
    if !is_here(workspace, question, id)? {
        return Ok(None);
    }
    // Those that were in force: a report of a commit that holds others is refused.
    let Some(config) = read_settings_at(&workspace.repo, id)? else {
        return Ok(None);
    };
    if let (Some(question), Some(runs)) = (&asked.gates, &facts.gates) {
        let gates: Vec<&GateSpec> = runs.iter().map(|run| &run.gate).collect();
        let expected = merge_gates(config.gate_specs(), &question.commands);
        if gates != expected.iter().collect::<Vec<_>>() {
            let of = short(id);
            return Ok(Some(format!("`{SETTINGS}` at {of} names other gates")));
        }
    }
    let question = CommitQuestion {
        // An abbreviation that was clear then may not be now.
        commit: id.clone(),
        ..question.clone()
    };
    let protected = &config.rules.protected;
    let found = workspace.repo.commit_facts(head, &question, protected)?;
    Ok(difference(said, &found).map(|what| format!("{what} {}", short(id))))
}

/// Every commit that the answer is found by.
fn is_here(workspace: &Workspace, question: &CommitQuestion, id: &str) -> Result<bool, Failure> {
    let named = [id, &question.basis].into_iter();
    let named = named.chain(question.since.as_deref());
    for commit in named.chain(question.claimed.iter().map(String::as_str)) {
        if workspace.repo.resolve(commit)?.is_none() {
            return Ok(false);
        }
    }
    Ok(id.starts_with(&question.commit) || workspace.repo.resolve(&question.commit)?.is_some())
}

fn difference(said: &CommitFacts, found: &CommitFacts) -> Option<&'static str> {
    let is_whole = |facts: &CommitFacts| facts.paths.len() < MAX_PATHS;
    let sorted = |paths: &[String]| {
        let mut paths = paths.to_vec();
        paths.sort();
        paths
    };
    let lacks = |said: &[String], found: &[String]| found.iter().any(|path| !said.contains(path));
    if said.id != found.id {
        Some("another commit is meant than")
    } else if said.tree != found.tree {
        Some("another tree is that of")
    } else if (said.on_head, said.after_basis) != (found.on_head, found.after_basis) {
        Some("HEAD and the slice's basis are not where it says beside")
    } else if said.claimed != found.claimed || said.merged != found.merged {
        Some("the session made other commits up to")
    } else if is_whole(found) && sorted(&said.paths) != sorted(&found.paths) {
        Some("the slice changes other paths up to")
    } else if lacks(&said.protected, &found.protected) {
        Some("a protected path is changed up to")
    } else {
        None
    }
}
