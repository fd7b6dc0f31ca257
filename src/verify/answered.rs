//! A question, and what was found out.

use super::criterion::Criterion;
use super::outcome::Outcome;
use super::proven::CommitStanding;

/// A question, and what was found out.
#[derive(Debug)]
pub struct Answered {
    /// The question.
    pub asks: String,
    /// How the commit is the proven one, or what the question was answered about.
    pub answer: String,
    /// The commit, where the question is about one.
    pub commit: Option<CommitStanding>,
    /// What the proof of each criterion is worth.
    pub criteria: Vec<Criterion>,
    /// What was looked at and what was found.
    pub outcome: Outcome,
}
