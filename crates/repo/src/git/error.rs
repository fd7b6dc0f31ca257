//! Why the repository gave no answer.

use crate::process::ProcessError;
use cook_protocol::diagnostic::{Code, Failure};
use std::path::{Path, PathBuf};

/// Why the repository gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// No repository at or above this directory.
    #[error("there is no git repository at or above `{}`", .0.display())]
    NotARepository(PathBuf),
    /// A `.git` is there and leads to no repository.
    #[error("`{}` does not lead to a git repository", .0.display())]
    Broken(PathBuf),
    /// A git dir that is no linked worktree's says that it is one.
    #[error("`{}` leads to another repository", .0.display())]
    Astray(PathBuf),
    /// No worktree: bare, or a git dir that no `.git` of a worktree leads to.
    #[error("`{}` is a git directory, not a worktree", .0.display())]
    Bare(PathBuf),
    /// Another user's, and not listed as safe.
    #[error("the repository at `{}` belongs to another user", .0.display())]
    ForeignOwner(PathBuf),
    /// No `git` on `PATH`.
    #[error("the `git` program is not on PATH")]
    GitMissing,
    /// git could not be run to its end.
    #[error("git could not be run")]
    Process(#[source] ProcessError),
    /// git refused.
    #[error("`git {command}` ended with {}: {said}", code.map_or("a signal".to_owned(), |code| format!("exit code {code}")))]
    Git {
        /// The subcommand.
        command: String,
        /// Its exit code.
        code: Option<i32>,
        /// The first line of what it said.
        said: String,
    },
    /// libgit2 refused.
    #[error("libgit2 cannot answer")]
    Libgit(#[from] git2::Error),
    /// The answer makes no sense.
    #[error("{0}")]
    Answer(String),
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
    /// A FIFO or a device where git reads a file.
    #[error("`{}` is not a file, and git would wait for it", .0.display())]
    NotAFile(PathBuf),
    /// The repository's settings name a worktree that is not where it was found.
    #[error("`core.worktree` of `{}` leads to `{}`", .0.display(), .1.display())]
    Elsewhere(PathBuf, PathBuf),
    /// `.agent` is a symlink or a file.
    #[error("`.agent` is not a directory of this worktree")]
    AgentDirUnsafe,
    /// A path that is not inside the worktree.
    #[error("`{0}` is not a path inside the worktree")]
    PathOutside(String),
}

impl RepoError {
    pub(super) fn io(action: &'static str, path: &Path, cause: std::io::Error) -> Self {
        Self::Io {
            action,
            path: path.to_owned(),
            cause,
        }
    }
}

/// What the system refused, with what was tried and where.
pub(super) trait AtPath<T> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, RepoError>;
}

impl<T> AtPath<T> for std::io::Result<T> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, RepoError> {
        self.map_err(|cause| RepoError::io(what, path, cause))
    }
}

impl From<RepoError> for Failure {
    fn from(error: RepoError) -> Self {
        let code = match &error {
            RepoError::NotARepository(_) | RepoError::Broken(_) => Code::NotARepository,
            RepoError::Astray(_) => Code::RepositoryAstray,
            RepoError::Bare(_) => Code::BareRepository,
            RepoError::ForeignOwner(_) => Code::ForeignOwner,
            RepoError::GitMissing => Code::GitMissing,
            RepoError::Io { cause, .. } if is_too_large(cause) => Code::GitFailed,
            RepoError::Io { .. } => Code::NotWritable,
            RepoError::AgentDirUnsafe => Code::AgentDirUnsafe,
            RepoError::PathOutside(_) => Code::Usage,
            RepoError::Process(_)
            | RepoError::Git { .. }
            | RepoError::Libgit(_)
            | RepoError::NotAFile(_)
            | RepoError::Elsewhere(..)
            | RepoError::Answer(_) => Code::GitFailed,
        };
        let failure = Failure::state(code, error.to_string());
        let failure = match &error {
            RepoError::Astray(file) => failure.replace_hints([look_at(file)]),
            RepoError::ForeignOwner(root) => failure.hint(format!(
                "run `git config --global --add safe.directory {}`, if you trust it",
                shell_words::quote(&root.display().to_string())
            )),
            RepoError::Elsewhere(git, _) => failure.replace_hints([format!(
                "run `git config --file {} --unset core.worktree`",
                shell_words::quote(&git.join("config").display().to_string())
            )]),
            RepoError::NotAFile(path) => failure.replace_hints([look_at(path)]),
            RepoError::Io { path, cause, .. } if is_too_large(cause) => {
                failure.replace_hints([look_at(path)])
            }
            RepoError::Git { said, .. }
                if said.contains("auto-detect") || said.contains("empty ident") =>
            {
                failure.hint("run `git config user.name NAME` and `git config user.email ADDRESS`")
            }
            _ => failure,
        };
        match std::error::Error::source(&error) {
            Some(cause) => failure.with_cause(cause),
            None => failure,
        }
    }
}

fn look_at(path: &Path) -> String {
    let path = path.display().to_string();
    format!("look at it, then run `rm {}`", shell_words::quote(&path))
}

fn is_too_large(cause: &std::io::Error) -> bool {
    cause.kind() == std::io::ErrorKind::FileTooLarge
}
