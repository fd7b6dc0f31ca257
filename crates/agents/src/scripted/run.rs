//! Playing a script.

use super::acp;
use super::agent::{Arguments, ScriptedAgent, print};
use super::dialect::{Dialect, Utterance};
use super::script::{Left, Step};
use super::worktree::{replace, with_head};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// Plays a script: a file, or the script itself. 64 = the script cannot be read.
pub fn play(script: &str, arguments: &Arguments) -> ExitCode {
    let text = if script.trim_start().starts_with('{') {
        Ok(script.to_owned())
    } else {
        std::fs::read_to_string(script)
    };
    let parsed = text
        .map_err(|error| error.to_string())
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
    match parsed {
        Ok(script) => {
            let mut agent = ScriptedAgent::of(script, arguments);
            ExitCode::from(agent.play().unwrap_or(70))
        }
        Err(why) => {
            let _ = writeln!(io::stderr(), "script: {why}");
            ExitCode::from(64)
        }
    }
}

impl ScriptedAgent {
    fn play(&mut self) -> io::Result<u8> {
        if self.script.dialect == Dialect::Acp && !self.script.deaf {
            return acp::serve(self, &mut Self::turn);
        }
        if !self.script.deaf {
            let mut input = Vec::new();
            io::stdin().read_to_end(&mut input)?;
            self.input = String::from_utf8_lossy(&input).into_owned();
        }
        let number = self.note()?;
        self.session = match (&self.arguments.session, &self.script.log) {
            (Some(session), _) => session.clone(),
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
                let session = self.session.clone();
                self.say(Utterance::Session(&session))?;
            }
            Step::Reply(text) => self.reply(text)?,
            Step::ReplyWithHead(text) => self.reply(&with_head(text)?)?,
            Step::ReplyOf(argv) => {
                let said = capture_output(argv, &self.input)?;
                self.reply(&said)?;
            }
            Step::Echo => self.reply(&self.input.clone())?,
            Step::Recall => self.reply(&self.recall()?)?,
            Step::Answer(text) => self.answer(text)?,
            Step::Done => self.say(Utterance::Done)?,
            Step::Error(why) => self.say(Utterance::Error(why))?,
            Step::Tool(name) => self.say(Utterance::Tool(name))?,
            Step::Compact(recap) => self.say(Utterance::Compaction(recap))?,
            Step::Permission(kinds) => acp::ask_permission(self, kinds)?,
            Step::Request(method) => acp::ask(self, method)?,
            Step::AwaitCancel => acp::await_cancel(self)?,
            Step::Stop(reason) => acp::stop(self, reason)?,
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
            Step::CloseStdout => close_stdout()?,
            Step::Leave(left) => leave(left)?,
            _ => {}
        }
        Ok(None)
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
    let writer = cook_os::thread::spawn(move || {
        // It may end before it has read all.
        stdin.as_mut().map(|pipe| pipe.write_all(input.as_bytes()))
    })?;
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

#[cfg(unix)]
fn close_stdout() -> io::Result<()> {
    nix::unistd::close(1).map_err(io::Error::from)
}

#[cfg(not(unix))]
fn close_stdout() -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

fn leave(left: &Left) -> io::Result<()> {
    let mut child = Command::new(std::env::current_exe()?);
    let script = json!({"deaf": true, "steps": left.steps}).to_string();
    child.args(["scripted-agent", &script]).stdin(Stdio::null());
    if !left.holds_stdout {
        child.stdout(Stdio::null()).stderr(Stdio::null());
    }
    if left.own_environment {
        child.env_clear();
    }
    let mut wrapped = process_wrap::std::CommandWrap::from(child);
    #[cfg(unix)]
    if left.own_session {
        wrapped.wrap(process_wrap::std::ProcessSession);
    }
    wrapped.spawn().map(drop)
}
