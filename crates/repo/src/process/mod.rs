//! Child processes: short ones whose output is the result ([`capture`]: git), long ones whose output is recorded
//! ([`run`]: gates), and those whose output is read line by line ([`supervise`]: agents).
//!
//! Invariants: stdin holds the given input and is then closed; both pipes are drained while the child runs, and memory
//! use is bounded by the stated caps; every child has a deadline; variables that redirect git to another repository are
//! removed from the environment; only processes that were started here are ever ended.

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

/// Why running a process failed.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The program does not exist, on `PATH` or at the given path.
    #[error("`{0}` was not found")]
    NotFound(String),
    /// The file exists but is not executable.
    #[error("`{0}` may not be executed")]
    NotExecutable(String),
    /// The working directory does not exist.
    #[error("the directory `{0}` is not there")]
    NoDirectory(String),
    /// The system could not start the program.
    #[error("`{program}` could not be started")]
    Start {
        /// The program.
        program: String,
        /// The system's error.
        #[source]
        cause: std::io::Error,
    },
    /// A short command exceeded its deadline and was ended.
    #[error("`{program}` did not answer within {}", humantime::format_duration(*.after))]
    Deadline {
        /// The program.
        program: String,
        /// The deadline that was exceeded.
        after: Duration,
    },
    /// A short command wrote more than its output limit and was ended.
    #[error("`{program}` wrote more than {limit} bytes")]
    TooMuch {
        /// The program.
        program: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// Cook received a signal that asked it to stop.
    #[error("interrupted while `{0}` was running")]
    Interrupted(String),
    /// The command has no words.
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

/// The `GIT_` variables that a child inherits: they identify the user and configure network access. Every other one may
/// point git at another repository, index or object store, or change the meaning of a path, and is removed.
const GIT_VARIABLES_KEPT: &str = "\
    GIT_ALLOW_PROTOCOL GIT_ASKPASS GIT_ATTR_NOSYSTEM GIT_AUTHOR_DATE GIT_AUTHOR_EMAIL \
    GIT_AUTHOR_NAME GIT_COMMITTER_DATE GIT_COMMITTER_EMAIL GIT_COMMITTER_NAME \
    GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_CONFIG_SYSTEM GIT_EXEC_PATH GIT_PROXY_COMMAND \
    GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_SSL_CAINFO GIT_SSL_CAPATH \
    GIT_TERMINAL_PROMPT";

/// The part of this process's environment that a child may inherit.
pub fn list_inherited() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| {
        let kept = GIT_VARIABLES_KEPT.split(' ').any(|kept| name == kept);
        kept || !name
            .to_string_lossy()
            .to_ascii_uppercase()
            .starts_with("GIT_")
    })
}

/// The environment that an agent inherits: [`list_inherited`] without the markers of an agent around this process.
fn list_inherited_by_agents() -> impl Iterator<Item = (OsString, OsString)> {
    list_inherited().filter(|(name, _)| {
        name.to_str()
            .is_none_or(|name| !is_agent_marker(name) && !markers::is_own_marker(name))
    })
}
