//! The program that the scripted agents of tests are: it does what a script says, in the event dialect of a real
//! agent, through the same presets and pipes. The program of the tests itself plays it.
//!
//! Invariant: what it does is a function of the script, its input and the files it is told to use.

use super::COOK;
use cook_protocol::model::{KnownAgent, Rule, Taken, Wanted};
use cook_repo::disk::{append_line, open_to_append};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::os::fd::FromRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

/// The file that starts it; called otherwise than as `scripted-agent` it is `cook`.
pub fn program() -> &'static Path {
    static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
        let own = std::env::current_exe().unwrap();
        let name = own.file_name().unwrap().to_str().unwrap();
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("player-{name}"));
        // What the harness says goes nowhere.
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = scripted-agent ] || exec {} \"$@\"\nexec 3>&1 >/dev/null\n\
             exec {} --exact support::player::plays --test-threads=1 -- \"$@\"\n",
            shell_words::quote(COOK),
            shell_words::quote(own.to_str().unwrap()),
        );
        if std::fs::read_to_string(&file).ok().as_ref() != Some(&text) {
            // Whole at any time, because other programs of tests use it.
            let new = file.with_extension(std::process::id().to_string());
            std::fs::write(&new, text).unwrap();
            std::fs::set_permissions(&new, PermissionsExt::from_mode(0o755)).unwrap();
            std::fs::rename(new, &file).unwrap();
        }
        file
    });
    &FILE
}

/// No test: what the file of [`program`] calls. Without a script it has nothing to do.
#[test]
#[allow(clippy::exit)]
fn plays() {
    let mut arguments = std::env::args().skip_while(|word| word != "scripted-agent");
    let Some(script) = arguments.by_ref().nth(1) else {
        return;
    };
    // SAFETY: the file opened it, and nothing here has used it.
    let stdout = unsafe { std::os::fd::OwnedFd::from_raw_fd(3) };
    nix::unistd::dup2_stdout(stdout).unwrap();
    std::process::exit(play(&script, &arguments.collect::<Vec<_>>()).into());
}

// What a script says as the events of an agent's stream: the rules that read such a stream, turned around.

