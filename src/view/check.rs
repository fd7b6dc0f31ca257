//! `cook record --check`, `--repair-prompt`: reports judged without a repository.

use super::screen::finding_line;
use super::{Exit, Page, Show, Tone};
use cook_core::diagnostic::Finding;
use cook_core::model::Role;
use serde_json::Value;

/// A report's grammar and consistency.
#[derive(Debug)]
pub struct CheckAnswer {
    /// Whose report.
    pub role: Role,
    /// The JSON the report module makes of it.
    pub value: Value,
    /// What is wrong with it.
    pub breaches: Vec<Finding>,
}

impl Show for CheckAnswer {
    fn human(&self, page: &mut Page) {
        if self.breaches.is_empty() {
            page.toned(Tone::Good, "valid");
            page.line(&format!("  a {} report", self.role));
            return;
        }
        page.toned(Tone::Bad, "not valid");
        page.line(&format!("  as a {} report", self.role));
        for finding in &self.breaches {
            finding_line(page, finding);
        }
    }

    fn json(&self) -> Value {
        self.value.clone()
    }

    fn exit(&self) -> Exit {
        if self.breaches.is_empty() {
            Exit::Ok
        } else {
            Exit::CheckFailed
        }
    }
}
