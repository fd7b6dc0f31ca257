//! A child's three pipes: written and read on threads of their own, its output cut into lines.

use super::child::{Input, Source};
use super::output::Keeper;
use crate::thread;
use std::io::{self, Read, Write};
use std::sync::mpsc::{SyncSender, sync_channel};

/// Longest line that is handed on whole, in bytes; of a longer one the beginning is.
pub const MAX_LINE: usize = 16 * 1024 * 1024;
/// Bytes kept of the beginning of a stream.
pub(super) const HEAD: usize = 1024 * 1024;
/// Bytes kept of its end.
pub(super) const TAIL: usize = 8 * 1024 * 1024;
/// Pieces that may wait between a pipe and the listener.
pub(super) const WAITING: usize = 16;
/// Messages that may wait for a child to read them; one that lets more pile up hears no more.
const UNREAD: usize = 256;

/// Writes the input beside the listening: a child that reads late or never must not stop
/// it. The pipe is closed when nothing more can come through the sender.
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
            // A child may close its stdin before it has read all.
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

/// Reads a pipe to its end on a thread of its own.
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

/// One stream as it comes.
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

    /// Takes bytes in and hands on each line that they end.
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
