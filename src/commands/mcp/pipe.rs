//! The transport over stdin and stdout, with one message per line, size limits, and an error reply to any line that is
//! not a message. The transport of `rmcp` ignores such lines.

use crate::view::write_line;
use cook_protocol::diagnostic::harmless_json;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ErrorCode, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{self, BufRead};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;

/// The maximum size of a message in bytes, as for the input of commands (`src/commands/input.rs`).
const MAX_LINE: usize = 16 << 20;
/// How many lines are read ahead.
const AHEAD: usize = 4;
/// How many requests may wait for an answer at the same time.
const MAX_WAITING: usize = 64;

const PARSE_ERROR: i32 = ErrorCode::PARSE_ERROR.0;
const INVALID_REQUEST: i32 = ErrorCode::INVALID_REQUEST.0;
/// One of the error codes that JSON-RPC reserves for servers.
const BUSY: i32 = -32000;

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

type Waiting = Arc<Mutex<HashSet<RequestId>>>;

pub(super) struct Pipe {
    lines: mpsc::Receiver<Line>,
    waiting: Waiting,
}

impl Pipe {
    /// Starts a thread that reads stdin.
    pub(super) fn open() -> io::Result<Self> {
        let (sender, lines) = mpsc::channel(AHEAD);
        cook_repo::thread::spawn(move || read_lines(io::stdin().lock(), &sender))?;
        Ok(Self {
            lines,
            waiting: Waiting::default(),
        })
    }

    /// Parses a line: a message, `None` if there is nothing to answer, or an error reply.
    fn read(&self, line: Line) -> Result<Option<ClientJsonRpcMessage>, Value> {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong => {
                let what = format!("the message is larger than {} MiB", MAX_LINE >> 20);
                return Err(refusal(None, INVALID_REQUEST, &what));
            }
        };
        let text = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line);
        if text.trim_ascii().is_empty() {
            return Ok(None);
        }
        let value: Value = serde_json::from_slice(text).map_err(|error| {
            refusal(
                None,
                PARSE_ERROR,
                &format!("the message is not JSON: {error}"),
            )
        })?;
        let id = value.get("id").cloned();
        let message = serde_json::from_value(value).map_err(|_| {
            let what = "this is not a JSON-RPC 2.0 message of the Model Context Protocol";
            refusal(id.clone(), INVALID_REQUEST, what)
        })?;
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                let mut waiting = lock(&self.waiting);
                if waiting.len() >= MAX_WAITING {
                    let what = format!("{MAX_WAITING} requests wait for their answers already");
                    return Err(refusal(id, BUSY, &what));
                }
                if !waiting.insert(request.id.clone()) {
                    let what = "a request with this id waits for its answer already";
                    return Err(refusal(id, INVALID_REQUEST, what));
                }
            }
            ClientJsonRpcMessage::Notification(notification) => {
                // A cancelled request gets no answer.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    lock(&self.waiting).remove(id);
                }
            }
            // This server sends no requests, so it expects no responses.
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => return Ok(None),
        }
        Ok(Some(message))
    }
}

impl Transport<RoleServer> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let waiting = Arc::clone(&self.waiting);
        async move {
            match &item {
                TxJsonRpcMessage::<RoleServer>::Response(answer) => {
                    lock(&waiting).remove(&answer.id);
                }
                TxJsonRpcMessage::<RoleServer>::Error(error) => {
                    if let Some(id) = &error.id {
                        lock(&waiting).remove(id);
                    }
                }
                _ => {}
            }
            write_line(&harmless_json(&serde_json::to_string(&item)?))
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = self.lines.recv().await?;
            match self.read(line) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                // A failed write means that the client has gone.
                Err(refusal) => write_line(&harmless_json(&refusal.to_string())).ok()?,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close();
        Ok(())
    }
}

fn lock(waiting: &Waiting) -> MutexGuard<'_, HashSet<RequestId>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An error reply to an invalid message, with the message's id if that is a valid id.
fn refusal(id: Option<Value>, code: i32, what: &str) -> Value {
    let id = id.filter(|id| id.is_string() || id.is_number());
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": what}})
}

/// Reads lines until stdin ends or the receiver is gone. Drops a last line without a line end, because it may be
/// incomplete.
fn read_lines(mut input: impl BufRead, lines: &mpsc::Sender<Line>) {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let available = match input.fill_buf() {
            Ok([]) => return,
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |at| at + 1);
        if !is_too_long {
            if line.len() + taken > MAX_LINE {
                is_too_long = true;
                line = Vec::new();
            } else {
                line.extend_from_slice(available.get(..taken).unwrap_or_default());
            }
        }
        input.consume(taken);
        if end.is_some() {
            let whole = match std::mem::take(&mut is_too_long) {
                true => Line::TooLong,
                false => Line::Whole(std::mem::take(&mut line)),
            };
            if lines.blocking_send(whole).is_err() {
                return;
            }
        }
    }
}
