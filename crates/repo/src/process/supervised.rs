//! Children that are listened to while they run: agents, and gates.
//!
//! Invariants: the child leads a session of its own, and an agent carries the invocation in its
//! environment; no line longer than [`super::MAX_LINE`] and no more than the stated ends of a
//! stream are held in memory, however much is written; whatever ends the child, nothing
//! it started outlives the call, also after a normal exit.

use super::child::{
    Clocks, ControlFlow, Ending, Input, Line, Listener, Outcome, Polite, Source, Supervised,
};
use super::interrupt::{Attention, is_interrupted};
use super::lookup::{is_program, on_path};
use super::markers::INVOCATION_VARIABLE;
use super::pipes::{HEAD, Piece, Stream, TAIL, WAITING, feed, pump};
use super::process_tree::Tree;
use super::starting::{has_exited, program_path, start_session};
use super::{ProcessError, check_directory, list_inherited_by_agents};
use process_wrap::std::ChildWrapper;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How long a child has to leave after the event that ends its work.
const LEAVE: Duration = Duration::from_secs(2);
/// How long a child that was asked politely has before its group is.
const POLITE_GRACE: Duration = Duration::from_secs(2);
/// How long the group has before it is killed.
const END_GRACE: Duration = Duration::from_millis(500);
/// How long pipes are read on after every process that was found has ended.
const PIPE_GRACE: Duration = Duration::from_secs(2);
/// How often child, clocks and signals are looked at.
const TICK: Duration = Duration::from_millis(10);
/// The same once it has closed its output: it is about to end.
const CLOSED: Duration = Duration::from_millis(5);
/// How often the listener is told that time passes.
const PULSE: Duration = Duration::from_millis(250);
/// How often it is noted who belongs to the child.
const LOOK: Duration = Duration::from_millis(250);

/// Starts a child, listens to it until it ends, and ends all it started.
///
/// # Errors
/// When it cannot be started.
pub fn supervise(
    command: &Supervised,
    listener: &mut dyn Listener,
) -> Result<Outcome, ProcessError> {
    let program = command.argv.first().ok_or(ProcessError::Empty)?;
    check_directory(command.dir)?;
    let watch = Watch {
        program: program.as_ref(),
        mark: Some((INVOCATION_VARIABLE, command.invocation)),
        clocks: command.clocks,
        polite: Some((command.polite, !command.within.is_empty())),
        stdin: Some(command.stdin),
        kept: [HEAD, TAIL],
    };
    watch.run(|| spawn(command, program), listener)
}

/// How a child is watched.
pub(super) struct Watch<'a> {
    pub(super) program: &'a OsStr,
    /// A variable that all its processes carry, and its value.
    pub(super) mark: Option<(&'a str, &'a str)>,
    pub(super) clocks: Clocks,
    /// How it likes to be asked to end, and whether it runs in a sandbox; none = its group is asked.
    pub(super) polite: Option<(Polite, bool)>,
    pub(super) stdin: Option<Input<'a>>,
    /// Bytes that are kept of the beginning and of the end of a stream.
    pub(super) kept: [usize; 2],
}

impl Watch<'_> {
    /// Starts the child, listens to it until it ends, and ends all it started.
    pub(super) fn run(
        self,
        spawn: impl FnOnce() -> Result<Box<dyn ChildWrapper>, ProcessError>,
        listener: &mut dyn Listener,
    ) -> Result<Outcome, ProcessError> {
        let _attention = Attention::begin();
        let started = Instant::now();
        let (mut child, mut tree) = Tree::adopting(self.mark, spawn)?;
        listener.note_start(child.id());
        let failed = |cause| ProcessError::start(self.program, cause);
        let (input, pieces) = match connect(&mut *child, self.stdin) {
            Ok(connected) => connected,
            Err(cause) => {
                tree.end();
                let _ = child.wait();
                return Err(failed(cause));
            }
        };
        let mut run = Run {
            streams: [(); 2].map(|()| Stream::of(self.kept)),
            watch: &self,
            listener,
            child,
            input,
            tree,
            pieces,
            open: 2,
            started,
            heard: started,
            pulsed: started,
            looked: started,
            done: None,
        };
        let ending = run.listen();
        let duration = started.elapsed();
        let swept = run.finish(ending);
        let status = run.child.wait().map_err(failed)?;
        run.drain(PIPE_GRACE);
        let [stdout, stderr] = run.streams;
        Ok(Outcome {
            ending,
            code: status.code(),
            signal: find_signal(status),
            duration,
            stdout: stdout.keeper.to_kept(),
            stderr: stderr.keeper.to_kept(),
            swept,
        })
    }
}

