//! `cook hook`, `cook brief checkpoint`, `cook brief recover`.

use super::{Page, Show};
use crate::lifecycle::Response;
use cook_core::diagnostic::Finding;
use cook_core::model::Checkpoint;
use cook_hooks::{Item, Recovery};
use serde::Serialize;

/// What an agent reads: its own JSON or nothing, and never an exit code that means no.
#[derive(Debug, Default, Serialize)]
pub struct HookAnswer {
    out: String,
    complaint: Option<String>,
}

impl HookAnswer {
    /// An event's answer.
    pub fn of(response: Response) -> Self {
        Self {
            out: response
                .answer
                .map(|value| format!("{value}\n"))
                .unwrap_or_default(),
            complaint: response.complaint,
        }
    }

    /// One line of text.
    pub fn line(text: String) -> Self {
        Self {
            out: if text.is_empty() {
                text
            } else {
                format!("{text}\n")
            },
            complaint: None,
        }
    }

    /// Nothing but a line for stderr.
    pub fn complaint(text: String) -> Self {
        Self {
            out: String::new(),
            complaint: Some(text),
        }
    }
}

impl Show for HookAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.out);
    }

    fn has_json(&self) -> bool {
        false
    }

    fn aside(&self) -> Option<&str> {
        self.complaint.as_deref()
    }
}

/// The entry that was appended to the checkpoint trail.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckpointAnswer {
    /// The entry.
    pub entry: Checkpoint,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Show for CheckpointAnswer {
    fn human(&self, page: &mut Page) {
        match &self.entry.item {
            Some(item) => page.line(&format!("kept, with {item}")),
            None => page.line("kept; no slice is in work"),
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// The message a session gets when its context was lost, and what it is made of.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecoverAnswer {
    /// At most 2,048 bytes of UTF-8.
    message: String,
    item: Option<Item>,
    #[cfg_attr(feature = "schema", schemars(length(max = 5)))]
    checkpoints: Vec<Remembered>,
    uncommitted: Vec<String>,
    uncommitted_more: u64,
    role: String,
    command: String,
    notes: Vec<String>,
    findings: Vec<Finding>,
}

/// A checkpoint and how long ago it was kept.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Remembered {
    ago: String,
    text: String,
}

impl RecoverAnswer {
    /// What was noticed on the way is not part of the message.
    pub fn of(recovery: Recovery, findings: Vec<Finding>) -> Self {
        let checkpoints = recovery.checkpoints.iter().cloned();
        Self {
            message: recovery.render(),
            checkpoints: checkpoints
                .map(|(ago, text)| Remembered { ago, text })
                .collect(),
            item: recovery.item,
            uncommitted: recovery.uncommitted,
            uncommitted_more: recovery.uncommitted_more,
            role: recovery.role,
            command: recovery.command,
            notes: recovery.notes,
            findings,
        }
    }
}

impl Show for RecoverAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.message);
        page.newline();
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}
