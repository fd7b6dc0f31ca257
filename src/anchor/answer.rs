//! What an anchor, or the place in it, is answered with.

use cook_core::machine::AnchorAnswer;
use cook_core::model::Verdict;

pub(super) const NO_COMMIT: &str = "there is no commit yet";

/// What a place is worth.
pub(super) struct Placed {
    pub(super) verdict: Verdict,
    pub(super) why: String,
    /// Path and lines (from 1) where it is now, when it was found.
    pub(super) found: Option<(String, usize, usize)>,
}

impl Placed {
    pub(super) fn not(verdict: Verdict, why: impl Into<String>) -> Self {
        Self {
            verdict,
            why: why.into(),
            found: None,
        }
    }

    pub(super) fn at(
        verdict: Verdict,
        why: String,
        path: &str,
        first: usize,
        text: &[String],
    ) -> Self {
        Self {
            verdict,
            why,
            found: Some((path.to_owned(), first, first + text.len() - 1)),
        }
    }
}

pub(super) fn answer(verdict: Verdict, why: impl Into<String>, target: &str) -> AnchorAnswer {
    AnchorAnswer {
        verdict,
        why: why.into(),
        now: None,
        receipt: None,
        target: target.to_owned(),
        related: false,
        is_new: true,
    }
}
