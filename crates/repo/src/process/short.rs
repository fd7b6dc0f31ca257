//! Short commands: their output is captured completely, or the command fails.
//!
//! The end of a child is polled instead of awaited through a notification, so a lost wake-up costs a moment and never
//! hangs.

#[cfg(unix)]
use super::process_tree::signal_group;
use super::starting::start_child;
use super::{ProcessError, check_directory, list_inherited, on_path};
use crate::thread;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long to wait for the pipes after the program has ended: a process that it left behind may hold them open.
const PIPE_GRACE: Duration = Duration::from_secs(2);
/// The same for a child whose deadline counts for its whole process group.
const GROUP_GRACE: Duration = Duration::from_millis(50);
/// How long a child may take to end after it was asked to: it first ends the processes that it started.
const END_GRACE: Duration = Duration::from_secs(5);
/// The number of bytes of stderr that are kept.
const STDERR_LIMIT: usize = 64 * 1024;
/// The interval between two polls of the child: the first while its stdout is open; the second initially after stdout
/// was closed, because the child is then about to end.
const TICK: Duration = Duration::from_millis(10);
const FIRST_TICK: Duration = Duration::from_micros(50);

/// A short command.
#[derive(Debug, Clone)]
pub struct Short<'a> {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// The working directory.
    pub dir: &'a Path,
    /// Variables that are added to the cleaned environment.
    pub env: Vec<(&'a str, OsString)>,
    /// The input on stdin; `/dev/null` if empty.
    pub stdin: Vec<u8>,
    /// The maximum duration.
    pub deadline: Duration,
    /// The maximum number of bytes of stdout.
    pub limit: usize,
    /// Whether the child leads a process group that is ended as a whole at the deadline or the output limit. In that
    /// case the pipes are not waited for beyond the deadline either.
    pub group: bool,
}

impl<'a> Short<'a> {
    /// A command without stdin that leads a process group.
    pub fn new(argv: Vec<OsString>, dir: &'a Path, deadline: Duration, limit: usize) -> Self {
        Self {
            argv,
            dir,
            env: Vec::new(),
            stdin: Vec::new(),
            deadline,
            limit,
            group: true,
        }
    }
}

/// Resource limits of a child and its descendants. Enforced on Unix; the memory limit is effective on Linux only.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    /// Maximum size of any file that it writes, in bytes.
    pub file: u64,
    /// Maximum memory of each process, in bytes.
    pub memory: u64,
}

/// The result of a short command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The complete stdout.
    pub stdout: Vec<u8>,
    /// The beginning of stderr.
    pub stderr: String,
}

