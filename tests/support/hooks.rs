//! A session of an agent, as its hooks see it: events go to the built `cook`, ten seconds apart.

use super::{Repo, Run, run};
use serde_json::{Value, json};
use std::cell::Cell;

/// One session of Claude Code.
pub struct Session<'a> {
    pub repo: &'a Repo,
    pub id: String,
    seconds: Cell<u64>,
    calls: Cell<u64>,
}

/// What an event was answered with.
pub struct Told(pub Run);

impl Told {
    /// The answer, `null` when there is none. The hook always ends well.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.0.code, 0, "{:?}", self.0);
        if self.0.out.is_empty() {
            return Value::Null;
        }
        self.0.json()
    }

    /// What goes into the agent's context.
    #[track_caller]
    pub fn context(&self) -> String {
        let value = self.json();
        let text = value["hookSpecificOutput"]["additionalContext"].as_str();
        text.unwrap_or_default().to_owned()
    }

    /// Why a tool was refused.
    #[track_caller]
    pub fn why_denied(&self) -> Option<String> {
        let value = self.json();
        let why = value["hookSpecificOutput"]["permissionDecisionReason"].as_str();
        why.map(str::to_owned)
    }

    /// Why a stop was refused.
    #[track_caller]
    pub fn why_blocked(&self) -> Option<String> {
        let value = self.json();
        (value["decision"] == "block").then(|| value["reason"].as_str().unwrap().to_owned())
    }

    /// What the user is told.
    #[track_caller]
    pub fn notice(&self) -> String {
        self.json()["systemMessage"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Nothing on stdout or stderr, exit 0.
    #[track_caller]
    pub fn is_silent(&self) {
        assert_eq!(
            (self.0.code, self.0.out.as_str(), self.0.err.as_str()),
            (0, "", "")
        );
    }
}

impl<'a> Session<'a> {
    pub fn new(repo: &'a Repo, id: &str) -> Self {
        Self {
            repo,
            id: id.to_owned(),
            seconds: Cell::new(0),
            calls: Cell::new(0),
        }
    }

    /// A session that has started and owns the workflow.
    pub fn owner(repo: &'a Repo, id: &str) -> Self {
        let session = Self::new(repo, id);
        session.start("startup");
        session.take();
        session
    }

    /// `cook next --take`, run in this session.
    pub fn take(&self) {
        let mut next = self.repo.cook_command(&["next", "--take"]);
        next.env("CLAUDE_CODE_SESSION_ID", &self.id)
            .env("COOK_NOW", self.now());
        run(next, b"").exits(0);
        self.shell("cook next --take");
    }

    /// Time passes.
    pub fn wait(&self, seconds: u64) {
        self.seconds.set(self.seconds.get() + seconds);
    }

    /// The moment it is.
    pub fn now(&self) -> String {
        let seconds = self.seconds.get();
        format!(
            "2026-01-02T{:02}:{:02}:{:02}Z",
            4 + seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    }

    /// The event with what every event of this agent has.
    pub fn event(&self, name: &str, fields: Value) -> Value {
        let mut event = json!({
            "hook_event_name": name,
            "session_id": self.id,
            "cwd": self.repo.root,
            "transcript_path": "",
        });
        for (key, value) in fields.as_object().unwrap() {
            event[key] = value.clone();
        }
        event
    }

    /// Sends bytes, at the moment it is.
    pub fn raw(&self, agent: &str, input: &[u8]) -> Told {
        self.raw_env(agent, input, &[])
    }

    pub fn raw_env(&self, agent: &str, input: &[u8], env: &[(&str, &str)]) -> Told {
        let mut command = self.repo.cook_command(&["hook", agent]);
        command.env("COOK_NOW", self.now());
        command.envs(env.iter().copied());
        Told(run(command, input))
    }

    /// Sends an event of Claude Code.
    pub fn send(&self, name: &str, fields: Value) -> Told {
        self.wait(10);
        self.raw("claude", self.event(name, fields).to_string().as_bytes())
    }

    pub fn start(&self, source: &str) -> Told {
        self.send("SessionStart", json!({"source": source}))
    }

    pub fn prompt(&self, text: &str) -> Told {
        self.send("UserPromptSubmit", json!({"prompt": text}))
    }

    /// A tool call's own id.
    pub fn call_id(&self) -> String {
        self.calls.set(self.calls.get() + 1);
        format!("{}-{}", self.id, self.calls.get())
    }

    pub fn before(&self, tool: &str, input: Value) -> Told {
        let fields = json!({"tool_name": tool, "tool_input": input, "tool_use_id": self.call_id()});
        self.send("PreToolUse", fields)
    }

    pub fn after(&self, tool: &str, input: Value) -> Told {
        let fields = json!({"tool_name": tool, "tool_input": input, "tool_use_id": self.call_id()});
        self.send("PostToolUse", fields)
    }

    /// A command line that was run.
    pub fn shell(&self, line: &str) -> Told {
        self.after("Bash", json!({"command": line}))
    }

    /// A file that was written.
    pub fn tell_edit(&self, path: &str) -> Told {
        self.after("Write", json!({"file_path": self.repo.root.join(path)}))
    }

    /// One response with its tools is over.
    pub fn turn(&self) -> Told {
        self.send("PostToolBatch", json!({"batch": self.call_id()}))
    }

    pub fn stop(&self) -> Told {
        self.send("Stop", json!({"stop_hook_active": false}))
    }

    pub fn compact(&self) -> Told {
        self.send("PreCompact", json!({"trigger": "auto"}))
    }

    /// The state file.
    pub fn state(&self) -> Value {
        states(self.repo)
            .into_iter()
            .find(|state| state["session"] == self.id.as_str())
            .unwrap()
    }
}

/// Every session's state file.
pub fn states(repo: &Repo) -> Vec<Value> {
    let mut states = Vec::new();
    let set_up = repo.root.join(".agent/tmp");
    let dir = match set_up.is_dir() {
        true => set_up,
        false => repo.root.join(".git/cook-hooks"),
    };
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("hook-") && name.ends_with(".json") && name != "hook-owner.json" {
            states.push(serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap());
        }
    }
    states
}

/// The trail's lines.
pub fn trail(repo: &Repo) -> Vec<Value> {
    let path = repo.root.join(".agent/checkpoints.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The texts of one kind of entries.
pub fn texts(repo: &Repo, kind: &str) -> Vec<String> {
    let entries = trail(repo)
        .into_iter()
        .filter(|entry| entry["kind"] == kind);
    entries
        .map(|entry| entry["text"].as_str().unwrap().to_owned())
        .collect()
}

/// Subjects of the linked commits.
pub fn list_linked(repo: &Repo) -> Vec<String> {
    texts(repo, "commit")
        .iter()
        .map(|text| text.splitn(3, ' ').nth(2).unwrap_or_default().to_owned())
        .collect()
}

/// What the hook of `--check` answers to Claude Code's stop in a session; null = nothing.
#[track_caller]
pub fn stop_checked(repo: &Repo, session: &str, more: &Value) -> Value {
    let mut event = json!({"hook_event_name": "Stop", "session_id": session, "cwd": repo.root});
    for (key, value) in more.as_object().unwrap() {
        event[key] = value.clone();
    }
    let command = repo.cook_command(&["hook", "claude", "--check"]);
    let run = run(command, event.to_string());
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    match run.out.is_empty() {
        true => Value::Null,
        false => run.json(),
    }
}

/// Cook as a child of a process of that name, as an agent's shell starts it.
#[cfg(unix)]
pub fn command_below(repo: &Repo, program: &str, args: &[&str]) -> std::process::Command {
    let name = repo.beside(program);
    // A program that this process wrote cannot start while another thread's child holds it open.
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/below.sh");
    if let Err(why) = std::os::unix::fs::symlink(script, &name) {
        assert_eq!(why.kind(), std::io::ErrorKind::AlreadyExists);
    }
    let mut command = repo.command(&name);
    command.arg(env!("CARGO_BIN_EXE_cook")).args(args);
    command
}
