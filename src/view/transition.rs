//! What a transition did: `record`, `pause`, `resume`, and every other command that moves state.

use super::next::{Dispatched, dispatch_lines};
use super::{Page, Show, Tone, to_json};
use cook_core::diagnostic::Finding;
use cook_core::machine::{Dispatch, Head};
use cook_core::model::Snapshot;
use serde::Serialize;
use serde_json::Value;

/// Whether something was written to the log, and where.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recorded {
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
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Transitioned<'a> {
    #[serde(flatten)]
    operation: &'a Recorded,
    /// Log sequence.
    seq: u64,
    /// What happened.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = cook_core::model::Event::NAMES)))]
    event: &'a str,
    /// One line that says what was done.
    summary: &'a str,
    findings: &'a [Finding],
    next: Dispatched<'a>,
}

/// An accepted transition.
#[derive(Debug)]
pub struct TransitionAnswer {
    /// The log commit; none for a dry run.
    pub operation: Recorded,
    /// The event's name.
    pub event: &'static str,
    /// One line that says what was done.
    pub summary: String,
    /// The documents now.
    pub snapshot: Snapshot,
    /// HEAD.
    pub head: Head,
    /// Who is due now.
    pub next: Dispatch,
    /// For the next report.
    pub ticket: Option<String>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Show for TransitionAnswer {
    fn human(&self, page: &mut Page) {
        let number = self.snapshot.ledger.seq.0;
        match self.operation.recorded {
            true => page.toned(Tone::Good, &format!("recorded #{number}")),
            false => page.toned(Tone::Warn, "not recorded (dry run)"),
        }
        page.line(&format!("  {}", self.summary));
        dispatch_lines(page, &self.next);
    }

    fn json(&self) -> Value {
        let ticket = self.ticket.as_deref();
        to_json(&Transitioned {
            operation: &self.operation,
            seq: self.snapshot.ledger.seq.0,
            event: self.event,
            summary: &self.summary,
            findings: &self.findings,
            next: Dispatched::of(&self.next, Some(&self.snapshot), &self.head, ticket),
        })
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// What was done or seen by a command that recorded nothing, a line each.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoteAnswer {
    /// A stable word for the kind of note.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[a-z][a-z0-9_]*$")))]
    pub what: &'static str,
    /// One line each.
    pub lines: Vec<String>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Show for NoteAnswer {
    fn human(&self, page: &mut Page) {
        for line in &self.lines {
            page.line(line);
        }
    }

    fn json(&self) -> Value {
        to_json(self)
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}
