//! Preparations before a run: which agents play which roles, its limits, and the obstacles to it.

use super::run_order::{Limits, Operator, Order, RoleAgent, RoleAssignment, paths_are};
use crate::judges::find_known;
use crate::prelude::*;
use crate::service;
use crate::workspace::Workspace;
use cook_agents::{
    AgentSupplier, Found, Preset, Sandbox, Spent, describe_elsewhere, describe_error, find,
    presets, probe_version,
};
use cook_protocol::model::{Access, Limits as Budgets, RoleConfig, SandboxMode, SocketPath};
use cook_repo::git::is_of_contract;
use cook_repo::process::Clocks;
use cook_repo::room::Bubblewrap;
use cook_repo::session::{Action, Ref, RefKind, Supplier, Turn};

/// Roles that agents play in a run.
pub const PLAYED: [Role; 5] = [
    Role::Regrounder,
    Role::Implementer,
    Role::Reviewer,
    Role::Auditor,
    Role::StopJudge,
];
/// Maximum number of paths and of gates that are named before a run.
const NAMED: usize = 10;

/// Assigns agents to the given roles by the settings. Every agent is known and may run here.
pub(super) fn cast_roles(
    workspace: &Workspace,
    config: &Config,
    only: Option<&str>,
    roles: &[Role],
) -> Result<RoleAssignment> {
    let default = config.roles.get("default").cloned().unwrap_or_default();
    let mut cast = RoleAssignment::new();
    for &role in roles {
        let own = config.roles.get(role.short()).cloned().unwrap_or_default();
        let first = only
            .map(str::to_owned)
            .or_else(|| own.agent.clone())
            .or_else(|| default.agent.clone());
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
                "name one with `--agent NAME`, or set `[roles.default] agent` in `.agent/cook.toml`; `cook doctor agents` lists them",
            ));
        }
        let mut agents = Vec::new();
        let (wall, idle) = RoleConfig::clocks(&[&own, &default]);
        for name in names {
            let model = config.model(role.short(), &name).map(str::to_owned);
            agents.push(RoleAgent {
                preset: choose(workspace, Some(&name))?,
                access: access(role, &own, &default),
                clocks: Clocks { wall, idle },
                price: config.price(&name, model.as_deref()),
                model,
            });
        }
        cast.insert(role, agents);
    }
    Ok(cast)
}

fn access(role: Role, own: &RoleConfig, default: &RoleConfig) -> Access {
    own.access.or(default.access).unwrap_or(match role {
        Role::Implementer => Access::Write,
        _ => Access::Read,
    })
}