/// What a script wants to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Utterance<'a> {
    Session,
    Tool(&'a str),
    Answer(&'a str),
    Error(&'a str),
    Compaction(&'a str),
    Done,
}

/// What is reported beside the words.
#[derive(Debug, Clone, Copy)]
struct Beside<'a> {
    session: &'a str,
    /// The last answer: some dialects say it in their last event only.
    answer: &'a str,
    data: Option<&'a Value>,
    usage: Option<&'a Value>,
    cost_usd: Option<f64>,
    /// The client's number for the prompt in work.
    request: u64,
}

/// The lines that say it, in the dialect of a preset, of the Agent Client Protocol (`acp`), or as text.
fn lines(dialect: &str, utterance: Utterance, beside: Beside) -> Vec<String> {
    let events = match (dialect, KnownAgent::find(dialect), utterance) {
        ("acp", ..) => acp(utterance, beside),
        (_, Some(known), _) => event(&known.preset.rules, utterance, beside)
            .into_iter()
            .collect(),
        (_, None, Utterance::Answer(text)) => return vec![text.to_owned()],
        (_, None, _) => Vec::new(),
    };
    events.iter().map(Value::to_string).collect()
}

/// An event that the rules read so; none where they read nothing of the kind.
fn event(rules: &[Rule], utterance: Utterance, beside: Beside) -> Option<Value> {
    type Place = fn(&Taken) -> Option<&String>;
    let (place, text): (Place, &str) = match utterance {
        Utterance::Session => (|set| set.session.as_ref(), beside.session),
        Utterance::Tool(name) => (|set| set.progress.as_ref(), name),
        Utterance::Answer(text) => (|set| set.text.as_ref().or(set.text_delta.as_ref()), text),
        Utterance::Error(why) => (|set| set.error.as_ref(), why),
        Utterance::Compaction(recap) => (|set| set.compaction.as_ref(), recap),
        Utterance::Done => (|set| set.text.as_ref(), beside.answer),
    };
    let is_done = utterance == Utterance::Done;
    let rule = rules.iter().find(|rule| match is_done {
        true => rule.set.done,
        false => place(&rule.set).is_some() && !rule.set.done,
    })?;
    let mut event = json!({});
    for (path, wanted) in &rule.when {
        match wanted {
            Wanted::Flag(flag) => put(&mut event, path, json!(flag)),
            Wanted::Text(text) if text == "*" => {}
            Wanted::Text(text) if text.starts_with('!') => put(&mut event, path, json!("other")),
            Wanted::Text(text) => put(&mut event, path, json!(text)),
            Wanted::Any(texts) => put(&mut event, path, json!(texts.first())),
        }
    }
    // Of several paths the last one leads to what it says.
    if let Some(path) = place(&rule.set).and_then(|paths| paths.split(' ').next_back()) {
        put(&mut event, path, json!(text));
    }
    if !matches!(utterance, Utterance::Answer(_) | Utterance::Done) {
        return Some(event);
    }
    // What else is read of such an event.
    for rule in rules {
        let set = &rule.set;
        let values = [
            (&set.session, Some(json!(beside.session))),
            (&set.data, beside.data.cloned()),
            (&set.usage, beside.usage.cloned()),
            (&set.cost, beside.cost_usd.map(|cost| json!(cost))),
        ];
        for (path, value) in values {
            if let (Some(path), Some(value), true) = (path, value, applies(rule, &event)) {
                put(&mut event, path, value);
            }
        }
    }
    Some(event)
}

/// The keys of a path, each with what the elements of a list must hold.
fn steps(path: &str) -> impl Iterator<Item = (&str, Option<(&str, &str)>)> {
    path.split('.').map(|step| match step.split_once('[') {
        Some((key, filter)) => (key, filter.trim_end_matches(']').split_once('=')),
        None => (step, None),
    })
}

/// Puts a value where a path leads.
fn put(event: &mut Value, path: &str, value: Value) {
    let mut at = event;
    for (key, filter) in steps(path) {
        at = &mut at[key];
        if let Some((key, wanted)) = filter {
            *at = json!([{ key: wanted }]);
            at = &mut at[0];
        }
    }
    *at = value;
}

/// Whether a rule reads the event.
fn applies(rule: &Rule, event: &Value) -> bool {
    rule.when.iter().all(|(path, wanted)| {
        let found = steps(path).fold(event, |at, (key, filter)| match filter {
            Some(_) => &at[key][0],
            None => &at[key],
        });
        match wanted {
            Wanted::Flag(flag) => found == flag,
            Wanted::Text(text) if text == "*" => !found.is_null(),
            Wanted::Text(text) => match text.strip_prefix('!') {
                Some(other) => !found.is_null() && found != other,
                None => found == text,
            },
            Wanted::Any(texts) => texts.iter().any(|text| found == text),
        }
    })
}

fn acp(utterance: Utterance, beside: Beside) -> Vec<Value> {
    let update = |update: Value| {
        json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": beside.session, "update": update}})
    };
    let says = |text: &str| {
        update(json!({"sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": text}}))
    };
    match utterance {
        Utterance::Session | Utterance::Compaction(_) => Vec::new(),
        Utterance::Tool(name) => vec![update(json!({"sessionUpdate": "tool_call",
            "toolCallId": "t1", "title": name, "kind": "other", "status": "in_progress"}))],
        // In pieces, as models talk.
        Utterance::Answer(text) => {
            let middle = text.char_indices().nth(text.chars().count() / 2);
            let (one, two) = text.split_at(middle.map_or(0, |(at, _)| at));
            vec![says(one), says(two)]
        }
        Utterance::Error(why) => vec![json!({"jsonrpc": "2.0", "id": beside.request,
            "error": {"code": -32603, "message": "Internal error", "data": {"details": why}}})],
        Utterance::Done => {
            let mut result = json!({"stopReason": "end_turn"});
            if let Some(usage) = beside.usage {
                result["usage"] = usage.clone();
            }
            let cost = beside.cost_usd.map(|amount| {
                update(
                    json!({"sessionUpdate": "usage_update", "used": 1, "size": 2,
                    "cost": {"amount": amount, "currency": "USD"}}),
                )
            });
            let answer = json!({"jsonrpc": "2.0", "id": beside.request, "result": result});
            cost.into_iter().chain([answer]).collect()
        }
    }
}

// Playing a script.

/// Plays a script: a file, or the script itself. The exit code: 64 when the script cannot be read.
fn play(script: &str, arguments: &[String]) -> u8 {
    let text = match script.trim_start().starts_with('{') {
        true => Ok(script.to_owned()),
        false => std::fs::read_to_string(script),
    };
    match text.and_then(|text| Ok(serde_json::from_str(&text)?)) {
        Ok(script) => ScriptedAgent::of(script, arguments).play().unwrap_or(70),
        Err(why) => {
            eprintln!("script: {why}");
            64
        }
    }
}

impl ScriptedAgent {
    fn play(&mut self) -> io::Result<u8> {
        if self.script.dialect == "acp" && !self.script.deaf {
            return serve(self, &mut Self::turn);
        }
        if !self.script.deaf {
            let mut input = Vec::new();
            io::stdin().read_to_end(&mut input)?;
            self.input = String::from_utf8_lossy(&input).into_owned();
        }
        let number = self.note()?;
        self.session = match (find_after(&self.arguments, "--session"), &self.script.log) {
            (Some(session), _) => session,
            (None, Some(_)) => format!("scripted-{number:08}"),
            // Two sessions never bear one name.
            (None, None) => format!("scripted-p{}", std::process::id()),
        };
        Ok(self.turn(number)?.unwrap_or(0))
    }

    /// One request, by what the script says about it; the exit code when it was the last.
    fn turn(&mut self, number: usize) -> io::Result<Option<u8>> {
        self.remember(&self.input.clone(), true)?;
        let script = &self.script;
        let fitting = script
            .when
            .iter()
            .find(|(text, _)| self.input.contains(text));
        let steps = match (fitting, script.calls.get(&number.to_string())) {
            (Some((_, steps)), _) | (None, Some(steps)) => steps.clone(),
            (None, None) => script.steps.clone(),
        };
        for step in &steps {
            if let Some(code) = self.step(step)? {
                return Ok(Some(code));
            }
        }
        Ok(None)
    }

    /// Does one thing; the exit code when it was the last.
    fn step(&mut self, step: &Step) -> io::Result<Option<u8>> {
        match step {
            Step::Session => {
                self.began = true;
                self.say(Utterance::Session)?;
            }
            Step::Reply(text) => self.reply(text)?,
            Step::ReplyOf(argv) => {
                let said = capture_output(argv, &self.input)?;
                self.reply(&said)?;
            }
            Step::Recall => self.reply(&self.recall()?)?,
            Step::Answer(text) => self.answer(text)?,
            Step::Done => self.say(Utterance::Done)?,
            Step::Error(why) => self.say(Utterance::Error(why))?,
            Step::Tool(name) => self.say(Utterance::Tool(name))?,
            Step::Compact(recap) => self.say(Utterance::Compaction(recap))?,
            Step::Permission(kinds) => ask_permission(self, kinds)?,
            Step::Request(method) => ask(self, method)?,
            Step::AwaitCancel => await_cancel(self)?,
            Step::Stop(reason) => stop(self, reason)?,
            Step::Report(reported) => self.reported = reported.clone(),
            Step::Print(line) => print(format!("{line}\n").as_bytes())?,
            Step::PrintError(line) => writeln!(io::stderr(), "{line}")?,
            Step::Bytes(bytes) => print(bytes)?,
            Step::Flood(bytes) => flood(*bytes, b'\n')?,
            Step::FloodLine(bytes) => flood(*bytes, b'x')?,
            Step::Sleep(millis) => std::thread::sleep(Duration::from_millis(*millis)),
            Step::Hang => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            Step::Exit(code) => return Ok(Some(*code)),
            other => return self.act(other),
        }
        Ok(None)
    }

    /// What changes something beside its streams.
    fn act(&self, step: &Step) -> io::Result<Option<u8>> {
        match step {
            Step::Ignore(signals) => ignore(signals)?,
            Step::Write(path, text) => {
                if let Some(dir) = Path::new(path).parent() {
                    std::fs::create_dir_all(dir)?;
                }
                std::fs::write(path, text)?;
            }
            Step::Replace(path, from, to) => replace(path, from, to)?,
            Step::Remove(path) => std::fs::remove_file(path)?,
            Step::Run(argv) => {
                let (program, arguments) = argv
                    .split_first()
                    .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
                let status = Command::new(program)
                    .args(arguments)
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .status()?;
                if !status.success() {
                    return Ok(Some(70));
                }
            }
            Step::Enter(dir) => std::env::set_current_dir(dir)?,
            Step::Pid(path) => std::fs::write(path, std::process::id().to_string())?,
            Step::Environment(path) => {
                let all: BTreeMap<String, String> = std::env::vars_os()
                    .map(|(name, value)| {
                        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
                        (text(name), text(value))
                    })
                    .collect();
                std::fs::write(path, json!(all).to_string())?;
            }
            Step::CloseStdout => nix::unistd::close(1)?,
            Step::Leave(left) => leave(left)?,
            _ => {}
        }
        Ok(None)
    }

    fn of(script: Script, arguments: &[String]) -> Self {
        Self {
            script,
            arguments: arguments.to_vec(),
            fork: find_after(arguments, "--fork"),
            input: String::new(),
            session: String::new(),
            request: 0,
            answer: String::new(),
            reported: Reported::default(),
            began: false,
        }
    }

    /// Writes the call down; which one it is.
    fn note(&self) -> io::Result<usize> {
        let Some(log) = &self.script.log else {
            return Ok(1);
        };
        let line = json!({
            "args": self.arguments,
            "cwd": std::env::current_dir()?.display().to_string(),
            "pwd": std::env::var("PWD").ok(),
            "input": self.input,
        });
        append_line(&mut open_to_append(log)?, &line.to_string())?;
        Ok(std::fs::read_to_string(log)?.lines().count())
    }

    fn record(&self, session: &str) -> Option<PathBuf> {
        let path = Path::new(session);
        if path.is_absolute() {
            return Some(path.to_owned());
        }
        let dir = self.script.records.as_ref()?;
        Some(dir.join(format!("{session}.jsonl")))
    }

    /// Adds to the session's record; a fork begins with a copy of what it is a fork of.
    fn remember(&self, text: &str, first: bool) -> io::Result<()> {
        let Some(path) = self.record(&self.session) else {
            return Ok(());
        };
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        let forked = self.fork.as_deref().and_then(|id| self.record(id));
        if let (true, Some(from)) = (first, forked) {
            std::fs::copy(from, &path)?;
        }
        append_line(&mut open_to_append(&path)?, &json!(text).to_string())
    }

    fn recall(&self) -> io::Result<String> {
        let Some(path) = self.record(&self.session) else {
            return Ok(self.input.clone());
        };
        let lines = std::fs::read_to_string(path)?;
        let texts = lines
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        Ok(texts.collect::<Vec<String>>().join("\n"))
    }

    fn say(&mut self, utterance: Utterance) -> io::Result<()> {
        if !self.began && utterance != Utterance::Session {
            self.began = true;
            self.say(Utterance::Session)?;
        }
        let beside = Beside {
            session: &self.session,
            answer: &self.answer,
            data: self.reported.data.as_ref(),
            usage: self.reported.usage.as_ref(),
            cost_usd: self.reported.cost_usd,
            request: self.request,
        };
        for line in lines(&self.script.dialect, utterance, beside) {
            print(line.as_bytes())?;
            print(b"\n")?;
        }
        Ok(())
    }

    fn answer(&mut self, text: &str) -> io::Result<()> {
        self.answer = text.to_owned();
        self.remember(text, false)?;
        self.say(Utterance::Answer(text))
    }

    fn reply(&mut self, text: &str) -> io::Result<()> {
        self.answer(text)?;
        self.say(Utterance::Done)
    }
}

/// What a program prints that reads the input; how it ends says nothing.
fn capture_output(argv: &[String], input: &str) -> io::Result<String> {
    let (program, arguments) = argv
        .split_first()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // It may end before it has read all.
        stdin.as_mut().map(|pipe| pipe.write_all(input.as_bytes()))
    });
    let output = child.wait_with_output()?;
    let _ = writer.join();
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Lines of 100 bytes, or one that does not end.
fn flood(bytes: u64, last: u8) -> io::Result<()> {
    let mut line = [b'x'; 100];
    line[99] = last;
    let piece = line.repeat(640);
    let mut left = bytes;
    let mut out = io::stdout().lock();
    while left > 0 {
        let now = left.min(piece.len() as u64);
        out.write_all(&piece[..usize::try_from(now).unwrap_or(piece.len())])?;
        left -= now;
    }
    out.flush()
}

