//! A question about a commit, and what was found out.

use super::base::Compared;
use super::criterion_proof::Criterion;
use super::log_signature;
use super::proven::CommitStanding;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_core::model::Snapshot;
use serde::Serialize;
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

/// A question, and what was found out.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answered {
    /// The question.
    pub question: String,
    /// How the commit is the proven one, or what the answer is about.
    pub answer: String,
    /// The log that it is about is there.
    #[serde(skip)]
    pub has_log: bool,
    /// The commit that was asked about; left out where the question is not about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitStanding>,
    /// What the proof of each criterion of a done slice is worth.
    pub criteria: Vec<Criterion>,
    /// The commit whose contract decides; left out where none was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Compared>,
    #[serde(skip)]
    pub outcome: Outcome,
}

impl Answered {
    pub fn new(question: impl Into<String>, answer: &str, outcome: Outcome) -> Self {
        Self {
            question: question.into(),
            answer: answer.to_owned(),
            has_log: true,
            commit: None,
            criteria: Vec::new(),
            base: None,
            outcome,
        }
    }

    /// Nothing of the question could be looked at.
    pub(super) fn without_log(mut self, workspace: &Workspace) -> Self {
        self.has_log = false;
        self.answer = match self.outcome.has_found(Code::LogDamaged) {
            true => "not answered: the log is damaged".to_owned(),
            false => {
                self.outcome.miss_log(workspace);
                "not answered: there is no log here".to_owned()
            }
        };
        self.outcome = self.outcome.sort();
        self
    }

    /// What is wrong with the criteria, and whose word it is what the log only records.
    pub(super) fn finish(mut self, workspace: &Workspace) -> Result<Self, Failure> {
        let is_shallow = workspace.repo.is_shallow();
        let wrong = self.criteria.iter();
        let wrong = wrong.filter_map(|criterion| criterion.finding(is_shallow));
        self.outcome.findings.extend(wrong);
        log_signature::tell(workspace, &mut self.answer, &mut self.outcome)?;
        self.outcome = self.outcome.sort();
        Ok(self)
    }

    /// The answer together with what the comparison with the base came to.
    #[must_use]
    pub fn with_base(mut self, mut compared: Compared) -> Self {
        self.answer = format!("{}; {}", self.answer, compared.words());
        let mut outcome = std::mem::take(&mut compared.outcome);
        outcome.checked.extend(self.outcome.checked);
        outcome.findings.extend(self.outcome.findings);
        self.outcome = outcome.sort();
        self.base = Some(compared);
        self
    }
}
