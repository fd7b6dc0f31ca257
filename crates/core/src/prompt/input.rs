//! What a prompt is made from.

use super::quote::MAX_PART_CHARS;
use crate::diagnostic::Finding;
use crate::machine::Selection;
use crate::model::{Role, Snapshot};

/// What a prompt is made from.
#[derive(Debug, Clone, Copy)]
pub struct PromptInput<'a> {
    /// Whose prompt.
    pub role: Role,
    /// The documents of the log's tip, as a report finds them.
    pub snapshot: &'a Snapshot,
    /// The dispatch rule that fired: `1` to `9`.
    pub rule: &'a str,
    /// What the role has to do.
    pub action: &'a str,
    /// Why it is this role's turn.
    pub reason: &'a str,
    /// What cook found in the repository.
    pub findings: &'a [Finding],
    /// What the repository says against a selection.
    pub selection: &'a Selection,
    /// Diffs, receipts, verdicts: whatever the caller adds. Shown in one fence.
    pub context: &'a str,
    /// The continuation brief, as `cook brief` prints it. Shown in one fence.
    pub brief: &'a str,
}

impl<'a> PromptInput<'a> {
    /// Findings that the prompt does not begin with as its reason.
    pub(super) fn list_other_findings(&self) -> impl Iterator<Item = &'a Finding> {
        let reason = self.reason;
        let is_whole = reason.len() <= MAX_PART_CHARS;
        let findings = self.findings.iter();
        findings.filter(move |finding| !(is_whole && reason.contains(&*finding.message)))
    }
}
