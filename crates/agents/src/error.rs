//! What keeps an agent from being started at all.

use cook_core::diagnostic::{Code, Failure, FailureKind};

/// Why an agent cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// No preset and no table of that name.
    #[error("unknown agent `{name}`{hint}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// `; did you mean …?`, or nothing.
        hint: String,
    },
    /// A table of the user's that makes no agent.
    #[error("agents.{name}: {why}")]
    Invalid {
        /// Its name.
        name: String,
        /// What is missing or wrong.
        why: String,
    },
    /// A file cook needs for a run cannot be written or read.
    #[error("{what}")]
    File {
        /// Which, and what was tried.
        what: String,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
}

impl AgentError {
    pub(super) fn file(what: impl Into<String>, cause: std::io::Error) -> Self {
        Self::File {
            what: what.into(),
            cause,
        }
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        let message = error.to_string();
        match &error {
            AgentError::Unknown { .. } => {
                Self::new(FailureKind::Usage, Code::AgentUnknown, message)
            }
            AgentError::Invalid { .. } => Self::state(Code::AgentInvalid, message),
            AgentError::File { cause, .. } => {
                Self::state(Code::NotWritable, message).with_cause(cause)
            }
        }
    }
}