#[cfg(unix)]
fn find_signal(status: std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn find_signal(_: std::process::ExitStatus) -> Option<i32> {
    None
}

type Connected = (Option<SyncSender<Vec<u8>>>, Receiver<Piece>);

/// Begins to write and read a child's pipes.
fn connect(child: &mut dyn ChildWrapper, stdin: Option<Input>) -> std::io::Result<Connected> {
    let input = match stdin {
        Some(stdin) => feed(child.stdin().take(), stdin)?,
        None => None,
    };
    let (sender, pieces) = sync_channel(WAITING);
    pump(child.stdout().take(), Source::Stdout, sender.clone())?;
    pump(child.stderr().take(), Source::Stderr, sender)?;
    Ok((input, pieces))
}

fn spawn(command: &Supervised, program: &str) -> Result<Box<dyn ChildWrapper>, ProcessError> {
    let program_file = program_path(program.as_ref(), command.dir);
    let mut child = match command.within.split_first() {
        None => Command::new(program_file),
        Some((first, rest)) => {
            check_program(program, &program_file)?;
            let mut child = Command::new(first);
            child.args(rest).arg(program_file);
            child
        }
    };
    child
        .args(&command.argv[1..])
        .current_dir(command.dir)
        .stdin(Stdio::piped())
        .env_clear()
        .envs(list_inherited_by_agents())
        .env_remove("OLDPWD")
        .env("PWD", command.dir)
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .env(INVOCATION_VARIABLE, command.invocation);
    start_session(child, program.as_ref())
}

/// What starts a program in a sandbox would say in its own words that there is none.
fn check_program(program: &str, file: &OsStr) -> Result<(), ProcessError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = match program.contains('/') {
        true => Path::new(file).exists(),
        false => on_path(program, &path).is_some(),
    };
    match is_there {
        false => Err(ProcessError::NotFound(program.to_owned())),
        true if program.contains('/') && !is_program(Path::new(file)) => {
            Err(ProcessError::NotExecutable(program.to_owned()))
        }
        true => Ok(()),
    }
}

struct Run<'a, 'b> {
    watch: &'a Watch<'a>,
    listener: &'b mut dyn Listener,
    child: Box<dyn ChildWrapper>,
    /// Open as long as the child may be told something.
    input: Option<SyncSender<Vec<u8>>>,
    tree: Tree,
    pieces: Receiver<Piece>,
    streams: [Stream; 2],
    /// Streams whose end was not seen.
    open: usize,
    started: Instant,
    heard: Instant,
    pulsed: Instant,
    looked: Instant,
    /// When the child's work was done.
    done: Option<Instant>,
}

impl Run<'_, '_> {
    fn listen(&mut self) -> Ending {
        loop {
            let flow = self.hear(TICK);
            let now = Instant::now();
            let flow = if flow == ControlFlow::Continue && now - self.pulsed >= PULSE {
                self.pulsed = now;
                self.listener.pulse(now - self.started, now - self.heard)
            } else {
                flow
            };
            self.tell();
            match flow {
                ControlFlow::Continue => {}
                ControlFlow::Finished => {
                    self.done.get_or_insert(now);
                    self.input = None;
                }
                ControlFlow::Stop => return Ending::Stopped,
            }
            if now - self.looked >= LOOK {
                self.looked = now;
                self.tree.look();
            }
            if has_exited(&mut *self.child) {
                return Ending::Exited;
            }
            if let Some(ending) = self.ran_out(now) {
                return ending;
            }
        }
    }

