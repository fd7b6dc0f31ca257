//! `cook agents`, and the part of `cook doctor` that has each agent answer once.

use super::{Answer, Context, answer};
use crate::view::{AgentRow, AgentsAnswer};
use crate::walk::Workspace;
use cook_agents::{AgentSupplier, Found, Preset, find, presets, probe_version};
use cook_core::diagnostic::{Code, Failure, FailureKind, Finding};
use cook_core::model::{AgentKind, Config, Continuation};
use cook_os::process::Clocks;
use cook_store::session::{Deed, Grade, Ref, Supplier, Turn};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How long an agent may take over one word.
const PROBE: Clocks = Clocks {
    wall: Duration::from_secs(120),
    idle: Duration::from_secs(90),
};

pub(super) fn agents(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let mut rows: Vec<AgentRow> = Vec::new();
    let all = presets(workspace.config()?);
    let sound: Vec<&Preset> = all
        .values()
        .filter_map(|preset| preset.as_ref().ok())
        .collect();
    let found = find_here(&workspace, &sound)?;
    for (preset, found) in sound.iter().zip(found) {
        rows.push(row(preset, found));
    }
    for (name, wrong) in &all {
        if let Err(error) = wrong {
            rows.push(AgentRow {
                name: name.clone(),
                bin: String::new(),
                path: None,
                installed: false,
                version: None,
                verified: false,
                capabilities: Vec::new(),
                problem: Some(error.to_string()),
            });
        }
    }
    rows.sort_by(|one, two| one.name.cmp(&two.name));
    answer(AgentsAnswer { agents: rows })
}

/// Programs that only the repository names are not run before they are trusted.
pub(super) fn find_here(workspace: &Workspace, presets: &[&Preset]) -> Result<Vec<Found>, Failure> {
    let cache = workspace.repo.cook_dir()?.join("agents.json");
    let lacking = presets
        .iter()
        .map(|preset| untrusted(workspace, preset))
        .collect::<Result<Vec<Option<String>>, Failure>>()?;
    let asked: Vec<&Preset> = presets
        .iter()
        .zip(&lacking)
        .filter(|(_, words)| words.is_none())
        .map(|(preset, _)| *preset)
        .collect();
    let mut answers = find(&asked, workspace.repo.root(), &cache)?.into_iter();
    Ok(lacking
        .into_iter()
        .map(|words| match words {
            None => answers.next().unwrap_or_else(|| absent("it was not asked")),
            Some(words) => absent(&format!("not trusted here: `cook trust '{words}'`")),
        })
        .collect())
}

fn absent(why: &str) -> Found {
    Found {
        path: None,
        is_it: false,
        version: None,
        problem: Some(why.to_owned()),
    }
}

fn row(preset: &Preset, found: Found) -> AgentRow {
    let table = preset.table();
    let can = [
        ("acp", preset.kind() == AgentKind::Acp),
        ("resume", table.resume.is_some()),
        ("fork", preset.continuation() == Continuation::Native),
        ("schema", table.schema.is_some()),
        (
            "named-session",
            preset.session() != cook_core::model::SessionNaming::None,
        ),
        ("read-only", preset.can_only_read()),
        (
            "cost",
            preset.rules().iter().any(|rule| rule.set.cost.is_some()),
        ),
        ("open", table.open.is_some()),
    ];
    AgentRow {
        name: preset.name().to_owned(),
        bin: preset.bin().to_owned(),
        installed: found.path.is_some() && found.is_it,
        path: found.path.map(|path| path.display().to_string()),
        version: found.version,
        verified: preset.is_verified(),
        capabilities: can
            .iter()
            .filter(|(_, can)| *can)
            .map(|(name, _)| *name)
            .collect(),
        problem: found.problem,
    }
}

/// What must be trusted before an agent of `cook.toml` may be run, when it is not.
fn untrusted(workspace: &Workspace, preset: &Preset) -> Result<Option<String>, Failure> {
    match preset.trust_words() {
        Some(words) if !workspace.trust()?.is_trusted(&words) => Ok(Some(words)),
        _ => Ok(None),
    }
}