/// Shows what the run will do and raises obstacles, while a person can still answer. Returns whether uncommitted
/// changes are to be parked.
pub(super) fn before(
    operator: &dyn Operator,
    workspace: &Workspace,
    cast: &mut RoleAssignment,
    limits: &Limits,
    keeping: &Keeping,
    order: &Order,
) -> Result<bool> {
    service::check_commit_point(workspace)?;
    for (role, agents) in &*cast {
        let names: Vec<&str> = agents.iter().map(|agent| agent.preset.name()).collect();
        operator.show(&format!("{:<22} {}", role.id(), names.join(", then ")));
    }
    operator.show(&format!("{:<22} {}", "sandbox", keeping.summary()));
    if let Some(opened) = keeping.warn_of_open() {
        operator.warn(&opened.message);
    }
    require_agents(workspace, cast)?;
    require_calibrated(workspace, cast)?;
    if !workspace.repo.has_identity()? {
        operator.warn(
            "git does not have a name and an address for the implementer's commits: run `git config --global user.name NAME` and `git config --global user.email ADDRESS`",
        );
    }
    let (_, snapshot) = workspace.require()?;
    let (dispatch, _) = service::dispatch_now(workspace, Some(&snapshot))?;
    let gates = gates(workspace, &snapshot)?;
    show_prospect(operator, workspace, limits, &gates, &snapshot, &dispatch)?;
    require_trust(workspace, &gates, &dispatch)?;
    for name in workspace.repo.list_parked(workspace.store_id())? {
        operator.note(&format!(
            "an earlier run left changes parked as `{name}`; they are restored when this run ends"
        ));
    }
    let worktree = workspace.repo.recent_status()?.worktree;
    if worktree.is_clean() || order.goes_beside {
        return Ok(false);
    }
    if order.parks {
        return Ok(true);
    }
    operator.note("paths that are not committed:");
    for path in worktree.dirty.iter().take(NAMED) {
        operator.show(&format!("  {path}"));
    }
    let rest = worktree.dirty.len().saturating_sub(NAMED) as u64 + worktree.more;
    if rest > 0 {
        operator.show(&format!("  and {rest} more"));
    }
    let question = "they stay as they are, but roles that need a clean worktree will stop because of them. Continue? [y/N]";
    if operator.agrees(question) {
        return Ok(false);
    }
    let mut dirty = worktree.dirty.iter();
    let contract = dirty.any(|path| is_of_contract(path));
    let contract = contract.then_some("commit the contract first: `cook init --commit`");
    Err(Refusal::new(
        Code::DirtyWorktree,
        format!(
            "{} not committed",
            paths_are(worktree.dirty.len() as u64 + worktree.more)
        ),
    )
    .replace_hints(contract.into_iter().chain(["commit them, or use `--park-changes` to set them aside for the run, or `--yes` to continue with them in place"]))
    .into())
}

/// Checks that each role has an installed agent, and removes from each preset the options that its program lacks.
pub(super) fn require_agents(workspace: &Workspace, cast: &mut RoleAssignment) -> Result<()> {
    let all: Vec<&Preset> = cast.values().flatten().map(|agent| &agent.preset).collect();
    let found = find_here(workspace, &all)?;
    let mut found = found.iter();
    for (role, agents) in cast {
        let mut lacking = Vec::new();
        for (agent, found) in agents.iter_mut().zip(found.by_ref()) {
            lacking.push(lacks(&agent.preset, found));
            found.restrict(&mut agent.preset);
        }
        if lacking.iter().all(Option::is_some) {
            let why: Vec<String> = lacking.into_iter().flatten().collect();
            let what = format!("no agent can play the {role}: {}", why.join("; "));
            let failure = Failure::new(FailureKind::Supplier, Code::SupplierFailed, what);
            let hint = "`cook doctor agents` lists the agents that cook knows and finds";
            return Err(failure.replace_hints([hint]));
        }
    }
    Ok(())
}

/// Checks that each reviewer, auditor and judge has the catch rate that `[rules] min_catch_rate` requires.
pub(super) fn require_calibrated(workspace: &Workspace, cast: &RoleAssignment) -> Result<()> {
    let least = f64::from(workspace.config()?.rules.min_catch_rate);
    if least <= 0.0 {
        return Ok(());
    }
    let judging = |role: &Role| matches!(role, Role::Reviewer | Role::Auditor | Role::StopJudge);
    for (role, agents) in cast.iter().filter(|(role, _)| judging(role)) {
        for agent in agents {
            let name = agent.preset.name();
            let model = agent.model.as_deref();
            let who = model.map_or(name.to_owned(), |model| format!("{name} ({model})"));
            let known = find_known(workspace, *role, name, model)?;
            let rate = known.map_or(0.0, |known| known.caught.rate().unwrap_or(0.0));
            let (code, how) = match known {
                Some(known) if rate >= least && known.tells_apart() => continue,
                Some(known) => (Code::JudgeMissesMuch, format!("{who} {}", known.words())),
                None => (
                    Code::JudgeUncalibrated,
                    format!("{who} has no measured catch rate"),
                ),
            };
            let what = format!("{how}; `[rules] min_catch_rate` requires {least} of the {role}");
            let measure = format!(
                "run `cook calibrate --role {} --agent {name}`",
                role.short()
            );
            let other = "or let another agent play the role, or lower `min_catch_rate` in `.agent/cook.toml`";
            let refusal = Refusal::new(code, what);
            return Err(refusal.replace_hints([measure, other.to_owned()]).into());
        }
    }
    Ok(())
}

