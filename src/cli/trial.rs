//! The end of `cook init`: each gate once, in the clean room in which it will count.

use super::context::Context;
use super::transition::{Trial, TrialOutcome};
use crate::anchor::describe_failed;
use crate::measure;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_core::machine::GateRun;
use cook_core::model::GateSpec;
use cook_store::receipt::plan_gate;
use std::time::Duration;

/// Lines of output that are shown of one that is red.
const SHOWN: usize = 8;

/// Tries setup and gates as HEAD has them, each for so long at most: whoever sets a repository up
/// looks at the terminal. What keeps them from being tried is a finding, because
/// the repository is set up by then.
///
/// # Errors
/// When it is interrupted.
pub(super) fn try_gates(
    context: &Context,
    patience: Duration,
    findings: &mut Vec<Finding>,
) -> Result<Vec<Trial>, Failure> {
    match run_all(context, patience, findings) {
        Err(failure) if failure.code == Code::Interrupted => {
            Err(failure
                .replace_hints(["the repository is set up; `cook gate --clean` runs the gates"]))
        }
        Err(failure) => {
            let what = format!("the gates were not tried: {}", failure.message);
            findings.push(Finding::new(failure.code, what));
            Ok(Vec::new())
        }
        tried => tried,
    }
}

fn run_all(
    context: &Context,
    patience: Duration,
    findings: &mut Vec<Finding>,
) -> Result<Vec<Trial>, Failure> {
    // The settings were written after this command opened the worktree.
    let mut workspace = context.workspace()?;
    workspace.patience = Some(patience);
    let mut gates = workspace.config()?.gate_specs();
    if gates.is_empty() {
        return Ok(Vec::new());
    }
    if !workspace.holds_settings()? {
        context.screen.note("gates are tried on a commit: run `cook init --commit`, or commit `.agent/` and `.gitignore`, then run `cook gate --clean`");
        return Ok(Vec::new());
    }
    let setup: Vec<GateSpec> = workspace
        .config()?
        .clean_room
        .setup()
        .map(|command| plan_gate(command))
        .collect();
    context.screen.note(&format!(
        "trying {} in a clean room, each for {} at most; Ctrl-C leaves the set-up as it is",
        match gates.len() {
            1 => "the gate".to_owned(),
            count => format!("{count} gates"),
        },
        humantime::format_duration(patience)
    ));
    let mut trials = Vec::new();
    for gate in setup {
        trials.extend(refuse_to_run(&workspace, "setup", &gate.run)?);
    }
    if trials.is_empty() {
        for command in workspace.config()?.clean_room.setup() {
            context.screen.note(&format!("setup: {command}"));
        }
        let head = workspace.repo.head()?.commit.unwrap_or_default();
        let caches = workspace.caches;
        for run in workspace.with_runner(|runner| runner.set_up_at(&head, caches))? {
            trials.push(trial(&workspace, run)?);
        }
    }
    if trials
        .iter()
        .any(|trial| trial.outcome != TrialOutcome::Green)
    {
        findings.push(Finding::new(
            Code::GateRed,
            "the gates were not tried, because the room was not set up for them",
        ));
        return Ok(trials);
    }
    for gate in &mut gates {
        gate.must_fail_at_basis = false;
        if let Some(trial) = refuse_to_run(&workspace, &gate.name, &gate.run)? {
            trials.push(trial);
            continue;
        }
        context.screen.note(&format!("{}: {}", gate.name, gate.run));
        for run in workspace.run_gates(std::slice::from_ref(gate))? {
            trials.push(trial(&workspace, run)?);
        }
    }
    let is_red = trials
        .iter()
        .any(|trial| trial.outcome == TrialOutcome::Red);
    if is_red && !workspace.repo.status()?.worktree.is_clean() {
        findings.push(Finding::new(
            Code::DirtyWorktree,
            "the clean room held HEAD's commit, without what is not committed",
        ));
    }
    Ok(trials)
}

/// A command that is not to be run here, and why.
fn refuse_to_run(workspace: &Workspace, name: &str, run: &str) -> Result<Option<Trial>, Failure> {
    let trust = workspace.trust()?;
    let absent = trust.absent_programs(run);
    let (outcome, why) = if !absent.is_empty() {
        let why = format!(
            "not on this machine: {}; install it, then run `cook trust --gates`",
            absent.join(", ")
        );
        (TrialOutcome::Absent, why)
    } else if !trust.is_trusted(run) {
        let why = "not trusted on this machine: look at it, then run `cook trust --gates`";
        (TrialOutcome::Untrusted, why.to_owned())
    } else {
        return Ok(None);
    };
    Ok(Some(Trial {
        name: name.to_owned(),
        run: run.to_owned(),
        outcome,
        duration_ms: None,
        why: vec![why],
        hints: Vec::new(),
    }))
}

fn trial(workspace: &Workspace, run: GateRun) -> Result<Trial, Failure> {
    let own = Duration::from_millis(run.gate.timeout_ms);
    let patience = workspace.patience.unwrap_or(own);
    let receipt = run.receipt.as_ref();
    let outcome = if run.has_passed() {
        TrialOutcome::Green
    } else if receipt.is_some_and(|receipt| receipt.timed_out) && own > patience {
        TrialOutcome::Slow
    } else {
        TrialOutcome::Red
    };
    let is_red = outcome == TrialOutcome::Red;
    let why = match (outcome, &run.problem) {
        (TrialOutcome::Green, _) => Vec::new(),
        (TrialOutcome::Slow, _) => vec![format!(
            "not done after {}; `cook gate --clean` runs it to its end",
            humantime::format_duration(patience)
        )],
        (_, Some(problem)) => vec![problem.clone()],
        (_, None) => {
            let tail = receipt.map_or("", |receipt| &receipt.tail);
            let lines: Vec<&str> = tail.lines().collect();
            let shown = &lines[lines.len().saturating_sub(SHOWN)..];
            let shown = shown.iter().map(|line| format!("| {line}"));
            describe_failed(tail).into_iter().chain(shown).collect()
        }
    };
    Ok(Trial {
        hints: match is_red {
            true => measure::missing(&workspace.repo, workspace.config()?, (&run).into())?,
            false => Vec::new(),
        },
        duration_ms: receipt.map(|receipt| receipt.duration_ms.0),
        name: run.gate.name,
        run: run.gate.run,
        outcome,
        why,
    })
}
