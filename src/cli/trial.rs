//! The end of `cook init`: each gate once, in the clean room in which it will count.

use super::context::Context;
use super::gate::describe_red;
use super::transition::{Trial, TrialOutcome};
use crate::measure;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_core::machine::GateRun;
use std::time::Duration;

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
    let setup: Vec<String> = workspace
        .config()?
        .clean_room
        .setup()
        .map(|command| command.to_string())
        .collect();
    let count = match gates.len() {
        1 => "the gate".to_owned(),
        count => format!("{count} gates"),
    };
    let most = humantime::format_duration(patience);
    context.screen.note(&format!(
        "trying {count} in a clean room, each for {most} at most; Ctrl-C leaves the set-up as it is"
    ));
    let mut trials = Vec::new();
    for command in &setup {
        trials.extend(refuse_to_run(&workspace, "setup", command)?);
    }
    if trials.is_empty() {
        for command in &setup {
            context.screen.note(&format!("setup: {command}"));
        }
        let head = workspace.repo.head()?.commit.unwrap_or_default();
        let caches = workspace.caches;
        for run in workspace.with_runner(|runner| runner.set_up_at(&head, caches))? {
            trials.push(trial(&workspace, run)?);
        }
    }
    let mut outcomes = trials.iter().map(|trial| trial.outcome);
    if outcomes.any(|outcome| outcome != TrialOutcome::Green) {
        let what = "the gates were not tried, because the room was not set up for them";
        findings.push(Finding::new(Code::GateRed, what));
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
    let mut outcomes = trials.iter().map(|trial| trial.outcome);
    if outcomes.any(|outcome| outcome == TrialOutcome::Red)
        && !workspace.repo.status()?.worktree.is_clean()
    {
        let what = "the clean room held HEAD's commit, without what is not committed";
        findings.push(Finding::new(Code::DirtyWorktree, what));
    }
    Ok(trials)
}

/// A command that is not to be run here, and why.
fn refuse_to_run(workspace: &Workspace, name: &str, run: &str) -> Result<Option<Trial>, Failure> {
    let trust = workspace.trust()?;
    let absent = trust.absent_programs(run).join(", ");
    let (outcome, why) = match (absent.is_empty(), trust.is_trusted(run)) {
        (false, _) => (
            TrialOutcome::Absent,
            format!("not on this machine: {absent}; install it, then run `cook trust --gates`"),
        ),
        (true, false) => (
            TrialOutcome::Untrusted,
            "not trusted on this machine: look at it, then run `cook trust --gates`".to_owned(),
        ),
        (true, true) => return Ok(None),
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
    let is_cut = receipt.is_some_and(|receipt| receipt.timed_out) && own > patience;
    let (outcome, why) = match (run.has_passed(), &run.problem) {
        (true, _) => (TrialOutcome::Green, Vec::new()),
        (false, _) if is_cut => {
            let after = humantime::format_duration(patience);
            let why = format!("not done after {after}; `cook gate --clean` runs it to its end");
            (TrialOutcome::Slow, vec![why])
        }
        (false, Some(problem)) => (TrialOutcome::Red, vec![problem.clone()]),
        (false, None) => {
            let tail = receipt.map_or("", |receipt| &receipt.tail);
            (TrialOutcome::Red, describe_red(tail))
        }
    };
    Ok(Trial {
        hints: match outcome {
            TrialOutcome::Red => {
                measure::missing(&workspace.repo, workspace.config()?, (&run).into())?
            }
            _ => Vec::new(),
        },
        duration_ms: receipt.map(|receipt| receipt.duration_ms.0),
        name: run.gate.name,
        run: run.gate.run,
        outcome,
        why,
    })
}