/// Shows the gates, the remaining limits, and where the last run stopped.
fn show_prospect(
    operator: &dyn Operator,
    workspace: &Workspace,
    limits: &Limits,
    gates: &[Gate],
    snapshot: &Snapshot,
    dispatch: &Dispatch,
) -> Result<()> {
    let lines = GitStore::open(workspace.place())?.lines()?;
    let row = |label: &str, text: String| {
        // A plan may name gates; none of them may add lines of its own.
        let text = clean(&text, Lines::Fold);
        operator.show(&format!("{label:<22} {text}"));
    };
    row("gates", gates_named(gates));
    let spent = Spent::of(&lines, workspace.store_id());
    let budgets = workspace.config()?.limits();
    row("limits", limits_left(limits, &budgets, snapshot, &spent));
    let now = workspace.clock.now();
    if let Some(text) = describe_going_on(&lines, workspace.store_id(), dispatch, &now) {
        row("goes on", text);
    }
    Ok(())
}

/// Checks that every command that the run would start is trusted.
fn require_trust(workspace: &Workspace, gates: &[Gate], dispatch: &Dispatch) -> Result<()> {
    // If the work is stopped, none of the plan's gates would run.
    let due = gates.iter();
    let due = due.filter(|gate| gate.configured || dispatch.role.is_some());
    let due: Vec<String> = due.map(|gate| gate.run.clone()).collect();
    workspace.require_trust("", &due)?;
    let notified = workspace.config()?.notify.run.iter();
    let notified: Vec<String> = notified.map(ToString::to_string).collect();
    workspace.require_trust(" of `[notify]`", &notified)
}

/// A gate, and whether it may run here.
struct Gate {
    run: String,
    /// Whether it is in `cook.toml`, and not only in the plan.
    configured: bool,
    trusted: bool,
}

/// The gates of the settings, then those of open slices.
fn gates(workspace: &Workspace, snapshot: &Snapshot) -> Result<Vec<Gate>> {
    let trust = workspace.trust()?;
    let configured = workspace.config()?.gate_specs().into_iter();
    let mut named: Vec<(String, bool)> = configured.map(|gate| (gate.run, true)).collect();
    let slices = snapshot.plan.candidate_slices.iter();
    for slice in slices.filter(|slice| slice.status.is_open()) {
        for run in slice.verification_commands.iter().flatten() {
            if named.iter().all(|(known, _)| known != run) {
                named.push((run.clone(), false));
            }
        }
    }
    let gates = named.into_iter().map(|(run, configured)| Gate {
        trusted: trust.is_trusted(&run),
        run,
        configured,
    });
    Ok(gates.collect())
}

fn gates_named(gates: &[Gate]) -> String {
    let mut text = count_noun(gates.len(), "gate");
    for (place, gate) in gates.iter().take(NAMED).enumerate() {
        text.push_str(if place == 0 { ": " } else { ", " });
        text.push_str(&format!(
            "`{}` ({}{})",
            gate.run,
            if gate.configured { "" } else { "of the plan, " },
            match gate.trusted {
                true => "trusted",
                false => "not trusted on this machine",
            }
        ));
    }
    text + &and_more(gates.len().saturating_sub(NAMED))
}

