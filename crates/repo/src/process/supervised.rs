//! Supervised children: agents and gates.
//!
//! Each child's pipes are written and read on separate threads, its output is cut into lines for a [`Listener`], and of
//! each stream the beginning, the end and the digest of the whole are kept.
//!
//! Invariants: the child leads a session of its own; an agent carries the invocation id in its environment, while a
//! gate's processes are found by descent, because nothing in their environment may reveal that cook runs them; memory
//! use is bounded by [`MAX_LINE`] and the stated caps, however much is written; however the child ends, also after a
//! normal exit, no process that it started outlives the call.

use super::interrupt::{Attention, is_interrupted};
use super::markers::INVOCATION_VARIABLE;
use super::process_tree::{Polite, Tree};
use super::starting::{has_exited, is_program, on_path, program_path, start_session};
use super::{ProcessError, check_directory, list_inherited_by_agents};
use crate::thread;
use cook_protocol::digest::hex;
use process_wrap::std::ChildWrapper;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// The time limits of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// Total duration.
    pub wall: Duration,
    /// Duration without a byte of output on either stream.
    pub idle: Duration,
}

/// A child to be supervised.
#[derive(Debug, Clone)]
pub struct Supervised<'a> {
    /// The program and its arguments.
    pub argv: &'a [String],
    /// The words of the sandbox command that precede `argv`; empty without a sandbox.
    pub within: &'a [OsString],
    /// The working directory; also the value of `PWD`.
    pub dir: &'a Path,
    /// Variables that are added to the cleaned environment; if a name occurs twice, the last one counts.
    pub env: &'a [(String, OsString)],
    /// Its input on stdin.
    pub stdin: Input<'a>,
    /// The id that all its processes carry as `COOK_INVOCATION`.
    pub invocation: &'a str,
    /// Its time limits.
    pub clocks: Clocks,
    /// The signal with which it prefers to be asked to end.
    pub polite: Polite,
}

/// The input of a child on stdin.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// These bytes, then end of file.
    Whole(&'a [u8]),
    /// These bytes, then the listener's messages until the work is done.
    Open(&'a [u8]),
}

/// The output stream of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Source {
    Stdout,
    Stderr,
}

/// One line of output, without its newline.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The stream.
    pub source: Source,
    /// The line, or its first [`super::MAX_LINE`] bytes.
    pub bytes: &'a [u8],
    /// Whether `bytes` is the complete line; false if it was longer.
    pub whole: bool,
}

/// The listener's answer to a line or pulse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlFlow {
    /// Go on.
    Continue,
    /// The child's work is done: it has two seconds to exit.
    Finished,
    /// The child must be ended now.
    Stop,
}

/// Receives the output of a child.
pub trait Listener {
    /// Called once, with the process id of the child.
    fn note_start(&mut self, _pid: u32) {}

    /// Called for each piece of output. Returns true if it must not be cut into lines.
    fn piece(&mut self, _source: Source, _bytes: &[u8]) -> bool {
        false
    }

    /// Called for each line.
    fn line(&mut self, line: Line) -> ControlFlow;

    /// Called four times a second, with the time since the start and since the last output.
    fn pulse(&mut self, _elapsed: Duration, _quiet: Duration) -> ControlFlow {
        ControlFlow::Continue
    }

    /// Returns the bytes to send to a child with an open stdin; called after each piece of output and each pause.
    fn says(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Called before the child is ended; a last message can be returned from [`Listener::says`].
    /// [`ControlFlow::Finished`] at a later line means that the child has acknowledged it.
    fn takes_leave(&mut self) {}
}

/// The reason why a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited by itself.
    Exited,
    /// Cook ended it, because its work was done and it did not exit: its exit code means nothing.
    Finished,
    /// The listener ended it.
    Stopped,
    /// It exceeded its total time limit.
    WallClock,
    /// It wrote nothing for too long.
    IdleClock,
    /// Cook was interrupted.
    Interrupted,
}

/// The result of a child that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The reason why it ended.
    pub ending: Ending,
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Wall-clock time until the child itself had ended.
    pub duration: Duration,
    /// The kept part of stdout.
    pub stdout: Kept,
    /// The kept part of stderr.
    pub stderr: Kept,
    /// Whether none of its processes was left, as far as could be determined.
    pub swept: bool,
}

