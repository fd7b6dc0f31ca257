//! `cook` alone: what was found in this repository, what is known of its last commit, and the one command that
//! comes next.

use super::context::{Answer, Context};
use super::help::first_commands;
use super::transition::note;
use crate::check::{describe_place, find_base};
use crate::hooks::install::list_installed;
use crate::service::{Workspace, dispatch_now};
use cook_agents::hooks::layout::Purpose;
use cook_agents::presets;
use cook_protocol::diagnostic::{Code, Failure, Lines, clean};
use cook_protocol::machine::{ASK_GOAL, quote_word, short};
use cook_protocol::model::GateSpec;
use cook_repo::process::on_path;
use cook_repo::receipt::Receipts;

pub(super) fn overview(context: &Context, program: &clap::Command) -> Answer {
    match context.workspace() {
        Ok(workspace) => note("overview", describe(workspace)?),
        Err(failure) if failure.code == Code::NotARepository => {
            note("overview", first_commands(program))
        }
        Err(failure) => Err(failure),
    }
}

/// How the gates stand at HEAD.
#[derive(Clone, Copy, PartialEq)]
enum Gates {
    /// There is none, or one has no receipt of HEAD.
    NotRun,
    /// A command that is not trusted.
    Untrusted,
    Red,
    Green,
}

fn describe(mut workspace: Workspace) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    let mut tell = |what: &str, text: &str| lines.push(format!("{what:<8}{text}"));
    let commit = workspace.repo.head()?.commit;
    let mut standing = Gates::NotRun;
    if let Some(commit) = &commit {
        // The gates that `cook check` would run.
        let base = find_base(&workspace.repo, commit, None)?;
        let (is_found, _) = workspace.propose_gates_for(&base.commit, commit)?;
        let gates = workspace.config()?.gate_specs();
        let from = if is_found {
            ", found in the repository"
        } else {
            ""
        };
        for gate in &gates {
            let (name, run, place) = (&gate.name, &gate.run, describe_place(gate));
            tell("gate", &format!("{name}: `{run}`{place}{from}"));
        }
        if gates.is_empty() {
            tell("gate", "none that says anything about the last change");
        }
        standing = find_standing(&workspace, commit, &gates)?;
    }
    let agents = list_agents(&workspace)?;
    tell("agents", &join(&agents));
    let purposes = [Purpose::Check, Purpose::Workflow].into_iter();
    let hooks = purposes.flat_map(|purpose| list_installed(&workspace, purpose));
    let hooks: Vec<String> = hooks.map(|agent| agent.name().to_owned()).collect();
    tell("hooks", &join(&hooks));
    // Where there is a log, it says what is asked of HEAD.
    if let (_, Some(snapshot)) = workspace.current()? {
        let (due, _) = dispatch_now(&workspace, Some(&snapshot))?;
        tell("work", &clean(&due.action, Lines::Fold));
        tell("next:", snapshot.goal().map_or("cook next", |_| ASK_GOAL));
        return Ok(lines);
    }
    let Some(commit) = commit else {
        tell("HEAD", "there is no commit yet");
        tell("next:", "git commit");
        return Ok(lines);
    };
    let at = short(&commit);
    let verdict = match standing {
        Gates::Untrusted | Gates::NotRun => format!("{at} was not asked yet"),
        Gates::Red => format!("a gate is red at {at}"),
        Gates::Green => format!("every gate is green at {at}"),
    };
    tell("HEAD", &verdict);
    tell("next:", &suggest(standing, &agents, &hooks));
    Ok(lines)
}

fn list_agents(workspace: &Workspace) -> Result<Vec<String>, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = presets(workspace.config()?);
    let sound = all.values().filter_map(|preset| preset.as_ref().ok());
    let here = sound.filter(|preset| on_path(preset.bin(), &path).is_some());
    Ok(here.map(|preset| preset.name().to_owned()).collect())
}

fn find_standing(
    workspace: &Workspace,
    commit: &str,
    gates: &[GateSpec],
) -> Result<Gates, Failure> {
    let trust = workspace.trust()?;
    let receipts = Receipts::of(&workspace.repo)?;
    let tree = workspace.repo.find_tree(commit)?;
    let mut standing = if gates.is_empty() {
        Gates::NotRun
    } else {
        Gates::Green
    };
    for gate in gates {
        match receipts.find_gate(gate, &tree, None)? {
            Some(receipt) if receipt.has_passed() => {}
            Some(_) => return Ok(Gates::Red),
            None if !trust.is_trusted(&gate.run) => standing = Gates::Untrusted,
            None if standing == Gates::Green => standing = Gates::NotRun,
            None => {}
        }
    }
    Ok(standing)
}

/// The one next command where no log says what is due.
fn suggest(standing: Gates, agents: &[String], hooks: &[String]) -> String {
    match (standing, agents.first()) {
        (Gates::Untrusted, _) => "cook check --trust-repo".to_owned(),
        (Gates::Green, Some(agent)) if hooks.is_empty() => {
            format!("cook hooks install {} --check", quote_word(agent))
        }
        (Gates::Green, _) => {
            "cook goal \"WHAT YOU WANT\" --check \"A COMMAND THAT FAILS TODAY\"".to_owned()
        }
        _ => "cook check".to_owned(),
    }
}

fn join(names: &[String]) -> String {
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}