/// The limits of the run. An agent that reports no cost is limited by tokens, steps and attempts.
fn limits_left(limits: &Limits, budgets: &Budgets, snapshot: &Snapshot, spent: &Spent) -> String {
    let counters = &snapshot.counters;
    let granted = &counters.granted;
    let mut parts = vec![format!(
        "{} of wall time",
        humantime::format_duration(limits.wall)
    )];
    if limits.cost_micro_usd > 0 {
        let more = granted.cost_micro_usd.unwrap_or(0);
        let all = limits.cost_micro_usd.saturating_add(more);
        let left = all.saturating_sub(spent.micro_usd);
        let [left, all] = [left, all].map(|micro| micro as f64 / 1e6);
        parts.push(format!("{left:.2} of {all:.2} US dollars left"));
    }
    if let Some(all) = limits.tokens {
        let left = all.saturating_sub(spent.unpriced_tokens);
        parts.push(format!(
            "{left} of {all} tokens left for calls of unknown cost"
        ));
    }
    if let Some(all) = limits.requests {
        parts.push(format!("{all} requests to a model in each session"));
    }
    let steps = budgets.steps().saturating_add(granted.steps.unwrap_or(0));
    let left = steps.saturating_sub(counters.steps.0);
    parts.push(format!("{left} of {steps} steps left"));
    let more = granted.attempts_per_slice.unwrap_or(0);
    let attempts = budgets.attempts().saturating_add(more);
    let active = snapshot.active.slice_id.as_ref();
    let spent = active.and_then(|id| Some((id, counters.attempts.get(id)?)));
    parts.push(match spent {
        Some((id, spent)) => {
            let left = attempts.saturating_sub(spent.0);
            format!("{left} of {attempts} attempts left for `{id}`")
        }
        None => format!("{attempts} attempts for each slice"),
    });
    parts.join(", ")
}

/// How the run continues the step that the last run was at, and why; `None` if no session was held yet.
fn describe_going_on(
    lines: &[CallRecord],
    workflow: &str,
    dispatch: &Dispatch,
    now: &str,
) -> Option<String> {
    let last = lines.iter().rev().find(|line| line.is_of(workflow))?;
    let Some(role) = dispatch.role else {
        return Some("no session begins, because the work is stopped".to_owned());
    };
    let mut ends = [&last.class, &last.error].into_iter().flatten();
    let cut = ends.any(|end| end == "interrupted");
    let of = last
        .answer
        .as_ref()
        .and_then(|answer| answer.role.as_deref());
    Some(match last.reset_at.as_deref() {
        Some(until) if until > now => {
            let agent = last.supplier.as_deref().unwrap_or("the agent");
            format!("continues to wait until {until}, when the limit of {agent} ends")
        }
        _ if cut && of == Some(role.short()) => format!(
            "begins the step of the {role} again, because its session was ended before it reported; no attempt is spent"
        ),
        _ => format!(
            "resumes with the {role}, because {}",
            dispatch.reason.trim_end_matches('.')
        ),
    })
}

// Whether agents run in the sandbox here, and how that is described.
//
// Invariant: a run uses the settings from its beginning, so that no session can open the sandbox of the next one.

/// How agents are kept to the files that they may write.
#[derive(Debug, Clone)]
pub enum Keeping {
    /// By the kernel.
    Kernel {
        /// The program that starts them.
        bubblewrap: Bubblewrap,
        /// Sockets of the machine that they can reach nonetheless.
        sockets: Vec<SocketPath>,
    },
    /// Not at all: a session's changes are measured afterwards.
    Measured {
        /// Why there is no sandbox.
        why: String,
    },
}

/// The hint at how to install bubblewrap.
const INSTALL: &str = "install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`), then run `cook doctor`";

impl Keeping {
    /// Decides by the settings and by whether the sandbox works here.
    ///
    /// # Errors
    /// `sandbox_unavailable` if the settings require the sandbox and it does not work.
    pub fn of(workspace: &Workspace) -> Result<Self> {
        let config = workspace.config()?;
        let why = match config.sandbox.mode {
            SandboxMode::Off => "`[sandbox] mode` is `off`".to_owned(),
            SandboxMode::Auto | SandboxMode::Required => match try_out(workspace, config)? {
                Ok(keeping) => return Ok(keeping),
                Err(why) => why,
            },
        };
        match config.sandbox.mode {
            SandboxMode::Required => {
                let what = format!(
                    "`[sandbox] mode` is `required`, and the sandbox does not work here: {why}"
                );
                let failure = Failure::new(FailureKind::Refused, Code::SandboxUnavailable, what);
                Err(match Bubblewrap::find() {
                    None if cfg!(target_os = "linux") => failure.replace_hints([INSTALL]),
                    _ => failure,
                })
            }
            SandboxMode::Auto | SandboxMode::Off => Ok(Self::Measured { why }),
        }
    }