impl Outcome {
    /// Whether it exceeded its total time limit.
    pub fn has_timed_out(&self) -> bool {
        self.ending == Ending::WallClock
    }
}

/// Bytes kept of one stream: half of them from its beginning, half from its end.
pub const KEPT_PER_STREAM: usize = 2 * 1024 * 1024;

/// The kept part of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// SHA-256 of the whole stream, in hexadecimal.
    pub sha256: String,
    /// The number of bytes written.
    pub total: u64,
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes that are not in `head`.
    pub tail: Vec<u8>,
}

impl Kept {
    /// The number of bytes between `head` and `tail` that were dropped.
    pub fn count_left_out(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// Beginning and end joined; a line between them states how many bytes are missing.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        if self.count_left_out() > 0 {
            let gap = format!("\n[cook: {} bytes left out]\n", self.count_left_out());
            bytes.extend_from_slice(gap.as_bytes());
        }
        bytes.extend_from_slice(&self.tail);
        bytes
    }

    /// The last lines, at most `limit` bytes in all; cut at a line break if there is one.
    pub fn last_lines(&self, limit: usize) -> String {
        let bytes = self.bytes();
        let from = bytes.len().saturating_sub(limit);
        let cut = &bytes[from..];
        let cut = match cut.iter().position(|byte| *byte == b'\n') {
            Some(at) if from > 0 && at + 1 < cut.len() => &cut[at + 1..],
            _ => cut,
        };
        String::from_utf8_lossy(cut).into_owned()
    }
}

/// Collects a stream piece by piece.
#[derive(Debug)]
pub(super) struct Keeper {
    digest: Sha256,
    total: u64,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    at_head: usize,
    at_tail: usize,
}

impl Keeper {
    /// Keeps this many bytes of the beginning and of the end.
    pub(super) fn of(at_head: usize, at_tail: usize) -> Self {
        Self {
            digest: Sha256::default(),
            total: 0,
            head: Vec::new(),
            tail: VecDeque::new(),
            at_head,
            at_tail,
        }
    }

    pub(super) fn take(&mut self, mut piece: &[u8]) {
        self.digest.update(piece);
        self.total += piece.len() as u64;
        let room = (self.at_head - self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..room]);
        piece = &piece[room..];
        if piece.len() > self.at_tail {
            piece = &piece[piece.len() - self.at_tail..];
        }
        let excess = (self.tail.len() + piece.len()).saturating_sub(self.at_tail);
        self.tail.drain(..excess);
        self.tail.extend(piece);
    }

    pub(super) fn to_kept(&self) -> Kept {
        Kept {
            sha256: hex(&self.digest.clone().finalize()),
            total: self.total,
            head: self.head.clone(),
            tail: self.tail.iter().copied().collect(),
        }
    }
}

/// The longest line that is passed on whole, in bytes; a longer one is truncated.
pub const MAX_LINE: usize = 16 * 1024 * 1024;
/// Bytes kept of the beginning of a stream.
pub(super) const HEAD: usize = 1024 * 1024;
/// Bytes kept of the end of a stream.
pub(super) const TAIL: usize = 8 * 1024 * 1024;
/// The capacity of the queue between the pipes and the listener, in pieces.
pub(super) const WAITING: usize = 16;
/// The capacity of the queue of messages for a child; if it overflows, the child's stdin is closed.
const UNREAD: usize = 256;

/// Writes the input on a separate thread, because a child that reads late or never must not block the listener. The
/// pipe is closed once the sender is dropped.
pub(super) fn feed(
    pipe: Option<impl Write + Send + 'static>,
    input: Input,
) -> io::Result<Option<SyncSender<Vec<u8>>>> {
    let Some(mut pipe) = pipe else {
        return Ok(None);
    };
    let (sender, messages) = sync_channel::<Vec<u8>>(UNREAD);
    let (first, stays_open) = match input {
        Input::Whole(bytes) => (bytes.to_vec(), false),
        Input::Open(bytes) => (bytes.to_vec(), true),
    };
    thread::spawn(move || {
        let mut next = Some(first);
        while let Some(bytes) = next {
            // A child may close its stdin before it has read everything.
            if pipe.write_all(&bytes).and_then(|()| pipe.flush()).is_err() {
                break;
            }
            next = messages.recv().ok();
        }
    })?;
    Ok(stays_open.then_some(sender))
}

