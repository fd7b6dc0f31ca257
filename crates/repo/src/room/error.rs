//! Why a room could not be filled.

use cook_protocol::diagnostic::{Code, Failure};
use std::io;
use std::path::{Path, PathBuf};

/// Why a room could not be filled.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    /// The system refused.
    #[error("cannot {what} `{}`", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which path.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: io::Error,
    },
    /// The commit cannot be had as its id says.
    #[error("commit {commit} cannot be checked out: {why}")]
    NotReproducible {
        /// The commit.
        commit: String,
        /// What is missing or damaged.
        why: String,
    },
    /// libgit2 takes no such path.
    #[error("`{}` is not UTF-8, and no clean room can be made of a repository there", .0.display())]
    NotUtf8(PathBuf),
    /// Nobody says where rooms may be.
    #[error("no directory for clean rooms: this user has no home or cache directory")]
    NoPlace,
    /// The settings name a place that depends on where cook is called.
    #[error("`[clean_room] dir` is `{0}`, which is neither a whole path nor begins with `~/`")]
    NotWhole(String),
    /// git did not answer.
    #[error("git did not answer: {0}")]
    Git(String),
}

impl RoomError {
    pub(crate) fn io(what: &'static str, path: &Path, cause: io::Error) -> Self {
        Self::Io {
            what,
            path: path.to_owned(),
            cause,
        }
    }

    /// The file system has no room for it.
    pub(crate) fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        let Self::Io { cause, .. } = self else {
            return false;
        };
        matches!(cause.kind(), StorageFull | QuotaExceeded)
    }
}

/// What the system refused, with what was tried and where.
pub(crate) trait AtPath<T> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, RoomError>;
}

impl<T> AtPath<T> for std::io::Result<T> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, RoomError> {
        self.map_err(|cause| RoomError::io(what, path, cause))
    }
}

impl From<RoomError> for Failure {
    fn from(error: RoomError) -> Self {
        let code = match &error {
            error if error.is_full() => Code::NoSpace,
            RoomError::Io { .. } | RoomError::NoPlace | RoomError::NotWhole(_) => Code::NotWritable,
            RoomError::NotReproducible { .. } | RoomError::NotUtf8(_) => Code::NotReproducible,
            RoomError::Git(_) => Code::GitFailed,
        };
        let mut failure = Self::state(code, error.to_string());
        if matches!(error, RoomError::NoPlace | RoomError::NotWhole(_)) {
            failure = failure
                .replace_hints(["name one: `[clean_room] dir = \"/…\"` in `.agent/cook.toml`"]);
        }
        if matches!(error, RoomError::NotUtf8(_)) {
            failure = failure.replace_hints(["move the repository to a path of UTF-8"]);
        }
        match std::error::Error::source(&error) {
            Some(source) => failure.with_cause(source),
            None => failure,
        }
    }
}
