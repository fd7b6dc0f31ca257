//! The end of `cook init`: each gate once, in the clean room in which it will count.

use super::context::Context;
use crate::anchor::describe_failed;
use crate::measure;
use crate::service::Workspace;
use crate::view::{Page, Tone};
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::machine::GateRun;
use serde::Serialize;
use std::time::Duration;

/// Lines of output that are shown of one that is red.
const SHOWN: usize = 8;

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TrialOutcome {
    /// It passed.
    Green,
    /// It failed, or could not be started.
    Red,
    /// A program that it names is not on this machine; it was not run.
    Absent,
    /// It did not end within the time of a trial.
    Slow,
    /// This machine does not trust it; it was not run.
    Untrusted,
}

/// A gate, or a setup command, that was tried once.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub(crate) struct Trial {
    /// `setup`, or the gate's name.
    pub name: String,
    pub run: String,
    pub outcome: TrialOutcome,
    /// Null where it was not run.
    pub duration_ms: Option<u64>,
    /// Why it did not pass: the last lines of its output, or what kept it from running.
    pub why: Vec<String>,
    /// What it did not have, and what gives it.
    pub hints: Vec<String>,
}

impl Trial {
    /// All of them, as people read it.
    pub(super) fn lines(all: &[Self], page: &mut Page) {
        for trial in all {
            let (tone, word) = match trial.outcome {
                TrialOutcome::Green => (Tone::Good, "green"),
                TrialOutcome::Red => (Tone::Bad, "red"),
                TrialOutcome::Absent => (Tone::Bad, "absent"),
                TrialOutcome::Slow => (Tone::Warn, "slow"),
                TrialOutcome::Untrusted => (Tone::Warn, "untrusted"),
            };
            page.add_toned(tone, &format!("{word:<9}"));
            let took = trial.duration_ms.map_or(String::new(), |ms| {
                format!("  {}.{} s", ms / 1000, ms % 1000 / 100)
            });
            page.line(&format!("  {}  {}{took}", trial.name, trial.run));
            for line in &trial.why {
                page.line(&format!("           {line}"));
            }
            for hint in &trial.hints {
                page.add_toned(Tone::Dim, "           missing: ");
                page.line(hint);
            }
        }
    }
}

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
    let count = match gates.len() {
        1 => "the gate".to_owned(),
        count => format!("{count} gates"),
    };
    let most = humantime::format_duration(patience);
    context.screen.note(&format!(
        "trying {count} in a clean room, each for {most} at most; Ctrl-C leaves the set-up as it is"
    ));
    let setup = workspace.config()?.clean_room.setup();
    let setup: Vec<String> = setup.map(ToString::to_string).collect();
    let mut trials = Vec::new();
    for command in &setup {
        trials.extend(refuse_to_run(&workspace, "setup", command)?);
    }
    if trials.is_empty() {
        for command in setup {
            context.screen.note(&format!("setup: {command}"));
        }
        let head = workspace.repo.head()?.commit.unwrap_or_default();
        let caches = workspace.caches;
        for run in workspace.with_runner(|runner| runner.set_up_at(&head, caches))? {
            trials.push(trial(&workspace, run)?);
        }
    }
    let is_green = |trial: &Trial| trial.outcome == TrialOutcome::Green;
    if !trials.iter().all(is_green) {
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
    let is_red = |trial: &Trial| trial.outcome == TrialOutcome::Red;
    if trials.iter().any(is_red) && !workspace.repo.status()?.worktree.is_clean() {
        let what = "the clean room held HEAD's commit, without what is not committed";
        findings.push(Finding::new(Code::DirtyWorktree, what));
    }
    Ok(trials)
}

/// A command that is not to be run here, and why.
fn refuse_to_run(workspace: &Workspace, name: &str, run: &str) -> Result<Option<Trial>, Failure> {
    let trust = workspace.trust()?;
    let absent = trust.absent_programs(run);
    let (outcome, why) = match (absent.is_empty(), trust.is_trusted(run)) {
        (true, true) => return Ok(None),
        (false, _) => {
            let absent = absent.join(", ");
            let why =
                format!("not on this machine: {absent}; install it, then run `cook trust --gates`");
            (TrialOutcome::Absent, why)
        }
        (true, false) => {
            let why = "not trusted on this machine: look at it, then run `cook trust --gates`";
            (TrialOutcome::Untrusted, why.to_owned())
        }
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
            let shown = lines[lines.len().saturating_sub(SHOWN)..].iter();
            let shown = shown.map(|line| format!("| {line}"));
            describe_failed(tail).into_iter().chain(shown).collect()
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