/// A handler that notes and does no more stands in the way of the default.
fn ignore(signals: &[String]) -> io::Result<()> {
    for signal in signals {
        let signal = match signal.as_str() {
            "INT" => signal_hook::consts::SIGINT,
            "TERM" => signal_hook::consts::SIGTERM,
            _ => return Err(io::Error::from(io::ErrorKind::InvalidInput)),
        };
        signal_hook::flag::register(signal, std::sync::Arc::default())?;
    }
    Ok(())
}

fn leave(left: &Left) -> io::Result<()> {
    let mut child = Command::new(program());
    let script = json!({"deaf": true, "steps": left.steps}).to_string();
    child.args(["scripted-agent", &script]).stdin(Stdio::null());
    if !left.holds_stdout {
        child.stdout(Stdio::null()).stderr(Stdio::null());
    }
    if left.own_environment {
        child.env_clear();
    }
    if left.own_session {
        let begin = || nix::unistd::setsid().map(drop).map_err(io::Error::from);
        // SAFETY: between fork and exec it calls `setsid` alone, which may be called there.
        unsafe { child.pre_exec(begin) };
    }
    child.spawn().map(drop)
}

/// The argument that follows a name.
fn find_after(arguments: &[String], name: &str) -> Option<String> {
    let at = arguments.iter().position(|word| word == name)?;
    arguments.get(at + 1).cloned()
}

