//! Records events of the user: takes in the inbox before, updates the issue tracker after, and answers for every
//! command that moves state.

use super::context::*;
use crate::anchor::describe_failed;
use crate::measure;
use crate::service::{Applied, Asked, Taker};
use crate::tracker::{Bounds, Memory, MemoryError, Outage, TrackerError, list_owed, open, settle};
use cook_protocol::machine::Step;
use cook_repo::process::session_around;

/// Records an event of the user and answers with the next role.
pub(super) fn record(workspace: &Workspace, event: &Event, actor: Actor, summary: &str) -> Answer {
    workspace.require()?;
    let mut findings = match event {
        // The event was made from the current tip, which the inbox would move.
        Event::Undone { .. } => Vec::new(),
        _ => take_in(workspace),
    };
    let applied = service::transition(workspace, event, actor)?;
    findings.extend(applied.findings.clone());
    findings.extend(follow(workspace, &applied.step.snapshot));
    let lines = vec![summary.to_owned()];
    answer(TransitionAnswer::new(applied, lines, findings))
}

/// Returns the failure. In a sandbox that cannot write the log, leaves the request in the inbox instead, for the next
/// command outside.
pub(super) fn or_leave(workspace: &Workspace, failure: Failure, request: Asked) -> Answer {
    if !service::is_shut_out(workspace, &failure) {
        return Err(failure);
    }
    let session = session_around().map(|(_, id)| id);
    match service::leave(workspace, session, request) {
        Ok(path) => note(
            "queued",
            vec![format!(
                "queued: this session may not write the log; the next hook or cook command outside it records `{path}`"
            )],
        ),
        Err(_) => Err(failure),
    }
}

/// Takes in the inbox of sandboxed sessions. A failure is only a finding, because the command itself comes first; the
/// rest of the inbox stays for later.
pub(super) fn take_in(workspace: &Workspace) -> Vec<Finding> {
    service::take_inbox(workspace, Taker::Command)
        .unwrap_or_else(|failure| vec![Finding::new(failure.code, failure.message)])
}

/// The time limits for one call to the tracker, and for all calls after a report.
const FOLLOW_CALL: Duration = Duration::from_secs(5);

const FOLLOW_ALL: Duration = Duration::from_secs(15);

/// Updates the tracker from the plan: claims the issues of selected slices and closes those of accepted ones. A failure
/// does not refuse the report: it is a finding, and the next report tries again.
pub(super) fn follow(workspace: &Workspace, snapshot: &Snapshot) -> Vec<Finding> {
    let actions = list_owed(&snapshot.plan);
    let git_dir = workspace.repo.git_dir();
    let behind = |error: MemoryError| vec![Finding::new(Code::TrackerBehind, error.to_string())];
    if actions.is_empty() {
        // If an undone action comes again, it must not count as settled.
        let forgotten = Memory::forget_settled(git_dir);
        return forgotten.map_or_else(behind, |()| Vec::new());
    }
    let kind = match workspace.config() {
        Ok(config) => config.tracker(),
        Err(failure) => return failure.findings,
    };
    let bounds = Bounds::beside(FOLLOW_CALL, Instant::now() + FOLLOW_ALL);
    match open(kind, workspace.repo.root(), bounds) {
        Ok(None) => Vec::new(),
        Ok(Some(beads)) => Memory::hold(git_dir)
            .and_then(|mut memory| settle(&beads, &mut memory, &actions))
            .map_or_else(behind, |problems| {
                problems.iter().map(TrackerError::finding).collect()
            }),
        Err(error) => {
            note_outage(workspace, &error);
            vec![error.finding()]
        }
    }
}

/// Notes an outage. If that fails, the next caller meets the outage itself.
pub(super) fn note_outage(workspace: &Workspace, error: &TrackerError) {
    if error.is_outage()
        && let Ok(mut memory) = Memory::hold(workspace.repo.git_dir())
    {
        let _ = memory.note_outage(Some(Outage {
            why: error.to_string(),
            since: workspace.clock.now(),
        }));
    }
}

