//! `cook record --check`: a report's form, and what in the repository stands against it.

use super::screen::finding_line;
use super::{Exit, Page, Show, Tone};
use cook_core::diagnostic::Finding;
use cook_core::report::Checked;
use serde::Serialize;

/// A report's grammar and consistency.
#[derive(Debug, Serialize)]
pub struct CheckAnswer {
    /// The report as far as it could be read.
    #[serde(flatten)]
    pub report: Checked,
    /// What is wrong with it.
    #[serde(skip)]
    pub breaches: Vec<Finding>,
}

impl Show for CheckAnswer {
    fn human(&self, page: &mut Page) {
        let role = self.report.role;
        if self.breaches.is_empty() {
            page.add_toned(Tone::Good, "valid");
            page.line(&format!("  a {role} report"));
            self.show_held(page);
            return;
        }
        page.add_toned(Tone::Bad, "not valid");
        page.line(&format!("  as a {role} report"));
        for finding in &self.breaches {
            finding_line(page, finding);
        }
        self.show_held(page);
    }

    fn exit(&self) -> Exit {
        if self.breaches.is_empty() {
            Exit::Ok
        } else {
            Exit::CheckFailed
        }
    }
}

impl CheckAnswer {
    fn show_held(&self, page: &mut Page) {
        if let Some(state) = &self.report.against {
            page.line(&format!("held against {state}"));
        }
        if let Some(why) = &self.report.not_held {
            page.line(&format!("its form alone: {why}"));
        }
        if !self.report.assumed.is_empty() {
            let assumed = self.report.assumed.join(", ");
            page.line(&format!("not run, taken for green: {assumed}"));
        }
    }
}
