//! What is settled before a run: who plays what, how far it may go, and what stands in its way.

use super::agents_here::{choose, find_here, lacks};
use super::run_order::{Limits, Operator, Order, RoleAgent, RoleAssignment, paths_are};
use super::sandbox_mode::Keeping;
use crate::judges::find_known;
use crate::service::{self, Workspace};
use cook_agents::{Preset, Spent};
use cook_protocol::diagnostic::{Code, Failure, FailureKind, Lines, Refusal, clean, count_noun};
use cook_protocol::machine::{Dispatch, quote_word};
use cook_protocol::model::{Access, Config, Limits as Budgets, Role, RoleConfig, Snapshot, Span};
use cook_repo::process::Clocks;
use cook_repo::session::{CallRecord, GitStore};

/// Roles that agents play here.
pub const PLAYED: [Role; 5] = [
    Role::Regrounder,
    Role::Implementer,
    Role::Reviewer,
    Role::Auditor,
    Role::StopJudge,
];
/// Paths that are named before a run.
const NAMED: usize = 10;

/// Who plays what of these roles, by the settings; every agent is known and may be run here.
pub(super) fn cast_roles(
    workspace: &Workspace,
    config: &Config,
    only: Option<&str>,
    roles: &[Role],
) -> Result<RoleAssignment, Failure> {
    let default = config.roles.get("default").cloned().unwrap_or_default();
    let mut cast = RoleAssignment::new();
    for &role in roles {
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
                "name one with `--agent NAME`, or set `[roles.default] agent` in `.agent/cook.toml`; `cook doctor agents` lists them",
            ));
        }
        let mut agents = Vec::new();
        for name in names {
            let model = config.model(role.short(), &name).map(str::to_owned);
            agents.push(RoleAgent {
                preset: choose(workspace, Some(&name))?,
                access: access(role, &own, &default),
                clocks: clocks(config, &own, &default),
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

fn clocks(config: &Config, own: &RoleConfig, default: &RoleConfig) -> Clocks {
    let first = |spans: [&Option<Span>; 2], last: &Span| {
        let span = spans.into_iter().flatten().next();
        span.unwrap_or(last).length()
    };
    let all = &config.sessions;
    Clocks {
        wall: first([&own.timeout, &default.timeout], &all.timeout),
        idle: first(
            [&own.idle_timeout, &default.idle_timeout],
            &all.idle_timeout,
        ),
    }
}

/// Says what the run will do and what stands in its way, while somebody is there to answer;
/// whether what is not committed is to be parked.
pub(super) fn before(
    operator: &dyn Operator,
    workspace: &Workspace,
    cast: &mut RoleAssignment,
    limits: &Limits,
    keeping: &Keeping,
    order: &Order,
) -> Result<bool, Failure> {
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
    if workspace.repo.identity()?.is_none() {
        operator.warn(
            "git knows no name and address for commits here, and the implementer makes some: run `git config --global user.name NAME` and `git config --global user.email ADDRESS`",
        );
    }
    let (_, snapshot) = workspace.require()?;
    let (dispatch, _) = service::dispatch_now(workspace, Some(&snapshot))?;
    let gates = gates(workspace, &snapshot)?;
    show_prospect(operator, workspace, limits, &gates, &snapshot, &dispatch)?;
    require_trust(workspace, &gates, &dispatch)?;
    for name in workspace.repo.list_parked(workspace.store_id())? {
        operator.note(&format!(
            "an earlier run left changes parked as `{name}`; they are put back when this one ends"
        ));
    }
    let worktree = workspace.repo.status()?.worktree;
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
    let question = "they stay as they are, and roles that need a clean worktree will stop at them. Go on? [y/N]";
    if operator.agrees(question) {
        return Ok(false);
    }
    Err(Refusal::new(
        Code::DirtyWorktree,
        format!(
            "{} not committed",
            paths_are(worktree.dirty.len() as u64 + worktree.more)
        ),
    )
    .replace_hints(["commit them, or say `--park-changes` to have them put aside and back, or `--yes` to go on beside them"])
    .into())
}

/// Each role has an agent that is installed, and counts on nothing that its program cannot do.
pub(super) fn require_agents(
    workspace: &Workspace,
    cast: &mut RoleAssignment,
) -> Result<(), Failure> {
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
            let hint = "`cook doctor agents` lists those that cook knows and finds";
            return Err(failure.replace_hints([hint]));
        }
    }
    Ok(())
}

/// Whoever reviews, audits or judges caught as many planted faults as `[rules] min_catch_rate` asks for.
pub(super) fn require_calibrated(
    workspace: &Workspace,
    cast: &RoleAssignment,
) -> Result<(), Failure> {
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
                Some(known) => (Code::JudgeMissesMuch, format!("which {}", known.words())),
                None => (
                    Code::JudgeUncalibrated,
                    "and nobody measured how much it catches".to_owned(),
                ),
            };
            let what = format!(
                "the {role} would be {who}, {how}; `[rules] min_catch_rate` asks for {least}"
            );
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

/// What must pass, what is left to spend, and where the last run stopped.
fn show_prospect(
    operator: &dyn Operator,
    workspace: &Workspace,
    limits: &Limits,
    gates: &[Gate],
    snapshot: &Snapshot,
    dispatch: &Dispatch,
) -> Result<(), Failure> {
    let lines = GitStore::open(workspace.place())?.lines()?;
    let row = |label: &str, text: String| {
        // A plan names gates: none of them makes lines of its own.
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

/// Every command that the run would start is trusted.
fn require_trust(
    workspace: &Workspace,
    gates: &[Gate],
    dispatch: &Dispatch,
) -> Result<(), Failure> {
    let untrusted = gates.iter().find(|gate| !gate.trusted);
    // Where the work is stopped none would run.
    let untrusted = untrusted.filter(|gate| gate.configured || dispatch.role.is_some());
    let notified = workspace.config()?.notify.run.as_ref();
    let (what, run) = match (untrusted, notified) {
        (Some(gate), _) => ("a gate would stop the run:", gate.run.as_str()),
        (None, Some(run)) if !workspace.trust()?.is_trusted(run) => {
            ("the run would not call `[notify] run`:", &**run)
        }
        _ => return Ok(()),
    };
    let what = format!("{what} `{run}` is not trusted on this machine");
    let hint = format!("run `cook trust {}`", quote_word(run));
    Err(Refusal::new(Code::TrustMissing, what)
        .replace_hints([hint])
        .into())
}

/// A command that must pass, and whether it may run here.
struct Gate {
    run: String,
    /// In `cook.toml`, and not only in the plan.
    configured: bool,
    trusted: bool,
}

/// The gates of the settings, then those that open slices name.
fn gates(workspace: &Workspace, snapshot: &Snapshot) -> Result<Vec<Gate>, Failure> {
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
    let mut text = count_noun(gates.len() as u64, "gate");
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
    match gates.len().saturating_sub(NAMED) {
        0 => text,
        rest => format!("{text} and {rest} more"),
    }
}

/// What binds the run: an agent that tells no cost is bound by tokens, steps and attempts.
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

/// What becomes of the step that the last run was at, and why; none where no session was held.
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
            format!("resumes the wait for the limit of {agent}, which holds until {until}")
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
