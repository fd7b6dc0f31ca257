//! Proofs in words.

use crate::diagnostic::Finding;
use crate::machine::facts::{AnchorAnswer, AnchorQuestion};

pub(super) fn describe(question: &AnchorQuestion, answer: &AnchorAnswer) -> String {
    format!(
        "`{}` ({}): {}",
        question.criterion, question.anchor, answer.why
    )
}

pub(super) fn many(findings: &[Finding]) -> String {
    match findings {
        [only] => only.message.clone(),
        [first, rest @ ..] => format!("{} (and {} more)", first.message, rest.len()),
        [] => String::new(),
    }
}
