//! A question, and what was found out.

use super::base::Compared;
use super::criterion::Criterion;
use super::outcome::Outcome;
use super::proven::CommitStanding;
use cook_core::machine::Head;

/// A question, and what was found out.
#[derive(Debug)]
pub struct Answered {
    /// The question.
    pub asks: String,
    /// How the commit is the proven one, or what the question was answered about.
    pub answer: String,
    /// The log that it is about is there.
    pub has_log: bool,
    /// The commit, where the question is about one.
    pub commit: Option<CommitStanding>,
    /// What the proof of each criterion is worth.
    pub criteria: Vec<Criterion>,
    /// How the contract stands to the base's, where one was named.
    pub base: Option<Compared>,
    /// What was looked at and what was found.
    pub outcome: Outcome,
}

impl Answered {
    /// The answer together with what the comparison with the base came to.
    #[must_use]
    pub fn with_base(mut self, mut compared: Compared) -> Self {
        self.answer = format!("{}; {}", self.answer, compared.words());
        let of_base = std::mem::take(&mut compared.outcome);
        let of_rest = std::mem::take(&mut self.outcome);
        self.outcome = Outcome {
            checked: of_base.checked.into_iter().chain(of_rest.checked).collect(),
            findings: of_base
                .findings
                .into_iter()
                .chain(of_rest.findings)
                .collect(),
        }
        .sort();
        self.base = Some(compared);
        self
    }

    /// Nothing was asked of the work: the contract alone is changed, and a person decides on it.
    pub fn of_contract_alone(asks: &str, head: Head, mut compared: Compared) -> Self {
        Self {
            asks: asks.to_owned(),
            answer: compared.words(),
            has_log: true,
            commit: Some(CommitStanding {
                head,
                done: None,
                how: None,
            }),
            criteria: Vec::new(),
            outcome: std::mem::take(&mut compared.outcome).sort(),
            base: Some(compared),
        }
    }
}
