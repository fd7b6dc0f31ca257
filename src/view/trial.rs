//! What came of a gate that `cook init` tried.

use super::{Page, Tone};
use serde::Serialize;

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
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
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trial {
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
