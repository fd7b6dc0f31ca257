//! The `git` program, in the user's repository and with the user's settings.

use crate::clock::TEST_VARIABLE;
use crate::process::{
    Attention, Caps, Captured, ProcessError, Short, capture_until, is_interrupted,
};
use crate::remote::git_words::words;
use cook_protocol::diagnostic::{Code, Failure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a question may take, and how long a transfer.
const QUESTION: Duration = Duration::from_secs(60);
const TRANSFER: Duration = Duration::from_secs(600);
/// Bytes of an answer.
const LIMIT: usize = 16 << 20;
/// What a fetch may take: a pack, and memory to put it together.
const CAPS: Caps = Caps {
    file: 256 << 20,
    memory: 768 << 20,
};

/// Shorter times for tests, in milliseconds. Honoured only while `COOK_TEST=1` is set too.
const TIME_VARIABLE: &str = "COOK_REMOTE_MS";

/// Beginnings of variables by which the user says how git reaches the world.
const KEPT: [&str; 9] = [
    "GIT_ASKPASS",
    "GIT_CONFIG_",
    "GIT_CURL_",
    "GIT_HTTP_",
    "GIT_PROXY_",
    "GIT_SSH",
    "GIT_SSL_",
    "GIT_TRACE",
    "GIT_PROTOCOL",
];

/// git in one repository.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    dir: PathBuf,
    /// Somebody sits at a terminal and can be asked for a password.
    attended: bool,
}

/// One call.
#[derive(Debug, Default)]
pub(crate) struct Call {
    words: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
    transfers: bool,
    capped: bool,
}

impl Call {
    /// The words of a command line, none of which holds a blank.
    pub(crate) fn new(line: &str) -> Self {
        Self {
            words: line.split_whitespace().map(OsString::from).collect(),
            ..Self::default()
        }
    }

    pub(crate) fn word(mut self, word: impl Into<OsString>) -> Self {
        self.words.push(word.into());
        self
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// It moves objects: it may take longer.
    pub(crate) fn transfers(mut self) -> Self {
        self.transfers = true;
        self
    }

    /// What it writes and holds is bounded.
    pub(crate) fn with_cap(mut self) -> Self {
        self.capped = true;
        self
    }
}

impl Git {
    pub(crate) fn new(dir: &Path, attended: bool) -> Self {
        Self {
            dir: dir.to_owned(),
            attended,
        }
    }

    /// Runs git to its end; any exit code is an answer.
    pub(crate) fn run(&self, call: Call) -> Result<Captured, Failure> {
        let mut env: Vec<(String, OsString)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| KEPT.iter().any(|kept| name.starts_with(kept)))
            .collect();
        env.push(("LC_ALL".to_owned(), "C".into()));
        if !self.attended {
            env.push(("GIT_TERMINAL_PROMPT".to_owned(), "0".into()));
        }
        env.extend(
            call.env
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        let mut argv = vec![OsString::from("git")];
        argv.extend(call.words);
        let short = Short {
            argv,
            dir: &self.dir,
            env: env
                .iter()
                .map(|(name, value)| (name.as_str(), value.clone()))
                .collect(),
            stdin: Vec::new(),
            deadline: deadline(call.transfers),
            limit: LIMIT,
            // Whoever leads a group of its own cannot ask at the terminal.
            group: !self.attended,
        };
        let _attention = Attention::begin();
        let caps = call.capped.then_some(CAPS);
        capture_until(&short, caps, is_interrupted).map_err(|error| match error {
            ProcessError::Interrupted(_) => {
                let what = "cook was asked to end while git spoke to a remote";
                Failure::state(Code::Interrupted, what)
            }
            ProcessError::NotFound(_) => {
                Failure::state(Code::GitMissing, "the `git` program is not on PATH")
            }
            error => unreachable("git gave no answer", &[]).with_cause(&error),
        })
    }

    /// Exit 0, or a failure with git's words.
    pub(crate) fn answer(&self, call: Call, what: &str) -> Result<String, Failure> {
        let captured = self.run(call)?;
        match captured.success() {
            true => Ok(String::from_utf8_lossy(&captured.stdout).into_owned()),
            false => Err(unreachable(what, &words(&captured.stderr))),
        }
    }
}

/// `remote_unreachable` with git's own words.
pub(crate) fn unreachable(what: &str, said: &[String]) -> Failure {
    make_failure(Code::RemoteUnreachable, what, said)
}

/// A failure with git's own words.
pub(crate) fn make_failure(code: Code, what: &str, said: &[String]) -> Failure {
    let mut failure = Failure::state(code, what);
    failure
        .causes
        .extend(said.iter().map(|line| format!("git says: {line}")));
    failure
}

fn deadline(transfers: bool) -> Duration {
    let usual = match transfers {
        true => TRANSFER,
        false => QUESTION,
    };
    match std::env::var(TEST_VARIABLE).as_deref() {
        Ok("1") => std::env::var(TIME_VARIABLE)
            .ok()
            .and_then(|text| text.parse().ok())
            .map_or(usual, Duration::from_millis),
        _ => usual,
    }
}
