//! Agents that may be run here: trusted, installed, and the programs that they are taken for.

use super::sandbox_mode::Keeping;
use crate::service::Workspace;
use cook_agents::{
    AgentSupplier, Found, Preset, Sandbox, describe_error, find, presets, probe_version,
};
use cook_protocol::diagnostic::{Code, Failure, FailureKind, Finding};
use cook_protocol::model::Config;
use cook_repo::process::Clocks;
use cook_repo::session::{Action, Ref, RefKind, Supplier, Turn};
use cook_repo::thread;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Programs that only the repository names are not run before they are trusted.
pub fn find_here(workspace: &Workspace, presets: &[&Preset]) -> Result<Vec<Found>, Failure> {
    let cache = workspace.repo.cook_dir()?.join("agents.json");
    let mut here = Vec::new();
    for preset in presets {
        here.push(match find_untrusted(workspace, preset)? {
            Some(words) => absent(&format!("not trusted here: `cook trust '{words}'`")),
            None => Found::default(),
        });
    }
    let may_run = |(_, found): &(&&Preset, &Found)| found.problem.is_none();
    let asked: Vec<&Preset> = presets
        .iter()
        .zip(&here)
        .filter(may_run)
        .map(|(preset, _)| *preset)
        .collect();
    let mut answers = find(&asked, workspace.repo.root(), &cache)?.into_iter();
    for found in here.iter_mut().filter(|found| found.problem.is_none()) {
        *found = answers.next().unwrap_or_else(|| absent("it was not asked"));
    }
    Ok(here)
}

fn absent(why: &str) -> Found {
    Found {
        problem: Some(why.to_owned()),
        ..Found::default()
    }
}

/// What must be trusted before an agent of `cook.toml` may be run, when it is not.
fn find_untrusted(workspace: &Workspace, preset: &Preset) -> Result<Option<String>, Failure> {
    match preset.trust_words() {
        Some(words) if !workspace.trust()?.is_trusted(&words) => Ok(Some(words)),
        _ => Ok(None),
    }
}

/// The agent of that name, or the one that the settings name; it may be run here.
pub fn choose(workspace: &Workspace, name: Option<&str>) -> Result<Preset, Failure> {
    let config = workspace.config()?;
    let name = match name.or_else(|| default_agent(config)) {
        Some(name) => name,
        None => {
            return Err(Failure::usage("no agent is named")
                .hint("name one with `--agent NAME`, or set `[sessions] agent` in `.agent/cook.toml`; `cook doctor agents` lists them"));
        }
    };
    let preset = Preset::of(name, config)?;
    if let Some(words) = find_untrusted(workspace, &preset)? {
        let what = format!(
            "agent `{name}` is defined by `.agent/cook.toml`, and not trusted on this machine: it runs `{}`",
            preset.bin()
        );
        let hint = format!("look at `[agents.{name}]`, then run `cook trust '{words}'`");
        let failure = Failure::new(FailureKind::Refused, Code::AgentUntrusted, what);
        return Err(failure.replace_hints([hint]));
    }
    Ok(preset)
}

/// The agent as its program here can do. A program that has the name of an agent's and says
/// that it is another is refused.
pub fn fit_to_program(workspace: &Workspace, mut preset: Preset) -> Result<Preset, Failure> {
    for found in find_here(workspace, &[&preset])? {
        if found.path.is_some() && found.problem.is_none() && !found.is_it {
            let why = lacks(&preset, &found).unwrap_or_default();
            return Err(
                Failure::new(FailureKind::Supplier, Code::SupplierFailed, why).hint(format!(
                    "put the agent before it on PATH, or name its program: `[agents.{}] bin` in `.agent/cook.toml`",
                    preset.name()
                )),
            );
        }
        found.restrict(&mut preset);
    }
    Ok(preset)
}

/// Why an agent cannot work here.
pub(super) fn lacks(preset: &Preset, found: &Found) -> Option<String> {
    let name = preset.name();
    match (&found.problem, &found.path) {
        (Some(problem), _) => Some(format!("agent `{name}`: {problem}")),
        (None, None) => Some(format!("agent `{name}`: there is no `{}`", preset.bin())),
        (None, Some(path)) => (!found.is_it).then(|| {
            format!(
                "agent `{name}`: `{}` is another program of that name",
                path.display()
            )
        }),
    }
}

