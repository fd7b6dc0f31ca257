//! Short commands: run, captured whole or not at all.

use super::{ProcessError, check_directory, inherited_variables};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long the pipes are waited for after the program itself has ended: a
/// process it left behind may hold them open.
const PIPE_GRACE: Duration = Duration::from_secs(2);
/// The same for a child with a deadline that counts for its whole group.
const GROUP_GRACE: Duration = Duration::from_millis(50);
/// Bytes of stderr that are kept.
const STDERR_LIMIT: usize = 64 * 1024;

/// A short command.
#[derive(Debug, Clone)]
pub struct Short<'a> {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Where it runs.
    pub dir: &'a Path,
    /// Variables it gets beside the cleaned environment.
    pub env: Vec<(&'a str, OsString)>,
    /// What it reads; nothing when empty.
    pub stdin: Vec<u8>,
    /// How long it may take.
    pub deadline: Duration,
    /// Bytes of stdout that are read.
    pub limit: usize,
    /// The child leads a process group, and all of it ends with the deadline or
    /// the cap; the pipes are not waited for beyond the deadline either.
    pub group: bool,
}

/// What a short command said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// All of stdout.
    pub stdout: Vec<u8>,
    /// The beginning of stderr.
    pub stderr: String,
}

impl Captured {
    /// Exit 0.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

/// Runs a short command to its end.
///
/// # Errors
/// When it cannot be started, takes too long or says too much. An exit code
/// other than 0 is not an error.
pub fn capture(command: &Short) -> Result<Captured, ProcessError> {
    let (program, arguments) = command.argv.split_first().ok_or(ProcessError::Empty)?;
    check_directory(command.dir)?;
    let started = Instant::now();
    let (handle, stdout, stderr) =
        start(command, program, arguments).map_err(|cause| ProcessError::start(program, cause))?;
    let handle = Arc::new(handle);
    let flooded = Arc::clone(&handle);
    let group = command.group;
    let stdout = drain(stdout, command.limit, move || end(&flooded, group));
    let stderr = drain(stderr, STDERR_LIMIT, || ());
    let name = || program.to_string_lossy().into_owned();
    let late = || ProcessError::Deadline {
        program: name(),
        after: command.deadline,
    };
    let status = match handle.wait_deadline(started + command.deadline) {
        Ok(Some(output)) => output.status,
        Ok(None) => {
            end(&handle, group);
            let _ = handle.wait();
            return Err(late());
        }
        Err(cause) => return Err(ProcessError::start(program, cause)),
    };
    let grace = if group {
        (started + command.deadline).saturating_duration_since(Instant::now()) + GROUP_GRACE
    } else {
        PIPE_GRACE
    };
    let out = stdout.recv_timeout(grace).map_err(|_| late())?;
    if out.len() > command.limit {
        return Err(ProcessError::TooMuch {
            program: name(),
            limit: command.limit,
        });
    }
    let err = stderr.recv_timeout(grace).unwrap_or_default();
    Ok(Captured {
        code: status.code(),
        stdout: out,
        stderr: String::from_utf8_lossy(&err).into_owned(),
    })
}

type Started = (duct::Handle, std::io::PipeReader, std::io::PipeReader);

fn start(command: &Short, program: &OsStr, arguments: &[OsString]) -> std::io::Result<Started> {
    let (stdout, out) = std::io::pipe()?;
    let (stderr, err) = std::io::pipe()?;
    let mut expression = duct::cmd(program, arguments)
        .dir(command.dir)
        .stdout_file(out)
        .stderr_file(err)
        .unchecked();
    expression = if command.stdin.is_empty() {
        expression.stdin_null()
    } else {
        expression.stdin_bytes(command.stdin.clone())
    };
    // Given whole: of two settings of one variable duct would take the first.
    let mut environment: BTreeMap<OsString, OsString> = inherited_variables().collect();
    for (name, value) in &command.env {
        environment.insert(OsString::from(name), value.clone());
    }
    expression = expression.full_env(environment);
    #[cfg(unix)]
    if command.group {
        use std::os::unix::process::CommandExt;
        expression = expression.before_spawn(|child| {
            child.process_group(0);
            Ok(())
        });
    }
    // The expression holds the writing ends; it goes at the end of this function.
    Ok((expression.start()?, stdout, stderr))
}

/// Ends the child, and its group where it leads one. Only while it runs: after
/// that its id may be another's.
fn end(handle: &duct::Handle, group: bool) {
    #[cfg(unix)]
    if group && matches!(handle.try_wait(), Ok(None)) {
        for pid in handle.pids() {
            if let Ok(pid) = i32::try_from(pid) {
                let pid = nix::unistd::Pid::from_raw(pid);
                let _ = nix::sys::signal::killpg(pid, nix::sys::signal::Signal::SIGKILL);
            }
        }
    }
    #[cfg(not(unix))]
    let _ = group;
    let _ = handle.kill();
}

/// Reads a pipe to its end on a thread of its own, keeps it up to one byte above
/// `limit`, and says when there is more.
fn drain(
    mut pipe: std::io::PipeReader,
    limit: usize,
    on_excess: impl FnOnce() + Send + 'static,
) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that fails half way ends the text there; the exit code tells.
        let _ = (&mut pipe).take(limit as u64 + 1).read_to_end(&mut bytes);
        let excess = bytes.len() > limit;
        let _ = sender.send(bytes);
        if excess {
            on_excess();
        }
        let _ = std::io::copy(&mut pipe, &mut std::io::sink());
    });
    receiver
}
