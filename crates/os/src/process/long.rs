//! Long commands: gates. Their output is kept at both ends and digested whole; their processes are
//! ended, all of them, also after a normal exit. They are known by descent: nothing in their
//! environment tells that cook runs them.

use super::interrupt::{Attention, is_interrupted};
use super::output::{Keeper, Kept};
use super::start::start_child;
use super::tree::Tree;
use super::{ProcessError, check_directory};
use crate::thread;
use process_wrap::std::{ChildWrapper, CommandWrap};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a child that was asked to end may take over it.
const END_GRACE: Duration = Duration::from_millis(500);
/// How long pipes are read on after every process that was found has ended.
const PIPE_GRACE: Duration = Duration::from_secs(2);
/// How often the child and the signals are looked at.
const TICK: Duration = Duration::from_millis(5);

/// Which stream a piece of output is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Source {
    Stdout,
    Stderr,
}

/// Gets each piece of output as it comes, from two threads.
pub type Live = Arc<dyn Fn(Source, &[u8]) + Send + Sync>;

/// A long command.
#[derive(Clone)]
pub struct Long<'a> {
    /// The program and its arguments.
    pub argv: &'a [OsString],
    /// Where it runs; a program given as a relative path is looked for from there.
    pub dir: &'a Path,
    /// Its whole environment.
    pub env: &'a BTreeMap<OsString, OsString>,
    /// How long it may take.
    pub timeout: Duration,
    /// Who watches.
    pub live: Option<Live>,
}

/// How a long command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Exit code; none when a signal or the timeout ended it.
    pub code: Option<i32>,
    /// It was ended at its timeout.
    pub timed_out: bool,
    /// Wall time until the command itself ended.
    pub duration: Duration,
    /// What it wrote to stdout.
    pub stdout: Kept,
    /// What it wrote to stderr.
    pub stderr: Kept,
    /// No process of it was left when this was returned, as far as could be seen.
    pub swept: bool,
}

/// Runs a long command and ends all it started.
///
/// # Errors
/// When it cannot be started, or cook is interrupted (the command is ended first).
pub fn run(command: &Long) -> Result<Ended, ProcessError> {
    let program = command.argv.first().ok_or(ProcessError::Empty)?;
    check_directory(command.dir)?;
    let _attention = Attention::begin();
    let started = Instant::now();
    let (mut child, mut tree) = Tree::adopting(None, || spawn(command, program))?;
    let (out, err) = (child.stdout().take(), child.stderr().take());
    let drains = Drain::of(out, Source::Stdout, command.live.clone())
        .and_then(|out| Ok((out, Drain::of(err, Source::Stderr, command.live.clone())?)));
    let (stdout, stderr) = match drains {
        Ok(drains) => drains,
        Err(cause) => {
            tree.end();
            let _ = child.wait();
            return Err(ProcessError::start(program, cause));
        }
    };
    let end = wait(&mut *child, started + command.timeout);
    let duration = started.elapsed();
    if matches!(end, End::TimedOut | End::Interrupted) {
        tree.terminate();
        wait(&mut *child, Instant::now() + END_GRACE);
    }
    let swept = tree.end();
    let name = || program.to_string_lossy().into_owned();
    let status = child.wait().map_err(|cause| ProcessError::Start {
        program: name(),
        cause,
    })?;
    if end == End::Interrupted {
        return Err(ProcessError::Interrupted(name()));
    }
    let timed_out = end == End::TimedOut;
    Ok(Ended {
        code: if timed_out { None } else { status.code() },
        timed_out,
        duration,
        stdout: stdout.finish(),
        stderr: stderr.finish(),
        swept,
    })
}

fn spawn(command: &Long, program: &OsStr) -> Result<Box<dyn ChildWrapper>, ProcessError> {
    let mut child = Command::new(program_path(program, command.dir));
    child
        .args(&command.argv[1..])
        .current_dir(command.dir)
        .env_clear()
        .envs(command.env)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    super::plain::begin_plain(&mut child);
    let mut wrapped = CommandWrap::from(child);
    #[cfg(unix)]
    wrapped.wrap(process_wrap::std::ProcessSession);
    start_child(|| wrapped.spawn()).map_err(|cause| ProcessError::start(program, cause))
}

/// `execvp` would look for `./x` from the new directory, other systems from the old one.
pub(super) fn program_path(program: &OsStr, dir: &Path) -> OsString {
    let path = Path::new(program);
    if path.components().count() > 1 && path.is_relative() {
        dir.join(program).into_os_string()
    } else {
        program.to_owned()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Exited,
    TimedOut,
    Interrupted,
}

fn wait(child: &mut dyn ChildWrapper, end: Instant) -> End {
    loop {
        if has_exited(child) {
            return End::Exited;
        }
        if is_interrupted() {
            return End::Interrupted;
        }
        let now = Instant::now();
        if now >= end {
            return End::TimedOut;
        }
        std::thread::sleep(TICK.min(end - now));
    }
}

/// Leaves the child unreaped, so that its id stays its own until the sweep is over.
#[cfg(target_os = "linux")]
pub(super) fn has_exited(child: &mut dyn ChildWrapper) -> bool {
    use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
    let Ok(pid) = i32::try_from(child.id()) else {
        return true;
    };
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    !matches!(
        waitid(Id::Pid(nix::unistd::Pid::from_raw(pid)), flags),
        Ok(WaitStatus::StillAlive) | Err(nix::errno::Errno::EINTR)
    )
}

#[cfg(not(target_os = "linux"))]
pub(super) fn has_exited(child: &mut dyn ChildWrapper) -> bool {
    !matches!(child.inner_mut().try_wait(), Ok(None))
}

/// One pipe, read on a thread of its own.
struct Drain {
    keeper: Arc<Mutex<Option<Keeper>>>,
    done: Receiver<()>,
}

impl Drain {
    fn of(
        pipe: Option<impl Read + Send + 'static>,
        source: Source,
        live: Option<Live>,
    ) -> std::io::Result<Self> {
        let keeper = Arc::new(Mutex::new(Some(Keeper::default())));
        let (sender, done) = channel();
        let shared = Arc::clone(&keeper);
        if let Some(pipe) = pipe {
            thread::spawn(move || {
                read_on(pipe, &shared, source, live);
                let _ = sender.send(());
            })?;
        }
        Ok(Self { keeper, done })
    }

    /// What was read. A pipe that a process out of reach still holds is let go of.
    fn finish(self) -> Kept {
        let _ = self.done.recv_timeout(PIPE_GRACE);
        let keeper = self
            .keeper
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        keeper.unwrap_or_default().to_kept()
    }
}

fn read_on(
    mut pipe: impl Read,
    keeper: &Mutex<Option<Keeper>>,
    source: Source,
    live: Option<Live>,
) {
    let mut piece = vec![0; 64 * 1024];
    loop {
        let read = match pipe.read(&mut piece) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        match keeper
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_mut()
        {
            Some(keeper) => keeper.take(&piece[..read]),
            None => return,
        }
        if let Some(live) = &live {
            live(source, &piece[..read]);
        }
    }
}