struct ScriptedAgent {
    script: Script,
    /// As a preset gives them.
    arguments: Vec<String>,
    /// The session that it forks.
    fork: Option<String>,
    input: String,
    session: String,
    /// The client's number for the prompt in work.
    request: u64,
    answer: String,
    reported: Reported,
    began: bool,
}

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// What a scripted agent does.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Script {
    /// In whose events it speaks: a preset's name, `acp` (it answers requests instead of only printing), or `text`.
    dialect: String,
    /// A file that gets one JSON line for each call: arguments, directory, input.
    log: Option<PathBuf>,
    /// A directory in which it keeps a record of each session, as real agents do.
    records: Option<PathBuf>,
    /// False: its input is not read.
    deaf: bool,
    /// How it behaves where it speaks the Agent Client Protocol.
    acp: Acp,
    /// What is done at each call.
    steps: Vec<Step>,
    /// What is done instead at the call of that number (from 1, by the lines of `log`).
    calls: BTreeMap<String, Vec<Step>>,
    /// What is done instead when the input holds that text; the first that fits.
    when: Vec<(String, Vec<Step>)>,
}

/// One thing that a scripted agent does.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    /// Its session begins.
    Session,
    /// It answers, and its work is done: session, answer and end in one.
    Reply(String),
    /// It answers with what a program prints that gets its input, and its work is done.
    ReplyOf(Vec<String>),
    /// It answers with all that its session's record holds, and its work is done.
    Recall,
    /// It says something.
    Answer(String),
    /// Its work is done.
    Done,
    /// It reports an error.
    Error(String),
    /// It uses a tool.
    Tool(String),
    /// It asks for permission and says which option was chosen (Agent Client Protocol).
    Permission(Vec<String>),
    /// It asks its client for something else and says what came back (same).
    Request(String),
    /// It waits until it is cancelled, and then says so in order (same).
    AwaitCancel,
    /// Its turn ends for that reason (same).
    Stop(String),
    /// It compacts its context.
    Compact(String),
    /// What it reports with the next answer and end: `usage`, `cost_usd`, `data`.
    Report(Reported),
    /// A line on stdout.
    Print(String),
    /// A line on stderr.
    PrintError(String),
    /// Bytes on stdout, as they are.
    Bytes(Vec<u8>),
    /// So many bytes of lines on stdout.
    Flood(u64),
    /// So many bytes on stdout without a line end.
    FloodLine(u64),
    /// It waits, in milliseconds.
    Sleep(u64),
    /// It waits for ever.
    Hang,
    /// It ends with this exit code.
    Exit(u8),
    /// These signals (`INT`, `TERM`) do nothing from now on.
    Ignore(Vec<String>),
    /// A file is written, its directories too.
    Write(String, String),
    /// In a file, the first place of a text becomes another one; it must be there.
    Replace(String, String, String),
    /// A file is removed.
    Remove(String),
    /// A program is run to its end; a failure of it ends the agent with exit code 70.
    Run(Vec<String>),
    /// It goes to a directory.
    Enter(String),
    /// Its process id goes into a file.
    Pid(String),
    /// Its environment goes into a file, as JSON.
    Environment(String),
    /// It closes its stdout.
    CloseStdout,
    /// A child with a script of its own is left running.
    Leave(Left),
}

