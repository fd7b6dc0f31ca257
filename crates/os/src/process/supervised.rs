//! Children that are listened to while they run: agents.
//!
//! Invariants: the child leads a session of its own and carries the invocation in its
//! environment; no line longer than [`MAX_LINE`] and no more than the stated ends of a
//! stream are held in memory, however much is written; whatever ends the child, nothing
//! it started outlives the call, also after a normal exit.

use super::interrupt::{Attention, interrupted};
use super::long::{Source, has_exited, program_path};
use super::markers::INVOCATION_VARIABLE;
use super::output::{Keeper, Kept};
use super::tree::Tree;
use super::{ProcessError, check_directory, inherited_by_agents};
use process_wrap::std::{ChildWrapper, CommandWrap};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Longest line that is handed on whole, in bytes; of a longer one the beginning is.
pub const MAX_LINE: usize = 16 * 1024 * 1024;
/// Bytes kept of the beginning of a stream.
const HEAD: usize = 1024 * 1024;
/// Bytes kept of its end.
const TAIL: usize = 8 * 1024 * 1024;
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
/// How often the listener is told that time passes.
const PULSE: Duration = Duration::from_millis(250);
/// How often it is noted who belongs to the child.
const LOOK: Duration = Duration::from_millis(250);
/// Pieces that may wait between a pipe and the listener.
const WAITING: usize = 16;
/// Messages that may wait for a child to read them; one that lets more pile up hears no more.
const UNREAD: usize = 256;

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

/// One line of output, without its end.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The stream.
    pub source: Source,
    /// The line, or its first [`MAX_LINE`] bytes.
    pub bytes: &'a [u8],
    /// False when the line was longer.
    pub whole: bool,
}

/// What the listener wants after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heed {
    /// More of it.
    GoOn,
    /// The child's work is done: it has two seconds to leave.
    Finished,
    /// The child must end now.
    Stop,
}

/// Whoever listens to a child.
pub trait Listener {
    /// The child runs under this process id.
    fn started(&mut self, _pid: u32) {}

    /// A line came.
    fn line(&mut self, line: Line) -> Heed;

    /// Time passes: since the start, and since the last output. Four times a second.
    fn pulse(&mut self, _elapsed: Duration, _quiet: Duration) -> Heed {
        Heed::GoOn
    }

    /// What a child with an open input is told now; asked after all that is heard.
    fn says(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// The child is going to be ended; what it is told before that comes from
    /// [`Listener::says`]. [`Heed::Finished`] at a later line means that it has understood.
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
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What ended it.
    pub ending: Ending,
    /// Exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Wall time until the child itself had ended.
    pub duration: Duration,
    /// What is kept of stdout.
    pub stdout: Kept,
    /// What is kept of stderr.
    pub stderr: Kept,
    /// No process of it was left when this was returned, as far as could be seen.
    pub swept: bool,
}

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
    let _attention = Attention::begin();
    let started = Instant::now();
    let (mut child, tree) = Tree::adopting(INVOCATION_VARIABLE, command.invocation, || {
        spawn(command, program)
    })?;
    listener.started(child.id());
    let input = feed(child.stdin().take(), command.stdin);
    let (sender, pieces) = sync_channel(WAITING);
    pump(child.stdout().take(), Source::Stdout, sender.clone());
    pump(child.stderr().take(), Source::Stderr, sender);
    let mut run = Run {
        command,
        listener,
        child,
        input,
        tree,
        pieces,
        streams: [Stream::default(), Stream::default()],
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
    let status = run.child.wait().map_err(|cause| ProcessError::Start {
        program: program.clone(),
        cause,
    })?;
    run.drain(PIPE_GRACE);
    let [stdout, stderr] = run.streams;
    Ok(Outcome {
        ending,
        code: status.code(),
        duration,
        stdout: stdout.keeper.kept(),
        stderr: stderr.keeper.kept(),
        swept,
    })
}

fn spawn(command: &Supervised, program: &str) -> Result<Box<dyn ChildWrapper>, ProcessError> {
    let mut child = Command::new(program_path(program, command.dir));
    child
        .args(&command.argv[1..])
        .current_dir(command.dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    child
        .env_clear()
        .envs(inherited_by_agents())
        .env_remove("OLDPWD")
        .env("PWD", command.dir)
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .env(INVOCATION_VARIABLE, command.invocation);
    let mut wrapped = CommandWrap::from(child);
    #[cfg(unix)]
    wrapped.wrap(process_wrap::std::ProcessSession);
    wrapped
        .spawn()
        .map_err(|cause| ProcessError::start(program.as_ref(), cause))
}

/// Writes the input beside the listening: a child that reads late or never must not stop
/// it. The pipe is closed when nothing more can come through the sender.
fn feed(pipe: Option<impl Write + Send + 'static>, input: Input) -> Option<SyncSender<Vec<u8>>> {
    let mut pipe = pipe?;
    let (sender, messages) = sync_channel::<Vec<u8>>(UNREAD);
    let (first, stays_open) = match input {
        Input::Whole(bytes) => (bytes.to_vec(), false),
        Input::Open(bytes) => (bytes.to_vec(), true),
    };
    std::thread::spawn(move || {
        let mut next = Some(first);
        while let Some(bytes) = next {
            // A child may close its stdin before it has read all.
            if pipe.write_all(&bytes).and_then(|()| pipe.flush()).is_err() {
                break;
            }
            next = messages.recv().ok();
        }
    });
    stays_open.then_some(sender)
}

enum Piece {
    Bytes(Source, Vec<u8>),
    End(Source),
}

/// Reads a pipe to its end on a thread of its own.
fn pump(pipe: Option<impl Read + Send + 'static>, source: Source, to: SyncSender<Piece>) {
    std::thread::spawn(move || {
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
    });
}

/// One stream as it comes.
struct Stream {
    keeper: Keeper,
    line: Vec<u8>,
    whole: bool,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            keeper: Keeper::of(HEAD, TAIL),
            line: Vec::new(),
            whole: true,
        }
    }
}

