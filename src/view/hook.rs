//! `cook hook`, `cook checkpoint`, `cook recover`.

use super::{Page, Show};
use crate::lifecycle::Response;
use cook_core::diagnostic::Finding;
use cook_core::model::Checkpoint;
use cook_hooks::Recovery;
use serde_json::{Value, json};

/// What an agent reads: its own JSON or nothing, and never an exit code that means no.
#[derive(Debug, Default)]
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

    fn json(&self) -> Value {
        Value::Null
    }

    fn has_json(&self) -> bool {
        false
    }

    fn aside(&self) -> Option<&str> {
        self.complaint.as_deref()
    }
}

/// A checkpoint that was kept.
#[derive(Debug)]
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

    fn json(&self) -> Value {
        json!({
            "schema_version": 1,
            "entry": self.entry,
            "findings": self.findings,
        })
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// The recovery message.
#[derive(Debug)]
pub struct RecoverAnswer {
    /// What it is made of.
    pub recovery: Recovery,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
}

impl Show for RecoverAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.recovery.render());
        page.newline();
    }

    fn json(&self) -> Value {
        let recovery = &self.recovery;
        let checkpoints: Vec<Value> = recovery
            .checkpoints
            .iter()
            .map(|(ago, text)| json!({"ago": ago, "text": text}))
            .collect();
        let item = recovery.item.as_ref().map(|item| {
            json!({
                "id": item.id,
                "title": item.title,
                "status": item.status,
                "type": item.kind,
                "priority": item.priority,
                "parent": item.parent,
                "unblocks": item.unblocks,
                "others": item.others,
            })
        });
        json!({
            "schema_version": 1,
            "message": recovery.render(),
            "item": item,
            "checkpoints": checkpoints,
            "uncommitted": recovery.uncommitted,
            "uncommitted_more": recovery.uncommitted_more,
            "role": recovery.role,
            "command": recovery.command,
            "notes": recovery.notes,
            "findings": self.findings,
        })
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}