impl Captured {
    /// Whether the exit code is 0.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

/// Runs a short command until it ends.
///
/// # Errors
/// When it cannot be started, exceeds its deadline or writes too much. An exit code other than 0 is not an error.
pub fn capture(command: &Short) -> Result<Captured, ProcessError> {
    capture_watched(command, Duration::MAX, || false)
}

/// Like [`capture`], for a child that may take long and be cancelled: once `is_over` returns true, it is asked to end,
/// and killed if it does not. Its resources are limited by `caps`.
///
/// # Errors
/// As [`capture`]; [`ProcessError::Interrupted`] if it was cancelled.
pub fn capture_until(
    command: &Short,
    caps: Option<Caps>,
    is_over: impl FnMut() -> bool,
) -> Result<Captured, ProcessError> {
    watch(command, caps, true, is_over)
}

/// Like [`capture`], but calls `is_stuck` once after the command has run for `slow`. If that returns true, the command
/// is treated as if its deadline had passed.
///
/// # Errors
/// As [`capture`].
pub fn capture_watched(
    command: &Short,
    slow: Duration,
    mut is_stuck: impl FnMut() -> bool,
) -> Result<Captured, ProcessError> {
    let started = Instant::now();
    let mut asked = false;
    watch(command, None, false, || {
        let due = !asked && started.elapsed() >= slow;
        asked |= due;
        due && is_stuck()
    })
}

/// Runs a child until it ends or `gives_up` returns true. With `is_asked`, it is then asked to end before it is killed.
fn watch(
    command: &Short,
    caps: Option<Caps>,
    is_asked: bool,
    mut gives_up: impl FnMut() -> bool,
) -> Result<Captured, ProcessError> {
    let (program, arguments) = command.argv.split_first().ok_or(ProcessError::Empty)?;
    check_directory(command.dir)?;
    let deadline = Instant::now() + command.deadline;
    let started = start(command, caps, program, arguments);
    let mut running = started.map_err(|cause| ProcessError::start(program, cause))?;
    let mut is_over = false;
    let ended = running.wait(deadline, command.limit, &mut || {
        is_over = is_over || gives_up();
        is_over
    });
    if is_asked && is_over && matches!(ended, Ok(None)) {
        running.ask_to_end();
        let _ = running.wait(Instant::now() + END_GRACE, command.limit, &mut || false);
        running.end(command.group);
        let name = program.to_string_lossy().into_owned();
        return Err(ProcessError::Interrupted(name));
    }
    running.take_output(command, program, ended, deadline)
}

/// A running child and the threads that read its output.
struct Running {
    child: Child,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    /// The received stdout, once it is complete or exceeds the limit.
    out: Option<Vec<u8>>,
}

impl Running {
    /// Waits for the child to end; `None` if it takes too long or writes too much.
    fn wait(
        &mut self,
        deadline: Instant,
        limit: usize,
        gives_up: &mut dyn FnMut() -> bool,
    ) -> io::Result<Option<ExitStatus>> {
        let mut tick = FIRST_TICK;
        loop {
            match self.child.try_wait() {
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                ended => return ended,
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let is_full = self.out.as_ref().is_some_and(|out| out.len() > limit);
            if left.is_zero() || is_full || gives_up() {
                return Ok(None);
            }
            if self.out.is_some() {
                // Its stdout is closed, so it is about to end.
                std::thread::sleep(tick.min(left));
                tick = (tick * 2).min(TICK);
                continue;
            }
            match self.stdout.recv_timeout(TICK.min(left)) {
                Ok(out) => self.out = Some(out),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(TICK.min(left)),
            }
        }
    }

    /// The captured output after the child was waited for; reads the rest of it until the deadline.
    fn take_output(
        mut self,
        command: &Short,
        program: &OsStr,
        ended: io::Result<Option<ExitStatus>>,
        deadline: Instant,
    ) -> Result<Captured, ProcessError> {
        let name = || program.to_string_lossy().into_owned();
        let late = || ProcessError::Deadline {
            program: name(),
            after: command.deadline,
        };
        let too_much = || ProcessError::TooMuch {
            program: name(),
            limit: command.limit,
        };
        let flooded =
            |out: &Option<Vec<u8>>| out.as_ref().is_some_and(|out| out.len() > command.limit);
        let status = match ended {
            Ok(Some(status)) => status,
            Ok(None) => {
                self.end(command.group);
                return Err(match flooded(&self.out) {
                    true => too_much(),
                    false => late(),
                });
            }
            Err(cause) => {
                self.end(command.group);
                return Err(ProcessError::start(program, cause));
            }
        };
        let grace = match command.group {
            true => deadline.saturating_duration_since(Instant::now()) + GROUP_GRACE,
            false => PIPE_GRACE,
        };
        if self.out.is_none() {
            self.out = self.stdout.recv_timeout(grace).ok();
        }
        if flooded(&self.out) {
            return Err(too_much());
        }
        let out = self.out.ok_or_else(late)?;
        let err = self.stderr.recv_timeout(grace).unwrap_or_default();
        Ok(Captured {
            code: status.code(),
            stdout: out,
            stderr: String::from_utf8_lossy(&err).into_owned(),
        })
    }

    /// Sends SIGTERM to the child only: it ends the processes that it started itself.
    fn ask_to_end(&mut self) {
        #[cfg(unix)]
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let pid = nix::unistd::Pid::from_raw(pid);
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM);
        }
        #[cfg(not(unix))]
        let _ = self.child.kill();
    }

