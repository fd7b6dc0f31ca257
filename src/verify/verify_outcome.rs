//! What was looked at and what was found.

use crate::service::Workspace;
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::model::Snapshot;
use std::collections::BTreeSet;

/// What was looked at and what was found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// One line for each thing that was looked at.
    pub checked: Vec<String>,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl Outcome {
    pub(super) fn find(&mut self, code: Code, what: impl Into<String>) {
        self.findings.push(Finding::new(code, what));
    }

    pub(super) fn find_at(&mut self, code: Code, what: impl Into<String>, place: &str) {
        self.findings.push(Finding::new(code, what).at(place));
    }

    pub(super) fn add_checked(&mut self, what: impl Into<String>) {
        self.checked.push(what.into());
    }

    /// Whether a finding of this code is among them.
    pub fn has_found(&self, code: Code) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }

    pub(super) fn forget(&mut self, code: Code) {
        self.findings.retain(|finding| finding.code != code);
    }

    /// Worst first, without doubles.
    pub fn sort(mut self) -> Self {
        self.findings
            .sort_by(|a, b| b.severity().cmp(&a.severity()).then_with(|| a.cmp(b)));
        self.findings.dedup();
        let mut seen = BTreeSet::new();
        self.checked.retain(|line| seen.insert(line.clone()));
        self
    }

    /// The log that is asked, where it can be believed: votes and proofs of a damaged one are nobody's word.
    pub(super) fn sound_log(&self, workspace: &Workspace) -> Result<Option<Snapshot>, Failure> {
        match self.has_found(Code::LogDamaged) {
            true => Ok(None),
            false => Ok(workspace.current()?.1),
        }
    }

    /// Nothing can be said of slices and votes without the log that holds them.
    pub(super) fn miss_log(&mut self, workspace: &Workspace) {
        let why = match (&workspace.log_from, &workspace.store) {
            (Some(source), _) => {
                let of = match source.reference.as_str() {
                    "" => "of a commit that this one is (no branch is checked out: `--branch BRANCH` names one)".to_owned(),
                    branch => format!("for branch `{branch}`, and none of a commit that this one is"),
                };
                format!("`{}` holds no log {of}", source.shown)
            }
            (None, Some(_)) => {
                "the log of this repository holds nothing for this worktree".to_owned()
            }
            (None, None) => "there is no log in this clone".to_owned(),
        };
        let next = match workspace.log_from {
            Some(_) => "; `cook push` in the clone where the work was done puts it there",
            None => "",
        };
        let what = format!("{why}, so no report, proof or vote can be recomputed{next}");
        self.find(Code::LogMissing, what);
    }
}
