//! What a transition did: `record`, `pause`, `resume`, and every other command that moves state.

use super::next::{dispatch_json, dispatch_lines};
use super::{Page, Show, Tone};
use cook_core::diagnostic::Finding;
use cook_core::machine::{Dispatch, Head};
use cook_core::model::Snapshot;
use serde_json::{Value, json};

/// An accepted transition.
#[derive(Debug)]
pub struct TransitionAnswer {
    /// The log commit; none for a dry run.
    pub operation: Option<String>,
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
        match &self.operation {
            Some(_) => page.toned(Tone::Good, &format!("recorded #{number}")),
            None => page.toned(Tone::Warn, "not recorded (dry run)"),
        }
        page.line(&format!("  {}", self.summary));
        dispatch_lines(page, &self.next);
    }

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "recorded": self.operation.is_some(),
            "operation": self.operation,
            "seq": self.snapshot.ledger.seq,
            "event": self.event,
            "summary": self.summary,
            "findings": self.findings,
            "next": dispatch_json(&self.next, Some(&self.snapshot), &self.head, self.ticket.as_deref()),
        })
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// A command that had something to say and nothing to record.
#[derive(Debug)]
pub struct NoteAnswer {
    /// A stable word for programs.
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
        json!({
            "schema_version": 1,
            "what": self.what,
            "lines": self.lines,
            "findings": self.findings,
        })
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}