    /// Kills the child, and its process group if it leads one. The child has not been reaped, so its id is still valid.
    fn end(&mut self, group: bool) {
        #[cfg(unix)]
        if group {
            signal_group(self.child.id(), nix::sys::signal::Signal::SIGKILL);
        }
        #[cfg(not(unix))]
        let _ = group;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the child. The threads are started first: if one of them cannot be started, nothing runs.
fn start(
    command: &Short,
    caps: Option<Caps>,
    program: &OsStr,
    arguments: &[OsString],
) -> io::Result<Running> {
    let mut environment: BTreeMap<OsString, OsString> = list_inherited().collect();
    for (name, value) in &command.env {
        environment.insert(OsString::from(name), value.clone());
    }
    let mut child = Command::new(find(program, environment.get(OsStr::new("PATH")))?);
    child
        .args(arguments)
        .current_dir(command.dir)
        .env_clear()
        .envs(environment);
    let (stdout, out) = io::pipe()?;
    let (stderr, err) = io::pipe()?;
    child.stdout(out).stderr(err);
    child.stdin(match command.stdin.is_empty() {
        true => Stdio::null(),
        false => feed(command.stdin.clone())?.into(),
    });
    #[cfg(unix)]
    if command.group {
        std::os::unix::process::CommandExt::process_group(&mut child, 0);
    }
    if let Some(caps) = caps {
        cap(&mut child, caps);
    }
    let stdout = drain(stdout, command.limit)?;
    let stderr = drain(stderr, STDERR_LIMIT)?;
    // The command holds the write ends of the pipes; they are closed at the end of this function.
    Ok(Running {
        child: start_child(|| child.spawn())?,
        stdout,
        stderr,
        out: None,
    })
}

#[cfg(unix)]
fn cap(child: &mut Command, caps: Caps) {
    use nix::libc;
    let limits = [
        (libc::RLIMIT_FSIZE, caps.file),
        // Not the address space: the runtimes of helper programs reserve far more of it than they use.
        (libc::RLIMIT_DATA, caps.memory),
    ];
    let lower = move || {
        for (what, most) in limits {
            let mut limit = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            // SAFETY: both calls get a pointer to the one value on the stack.
            unsafe {
                if libc::getrlimit(what, &mut limit) != 0 {
                    return Err(io::Error::last_os_error());
                }
                limit.rlim_cur = limit.rlim_max.min(most as libc::rlim_t);
                limit.rlim_max = limit.rlim_cur;
                if libc::setrlimit(what, &limit) != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
        Ok(())
    };
    // SAFETY: `lower` makes only calls that are allowed between fork and exec.
    unsafe { std::os::unix::process::CommandExt::pre_exec(child, lower) };
}

#[cfg(not(unix))]
fn cap(_child: &mut Command, _caps: Caps) {}

/// Resolves a program. A bare name is looked up on the search path only, never in the working directory; a relative
/// path is resolved in cook's current directory.
fn find(program: &OsStr, path: Option<&OsString>) -> io::Result<PathBuf> {
    let named = Path::new(program);
    match (program.to_str(), path) {
        _ if named.components().count() > 1 => std::path::absolute(named),
        (Some(name), Some(path)) if cfg!(unix) => {
            on_path(name, path).ok_or_else(|| io::ErrorKind::NotFound.into())
        }
        _ => Ok(named.to_owned()),
    }
}

/// Writes the input on a separate thread. Returns the read end of the pipe.
fn feed(bytes: Vec<u8>) -> io::Result<PipeReader> {
    let (reader, mut writer) = io::pipe()?;
    thread::spawn(move || {
        // A child may close its stdin before it has read everything.
        let _ = writer.write_all(&bytes);
    })?;
    Ok(reader)
}

/// Reads a pipe to its end on a separate thread. The bytes are sent at the end, or as soon as there are more than
/// `limit`.
fn drain(mut pipe: PipeReader, limit: usize) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A read error ends the output at that point; the exit code shows that something failed.
        let _ = (&mut pipe).take(limit as u64 + 1).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
        let _ = io::copy(&mut pipe, &mut io::sink());
    })?;
    Ok(receiver)
}