impl Stream {
    /// Takes bytes in and hands on each line that they end.
    fn take(&mut self, bytes: &[u8], mut hand_on: impl FnMut(&[u8], bool)) {
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

struct Run<'a, 'b> {
    command: &'a Supervised<'a>,
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
            let heed = self.hear(TICK);
            let now = Instant::now();
            let heed = if heed == Heed::GoOn && now - self.pulsed >= PULSE {
                self.pulsed = now;
                self.listener.pulse(now - self.started, now - self.heard)
            } else {
                heed
            };
            self.tell();
            match heed {
                Heed::GoOn => {}
                Heed::Finished => {
                    self.done.get_or_insert(now);
                    self.input = None;
                }
                Heed::Stop => return Ending::Stopped,
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
        if interrupted() {
            return Some(Ending::Interrupted);
        }
        let clocks = self.command.clocks;
        if now - self.started >= clocks.wall {
            return Some(Ending::WallClock);
        }
        (now - self.heard >= clocks.idle).then_some(Ending::IdleClock)
    }

    /// Takes at most one piece, waiting no longer than `at_most`.
    fn hear(&mut self, at_most: Duration) -> Heed {
        if self.open == 0 {
            std::thread::sleep(at_most);
            return Heed::GoOn;
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
                    return Heed::GoOn;
                }
                let heed = self.listener.line(Line {
                    source,
                    bytes: &stream.line,
                    whole: stream.whole,
                });
                self.streams[source as usize].line = Vec::new();
                heed
            }
            Err(RecvTimeoutError::Timeout) => Heed::GoOn,
            Err(RecvTimeoutError::Disconnected) => {
                self.open = 0;
                Heed::GoOn
            }
        }
    }

    fn take(&mut self, source: Source, bytes: &[u8]) -> Heed {
        let mut heed = Heed::GoOn;
        let listener = &mut *self.listener;
        self.streams[source as usize].take(bytes, |bytes, whole| {
            let asked = listener.line(Line {
                source,
                bytes,
                whole,
            });
            if heed != Heed::Stop && asked != Heed::GoOn {
                heed = asked;
            }
        });
        heed
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
            #[cfg(unix)]
            self.tree.ask(match self.command.polite {
                Polite::Interrupt => nix::sys::signal::Signal::SIGINT,
                Polite::Terminate => nix::sys::signal::Signal::SIGTERM,
            });
            if !self.leaves_within(POLITE_GRACE) {
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
            if self.hear(TICK) == Heed::Finished {
                return;
            }
            self.tell();
        }
    }

    /// What is still in the pipes. One that a process out of reach holds is let go of.
    fn drain(&mut self, at_most: Duration) {
        let end = Instant::now() + at_most;
        while self.open > 0 && Instant::now() < end {
            if self.hear(TICK) == Heed::Finished {
                self.done.get_or_insert_with(Instant::now);
            }
        }
    }
}