/// Makes the re-grounds that cook can make itself now, and returns the last one. A failure is only a message.
pub(super) fn reground(
    workspace: &Workspace,
    lines: &mut Vec<String>,
    findings: &mut Vec<Finding>,
) -> Option<Applied> {
    let (done, why_not) = service::reground_all_by_cook(workspace);
    if let Some(failure) = why_not {
        lines.push(format!("cook did not re-ground: {}", failure.message));
    }
    for done in &done {
        let seq = done.step.snapshot.ledger.seq.0;
        lines.push(format!("cook re-grounded (#{seq})"));
        findings.extend(done.findings.clone());
        findings.extend(follow(workspace, &done.step.snapshot));
    }
    done.into_iter().last()
}

/// Whether something was written to the log, and where.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Recorded {
    /// Whether anything was written; false for a dry run, or if nothing had to change.
    pub recorded: bool,
    /// Full ID of the commit in the log; null if nothing was written.
    pub operation: Option<String>,
}

impl From<Option<String>> for Recorded {
    fn from(operation: Option<String>) -> Self {
        Self {
            recorded: operation.is_some(),
            operation,
        }
    }
}

/// The answer of `cook record`, `cook init` and every user-only command.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct TransitionAnswer {
    #[serde(flatten)]
    pub operation: Recorded,
    /// Number of the transition in the log.
    pub seq: u64,
    /// Kind of the event.
    #[schemars(extend("enum" = cook_protocol::model::Event::NAMES))]
    pub event: &'static str,
    /// One line about the result.
    pub summary: String,
    /// The same for people, a line for each thing.
    #[serde(skip)]
    pub lines: Vec<String>,
    pub findings: Vec<Finding>,
    /// `cook init` only: result of each gate that it tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Trial>,
    /// `cook init` only: command that starts the work, if a user can run it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    pub next: Dispatched,
}

impl TransitionAnswer {
    pub fn new(applied: Applied, lines: Vec<String>, findings: Vec<Finding>) -> Self {
        let Step { snapshot, next, .. } = applied.step;
        // The event `verified` does not measure the worktree, so its status is unknown.
        let is_measured = applied.event != Event::Verified.name()
            && next.role.is_some_and(service::leaves_the_tree_alone);
        let status = snapshot.ledger.status_seen.as_deref();
        let status = status.filter(|_| is_measured);
        let ticket = applied.tip.as_ref();
        let ticket = ticket.map(|tip| machine::ticket(&tip.commit, &applied.head, status));
        Self {
            operation: applied.tip.map(|tip| tip.commit).into(),
            seq: snapshot.ledger.seq.0,
            event: applied.event,
            summary: lines.join("; "),
            lines,
            findings,
            gates: Vec::new(),
            start: None,
            next: Dispatched::of(next, Some(&snapshot), &applied.head, ticket),
        }
    }
}

impl Show for TransitionAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        match self.operation.recorded {
            true => page.add_toned(Tone::Good, &format!("recorded #{}", self.seq)),
            false => page.add_toned(Tone::Warn, "not recorded (dry run)"),
        }
        page.list("  ", &self.lines);
        Trial::lines(&self.gates, page);
        self.next.lines(page);
        if let Some(start) = &self.start {
            page.add_toned(Tone::Good, "start");
            page.lines(&format!("      {start}"));
        }
    }
}

/// The answer of a command that recorded nothing.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct NoteAnswer {
    /// Stable name of the kind of answer.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_]*$"))]
    pub what: &'static str,
    /// Lines of the answer.
    pub lines: Vec<String>,
    /// Findings of the command.
    pub findings: Vec<Finding>,
    /// `cook init` only: result of each gate that it tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Trial>,
}

impl Show for NoteAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        page.list("", &self.lines);
        Trial::lines(&self.gates, page);
    }
}

/// An answer of a few lines.
pub(super) fn note(what: &'static str, lines: Vec<String>) -> Answer {
    answer(NoteAnswer {
        what,
        lines,
        findings: Vec::new(),
        gates: Vec::new(),
    })
}

// The end of `cook init`: runs each gate once, in the same kind of clean room in which it will count.

/// How many lines of a red gate's output are shown.
const SHOWN: usize = 8;

