//! Refusals: a transition is not taken, or a fact must be measured before the rules can decide.

use crate::diagnostic::{Code, Failure, FailureKind, Finding, drop_general};
use crate::question::Question;
use std::fmt;

/// Builds a refusal with a formatted message: `refusal!(Code::SliceUnknown, "no slice `{id}`")`.
macro_rules! refusal {
    ($code:expr, $($words:tt)+) => {
        $crate::refusal::Refusal::new($code, format!($($words)+))
    };
}
pub(crate) use refusal;

/// A transition that was not taken; nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The rule that was broken.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// Details, if several things are wrong at once.
    pub findings: Vec<Finding>,
    /// The exact commands to run next.
    pub hints: Vec<String>,
    /// The question that must be answered before the rule can decide; if it is set, nothing is wrong yet.
    pub asks: Option<Box<Question>>,
}

impl Refusal {
    /// Builds a refusal with the hint of its code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            findings: Vec::new(),
            hints: vec![code.hint().to_owned()],
            asks: None,
        }
    }

    /// Puts a hint before the others. The code's own hint is removed if it is a general one.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        drop_general(self.code, &mut self.hints);
        self.hints.insert(0, hint.into());
        self
    }

    /// Replaces all hints.
    #[must_use]
    pub fn replace_hints<H: Into<String>>(mut self, hints: impl IntoIterator<Item = H>) -> Self {
        self.hints = hints.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the findings.
    #[must_use]
    pub fn with(mut self, findings: Vec<Finding>) -> Self {
        self.findings = findings;
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self {
            kind: FailureKind::Refused,
            code: refusal.code,
            message: refusal.message,
            causes: Vec::new(),
            findings: refusal.findings,
            hints: refusal.hints,
            prior: None,
        }
    }
}
