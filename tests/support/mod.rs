//! The hermetic harness: a repository in a temporary directory, and the real binary in
//! an environment that holds nothing of this machine but PATH.
//!
//! Time stands still at [`NOW`], identities are fixed, HOME is temporary, git reads no
//! settings but the repository's. Reports are written from small inputs in `reports`.
#![allow(clippy::unwrap_used)]

pub mod agents;
pub mod generated;
pub mod hints;
pub mod hooks;
pub mod job;
pub mod machine;
pub mod model;
pub mod player;
pub mod repo;
pub mod reports;
pub mod stage;
pub mod steps;
pub mod store;
pub mod story;
pub mod tracker;
pub mod workflow;

pub use machine::{room, with_default_signals};
pub use repo::Repo;

use serde_json::Value;
use std::borrow::BorrowMut;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// When everything happens.
pub const NOW: &str = "2026-01-02T03:04:05Z";

/// The `cook` under test.
pub const COOK: &str = env!("CARGO_BIN_EXE_cook");

/// A command with nothing of this machine in its environment but git and the usual tools: the programs
/// of agents that somebody has installed are not found.
pub fn clean(program: impl AsRef<std::ffi::OsStr>, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    for name in ["LLVM_PROFILE_FILE", "LD_LIBRARY_PATH", "SystemRoot"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let bin = Path::new(COOK).parent().unwrap();
    command
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", bin.display()),
        )
        .env("HOME", home)
        .envs(FIXED);
    command
}

/// The clock, the identities, no settings of git but the repository's.
pub const FIXED: [(&str, &str); 13] = [
    ("LC_ALL", "C"),
    ("TERM", "dumb"),
    ("COOK_TEST", "1"),
    ("COOK_NOW", NOW),
    ("COOK_WRITER", "00000000000000000000000000000000"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_AUTHOR_NAME", "Author"),
    ("GIT_AUTHOR_EMAIL", "author@example.org"),
    ("GIT_AUTHOR_DATE", NOW),
    ("GIT_COMMITTER_NAME", "Committer"),
    ("GIT_COMMITTER_EMAIL", "committer@example.org"),
    ("GIT_COMMITTER_DATE", NOW),
];

/// How a command ended and what it printed.
#[derive(Debug)]
pub struct Run {
    /// The command line, for messages.
    pub line: String,
    /// Its exit code; -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Run {
    /// It must have ended with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "`{}` ended with {}\n{}{}",
            self.line, self.code, self.out, self.err
        );
        self
    }

    /// It must have succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.exits(0)
    }

    /// It must have been refused with this code of the catalogue.
    #[track_caller]
    pub fn expect_refused(self, code: &str) -> Self {
        self.exits(4).says(&format!("[{code}]"))
    }

    /// It must have failed with this exit code and this code of the catalogue, and name a next command.
    #[track_caller]
    pub fn fails(self, exit: i32, code: &str) -> Self {
        let run = self.exits(exit);
        assert!(
            run.err.starts_with(&format!("error[{code}]: ")),
            "expected {code}: {}",
            run.err
        );
        assert!(run.err.contains("next: "), "no next command: {}", run.err);
        run
    }

    /// It must have printed this, on either stream.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(
            self.out.contains(text) || self.err.contains(text),
            "`{}` does not say `{text}`\n{}{}",
            self.line,
            self.out,
            self.err
        );
        self
    }

    /// It must not have printed this.
    #[track_caller]
    pub fn never_says(self, text: &str) -> Self {
        assert!(
            !self.out.contains(text) && !self.err.contains(text),
            "`{}` says `{text}`\n{}{}",
            self.line,
            self.out,
            self.err
        );
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("`{}`: {error}\n{}", self.line, self.out))
    }
}

/// Runs a command to its end with that input.
pub fn run(mut command: impl BorrowMut<Command>, input: impl AsRef<[u8]>) -> Run {
    let command = command.borrow_mut().stdin(Stdio::piped());
    let (line, mut child) = start(command);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    // Written beside: a command that reads nothing must not block the test, nor fail it.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let run = end(line, child);
    writer.join().unwrap();
    run
}

/// Runs a command to its end without standard input.
pub fn run_alone(command: &mut Command) -> Run {
    let (line, child) = start(command.stdin(Stdio::null()));
    end(line, child)
}

fn start(command: &mut Command) -> (String, Child) {
    let program = Path::new(command.get_program()).file_name();
    let mut line = program.unwrap_or_default().to_string_lossy().into_owned();
    for word in command.get_args() {
        line.push(' ');
        line.push_str(&word.to_string_lossy());
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn();
    let child = child.unwrap_or_else(|error| panic!("`{line}`: {error}"));
    (line, child)
}

fn end(line: String, child: Child) -> Run {
    let output = child.wait_with_output().unwrap();
    Run {
        line,
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
