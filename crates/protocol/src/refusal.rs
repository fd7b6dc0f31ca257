//! A transition that is not taken, or that has to know more first.

use crate::diagnostic::{Code, Failure, FailureKind, Finding, drop_general};
use crate::question::Question;
use std::fmt;

/// A refusal in words that are put together: `refusal!(Code::SliceUnknown, "no slice `{id}`")`.
macro_rules! refusal {
    ($code:expr, $($words:tt)+) => {
        $crate::refusal::Refusal::new($code, format!($($words)+))
    };
}
pub(crate) use refusal;

/// A transition that is not taken. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Which rule was broken.
    pub code: Code,
    /// What is wrong here.
    pub message: String,
    /// More of the same, when several things are wrong at once.
    pub findings: Vec<Finding>,
    /// The exact next commands.
    pub hints: Vec<String>,
    /// What the rule has to know before it can decide: nothing is wrong yet.
    pub asks: Option<Box<Question>>,
}

impl Refusal {
    /// A refusal with the catalogue's hint.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            findings: Vec::new(),
            hints: vec![code.hint().to_owned()],
            asks: None,
        }
    }

    /// The same with one more command to run; a hint of the catalogue that is true of anything goes.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        drop_general(self.code, &mut self.hints);
        self.hints.insert(0, hint.into());
        self
    }

    /// The same with these commands in place of the catalogue's hint.
    #[must_use]
    pub fn replace_hints<H: Into<String>>(mut self, hints: impl IntoIterator<Item = H>) -> Self {
        self.hints = hints.into_iter().map(Into::into).collect();
        self
    }

    /// The same with the single things that are wrong.
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