/// Outcome of a trial run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TrialOutcome {
    /// It passed.
    Green,
    /// It failed, or could not be started.
    Red,
    /// It was not run, because one of its programs is not on this machine.
    Absent,
    /// It did not end in time.
    Slow,
    /// It was not run, because this machine does not trust it.
    Untrusted,
}

/// A gate, or a setup command, that was tried once.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub(crate) struct Trial {
    /// Name of the gate, or `setup`.
    pub name: String,
    pub run: String,
    pub outcome: TrialOutcome,
    /// Duration in milliseconds; null if the command was not run.
    pub duration_ms: Option<u64>,
    /// Reason why the command did not pass: the last lines of its output, or the obstacle. If it passed: the parts of
    /// the clean room that it lacks.
    pub why: Vec<String>,
    /// Missing parts, with the setting that adds each.
    pub hints: Vec<String>,
}

impl Trial {
    /// Shows all trials to a person.
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
            page.list("           ", &trial.why);
            for hint in &trial.hints {
                page.add_toned(Tone::Dim, "           missing: ");
                page.line(hint);
            }
        }
    }
}

/// Tries the setup and the gates at HEAD, each for at most `patience`, because the user waits at the terminal. A
/// failure to try them is a finding, because the repository is set up already.
///
/// # Errors
/// When it is interrupted.
pub(super) fn try_gates(
    context: &Context,
    patience: Duration,
    findings: &mut Vec<Finding>,
) -> Result<Vec<Trial>> {
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
) -> Result<Vec<Trial>> {
    // The settings were written after this command had opened the worktree.
    let mut workspace = context.workspace()?;
    workspace.patience = Some(patience);
    let gates = workspace.config()?.gate_specs();
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
        for run in workspace.world()?.runner()?.set_up_at(&head, caches)? {
            trials.push(trial(&workspace, run)?);
        }
    }
    let is_green = |trial: &Trial| trial.outcome == TrialOutcome::Green;
    if !trials.iter().all(is_green) {
        let what = "the gates were not tried, because the room was not set up for them";
        findings.push(Finding::new(Code::GateRed, what));
        return Ok(trials);
    }
    let mut green = Vec::new();
    for gate in &gates {
        if let Some(trial) = refuse_to_run(&workspace, &gate.name, &gate.run)? {
            trials.push(trial);
            continue;
        }
        context.screen.note(&format!("{}: {}", gate.name, gate.run));
        for run in workspace.run_gates(std::slice::from_ref(gate))? {
            green.extend(run.receipt.clone().filter(|_| run.has_passed()));
            trials.push(trial(&workspace, run)?);
        }
    }
    let green: Vec<&Receipt> = green.iter().collect();
    if measure::are_nameless(&workspace.repo, &green)?
        && let Some(trial) = trials.iter_mut().rfind(|trial| is_green(trial))
    {
        trial.why.push(measure::NAMELESS.to_owned());
    }
    let is_red = |trial: &Trial| trial.outcome == TrialOutcome::Red;
    if trials.iter().any(is_red) && !workspace.repo.status()?.worktree.is_clean() {
        let what = "the clean room held HEAD's commit, without the uncommitted changes";
        findings.push(Finding::new(Code::DirtyWorktree, what));
    }
    Ok(trials)
}

/// Returns the trial of a command that must not run here, with the reason.
fn refuse_to_run(workspace: &Workspace, name: &str, run: &str) -> Result<Option<Trial>> {
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

fn trial(workspace: &Workspace, run: GateRun) -> Result<Trial> {
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
            "not finished after {}; `cook gate --clean` runs it to the end",
            humantime::format_duration(patience)
        )],
        (_, Some(problem)) => vec![problem.clone()],
        (_, None) => {
            let tail = receipt.map_or("", |receipt| &receipt.tail);
            describe_red(tail)
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

/// The failed tests, and the last lines of the output.
pub(super) fn describe_red(tail: &str) -> Vec<String> {
    let lines: Vec<&str> = tail.lines().collect();
    let last = lines[lines.len().saturating_sub(SHOWN)..].iter();
    let last = last.map(|line| format!("| {line}"));
    describe_failed(tail).into_iter().chain(last).collect()
}
