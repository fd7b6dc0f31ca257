//! What a transition did: `record`, `pause`, `resume`, and every other command that moves state.

use super::next::Dispatched;
use super::trial::Trial;
use super::{Page, Show, Tone};
use cook_core::diagnostic::Finding;
use serde::Serialize;

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
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransitionAnswer {
    #[serde(flatten)]
    pub operation: Recorded,
    /// Log sequence.
    pub seq: u64,
    /// What happened.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = cook_core::model::Event::NAMES)))]
    pub event: &'static str,
    /// One line that says what was done.
    pub summary: String,
    /// The same for people, where it is more than one thing: a line each.
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

impl Show for TransitionAnswer {
    fn human(&self, page: &mut Page) {
        match self.operation.recorded {
            true => page.add_toned(Tone::Good, &format!("recorded #{}", self.seq)),
            false => page.add_toned(Tone::Warn, "not recorded (dry run)"),
        }
        let (first, more) = match self.lines.split_first() {
            Some((first, more)) => (first, more),
            None => (&self.summary, &[][..]),
        };
        page.line(&format!("  {first}"));
        for line in more {
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
