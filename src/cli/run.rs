//! `cook run` and `cook step`: agents drive the workflow.

use super::args::RunArgs;
use super::{Answer, Context, agents, answer, caller};
use crate::agent::Preset;
use crate::diagnostic::{Code, Failure, FailureKind, Refusal, counted};
use crate::drive::{Audience, Cast, Driver, Limits, Moment, Player, open_whole};
use crate::model::{Access, Config, Role, RoleConfig};
use crate::process::{Clocks, Heed};
use crate::repo::Unparked;
use crate::view::{RunAnswer, Screen, Tone, moment_line};
use crate::walk::Workspace;
use std::io::{BufRead, IsTerminal};
use std::time::Duration;

/// Roles that agents play here.
const PLAYED: [Role; 5] = [
    Role::Regrounder,
    Role::Implementer,
    Role::Reviewer,
    Role::Auditor,
    Role::StopJudge,
];
/// Paths that are named before a run.
const NAMED: usize = 10;

pub(super) fn run(context: &Context, args: &RunArgs) -> Answer {
    drive(context, args, args.steps)
}

pub(super) fn step(context: &Context, args: &RunArgs) -> Answer {
    drive(context, args, Some(1))
}

fn drive(context: &Context, args: &RunArgs, steps: Option<u64>) -> Answer {
    caller::not_nested()?;
    let (workspace, was_lost) = open_whole(&context.dir)?;
    workspace.require()?;
    if was_lost {
        context.screen.note(
            "what cook keeps in the git dir was gone, and is put back as the last run left it",
        );
    }
    settle_first(context)?;
    let workspace = context.workspace()?;
    let config = workspace.config()?;
    let cast = cast(&workspace, config, args.agent.as_deref())?;
    let limits = Limits {
        steps: steps.unwrap_or(u64::MAX),
        wall: config.wall(),
        cost_micro_usd: config.limits().cost_micro_usd.unwrap_or(0),
        tokens: config.tokens(),
    };
    let told = cast.clone();
    let mut onlooker = Onlooker::new(context.screen);
    let driver = Driver::new(workspace.repo.root(), cast, limits, &mut onlooker)?;
    before(context, &workspace, &told, &limits, args)?;
    let outcome = driver.run();
    // Also after a failure: they are the user's.
    let parked = put_back(context.screen, &workspace);
    let outcome = outcome?;
    parked?;
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.require()?;
    answer(RunAnswer {
        outcome,
        snapshot,
        head: workspace.repo.head()?,
    })
}

/// Settles what a killed run left, before the settings are read: its session may have
/// changed them.
fn settle_first(context: &Context) -> Result<(), Failure> {
    let workspace = context.workspace()?;
    workspace.require()?;
    let mut onlooker = Onlooker::new(context.screen);
    let none = Limits {
        steps: 0,
        wall: Duration::ZERO,
        cost_micro_usd: 0,
        tokens: None,
    };
    Driver::new(workspace.repo.root(), Cast::new(), none, &mut onlooker)?.recover()
}

/// Who plays what, by the settings; every agent is known and may be run here.
fn cast(workspace: &Workspace, config: &Config, only: Option<&str>) -> Result<Cast, Failure> {
    let default = config.roles.get("default").cloned().unwrap_or_default();
    let mut cast = Cast::new();
    for role in PLAYED {
        let own = config.roles.get(role.short()).cloned().unwrap_or_default();
        let first = only
            .map(str::to_owned)
            .or_else(|| own.agent.clone())
            .or_else(|| default.agent.clone())
            .or_else(|| config.sessions.agent.clone());
        let mut names: Vec<String> = match only {
            None if !own.agents.is_empty() => own.agents.clone(),
            _ => first.into_iter().collect(),
        };
        let fallback = match own.fallback.is_empty() {
            true => &default.fallback,
            false => &own.fallback,
        };
        names.extend(fallback.iter().cloned());
        if names.is_empty() {
            return Err(Failure::usage(format!("no agent is named for the {role}")).hint(
                "name one with `--agent NAME`, or set `[roles.default] agent` in `.agent/cook.toml`; `cook agents` lists them",
            ));
        }
        let model = own.model.clone().or_else(|| default.model.clone());
        let mut players = Vec::new();
        for name in names {
            players.push(Player {
                preset: agents::chosen(workspace, Some(&name))?,
                access: access(role, &own, &default),
                clocks: clocks(config, &own, &default),
                price: config.price(&name, model.as_deref()),
                model: model.clone(),
            });
        }
        cast.insert(role, players);
    }
    Ok(cast)
}

fn access(role: Role, own: &RoleConfig, default: &RoleConfig) -> Access {
    own.access.or(default.access).unwrap_or(match role {
        Role::Implementer => Access::Write,
        _ => Access::Read,
    })
}

fn clocks(config: &Config, own: &RoleConfig, default: &RoleConfig) -> Clocks {
    let (wall, idle) = config.sessions.clocks();
    let span = |own: &Option<String>, default: &Option<String>, fallback: Duration| {
        own.as_ref()
            .or(default.as_ref())
            .and_then(|text| humantime::parse_duration(text).ok())
            .unwrap_or(fallback)
    };
    Clocks {
        wall: span(&own.timeout, &default.timeout, wall),
        idle: span(&own.idle_timeout, &default.idle_timeout, idle),
    }
}