    /// Passes on what the listener has to say.
    fn tell(&mut self) {
        let words = self.listener.says();
        if words.is_empty() {
            return;
        }
        let arrived = self
            .input
            .as_ref()
            .is_some_and(|input| input.try_send(words).is_ok());
        if !arrived {
            self.input = None;
        }
    }

    fn ran_out(&self, now: Instant) -> Option<Ending> {
        if let Some(done) = self.done {
            return (now - done >= LEAVE).then_some(Ending::Finished);
        }
        if is_interrupted() {
            return Some(Ending::Interrupted);
        }
        let clocks = self.watch.clocks;
        if now - self.started >= clocks.wall {
            return Some(Ending::WallClock);
        }
        (now - self.heard >= clocks.idle).then_some(Ending::IdleClock)
    }

    /// Takes at most one piece, waiting no longer than `at_most`.
    fn hear(&mut self, at_most: Duration) -> ControlFlow {
        if self.open == 0 {
            std::thread::sleep(at_most.min(CLOSED));
            return ControlFlow::Continue;
        }
        match self.pieces.recv_timeout(at_most) {
            Ok(Piece::Bytes(source, bytes)) => {
                self.heard = Instant::now();
                self.take(source, &bytes)
            }
            Ok(Piece::End(source)) => {
                self.open -= 1;
                let stream = &self.streams[source as usize];
                if stream.line.is_empty() {
                    return ControlFlow::Continue;
                }
                let flow = self.listener.line(Line {
                    source,
                    bytes: &stream.line,
                    whole: stream.whole,
                });
                self.streams[source as usize].line = Vec::new();
                flow
            }
            Err(RecvTimeoutError::Timeout) => ControlFlow::Continue,
            Err(RecvTimeoutError::Disconnected) => {
                self.open = 0;
                ControlFlow::Continue
            }
        }
    }

    fn take(&mut self, source: Source, bytes: &[u8]) -> ControlFlow {
        let mut flow = ControlFlow::Continue;
        let listener = &mut *self.listener;
        if listener.piece(source, bytes) {
            self.streams[source as usize].keeper.take(bytes);
            return flow;
        }
        self.streams[source as usize].take(bytes, |bytes, whole| {
            let asked = listener.line(Line {
                source,
                bytes,
                whole,
            });
            if flow != ControlFlow::Stop && asked != ControlFlow::Continue {
                flow = asked;
            }
        });
        flow
    }

    /// Ends the child in the order it was asked to and all that belongs to it at once.
    fn finish(&mut self, ending: Ending) -> bool {
        self.tree.look();
        if ending != Ending::Exited {
            if self.input.is_some() {
                self.listener.takes_leave();
                self.tell();
                self.settles_within(POLITE_GRACE);
                self.input = None;
            }
            if let Some((polite, is_inside)) = self.watch.polite {
                self.tree.ask(polite, is_inside);
            }
            if self.watch.polite.is_none() || !self.leaves_within(POLITE_GRACE) {
                self.tree.terminate();
                self.leaves_within(END_GRACE);
            }
        }
        self.tree.end()
    }

    /// Whether the child leaves; its pipes are read on, so that it can.
    fn leaves_within(&mut self, at_most: Duration) -> bool {
        let end = Instant::now() + at_most;
        loop {
            if has_exited(&mut *self.child) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            self.hear(TICK);
        }
    }

    /// Waits until the child has understood that it is to end, or has ended.
    fn settles_within(&mut self, at_most: Duration) {
        let end = Instant::now() + at_most;
        while Instant::now() < end && !has_exited(&mut *self.child) {
            if self.hear(TICK) == ControlFlow::Finished {
                return;
            }
            self.tell();
        }
    }

    /// What is still in the pipes. One that a process out of reach holds is let go of.
    fn drain(&mut self, at_most: Duration) {
        let end = Instant::now() + at_most;
        while self.open > 0 && Instant::now() < end {
            if self.hear(TICK) == ControlFlow::Finished {
                self.done.get_or_insert_with(Instant::now);
            }
        }
    }
}
