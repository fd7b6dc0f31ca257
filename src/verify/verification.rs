//! A question about a commit, and what was found out.

use super::base::Compared;
use super::criterion_proof::Criterion;
use super::log_signature;
use super::proven::CommitStanding;
use super::verify_outcome::Outcome;
use crate::service::Workspace;
use cook_protocol::diagnostic::{Code, Failure};
use serde::Serialize;

/// A question, and what was found out.
#[derive(Debug, Serialize, schemars::JsonSchema)]
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