    /// The sandbox of this worktree's agents; `None` if changes are only measured.
    ///
    /// # Errors
    /// A repository that cannot be read.
    pub fn sandbox(&self, repo: &Repo) -> Result<Option<Sandbox>> {
        match self {
            Self::Kernel {
                bubblewrap,
                sockets,
            } => Sandbox::of(bubblewrap.clone(), repo, sockets).map(Some),
            Self::Measured { .. } => Ok(None),
        }
    }

    /// Whether the kernel restricts the agents.
    pub fn is_kernel(&self) -> bool {
        matches!(self, Self::Kernel { .. })
    }

    /// One line for the user who begins a run.
    pub fn summary(&self) -> String {
        match self {
            Self::Kernel { .. } => {
                "in force: agents run in bubblewrap and can write only what they may".to_owned()
            }
            Self::Measured { why } => format!(
                "not in force ({why}): forbidden changes of a session are detected afterwards and reverted"
            ),
        }
    }

    /// A complete list of what an agent can and cannot do, for `cook doctor`.
    pub fn describe(&self) -> Vec<String> {
        let lines: &[&str] = match self {
            Self::Kernel { .. } => &[
                "an implementer can write the worktree and `.git`; not cook's directory, git's settings, hooks and excludes, other worktrees, replacement refs kept as files",
                "a re-grounder, reviewer, auditor or judge can write a checkout of its own that is thrown away, `.agent/inbox/` and `.agent/tmp/`; not the worktree or `.git`",
                "an agent can write its own directories but for settings that start programs later, and a private `/tmp`; nothing else of this machine",
                "an agent can read what you can, reach the network, and sockets without a path; not other processes, nor sockets with a path",
                "detected after a session and reverted: changes of `commondir`, `config.worktree`, packed replacement refs, alternates, the `.git` of a submodule or a nested repository",
            ],
            Self::Measured { .. } => &[
                "an agent can write everything that you can, including the log and the list of trusted commands",
                "detected after a session and reverted: the changes that `docs/run.md` lists; a careful agent can rewrite the log unnoticed",
            ],
        };
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    /// The warning that agents can reach sockets, shown when an agent is called.
    pub fn warn_of_open(&self) -> Option<Finding> {
        let Self::Kernel { sockets, .. } = self else {
            return None;
        };
        let names: Vec<String> = sockets.iter().map(|path| format!("`{path}`")).collect();
        let what = format!(
            "agents reach {} and all that answers there, outside of the sandbox",
            names.join(", ")
        );
        let opened = Finding::new(Code::SandboxOpened, what).at("sandbox.sockets");
        (!names.is_empty()).then_some(opened)
    }

    /// The warning about the sandbox, shown when the settings are checked.
    pub fn warning(&self) -> Option<Finding> {
        match self {
            Self::Kernel { .. } => self.warn_of_open(),
            Self::Measured { why } => {
                let what = format!("agents run without a sandbox: {why}");
                Some(Finding::new(Code::SandboxOff, what).at("sandbox.mode"))
            }
        }
    }
}

/// Tries the sandbox with the arguments of a session in this worktree, as this user.
fn try_out(workspace: &Workspace, config: &Config) -> Result<Result<Keeping, String>> {
    if !cfg!(target_os = "linux") {
        return Ok(Err("it needs Linux".to_owned()));
    }
    let Some(bubblewrap) = Bubblewrap::find() else {
        return Ok(Err("`bwrap` is not on PATH".to_owned()));
    };
    let sockets = config.sandbox.sockets.clone();
    let sandbox = Sandbox::of(bubblewrap.clone(), &workspace.repo, &sockets)?;
    Ok(sandbox.try_out().map(|()| Keeping::Kernel {
        bubblewrap,
        sockets,
    }))
}

// Agents that may run here: trusted, installed, and with a program that is really the agent's.

/// Finds the programs of agents. A program that only the repository names is not run before it is trusted.
pub fn find_here(workspace: &Workspace, presets: &[&Preset]) -> Result<Vec<Found>> {
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
        *found = answers.next().unwrap_or_else(|| absent("not probed"));
    }
    Ok(here)
}

