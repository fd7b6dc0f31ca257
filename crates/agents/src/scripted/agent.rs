//! Who plays a script: how it was called, what it remembers and says.

use super::dialect::{Beside, Utterance, lines};
use super::script::{Reported, Script};
use cook_os::disk::{append_line, open_to_append};
use serde_json::json;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How it was called: the arguments that a preset gives it.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// All of them.
    pub all: Vec<String>,
    /// The session to begin.
    pub session: Option<String>,
    /// The session to fork.
    pub fork: Option<String>,
}

pub(super) struct ScriptedAgent {
    pub(super) script: Script,
    pub(super) arguments: Arguments,
    pub(super) input: String,
    pub(super) session: String,
    /// The client's number for the prompt in work.
    pub(super) request: u64,
    pub(super) answer: String,
    pub(super) reported: Reported,
    pub(super) began: bool,
}

impl ScriptedAgent {
    pub(super) fn of(script: Script, arguments: &Arguments) -> Self {
        Self {
            script,
            arguments: arguments.clone(),
            input: String::new(),
            session: String::new(),
            request: 0,
            answer: String::new(),
            reported: Reported::default(),
            began: false,
        }
    }

    /// Writes the call down; which one it is.
    pub(super) fn note(&self) -> io::Result<usize> {
        let Some(log) = &self.script.log else {
            return Ok(1);
        };
        let line = json!({
            "args": self.arguments.all,
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
    pub(super) fn remember(&self, text: &str, first: bool) -> io::Result<()> {
        let Some(path) = self.record(&self.session) else {
            return Ok(());
        };
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        let forked = self
            .arguments
            .fork
            .as_deref()
            .and_then(|id| self.record(id));
        if let (true, Some(from)) = (first, forked) {
            std::fs::copy(from, &path)?;
        }
        append_line(&mut open_to_append(&path)?, &json!(text).to_string())
    }

    pub(super) fn recall(&self) -> io::Result<String> {
        let Some(path) = self.record(&self.session) else {
            return Ok(self.input.clone());
        };
        let lines = std::fs::read_to_string(path)?;
        let texts = lines
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        Ok(texts.collect::<Vec<String>>().join("\n"))
    }

    pub(super) fn say(&mut self, utterance: Utterance) -> io::Result<()> {
        if !self.began && !matches!(utterance, Utterance::Session(_)) {
            self.began = true;
            let session = self.session.clone();
            self.say(Utterance::Session(&session))?;
        }
        let beside = Beside {
            session: &self.session,
            answer: &self.answer,
            data: self.reported.data.as_ref(),
            usage: self.reported.usage.as_ref(),
            cost_usd: self.reported.cost_usd,
            request: self.request,
        };
        for line in lines(self.script.dialect, utterance, beside) {
            print(line.as_bytes())?;
            print(b"\n")?;
        }
        Ok(())
    }

    pub(super) fn answer(&mut self, text: &str) -> io::Result<()> {
        self.answer = text.to_owned();
        self.remember(text, false)?;
        self.say(Utterance::Answer(text))
    }

    pub(super) fn reply(&mut self, text: &str) -> io::Result<()> {
        self.answer(text)?;
        self.say(Utterance::Done)
    }
}

pub(super) fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