/// The agent of that name, or the one that the settings name; it may be run here.
pub(super) fn chosen(workspace: &Workspace, name: Option<&str>) -> Result<Preset, Failure> {
    let config = workspace.config()?;
    let name = match name.or_else(|| default_agent(config)) {
        Some(name) => name,
        None => {
            return Err(Failure::usage("no agent is named")
                .hint("name one with `--agent NAME`, or set `[sessions] agent` in `.agent/cook.toml`; `cook agents` lists them"));
        }
    };
    let preset = Preset::of(name, config)?;
    if let Some(words) = untrusted(workspace, &preset)? {
        let mut failure = Failure::new(
            FailureKind::Refused,
            Code::AgentUntrusted,
            format!(
                "agent `{name}` is defined by `.agent/cook.toml`, and not trusted on this machine: it runs `{}`",
                preset.bin()
            ),
        );
        failure.hints = vec![format!(
            "look at `[agents.{name}]`, then run `cook trust '{words}'`"
        )];
        return Err(failure);
    }
    Ok(preset)
}

/// Refuses a program that has the name of an agent's and says that it is another.
pub(super) fn is_that_one(workspace: &Workspace, preset: &Preset) -> Result<(), Failure> {
    for found in find_here(workspace, &[preset])? {
        if found.path.is_some() && found.problem.is_none() && !found.is_it {
            let why = lacks(preset, &found).unwrap_or_default();
            return Err(
                Failure::new(FailureKind::Supplier, Code::SupplierFailed, why).hint(format!(
                    "put the agent before it on PATH, or name its program: `[agents.{}] bin` in `.agent/cook.toml`",
                    preset.name()
                )),
            );
        }
    }
    Ok(())
}

/// Why an agent cannot work here.
fn lacks(preset: &Preset, found: &Found) -> Option<String> {
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
pub(super) fn unfit(workspace: &Workspace) -> Result<Vec<Finding>, Failure> {
    let config = workspace.config()?;
    let mut wrong: Vec<(String, String)> = presets(config)
        .into_iter()
        .filter_map(|(name, preset)| Some((format!("agents.{name}"), preset.err()?.to_string())))
        .collect();
    for (name, place) in named(config) {
        match Preset::of(name, config) {
            Ok(preset) => {
                let found = find_here(workspace, &[&preset])?;
                let why = found.iter().find_map(|found| lacks(&preset, found));
                wrong.extend(why.map(|why| (place, why)));
            }
            // A table that makes no agent is named already.
            Err(_) if config.agents.contains_key(name) => {}
            Err(error) => wrong.push((place, error.to_string())),
        }
    }
    let finding = |(place, why)| Finding::new(Code::AgentUnfit, why).at(place);
    Ok(wrong.into_iter().map(finding).collect())
}

/// The agents that settings name, each with one place that names it.
fn named(config: &Config) -> BTreeMap<&str, String> {
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

/// Has agents answer once; what was seen, and what is wrong.
pub(super) fn probe(
    workspace: &Workspace,
    only: Option<&str>,
) -> Result<(Vec<String>, Vec<Finding>), Failure> {
    super::caller::not_nested()?;
    let config = workspace.config()?;
    let all: Vec<Preset> = match only {
        Some(name) => vec![chosen(workspace, Some(name))?],
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
    let heard = std::thread::scope(|scope| {
        let asked: Vec<_> = here
            .iter()
            .map(|preset| {
                let root: PathBuf = root.clone();
                let dir = workspace.repo.root();
                scope.spawn(move || one_turn(preset, dir.to_owned(), root))
            })
            .collect();
        asked
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err("the probe failed".to_owned()))
            })
            .collect::<Vec<_>>()
    });
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

fn one_turn(preset: &Preset, dir: PathBuf, root: PathBuf) -> Result<String, String> {
    let version = probe_version(preset, &dir);
    let supplier = AgentSupplier::new(preset.clone(), dir, root, PROBE);
    let turn = Turn {
        name: Ref::new(Grade::Exchange),
        prompt: "Answer with the one word: ready",
        deed: Deed::Ask,
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
        Err(lapse) => Err(match lapse.failure {
            cook_store::session::Failure::Failed(why)
            | cook_store::session::Failure::Absent(why)
            | cook_store::session::Failure::TimedOut(why)
            | cook_store::session::Failure::Unparseable(why) => match lapse.class {
                Some(class) => format!("{class}: {why}"),
                None => why,
            },
        }),
    }
}
