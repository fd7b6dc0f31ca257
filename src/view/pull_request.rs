//! `cook pr`: the body of a pull request, and the request that was made with it.

use super::formats::body;
use super::{Page, Results, Show, VerifyAnswer};
use cook_core::diagnostic::{Lines, clean, without_tokens};
use serde::Serialize;

/// What a pull request tells.
#[derive(Debug)]
pub(crate) struct PullRequest {
    pub mission: String,
    pub(super) results: Results,
    pub slices: Vec<SliceLine>,
    pub wave: u64,
    pub votes: Vec<VoteLine>,
    /// In the order of the log.
    pub caught: Vec<Caught>,
}

/// A slice of the plan.
#[derive(Debug)]
pub(crate) struct SliceLine {
    pub id: String,
    pub goal: String,
    pub status: &'static str,
    /// How often a commit was reported for it.
    pub attempts: usize,
    pub head: Option<String>,
}

/// A judge's vote.
#[derive(Debug)]
pub(crate) struct VoteLine {
    pub session: Option<String>,
    pub yes: bool,
    pub names: String,
}

/// A report that was refused, or that said no.
#[derive(Debug)]
pub(crate) struct Caught {
    pub seq: u64,
    pub what: &'static str,
    pub names: String,
}

impl PullRequest {
    pub fn new(mission: String, verified: &VerifyAnswer) -> Self {
        Self {
            mission,
            results: verified.as_results(),
            slices: Vec::new(),
            wave: 0,
            votes: Vec::new(),
            caught: Vec::new(),
        }
    }
}

/// The text of a pull request.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct PullRequestAnswer {
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Whether the proof that it tells of passes, as `cook verify` says.
    pub proven: bool,
    /// Where the request is that was made; null = none was.
    pub created: Option<String>,
}

impl PullRequestAnswer {
    /// What can be nothing but a secret is in neither.
    pub fn new(title: &str, request: &PullRequest) -> Self {
        Self {
            title: without_tokens(&clean(title, Lines::Fold)),
            body: without_tokens(&body(request)),
            proven: request.results.passed,
            created: None,
        }
    }
}

impl Show for PullRequestAnswer {
    fn human(&self, page: &mut Page) {
        match &self.created {
            Some(address) => page.line(&clean(address, Lines::Fold)),
            // Each word of it is harmless already; a tag of a list is not one for a model.
            None => page.verbatim(&self.body),
        }
    }
}