fn absent(why: &str) -> Found {
    Found {
        problem: Some(why.to_owned()),
        ..Found::default()
    }
}

/// The words to trust before an agent from `cook.toml` may run; `None` if it is trusted or built in.
fn find_untrusted(workspace: &Workspace, preset: &Preset) -> Result<Option<String>> {
    match preset.trust_words() {
        Some(words) if !workspace.trust()?.is_trusted(&words) => Ok(Some(words)),
        _ => Ok(None),
    }
}

/// The agent of that name or, without a name, the default from the settings. Fails if it may not run here.
pub fn choose(workspace: &Workspace, name: Option<&str>) -> Result<Preset> {
    let config = workspace.config()?;
    let name = match name.or_else(|| default_agent(config)) {
        Some(name) => name,
        None => {
            return Err(Failure::usage("no agent is named")
                .hint("name one with `--agent NAME`, or set `[roles.default] agent` in `.agent/cook.toml`; `cook doctor agents` lists them"));
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

/// Restricts the agent to the options that its program here has. Refuses a program that has the agent's name but
/// identifies itself as another.
pub fn fit_to_program(workspace: &Workspace, mut preset: Preset) -> Result<Preset> {
    for found in find_here(workspace, &[&preset])? {
        // A program that only fails its probe may still work, unless the agent is found elsewhere.
        let is_other = found.path.is_some() && found.problem.is_none() && !found.is_it;
        if is_other || found.elsewhere.is_some() {
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

/// Why an agent cannot work here; `None` if it can.
pub(super) fn lacks(preset: &Preset, found: &Found) -> Option<String> {
    let name = preset.name();
    let why = match (&found.problem, &found.path) {
        (Some(problem), _) => problem.clone(),
        (None, None) => format!("there is no `{}`", preset.bin()),
        (None, Some(_)) if found.is_it => return None,
        (None, Some(path)) => {
            format!("`{}` is a different program with that name", path.display())
        }
    };
    Some(match &found.elsewhere {
        Some(path) => format!(
            "agent `{name}`: {why}; {}",
            describe_elsewhere(path.display())
        ),
        None => format!("agent `{name}`: {why}"),
    })
}

/// Problems of the agents that the settings define or name.
pub fn unfit(workspace: &Workspace) -> Result<Vec<Finding>> {
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
            // A table that does not define a valid agent is already in the list.
            Err(_) if config.agents.contains_key(name) => {}
            Err(error) => wrong.push((place, error.message)),
        }
    }
    let finding = |(place, why)| Finding::new(Code::AgentUnfit, why).at(place);
    Ok(wrong.into_iter().map(finding).collect())
}

/// The agents that the settings name, each with one place that names it.
fn name_agents(config: &Config) -> BTreeMap<&str, String> {
    let roles = config.roles.iter().flat_map(|(role, set)| {
        let all = set.agent.iter().chain(&set.agents).chain(&set.fallback);
        all.map(move |name| (name.as_str(), format!("roles.{role}")))
    });
    roles.collect()
}

fn default_agent(config: &Config) -> Option<&str> {
    config.roles.get("default")?.agent.as_deref()
}

/// Time limits for a one-word answer.
const PROBE: Clocks = Clocks {
    wall: Duration::from_secs(120),
    idle: Duration::from_secs(90),
};

/// Asks each agent for one answer. Returns a line for each agent that answered, and a finding for each that did not.
pub fn probe(workspace: &Workspace, only: Option<&str>) -> Result<(Vec<String>, Vec<Finding>)> {
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
