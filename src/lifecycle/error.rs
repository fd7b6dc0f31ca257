//! What goes wrong in a hook.

use cook_core::diagnostic::Failure;
use cook_hooks::InputError;

/// What goes wrong in a hook; it never reaches the agent.
#[derive(Debug, thiserror::Error)]
pub(super) enum HookError {
    /// The event cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The repository or the log cannot be read.
    #[error("{0}")]
    Failure(Failure),
    /// The tracker did not answer.
    #[error("{0}; what is kept waits for it")]
    Tracker(String),
    /// A file of the session cannot be read or written.
    #[error("a session file: {0}")]
    Io(#[from] std::io::Error),
}

impl From<Failure> for HookError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}
