//! What can go wrong while files are read and written.

use cook_protocol::diagnostic::{Code, Failure};
use std::io;

/// Why nothing more was written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A link, or a file where a directory must be, or the other way round.
    #[error("`{path}` is {what}")]
    Unsafe {
        /// Relative to the repository.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// The system refused a write.
    #[error("`{path}` cannot be written")]
    Write {
        /// Relative to the repository.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The system refused a read.
    #[error("`{path}` cannot be read")]
    Read {
        /// Relative to the repository.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// More than cook reads.
    #[error("`{path}` is larger than {cap} bytes")]
    TooLarge {
        /// Relative to the repository.
        path: String,
        /// How much cook reads.
        cap: u64,
    },
    /// Not UTF-8.
    #[error("`{path}` is not UTF-8 text")]
    NotText {
        /// Relative to the repository.
        path: String,
    },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Unsafe { .. } => Code::AgentDirUnsafe,
            Error::Write { .. } => Code::NotWritable,
            Error::Read { .. } | Error::NotText { .. } => Code::InputUnreadable,
            Error::TooLarge { .. } => Code::InputTooLarge,
        };
        let failure = Failure::state(code, error.to_string());
        match std::error::Error::source(&error) {
            Some(source) => failure.with_cause(source),
            None => failure,
        }
    }
}