/// What is reported beside the words.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Reported {
    usage: Option<Value>,
    cost_usd: Option<f64>,
    data: Option<Value>,
}

/// A child that is left running.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Left {
    steps: Value,
    #[serde(default)]
    own_session: bool,
    /// With an environment without any mark.
    #[serde(default)]
    own_environment: bool,
    /// With this agent's stdout still open.
    #[serde(default)]
    holds_stdout: bool,
}

/// How a scripted agent behaves before its first prompt.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Acp {
    /// A file that gets each line that comes from the client.
    heard: Option<PathBuf>,
    /// The version that it says it speaks, where that is another one.
    version: Option<u64>,
    /// It offers to fork a session.
    forks: bool,
    /// It wants a login before a session.
    login: bool,
    /// It answers everything with a number that was not asked for.
    wrong_id: bool,
    /// Its sessions let a client choose the model: `option`, `method`, or not at all.
    models: Option<String>,
}

/// Puts `to` in the first place of `from`; a file without it is an error.
fn replace(path: &str, from: &str, to: &str) -> io::Result<()> {
    let path = Path::new(path);
    let text = std::fs::read_to_string(path)?;
    if !text.contains(from) {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    std::fs::write(path, text.replacen(from, to, 1))
}

/// What is done at one prompt, by its number; the exit code when it was the last.
type Turn<'a> = &'a mut dyn FnMut(&mut ScriptedAgent, usize) -> io::Result<Option<u8>>;

/// Answers until the client closes the pipe; the exit code.
fn serve(agent: &mut ScriptedAgent, turn: Turn) -> io::Result<u8> {
    while let Some(message) = hear(agent)? {
        let (id, params) = (message["id"].clone(), &message["params"]);
        match message["method"].as_str() {
            Some("initialize") => {
                let acp = &agent.script.acp;
                let session = match acp.forks {
                    true => json!({"fork": {}}),
                    false => json!({}),
                };
                let result = json!({"protocolVersion": acp.version.unwrap_or(1), "authMethods": [],
                    "agentCapabilities": {"loadSession": true, "sessionCapabilities": session}});
                respond(agent, &id, &json!({"result": result}))?;
            }
            Some("session/new" | "session/fork") => open(agent, &id, params)?,
            Some("session/set_config_option" | "session/set_model") => {
                let known = params["value"] != "unknown" && params["modelId"] != "unknown";
                let answer = match known {
                    true => json!({"result": {}}),
                    false => json!({"error": {"code": -32602, "message": "Invalid params"}}),
                };
                respond(agent, &id, &answer)?;
            }
            Some("session/prompt") => {
                agent.request = id.as_u64().unwrap_or_default();
                let text = params["prompt"][0]["text"].as_str();
                agent.input = text.unwrap_or_default().to_owned();
                let number = agent.note()?;
                if let Some(code) = turn(agent, number)? {
                    return Ok(code);
                }
            }
            _ => {}
        }
    }
    Ok(0)
}

fn open(agent: &mut ScriptedAgent, id: &Value, params: &Value) -> io::Result<()> {
    if agent.script.acp.login {
        let error = json!({"code": -32000, "message": "Authentication required"});
        return respond(agent, id, &json!({"error": error}));
    }
    agent.fork = params["sessionId"].as_str().map(str::to_owned);
    // Of processes that run at the same time each opens one of its own.
    agent.session = format!("scripted-{:08}", std::process::id());
    let mut result = json!({"sessionId": agent.session});
    match agent.script.acp.models.as_deref() {
        Some("option") => {
            let option = json!({"id": "m", "category": "model", "type": "select"});
            result["configOptions"] = json!([option]);
        }
        Some(_) => result["models"] = json!({"currentModelId": "usual", "availableModels": []}),
        None => {}
    }
    respond(agent, id, &json!({"result": result}))
}

/// The next message of the client's; none at the end.
fn hear(agent: &ScriptedAgent) -> io::Result<Option<Value>> {
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        return Ok(None);
    }
    if let Some(heard) = &agent.script.acp.heard {
        append_line(&mut open_to_append(heard)?, line.trim_end())?;
    }
    Ok(Some(serde_json::from_str(&line)?))
}

