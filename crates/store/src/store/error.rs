//! What can go wrong between cook and its log.

use cook_core::diagnostic::{Code, Failure, FailureKind, Refusal};
use std::path::{Path, PathBuf};

/// Errors of the store. None of them leaves a transition half taken: either the
/// branch of the log moved, or nothing that counts changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The log's directory, `.agent/` or the place of a restored file is not one that cook uses.
    #[error("`{}` {what}", path.display())]
    Path {
        /// The catalogue's code.
        code: Code,
        /// The offending path.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A newer cook wrote the log: it can be looked at, not written.
    #[error("the log's format is {found}; this cook knows {ours}")]
    TooNew {
        /// Format of the tip.
        found: u32,
        /// Format this build writes.
        ours: u32,
    },
    /// A cook from before the first release wrote the log.
    #[error("the log's format is {found}; this cook knows {ours} and reads no older one")]
    TooOld {
        /// Format of the tip.
        found: u32,
        /// Format this build writes.
        ours: u32,
    },
    /// Something in the log cannot be read.
    #[error("cannot read {what}")]
    Unreadable {
        /// What was being read.
        what: String,
        /// Why it could not be.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Something could not be written; the branch of the log did not move.
    #[error("cannot write {what}")]
    WriteFailed {
        /// What was being written.
        what: String,
        /// Why it could not be.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another process writes.
    #[error("another cook holds the writer lock")]
    LockHeld,
    /// Another process drives this workflow.
    #[error("the workflow is driven by {owner}")]
    LeaseHeld {
        /// What the holder wrote about itself.
        owner: String,
    },
    /// A name that is not a transition of this log.
    #[error("unknown transition `{name}`")]
    OperationUnknown {
        /// As it was given.
        name: String,
    },
    /// The log or the view is not what the transition was computed from.
    #[error("{what}")]
    Stale {
        /// What moved.
        what: String,
    },
    /// The worktree has shown a later transition than the log's branch holds now.
    #[error("the log was moved back from #{shown} to #{tip}")]
    Rewound {
        /// Number of the transition that `.agent/` shows.
        shown: u64,
        /// Number of the branch's tip.
        tip: u64,
        /// The command that moves the branch forward again.
        forward: String,
        /// The stamp, without which the branch counts as it stands.
        stamp: PathBuf,
    },
    /// This worktree had a workflow, and what leads to it is lost.
    #[error("{what}")]
    Unclaimed {
        /// What is lost, and what is left.
        what: String,
        /// What can be done.
        next: Vec<String>,
    },
    /// The log has a higher lease epoch than the writer.
    #[error("lease epoch {epoch} was replaced by {current}")]
    Fenced {
        /// The writer's epoch.
        epoch: u64,
        /// The log's epoch.
        current: u64,
    },
    /// A transition that does not follow its parent, or holds a value the format has no place for.
    #[error("the transition is not well formed: {what}")]
    Malformed {
        /// What is wrong.
        what: String,
    },
    /// A log that came from elsewhere and is not as cook writes one; nothing of it was taken.
    #[error("the log that came from elsewhere is not taken: {what}")]
    Foreign {
        /// What is wrong with it.
        what: String,
    },
    /// An imported history of the log that cook cannot have written.
    #[error("line {line} of `{file}` in the log is not a record as cook writes it")]
    NoRecord {
        /// Name in the commit's tree.
        file: String,
        /// From 1.
        line: u64,
    },
    /// A file that is larger than cook keeps.
    #[error("`{}` holds {bytes} bytes; at most {cap} are kept", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        cap: u64,
    },
}

impl StoreError {
    pub(super) fn unreadable(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Unreadable {
            what: what.into(),
            source: source.into(),
        }
    }

    pub(super) fn write(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::WriteFailed {
            what: what.into(),
            source: source.into(),
        }
    }

    pub(super) fn path(code: Code, path: &Path, what: impl Into<String>) -> Self {
        Self::Path {
            code,
            path: path.to_owned(),
            what: what.into(),
        }
    }

    pub(super) fn unknown(name: &str) -> Self {
        Self::OperationUnknown {
            name: name.chars().take(200).collect(),
        }
    }

    pub(super) fn stale(what: &str) -> Self {
        Self::Stale {
            what: what.to_owned(),
        }
    }

    pub(super) fn from_malformed(what: impl Into<String>) -> Self {
        Self::Malformed { what: what.into() }
    }

    pub(super) fn foreign(what: impl Into<String>) -> Self {
        Self::Foreign { what: what.into() }
    }

    /// With all its causes.
    pub(super) fn in_one_line(&self) -> String {
        let causes =
            std::iter::successors(Some(self as &dyn std::error::Error), |error| error.source());
        let texts: Vec<String> = causes.map(ToString::to_string).collect();
        texts.join(": ")
    }

    /// The catalogue's code.
    pub fn code(&self) -> Code {
        match self {
            Self::Path { code, .. } => *code,
            Self::TooNew { .. } => Code::LogTooNew,
            Self::TooOld { .. } => Code::LogTooOld,
            Self::Unreadable { .. } | Self::NoRecord { .. } => Code::LogUnreadable,
            Self::WriteFailed { .. } | Self::Malformed { .. } => Code::WriteFailed,
            Self::LockHeld => Code::LockHeld,
            Self::LeaseHeld { .. } => Code::LeaseHeld,
            Self::OperationUnknown { .. } => Code::OperationUnknown,
            Self::Stale { .. } => Code::StaleFacts,
            Self::Rewound { .. } => Code::LogRewound,
            Self::Unclaimed { .. } => Code::LogUnclaimed,
            Self::Fenced { .. } => Code::Fenced,
            Self::TooLarge { .. } => Code::InputTooLarge,
            Self::Foreign { .. } => Code::RemoteLogRefused,
        }
    }
}

/// Says what was being done when something failed.
pub(super) trait During<T> {
    fn reading(self, what: impl Into<String>) -> Result<T, StoreError>;
    fn writing(self, what: impl Into<String>) -> Result<T, StoreError>;
}

impl<T, E: Into<Box<dyn std::error::Error + Send + Sync>>> During<T> for Result<T, E> {
    fn reading(self, what: impl Into<String>) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::unreadable(what, error))
    }

    fn writing(self, what: impl Into<String>) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::write(what, error))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = error.code();
        let kind = match &error {
            StoreError::Stale { .. } | StoreError::Fenced { .. } => {
                return Refusal::new(code, error.to_string()).into();
            }
            StoreError::LockHeld | StoreError::LeaseHeld { .. } => FailureKind::Held,
            StoreError::OperationUnknown { .. }
            | StoreError::Path {
                code: Code::NotWritable,
                ..
            } => FailureKind::Usage,
            _ => FailureKind::State,
        };
        let mut failure = Failure::new(kind, code, error.to_string());
        if matches!(error, StoreError::TooLarge { .. }) {
            failure.hints =
                vec!["move that file out of `.agent/`, then run the command again".to_owned()];
        }
        if let StoreError::Unclaimed { next, .. } = &error {
            failure.hints.clone_from(next);
        }
        if let StoreError::Rewound { forward, stamp, .. } = &error {
            failure.hints = vec![
                format!("bring the later transitions back: `{forward}`"),
                format!("or go on from the older one: remove `{}`", stamp.display()),
            ];
        }
        if let Some(source) = std::error::Error::source(&error) {
            failure = failure.with_cause(source);
        }
        failure
    }
}
