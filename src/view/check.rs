//! `cook record --check`, `--repair-prompt`: reports judged without a repository.

use super::screen::finding_line;
use super::{Exit, Page, Show, Tone, to_json};
use cook_core::diagnostic::Finding;
use cook_core::report::Checked;
use serde_json::Value;

/// A report's grammar and consistency.
#[derive(Debug)]
pub struct CheckAnswer {
    /// The report as far as it could be read.
    pub report: Checked,
    /// What is wrong with it.
    pub breaches: Vec<Finding>,
}

impl Show for CheckAnswer {
    fn human(&self, page: &mut Page) {
        let role = self.report.role;
        if self.breaches.is_empty() {
            page.toned(Tone::Good, "valid");
            page.line(&format!("  a {role} report"));
            return;
        }
        page.toned(Tone::Bad, "not valid");
        page.line(&format!("  as a {role} report"));
        for finding in &self.breaches {
            finding_line(page, finding);
        }
    }

    fn json(&self) -> Value {
        to_json(&self.report)
    }

    fn exit(&self) -> Exit {
        if self.breaches.is_empty() {
            Exit::Ok
        } else {
            Exit::CheckFailed
        }
    }
}