/// Says what the run will do and what stands in its way, while somebody is there to answer.
fn before(
    context: &Context,
    workspace: &Workspace,
    cast: &Cast,
    limits: &Limits,
    args: &RunArgs,
) -> Result<(), Failure> {
    let screen = context.screen;
    for (role, players) in cast {
        let names: Vec<&str> = players.iter().map(|player| player.preset.name()).collect();
        screen.toned_note(
            Tone::Dim,
            &format!("{:<22} {}", role.id(), names.join(", then ")),
        );
    }
    let all: Vec<&Preset> = cast
        .values()
        .flatten()
        .map(|player| &player.preset)
        .collect();
    let found = agents::find_here(workspace, &all)?;
    let mut here = found
        .iter()
        .map(|found| found.path.is_some() && found.is_it);
    for (role, players) in cast {
        let any = here.by_ref().take(players.len()).filter(|is| *is).count() > 0;
        if !any {
            let names: Vec<&str> = players.iter().map(|player| player.preset.name()).collect();
            let mut failure = Failure::new(
                FailureKind::Supplier,
                Code::SupplierFailed,
                format!("no agent for the {role} is installed: {}", names.join(", ")),
            );
            failure.hints = vec!["`cook agents` lists those that cook knows and finds".to_owned()];
            return Err(failure);
        }
    }
    let trust = workspace.trust()?;
    let gates = workspace.config()?.gate_specs();
    let untrusted: Vec<String> = gates
        .iter()
        .filter(|gate| !trust.is_trusted(&gate.run))
        .map(|gate| gate.run.clone())
        .collect();
    let quietly = |text: String| screen.toned_note(Tone::Dim, &text);
    quietly(format!(
        "{:<22} {}, {} not trusted on this machine",
        "gates",
        counted(gates.len() as u64, "gate"),
        untrusted.len()
    ));
    quietly(format!(
        "{:<22} {} of wall time, {}",
        "limits",
        humantime::format_duration(limits.wall),
        match limits.cost_micro_usd {
            0 => "no limit of cost".to_owned(),
            micro => format!("{:.2} US dollars", micro as f64 / 1e6),
        }
    ));
    if let Some(first) = untrusted.first() {
        return Err(Refusal::new(
            Code::TrustMissing,
            format!("a gate would stop the run: `{first}` is not trusted on this machine"),
        )
        .hint(format!(
            "run `cook trust {}`",
            crate::machine::quoted(first)
        ))
        .into());
    }
    if let Some(run) = &workspace.config()?.notify.run
        && !trust.is_trusted(run)
    {
        return Err(Refusal::new(
            Code::TrustMissing,
            format!("the command of `[notify]` is not trusted on this machine: `{run}`"),
        )
        .hint(format!("run `cook trust {}`", crate::machine::quoted(run)))
        .into());
    }
    for name in workspace.repo.parked(workspace.store_id())? {
        screen.note(&format!(
            "an earlier run left changes parked as `{name}`; they are put back when this one ends"
        ));
    }
    let worktree = workspace.repo.status()?.worktree;
    if worktree.is_clean() || args.yes {
        return Ok(());
    }
    if args.park_changes {
        let name = workspace
            .repo
            .park(workspace.store_id(), &crate::store::fresh_id())?;
        screen.note(&format!(
            "{} parked as `{name}`",
            match worktree.dirty.len() as u64 + worktree.more {
                1 => "1 path is".to_owned(),
                paths => format!("{paths} paths are"),
            }
        ));
        return Ok(());
    }
    screen.note("paths that are not committed:");
    for path in worktree.dirty.iter().take(NAMED) {
        quietly(format!("  {path}"));
    }
    let rest = worktree.dirty.len().saturating_sub(NAMED) as u64 + worktree.more;
    if rest > 0 {
        quietly(format!("  and {rest} more"));
    }
    if std::io::stdin().is_terminal() && !screen.json {
        screen.note("they stay as they are, and roles that need a clean worktree will stop at them. Go on? [y/N]");
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        if read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes") {
            return Ok(());
        }
    }
    Err(Refusal::new(
        Code::DirtyWorktree,
        format!(
            "{} not committed",
            match worktree.dirty.len() {
                1 => "1 path is".to_owned(),
                paths => format!("{paths} paths are"),
            }
        ),
    )
    .hint("commit them, or say `--park-changes` to have them put aside and back, or `--yes` to go on beside them")
    .into())
}

/// Puts parked changes of this workflow back, newest first: they lie on each other so.
fn put_back(screen: Screen, workspace: &Workspace) -> Result<(), Failure> {
    for name in workspace
        .repo
        .parked(workspace.store_id())?
        .into_iter()
        .rev()
    {
        match workspace.repo.unpark(&name)? {
            Unparked::PutBack => screen.note("what was parked is in the worktree again"),
            Unparked::Stay(why) => {
                screen.toned_note(
                    Tone::Warn,
                    &format!("parked changes stay where they are, because {why}: `git stash apply --index {name}` puts them back, then `git update-ref -d {name}`"),
                );
                break;
            }
        }
    }
    Ok(())
}

/// Prints what happens on standard error.
pub(super) struct Onlooker {
    screen: Screen,
    last: String,
}

impl Onlooker {
    pub(super) fn new(screen: Screen) -> Self {
        Self {
            screen,
            last: String::new(),
        }
    }
}

impl Audience for Onlooker {
    fn told(&mut self, moment: &Moment) -> Heed {
        if let Some((tone, line)) = moment_line(moment, self.screen.verbose)
            && line != self.last
        {
            self.screen.toned_note(tone, &line);
            self.last = line;
        }
        Heed::GoOn
    }
}