/// What is wrong with the agents that the settings define or name.
pub fn unfit(workspace: &Workspace) -> Result<Vec<Finding>, Failure> {
    let config = workspace.config()?;
    let mut wrong: Vec<(String, String)> = presets(config)
        .into_iter()
        .filter_map(|(name, preset)| Some((format!("agents.{name}"), preset.err()?.message)))
        .collect();
    for (name, place) in name_agents(config) {
        match Preset::of(name, config) {
            Ok(preset) => {
                let found = find_here(workspace, &[&preset])?;
                let why = found.iter().find_map(|found| lacks(&preset, found));
                wrong.extend(why.map(|why| (place, why)));
            }
            // A table that makes no agent is named already.
            Err(_) if config.agents.contains_key(name) => {}
            Err(error) => wrong.push((place, error.message)),
        }
    }
    let finding = |(place, why)| Finding::new(Code::AgentUnfit, why).at(place);
    Ok(wrong.into_iter().map(finding).collect())
}

/// The agents that settings name, each with one place that names it.
fn name_agents(config: &Config) -> BTreeMap<&str, String> {
    let roles = config.roles.iter().flat_map(|(role, set)| {
        let all = set.agent.iter().chain(&set.agents).chain(&set.fallback);
        all.map(move |name| (name.as_str(), format!("roles.{role}")))
    });
    let own = config.sessions.agent.as_deref();
    roles
        .chain(own.map(|name| (name, "sessions".to_owned())))
        .collect()
}

fn default_agent(config: &Config) -> Option<&str> {
    let role = config
        .roles
        .get("default")
        .and_then(|role| role.agent.as_deref());
    config.sessions.agent.as_deref().or(role)
}

/// How long an agent may take over one word.
const PROBE: Clocks = Clocks {
    wall: Duration::from_secs(120),
    idle: Duration::from_secs(90),
};

/// Has agents answer once; what was seen, and what is wrong.
pub fn probe(
    workspace: &Workspace,
    only: Option<&str>,
) -> Result<(Vec<String>, Vec<Finding>), Failure> {
    let config = workspace.config()?;
    let all: Vec<Preset> = match only {
        Some(name) => vec![choose(workspace, Some(name))?],
        None => presets(config)
            .into_values()
            .filter_map(Result::ok)
            .collect(),
    };
    let borrowed: Vec<&Preset> = all.iter().collect();
    let found = find_here(workspace, &borrowed)?;
    let here: Vec<&Preset> = borrowed
        .into_iter()
        .zip(&found)
        .filter(|(_, found)| only.is_some() || (found.path.is_some() && found.is_it))
        .map(|(preset, _)| preset)
        .collect();
    let root = workspace.repo.cook_dir()?.join("sessions");
    let dir = workspace.repo.root();
    let sandbox = Keeping::of(workspace)?.sandbox(&workspace.repo)?;
    let heard = thread::on_each(&here, |preset| {
        one_turn(preset, dir.to_owned(), root.clone(), sandbox.clone())
    });
    let heard = heard
        .into_iter()
        .map(|heard| heard.unwrap_or_else(|_| Err("the probe failed".to_owned())));
    let mut checked = Vec::new();
    let mut findings = Vec::new();
    for (preset, heard) in here.iter().zip(heard) {
        match heard {
            Ok(said) => checked.push(format!("agent {}: {said}", preset.name())),
            Err(why) => findings
                .push(Finding::new(Code::AgentSilent, why).at(format!("agent {}", preset.name()))),
        }
    }
    if here.is_empty() {
        checked.push("no agent is installed".to_owned());
    }
    Ok((checked, findings))
}

fn one_turn(
    preset: &Preset,
    dir: PathBuf,
    root: PathBuf,
    sandbox: Option<Sandbox>,
) -> Result<String, String> {
    let version = probe_version(preset, &dir);
    let mut supplier = AgentSupplier::new(preset.clone(), dir, root, PROBE);
    supplier.sandbox = sandbox;
    let turn = Turn {
        name: Ref::new(RefKind::Exchange),
        prompt: "Answer with the one word: ready",
        action: Action::Ask,
        fork: None,
        schema: None,
    };
    match supplier.call(&turn) {
        Ok(answer) => {
            let said: String = answer.output.chars().take(60).collect();
            let version = version
                .map(|version| format!(" {version}"))
                .unwrap_or_default();
            Ok(format!(
                "answered{version} in {} ms: {said}",
                answer.duration_ms
            ))
        }
        Err(error) => Err(match (error.class, describe_error(&error.failure)) {
            (Some(class), why) => format!("{class}: {why}"),
            (None, why) => why.to_owned(),
        }),
    }
}
