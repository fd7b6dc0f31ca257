//! Long commands: gates. Their output is kept at both ends and digested whole; their processes are
//! ended, all of them, also after a normal exit. They are known by descent: nothing in their
//! environment tells that cook runs them.

use super::child::{Clocks, ControlFlow, Ending, Line, Listener, Outcome, Source};
use super::output::KEPT_PER_STREAM;
use super::starting::{program_path, start_session};
use super::supervised::Watch;
use super::{ProcessError, check_directory};
use process_wrap::std::ChildWrapper;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Gets each piece of output as it comes.
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

/// Runs a long command and ends all it started. One that took too long has no exit code.
///
/// # Errors
/// When it cannot be started, or cook is interrupted (the command is ended first).
pub fn run(command: &Long) -> Result<Outcome, ProcessError> {
    let program = command.argv.first().ok_or(ProcessError::Empty)?;
    check_directory(command.dir)?;
    let watch = Watch {
        program,
        mark: None,
        clocks: Clocks {
            wall: command.timeout,
            idle: Duration::MAX,
        },
        polite: None,
        stdin: None,
        kept: [KEPT_PER_STREAM / 2; 2],
    };
    let mut outcome = watch.run(|| spawn(command, program), &mut Onlooker(&command.live))?;
    match outcome.ending {
        Ending::Interrupted => {
            let name = program.to_string_lossy().into_owned();
            return Err(ProcessError::Interrupted(name));
        }
        Ending::WallClock => outcome.code = None,
        _ => {}
    }
    Ok(outcome)
}

/// Passes output on as it comes.
struct Onlooker<'a>(&'a Option<Live>);

impl Listener for Onlooker<'_> {
    fn piece(&mut self, source: Source, bytes: &[u8]) -> bool {
        if let Some(live) = self.0 {
            live(source, bytes);
        }
        true
    }

    fn line(&mut self, _: Line) -> ControlFlow {
        ControlFlow::Continue
    }
}

fn spawn(command: &Long, program: &OsStr) -> Result<Box<dyn ChildWrapper>, ProcessError> {
    let mut child = Command::new(program_path(program, command.dir));
    child
        .args(&command.argv[1..])
        .current_dir(command.dir)
        .env_clear()
        .envs(command.env)
        .stdin(Stdio::null());
    #[cfg(unix)]
    super::plain::begin_plain(&mut child);
    start_session(child, program)
}