pub(super) enum Piece {
    Bytes(Source, Vec<u8>),
    End(Source),
}

/// Reads a pipe to its end on a separate thread.
pub(super) fn pump(
    pipe: Option<impl Read + Send + 'static>,
    source: Source,
    to: SyncSender<Piece>,
) -> io::Result<()> {
    thread::spawn(move || {
        if let Some(mut pipe) = pipe {
            let mut piece = vec![0; 64 * 1024];
            loop {
                match pipe.read(&mut piece) {
                    Ok(0) => break,
                    Ok(read) => {
                        if to
                            .send(Piece::Bytes(source, piece[..read].to_vec()))
                            .is_err()
                        {
                            return;
                        }
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        }
        let _ = to.send(Piece::End(source));
    })
    .map(drop)
}

/// One output stream while it is read.
pub(super) struct Stream {
    pub(super) keeper: Keeper,
    pub(super) line: Vec<u8>,
    pub(super) whole: bool,
}

impl Stream {
    pub(super) fn of([head, tail]: [usize; 2]) -> Self {
        Self {
            keeper: Keeper::of(head, tail),
            line: Vec::new(),
            whole: true,
        }
    }

    /// Adds bytes and passes on each line that they complete.
    pub(super) fn take(&mut self, bytes: &[u8], mut hand_on: impl FnMut(&[u8], bool)) {
        self.keeper.take(bytes);
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.add(&rest[..end]);
            hand_on(&self.line, self.whole);
            self.line.clear();
            self.line.shrink_to(1024 * 1024);
            self.whole = true;
            rest = &rest[end + 1..];
        }
        self.add(rest);
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = MAX_LINE - self.line.len();
        self.whole &= bytes.len() <= room;
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// How long a child may take to exit after its work is done.
const LEAVE: Duration = Duration::from_secs(2);
/// How long a child may take to exit after it was asked politely, before its process group is asked.
const POLITE_GRACE: Duration = Duration::from_secs(2);
/// How long the group may take before it is killed.
const END_GRACE: Duration = Duration::from_millis(500);
/// How long the pipes are still read after all known processes have ended.
const PIPE_GRACE: Duration = Duration::from_secs(2);
/// How often the child, the time limits and signals are checked.
const TICK: Duration = Duration::from_millis(10);
/// The same after its output was closed: it is about to end.
const CLOSED: Duration = Duration::from_millis(5);
/// How often [`Listener::pulse`] is called.
const PULSE: Duration = Duration::from_millis(250);
/// How often the processes of the child are recorded.
const LOOK: Duration = Duration::from_millis(250);

/// Starts a child, listens to it until it ends, and ends every process that it started.
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

/// The parameters of supervision.
pub(super) struct Watch<'a> {
    pub(super) program: &'a OsStr,
    /// Name and value of a variable that all its processes carry.
    pub(super) mark: Option<(&'a str, &'a str)>,
    pub(super) clocks: Clocks,
    /// The signal with which it prefers to be asked to end, and whether it runs in a sandbox; `None` asks its process
    /// group.
    pub(super) polite: Option<(Polite, bool)>,
    pub(super) stdin: Option<Input<'a>>,
    /// Bytes kept of the beginning and of the end of each stream.
    pub(super) kept: [usize; 2],
}

impl Watch<'_> {
    /// Starts the child, listens to it until it ends, and ends every process that it started.
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

/// Starts the threads for the child's pipes.
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

/// Checks that the program can be executed, because the sandbox command would report that in its own words.
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
    /// `Some` as long as messages can be sent to the child.
    input: Option<SyncSender<Vec<u8>>>,
    tree: Tree,
    pieces: Receiver<Piece>,
    streams: [Stream; 2],
    /// The number of streams that have not reached their end.
    open: usize,
    started: Instant,
    heard: Instant,
    pulsed: Instant,
    looked: Instant,
    /// The time when the child's work was done.
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

    /// Sends the listener's message to the child.
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

    /// Handles at most one piece of output, and waits at most `at_most` for it.
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

    /// Ends the child step by step, then all its other processes at once. Returns whether none was left.
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

    /// Whether the child exits in time. Its pipes are still read, so that it is not blocked.
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

    /// Waits until the child has acknowledged that it must end, or has ended.
    fn settles_within(&mut self, at_most: Duration) {
        let end = Instant::now() + at_most;
        while Instant::now() < end && !has_exited(&mut *self.child) {
            if self.hear(TICK) == ControlFlow::Finished {
                return;
            }
            self.tell();
        }
    }

    /// Reads the rest of the pipes. A pipe that an unknown process holds open is abandoned after `at_most`.
    fn drain(&mut self, at_most: Duration) {
        let end = Instant::now() + at_most;
        while self.open > 0 && Instant::now() < end {
            if self.hear(TICK) == ControlFlow::Finished {
                self.done.get_or_insert_with(Instant::now);
            }
        }
    }
}

/// A long-running command.
#[derive(Clone)]
pub struct Long<'a> {
    /// The program and its arguments.
    pub argv: &'a [OsString],
    /// The working directory; a relative program path is resolved in it.
    pub dir: &'a Path,
    /// Its complete environment.
    pub env: &'a BTreeMap<OsString, OsString>,
    /// Its time limit.
    pub timeout: Duration,
}

/// Runs a long command and ends every process that it started. If it exceeded its time limit, it has no exit code.
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
    let mut outcome = watch.run(|| spawn_plain(command, program), &mut Nobody)?;
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

/// A listener that ignores all output.
struct Nobody;

impl Listener for Nobody {
    fn piece(&mut self, _: Source, _: &[u8]) -> bool {
        true
    }

    fn line(&mut self, _: Line) -> ControlFlow {
        ControlFlow::Continue
    }
}

fn spawn_plain(command: &Long, program: &OsStr) -> Result<Box<dyn ChildWrapper>, ProcessError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_stream_is_kept_whole() {
        let mut keeper = Keeper::of(KEPT_PER_STREAM / 2, KEPT_PER_STREAM / 2);
        keeper.take(b"one\n");
        keeper.take(b"two\n");
        let kept = keeper.to_kept();
        assert_eq!(kept.bytes(), b"one\ntwo\n");
        assert_eq!(kept.count_left_out(), 0);
        assert_eq!(kept.sha256, hex(&Sha256::digest(b"one\ntwo\n")));
        assert_eq!(kept.last_lines(6), "two\n");
    }

    #[test]
    fn a_long_stream_keeps_both_ends_and_the_digest_of_all() {
        let mut keeper = Keeper::of(KEPT_PER_STREAM / 2, KEPT_PER_STREAM / 2);
        let mut whole = Sha256::new();
        for number in 0..900_000u32 {
            let line = format!("line {number}\n");
            keeper.take(line.as_bytes());
            whole.update(line.as_bytes());
        }
        let kept = keeper.to_kept();
        assert_eq!(kept.head.len() + kept.tail.len(), KEPT_PER_STREAM);
        assert!(kept.bytes().starts_with(b"line 0\n"));
        assert!(kept.bytes().ends_with(b"line 899999\n"));
        assert!(kept.count_left_out() > 0);
        assert_eq!(kept.sha256, hex(&whole.finalize()));
    }

    #[test]
    fn pieces_of_any_size_make_the_same_record() {
        let data: Vec<u8> = (0..KEPT_PER_STREAM * 2).map(|n| (n % 251) as u8).collect();
        let mut whole = Keeper::of(KEPT_PER_STREAM / 2, KEPT_PER_STREAM / 2);
        whole.take(&data);
        let mut pieces = Keeper::of(KEPT_PER_STREAM / 2, KEPT_PER_STREAM / 2);
        for piece in data.chunks(65_521) {
            pieces.take(piece);
        }
        assert_eq!(whole.to_kept(), pieces.to_kept());
    }
}
