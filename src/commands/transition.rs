//! One event of the user's, recorded: what is taken in before it, what the issue tracker is owed after it, and the
//! answer of every command that moves state.

use super::context::{Answer, answer};
use super::trial::Trial;
use crate::service::{self, Applied, Asked, Taker, Workspace};
use crate::tracker::{Bounds, Memory, MemoryError, Outage, TrackerError, list_owed, open, settle};
use crate::view::{Dispatched, Page, Show, Tone};
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::machine::{self, Step};
use cook_protocol::model::{Actor, Event, Snapshot};
use cook_repo::process::session_around;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Records one event of the user's and answers with who is due.
pub(super) fn record(workspace: &Workspace, event: &Event, actor: Actor, summary: &str) -> Answer {
    workspace.require()?;
    let mut findings = match event {
        // It was made from the tip as it stands.
        Event::Undone { .. } => Vec::new(),
        _ => take_in(workspace),
    };
    let applied = service::transition(workspace, event, actor)?;
    findings.extend(applied.findings.clone());
    findings.extend(follow(workspace, &applied.step.snapshot));
    let lines = vec![summary.to_owned()];
    answer(TransitionAnswer::new(applied, lines, findings))
}

/// The failure; inside a sandbox the request is left instead, for whoever comes next
/// outside it.
pub(super) fn or_leave(workspace: &Workspace, failure: Failure, request: Asked) -> Answer {
    if !service::is_shut_out(workspace, &failure) {
        return Err(failure);
    }
    let session = session_around().map(|(_, id)| id);
    match service::leave(workspace, session, request) {
        Ok(path) => note(
            "queued",
            vec![format!(
                "queued: this session may not write the log; `{path}` is taken in by the next hook or cook command outside"
            )],
        ),
        Err(_) => Err(failure),
    }
}

/// Takes in what sandboxed sessions left. What stands in the way stays for later: the
/// command that was called comes first.
pub(super) fn take_in(workspace: &Workspace) -> Vec<Finding> {
    service::take_inbox(workspace, Taker::Command)
        .unwrap_or_else(|failure| vec![Finding::new(failure.code, failure.message)])
}

/// Time for one call, and for all, of what follows a report.
const FOLLOW_CALL: Duration = Duration::from_secs(5);

const FOLLOW_ALL: Duration = Duration::from_secs(15);

/// Gives the tracker what the plan owes it: claims of selected slices' issues, closes
/// of accepted ones. Never keeps a report from being taken: what fails is a finding
/// and is tried again with the next report.
pub(super) fn follow(workspace: &Workspace, snapshot: &Snapshot) -> Vec<Finding> {
    let actions = list_owed(&snapshot.plan);
    let git_dir = workspace.repo.git_dir();
    let behind = |error: MemoryError| vec![Finding::new(Code::TrackerBehind, error.to_string())];
    if actions.is_empty() {
        // What was settled before an undo is owed anew when it comes again.
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

/// Best effort: an outage that cannot be noted is met again by the next caller.
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

/// Whether something was written to the log, and where.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct Recorded {
    /// False where nothing was written: for a dry run, or because nothing had to change.
    pub recorded: bool,
    /// The log commit; null where nothing was written.
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

/// What `cook record`, `init` and every user-only command answer.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct TransitionAnswer {
    #[serde(flatten)]
    pub operation: Recorded,
    /// Log sequence.
    pub seq: u64,
    /// What happened.
    #[schemars(extend("enum" = cook_protocol::model::Event::NAMES))]
    pub event: &'static str,
    /// One line that says what was done.
    pub summary: String,
    /// The same for people, a line for each thing.
    #[serde(skip)]
    pub lines: Vec<String>,
    pub findings: Vec<Finding>,
    /// `cook init` only: what came of each gate that it tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Trial>,
    /// `cook init` only: the command that starts the work, where a user may type it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    pub next: Dispatched,
}

impl TransitionAnswer {
    pub fn new(applied: Applied, lines: Vec<String>, findings: Vec<Finding>) -> Self {
        let Step { snapshot, next, .. } = applied.step;
        // Most transitions measure the worktree.
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
        match self.operation.recorded {
            true => page.add_toned(Tone::Good, &format!("recorded #{}", self.seq)),
            false => page.add_toned(Tone::Warn, "not recorded (dry run)"),
        }
        for line in &self.lines {
            page.line(&format!("  {line}"));
        }
        Trial::lines(&self.gates, page);
        self.next.lines(page);
        if let Some(start) = &self.start {
            page.add_toned(Tone::Good, "start");
            page.line(&format!("      {start}"));
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// What was done or seen by a command that recorded nothing, a line each.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct NoteAnswer {
    /// A stable word for the kind of note.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_]*$"))]
    pub what: &'static str,
    /// One line each.
    pub lines: Vec<String>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
    /// `cook init` only: what came of each gate that it tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Trial>,
}

impl Show for NoteAnswer {
    fn human(&self, page: &mut Page) {
        for line in &self.lines {
            page.line(line);
        }
        Trial::lines(&self.gates, page);
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
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
