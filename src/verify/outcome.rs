//! What was looked at and what was found.

use cook_core::diagnostic::{Code, Finding};

/// What a check came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// One line for each thing that was looked at.
    pub checked: Vec<String>,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl Outcome {
    pub(super) fn find(&mut self, code: Code, what: impl Into<String>, place: &str) {
        self.findings.push(Finding::new(code, what).at(place));
    }

    pub(super) fn add_checked(&mut self, what: impl Into<String>) {
        self.checked.push(what.into());
    }

    /// Whether a finding of this code is among them.
    pub fn has_found(&self, code: Code) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }

    /// Worst first, without doubles.
    pub fn sort(mut self) -> Self {
        self.findings
            .sort_by(|a, b| b.severity().cmp(&a.severity()).then_with(|| a.cmp(b)));
        self.findings.dedup();
        let mut seen = std::collections::BTreeSet::new();
        self.checked.retain(|line| seen.insert(line.clone()));
        self
    }
}
