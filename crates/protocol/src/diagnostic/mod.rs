//! The catalogue of everything cook can object to, and the forms of an objection: a [`Finding`] is shown, a
//! [`Refusal`](crate::refusal::Refusal) stops a transition, a [`Failure`] ends a command.
//!
//! Pure. A code is stable, unique and documented here once; `protocol/codes.json`
//! is generated from this list and a test keeps the two equal.

mod catalogue;
mod text;

pub use catalogue::{CATALOGUE, Code, Family, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
pub use text::{
    Attribution, Lines, REDACTED, and_more, attributions, begin, clean, count_noun, each_text,
    find_tokens, harmless_json, last_line, list_with_verb, may_hold_json, redact, short, shorten,
    with_plain_marks, without_attribution, without_escapes, without_tags, without_tokens,
};

/// A finding with a formatted message.
macro_rules! finding {
    ($code:expr, $($words:tt)+) => {
        $crate::diagnostic::Finding::new($code, format!($($words)+))
    };
}
pub(crate) use finding;

/// A finding of a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Code of the finding; `codes.json` explains it.
    pub code: Code,
    /// Description of the problem.
    // A lowercase fragment without a final period.
    pub message: String,
    /// File, field or slice that the finding concerns; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl Finding {
    /// A finding without a place.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            place: None,
        }
    }

    /// Sets the place.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// The severity of its code.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// Drops a general hint such as `run cook status`, which would distract from the exact command to run.
pub(crate) fn drop_general(code: Code, hints: &mut Vec<String>) {
    if matches!(
        code,
        Code::Usage | Code::DoesNotApply | Code::TrustMissing | Code::PlanUnknown
    ) {
        hints.retain(|known| known != code.hint());
    }
}

/// Why a command ended without doing its work; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// A check found errors (exit 1).
    Check,
    /// The command line is wrong (exit 2).
    Usage,
    /// State is unreadable, or this is not a git repository (exit 3).
    State,
    /// A transition was refused (exit 4).
    Refused,
    /// An agent failed (exit 5).
    Supplier,
    /// Another process holds the lock or the lease (exit 7).
    Held,
}

/// Refs from which a conversation can continue after a failed call of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PriorRefs {
    /// Ref of the newest episode (context window); null if there is none.
    pub episode: Option<String>,
    /// Ref of the newest series (chain of episodes); null if there is none.
    pub series: Option<String>,
}

/// The result of a command. Its error, unless another is named, is the one that reaches the command line.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Converts an error of the system or of a library to the failure of a command.
pub trait OrFail<T> {
    /// Returns the value, or a failure of the state that says what did not work, and why.
    ///
    /// # Errors
    /// If there is no value.
    fn or_fail(self, code: Code, what: impl Into<String>) -> Result<T>;
}

impl<T, E: std::error::Error> OrFail<T> for Result<T, E> {
    fn or_fail(self, code: Code, what: impl Into<String>) -> Result<T> {
        self.map_err(|error| Failure::state(code, what).with_cause(&error))
    }
}

/// The one error that reaches the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Decides the exit code.
    pub kind: FailureKind,
    /// Catalogue code.
    pub code: Code,
    /// What is wrong: a lowercase fragment without a final period.
    pub message: String,
    /// The causes, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// The individual problems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The exact next commands.
    pub hints: Vec<String>,
    /// For calls of agents: what can be continued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Box<PriorRefs>>,
}

impl Failure {
    /// A failure with the catalogue's hint.
    pub fn new(kind: FailureKind, code: Code, message: impl Into<String>) -> Self {
        Self {
            kind,
            code,
            message: message.into(),
            causes: Vec::new(),
            findings: Vec::new(),
            hints: vec![code.hint().to_owned()],
            prior: None,
        }
    }

    /// The state is unreadable, or cook cannot work in the repository.
    pub fn state(code: Code, message: impl Into<String>) -> Self {
        Self::new(FailureKind::State, code, message)
    }

    /// The command line is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, Code::Usage, message)
    }

    /// A name on the command line is unknown.
    pub fn unknown(code: Code, message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, code, message)
    }

    /// The place of the first finding: where in the input the problem is.
    pub fn path(&self) -> Option<&str> {
        self.findings.first()?.place.as_deref()
    }

    /// Adds the error that led to it, and the chain of its causes.
    #[must_use]
    pub fn with_cause(mut self, error: &dyn std::error::Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            self.causes.push(error.to_string());
            next = error.source();
        }
        self
    }

    /// Adds a command to run as the first hint. A general hint of the catalogue is dropped.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        drop_general(self.code, &mut self.hints);
        self.hints.insert(0, hint.into());
        self
    }

    /// Replaces the catalogue's hint by these commands.
    #[must_use]
    pub fn replace_hints<H: Into<String>>(mut self, hints: impl IntoIterator<Item = H>) -> Self {
        self.hints = hints.into_iter().map(Into::into).collect();
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Failure {}
