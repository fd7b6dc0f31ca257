//! A client over pipes: it writes lines and reads lines, and holds each that it reads against JSON-RPC.

use crate::support::{Repo, clean};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Nothing that these tests ask takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    asked: u64,
}

impl Client {
    /// A server in that repository, which was told nothing yet.
    pub fn silent(repo: &Repo) -> Self {
        Self::start(repo.cook_command(&["mcp"]))
    }

    /// A server in that repository, past the handshake.
    pub fn of(repo: &Repo) -> Self {
        let mut client = Self::silent(repo);
        client.greet();
        client
    }

    /// The same in a directory that is not a repository.
    pub fn elsewhere(directory: &std::path::Path) -> Self {
        let mut command = clean(crate::support::COOK, directory);
        command.arg("mcp").current_dir(directory);
        let mut client = Self::start(command);
        client.greet();
        client
    }

    fn start(mut command: std::process::Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            asked: 0,
        }
    }

    /// The handshake.
    pub fn greet(&mut self) {
        self.greet_as("test");
    }

    fn greet_as(&mut self, name: &str) {
        self.greet_in("2025-06-18", name);
    }

    /// The handshake of a client of that name which speaks the protocol of that day.
    pub fn greet_in(&mut self, protocol: &str, name: &str) {
        let answer = self.ask(
            "initialize",
            json!({
                "protocolVersion": protocol,
                "capabilities": {},
                "clientInfo": {"name": name, "version": "0"},
            }),
        );
        assert_eq!(answer["result"]["serverInfo"]["name"], "cook", "{answer}");
        assert_eq!(answer["result"]["protocolVersion"], protocol);
        self.tell("notifications/initialized", json!({}));
    }

    /// Writes bytes as they are. A server that went away does not fail the test here.
    pub fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        let line = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.write(format!("{line}\n").as_bytes());
    }

    /// Sends a request; its id.
    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let id = self.asked;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(format!("{line}\n").as_bytes());
        id
    }

    /// The next line, which is a message.
    #[track_caller]
    pub fn read(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// A request and its answer.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// A tool's whole answer.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// What a tool answered when it did its work.
    #[track_caller]
    pub fn does(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["result"]["isError"], false, "{answer:#}");
        answer["result"]["structuredContent"].clone()
    }

    /// What a tool answered when it did not: the error, as `--json` has it.
    #[track_caller]
    pub fn fails(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["result"]["isError"], true, "{answer:#}");
        answer["result"]["structuredContent"].clone()
    }

    /// An error of the protocol: its code.
    #[track_caller]
    pub fn objects(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.ask(method, params);
        answer["error"]["code"]
            .as_i64()
            .unwrap_or_else(|| panic!("{answer:#}"))
    }

    /// Closes the input; the server has to end well within that time, having said nothing else but messages.
    #[track_caller]
    pub fn ends_within(mut self, most: Duration) -> Vec<Value> {
        drop(self.stdin.take());
        let began = Instant::now();
        let mut rest = Vec::new();
        loop {
            match self.lines.recv_timeout(Duration::from_millis(20)) {
                Ok(line) => rest.push(serde_json::from_str(&line).unwrap()),
                Err(RecvTimeoutError::Timeout) => {
                    assert!(began.elapsed() < most, "it does not end");
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let ended = loop {
            match self.child.try_wait().unwrap() {
                Some(ended) => break ended,
                None => assert!(began.elapsed() < most, "it does not end"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(ended.code(), Some(0));
        rest
    }

    #[track_caller]
    pub fn ends(self) {
        let rest = self.ends_within(Duration::from_secs(20));
        assert!(rest.is_empty(), "{rest:?}");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
