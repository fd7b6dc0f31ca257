//! What can go wrong with receipts, trust and gates.

use cook_core::diagnostic::{Code, Failure};
use std::path::{Path, PathBuf};

/// Why receipts or trust could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    /// The file system refused.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was to be done.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// The list of trusted commands is there and is not what cook writes.
    #[error("`{}` is not a list of trusted commands: {why}", path.display())]
    Trust {
        /// Where.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A script of the stop verifier is missing, or is not a regular file.
    #[error("`{}` is missing, or it is not a regular file", path.display())]
    Script {
        /// Which one.
        path: PathBuf,
    },
    /// The command has no words, an open quote, or an operator of a shell.
    #[error(
        "`{0}` is not a command: it has no words, an open quote, or what only a shell does, and cook starts programs without one: `sh -c '…'`"
    )]
    Command(String),
}

impl ReceiptError {
    /// What the disk said of a file.
    pub fn io(action: &'static str, path: &Path, cause: std::io::Error) -> Self {
        Self::Io {
            action,
            path: path.to_owned(),
            cause,
        }
    }
}

impl From<ReceiptError> for Failure {
    fn from(error: ReceiptError) -> Self {
        match &error {
            ReceiptError::Io { cause, .. } => {
                Failure::state(Code::NotWritable, error.to_string()).with_cause(cause)
            }
            ReceiptError::Trust { path, .. } => {
                Failure::state(Code::TrustUnreadable, error.to_string()).replace_hints([format!(
                    "move `{}` away, then run `cook trust --gates`",
                    path.display()
                )])
            }
            ReceiptError::Script { .. } => Failure::state(Code::NotWritable, error.to_string())
                .hint("run `cook init`, which writes what is missing"),
            ReceiptError::Command(_) => Failure::usage(error.to_string()),
        }
    }
}