fn respond(agent: &ScriptedAgent, id: &Value, answer: &Value) -> io::Result<()> {
    let mut message = answer.clone();
    message["jsonrpc"] = json!("2.0");
    message["id"] = match agent.script.acp.wrong_id {
        true => json!(99),
        false => id.clone(),
    };
    print(format!("{message}\n").as_bytes())
}

/// Asks the client for something, and says which option it chose or what went wrong.
fn request(agent: &mut ScriptedAgent, method: &str, params: &Value) -> io::Result<()> {
    let message = json!({"jsonrpc": "2.0", "id": "q1", "method": method, "params": params});
    print(format!("{message}\n").as_bytes())?;
    while let Some(answer) = hear(agent)? {
        if answer["id"] == "q1" {
            let outcome = &answer["result"]["outcome"];
            let said = match (&outcome["optionId"], &answer["error"]["code"]) {
                (Value::String(option), _) => option.clone(),
                (_, Value::Number(code)) => code.to_string(),
                _ => outcome["outcome"].as_str().unwrap_or("nothing").to_owned(),
            };
            return agent.answer(&format!("{method}: {said}"));
        }
    }
    Ok(())
}

fn ask(agent: &mut ScriptedAgent, method: &str) -> io::Result<()> {
    let params = json!({"sessionId": agent.session, "path": "/etc/hostname"});
    request(agent, method, &params)
}

fn ask_permission(agent: &mut ScriptedAgent, kinds: &[String]) -> io::Result<()> {
    let options: Vec<Value> = kinds
        .iter()
        .map(|kind| json!({"optionId": kind, "name": kind, "kind": kind}))
        .collect();
    let params = json!({"sessionId": agent.session, "options": options,
        "toolCall": {"toolCallId": "t1", "title": "edit a file", "kind": "edit"}});
    request(agent, "session/request_permission", &params)
}

fn await_cancel(agent: &mut ScriptedAgent) -> io::Result<()> {
    while let Some(message) = hear(agent)? {
        if message["method"] == "session/cancel" && message["params"]["sessionId"] == agent.session
        {
            return stop(agent, "cancelled");
        }
    }
    Ok(())
}

fn stop(agent: &ScriptedAgent, reason: &str) -> io::Result<()> {
    let result = json!({"result": {"stopReason": reason}});
    respond(agent, &json!(agent.request), &result)
}
