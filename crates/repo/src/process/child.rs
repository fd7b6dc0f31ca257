//! A child that is listened to: what it is given, who listens, and what came of it.

use super::output::Kept;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The signal a child takes as a request to end its work in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Polite {
    /// SIGINT, as from Ctrl-C.
    Interrupt,
    /// SIGTERM.
    #[default]
    Terminate,
}

/// How long a child may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// In all.
    pub wall: Duration,
    /// Without a byte of output on either stream.
    pub idle: Duration,
}

/// A child to be listened to.
#[derive(Debug, Clone)]
pub struct Supervised<'a> {
    /// The program and its arguments.
    pub argv: &'a [String],
    /// What starts it in a sandbox, its own words aside; empty = nothing does.
    pub within: &'a [OsString],
    /// Where it runs; `PWD` says so too.
    pub dir: &'a Path,
    /// Variables it gets beside the cleaned environment; the last of a name counts.
    pub env: &'a [(String, OsString)],
    /// What it reads.
    pub stdin: Input<'a>,
    /// The mark that all its processes carry as `COOK_INVOCATION`.
    pub invocation: &'a str,
    /// How long it may take.
    pub clocks: Clocks,
    /// How it likes to be asked to end.
    pub polite: Polite,
}

/// What a child reads on its stdin.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// This, then the end.
    Whole(&'a [u8]),
    /// This, then what the listener says, until the work is done.
    Open(&'a [u8]),
}

/// Which stream a piece of output is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Source {
    Stdout,
    Stderr,
}

/// One line of output, without its end.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The stream.
    pub source: Source,
    /// The line, or its first [`super::MAX_LINE`] bytes.
    pub bytes: &'a [u8],
    /// False when the line was longer.
    pub whole: bool,
}

/// What the listener wants after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlFlow {
    /// More of it.
    Continue,
    /// The child's work is done: it has two seconds to leave.
    Finished,
    /// The child must end now.
    Stop,
}

/// Whoever listens to a child.
pub trait Listener {
    /// The child runs under this process id.
    fn note_start(&mut self, _pid: u32) {}

    /// A piece of output came; true where nobody wants its lines.
    fn piece(&mut self, _source: Source, _bytes: &[u8]) -> bool {
        false
    }

    /// A line came.
    fn line(&mut self, line: Line) -> ControlFlow;

    /// Time passes: since the start, and since the last output. Four times a second.
    fn pulse(&mut self, _elapsed: Duration, _quiet: Duration) -> ControlFlow {
        ControlFlow::Continue
    }

    /// What a child with an open input is told now; asked after all that is heard.
    fn says(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// The child is going to be ended; what it is told before that comes from
    /// [`Listener::says`]. [`ControlFlow::Finished`] at a later line means that it has understood.
    fn takes_leave(&mut self) {}
}

/// What ended a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Itself.
    Exited,
    /// Cook, because its work was done and it did not leave: its exit code says nothing.
    Finished,
    /// The listener stopped it.
    Stopped,
    /// It took too long in all.
    WallClock,
    /// It said nothing for too long.
    IdleClock,
    /// Cook was interrupted.
    Interrupted,
}

/// A child that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What ended it.
    pub ending: Ending,
    /// Exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Wall time until the child itself had ended.
    pub duration: Duration,
    /// What is kept of stdout.
    pub stdout: Kept,
    /// What is kept of stderr.
    pub stderr: Kept,
    /// No process of it was left when this was returned, as far as could be seen.
    pub swept: bool,
}

impl Outcome {
    /// It was ended because it took too long in all.
    pub fn has_timed_out(&self) -> bool {
        self.ending == Ending::WallClock
    }
}
