//! Gates: running them, trusting them, and the receipts that prove what they said.
//!
//! Invariants: a gate runs without a shell; only trusted commands are run by
//! whoever asks [`Trust`] first; a receipt's id is the digest of everything else
//! in it, so a changed one is recognised; files appear whole or not at all.

mod gate;
mod kept;
mod trust;

pub use gate::{COOK_BIN_VARIABLE, Gates, merged};
pub use kept::{Output, Receipts, seal};
pub use trust::Trust;

use cook_core::diagnostic::{Code, Failure};
use cook_os::disk::{self, Durable, Links, NewFile};
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
    /// The command has no words, or an open quote.
    #[error("`{0}` is not a command")]
    Command(String),
}

impl ReceiptError {
    fn io(action: &'static str, path: &Path, cause: std::io::Error) -> Self {
        Self::Io {
            action,
            path: path.to_owned(),
            cause,
        }
    }
}

/// Writes a file that only the owner may read, its directories where they are missing.
fn write(path: &Path, bytes: &[u8]) -> Result<(), ReceiptError> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| NewFile::at(path, Durable::Content).write(bytes))
        .map_err(|cause| ReceiptError::io("write", path, cause))
}

/// Reads a file of at most `limit` bytes; none when there is none.
fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ReceiptError> {
    disk::read(path, limit, Links::Follow).map_err(|cause| ReceiptError::io("read", path, cause))
}

impl From<ReceiptError> for Failure {
    fn from(error: ReceiptError) -> Self {
        match &error {
            ReceiptError::Io { cause, .. } => {
                Failure::state(Code::NotWritable, error.to_string()).caused_by(cause)
            }
            ReceiptError::Trust { path, .. } => {
                Failure::state(Code::TrustUnreadable, error.to_string()).hint(format!(
                    "look at `{}`, and remove it to start anew",
                    path.display()
                ))
            }
            ReceiptError::Script { .. } => Failure::state(Code::NotWritable, error.to_string())
                .hint("run `cook init`, which writes what is missing"),
            ReceiptError::Command(_) => Failure::usage(error.to_string()),
        }
    }
}

/// The words of a command, as a shell would split them.
///
/// # Errors
/// When a quote is open or there is no word.
pub fn words(command: &str) -> Result<Vec<String>, ReceiptError> {
    match shell_words::split(command) {
        Ok(words) if words.first().is_some_and(|word| !word.is_empty()) => Ok(words),
        _ => Err(ReceiptError::Command(command.to_owned())),
    }
}
