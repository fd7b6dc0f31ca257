//! Child processes: short ones whose output is an answer ([`capture`]: git), long ones
//! whose output is a record ([`run`]: gates), and those that are listened to line by
//! line ([`supervise`]: agents).
//!
//! Invariants: stdin is what was given and then closed; both pipes are drained while the child runs and
//! no more than the stated caps is held in memory; every child has a deadline;
//! what redirects git to another repository is removed from the environment;
//! only processes that were started here are ever ended.

mod interrupt;
mod markers;
#[cfg(unix)]
mod plain;
mod process_tree;
mod short;
mod starting;
mod supervised;

pub use interrupt::{Alarm, Attention, Patience, is_interrupted};
pub use markers::{
    DEPTH_VARIABLE, INVOCATION_VARIABLE, ROLE_VARIABLE, WORKFLOW_VARIABLE, agent_around,
    agent_marker, agent_process, is_agent_marker, session_around, session_marker,
};
pub use process_tree::{Polite, end_marked, is_alive, working_directories};
pub use short::{Caps, Captured, Short, capture, capture_until, capture_watched};
pub use starting::{is_program, list_on_path, on_path};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;
pub use supervised::{
    Clocks, ControlFlow, Ending, Input, KEPT_PER_STREAM, Kept, Line, Listener, Long, MAX_LINE,
    Outcome, Source, Supervised, run, supervise,
};

/// Why a process gave no result.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// No such program, on `PATH` or at the path given.
    #[error("`{0}` was not found")]
    NotFound(String),
    /// The file is there and may not be executed.
    #[error("`{0}` may not be executed")]
    NotExecutable(String),
    /// The directory it should run in is not there.
    #[error("the directory `{0}` is not there")]
    NoDirectory(String),
    /// The system refused.
    #[error("`{program}` could not be started")]
    Start {
        /// What was to be started.
        program: String,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// A short command took longer than it may; it was ended.
    #[error("`{program}` did not answer within {}", humantime::format_duration(*.after))]
    Deadline {
        /// What was started.
        program: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// A short command wrote more than is read; it was ended.
    #[error("`{program}` wrote more than {limit} bytes")]
    TooMuch {
        /// What was started.
        program: String,
        /// The cap.
        limit: usize,
    },
    /// The user, or whoever runs cook, asked it to stop.
    #[error("interrupted while `{0}` was running")]
    Interrupted(String),
    /// A command without a word.
    #[error("the command is empty")]
    Empty,
}

impl ProcessError {
    fn start(program: &OsStr, cause: std::io::Error) -> Self {
        let program = program.to_string_lossy().into_owned();
        match cause.kind() {
            std::io::ErrorKind::NotFound => Self::NotFound(program),
            std::io::ErrorKind::PermissionDenied => Self::NotExecutable(program),
            _ => Self::Start { program, cause },
        }
    }
}

fn check_directory(dir: &Path) -> Result<(), ProcessError> {
    if dir.is_dir() {
        Ok(())
    } else {
        Err(ProcessError::NoDirectory(dir.display().to_string()))
    }
}

/// Variables beginning with `GIT_` that say who the user is and how git reaches
/// the world. Every other one may point git at another repository, index or
/// object store, or change what a path means, and is removed.
const GIT_VARIABLES_KEPT: &str = "\
    GIT_ALLOW_PROTOCOL GIT_ASKPASS GIT_ATTR_NOSYSTEM GIT_AUTHOR_DATE GIT_AUTHOR_EMAIL \
    GIT_AUTHOR_NAME GIT_COMMITTER_DATE GIT_COMMITTER_EMAIL GIT_COMMITTER_NAME \
    GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_CONFIG_SYSTEM GIT_EXEC_PATH GIT_PROXY_COMMAND \
    GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_SSL_CAINFO GIT_SSL_CAPATH \
    GIT_TERMINAL_PROMPT";

/// This process's environment, as far as a child may inherit it.
pub fn list_inherited() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| {
        let kept = GIT_VARIABLES_KEPT.split(' ').any(|kept| name == kept);
        kept || !name
            .to_string_lossy()
            .to_ascii_uppercase()
            .starts_with("GIT_")
    })
}

/// What an agent inherits: the same without the traces of an agent around this process.
fn list_inherited_by_agents() -> impl Iterator<Item = (OsString, OsString)> {
    list_inherited().filter(|(name, _)| {
        name.to_str()
            .is_none_or(|name| !is_agent_marker(name) && !markers::is_own_marker(name))
    })
}
