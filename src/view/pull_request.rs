//! `cook report --format pr`: the body of a pull request, and the request that was made with it.

use super::formats::{PullRequest, body};
use super::{Page, Show};
use cook_core::diagnostic::{Lines, clean, without_tokens};
use serde::Serialize;

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
            proven: request.is_proven(),
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
