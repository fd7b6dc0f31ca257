//! The hermetic harness: a repository in a temporary directory, and the real binary in
//! an environment that holds nothing of this machine but PATH.
//!
//! Time stands still at [`NOW`], identities are fixed, HOME is temporary, git reads no
//! settings but the repository's. Reports are written from small inputs in `reports`.
#![allow(dead_code, clippy::unwrap_used)]

pub mod agent;
pub mod agents;
pub mod cook;
pub mod generated;
pub mod hooks;
pub mod job;
pub mod model;
pub mod repo;
pub mod reports;
pub mod store;
pub mod tracker;
pub mod workflow;

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// When everything happens.
pub const NOW: &str = "2026-01-02T03:04:05Z";

/// The `cook` under test.
pub const COOK: &str = env!("CARGO_BIN_EXE_cook");

/// A command that inherits PATH and nothing else.
pub fn clean(program: impl AsRef<std::ffi::OsStr>, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    for name in ["PATH", "LLVM_PROFILE_FILE", "LD_LIBRARY_PATH", "SystemRoot"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("HOME", home).env("TERM", "dumb");
    for (name, value) in FIXED {
        command.env(name, value);
    }
    command
}

/// Heeds every signal from the terminal, whatever whoever started the tests has ignored: `nohup` ignores
/// SIGHUP, a shell's background job SIGINT and SIGQUIT, and a child inherits that.
#[cfg(unix)]
pub fn with_default_signals(command: &mut Command) -> &mut Command {
    use nix::sys::signal::{SigHandler, Signal, signal};
    let reset = || {
        for name in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT] {
            // SAFETY: no handler is installed.
            unsafe { signal(name, SigHandler::SigDfl) }?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec it calls `signal` alone, which may be called there.
    unsafe { std::os::unix::process::CommandExt::pre_exec(command, reset) }
}

const FIXED: [(&str, &str); 11] = [
    ("LC_ALL", "C"),
    ("COOK_TEST", "1"),
    ("COOK_NOW", NOW),
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
pub struct Answer {
    /// The command line, for messages.
    pub line: String,
    /// Its exit code; -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Answer {
    /// It must have ended with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "`{}` ended with {}\n{}{}",
            self.line, self.code, self.stdout, self.stderr
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
    pub fn refused(self, code: &str) -> Self {
        self.exits(4).says(&format!("[{code}]"))
    }

    /// It must have printed this, on either stream.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(
            self.stdout.contains(text) || self.stderr.contains(text),
            "`{}` does not say `{text}`\n{}{}",
            self.line,
            self.stdout,
            self.stderr
        );
        self
    }

    /// It must not have printed this.
    #[track_caller]
    pub fn never_says(self, text: &str) -> Self {
        assert!(
            !self.stdout.contains(text) && !self.stderr.contains(text),
            "`{}` says `{text}`\n{}{}",
            self.line,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("`{}`: {error}\n{}", self.line, self.stdout))
    }
}

/// Runs a command to its end.
pub fn run(command: &mut Command, input: Option<&str>) -> Answer {
    let line = format!(
        "{} {}",
        Path::new(command.get_program())
            .file_name()
            .unwrap_or_default()
            .to_string_lossy(),
        command
            .get_args()
            .map(|word| word.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" ")
    );
    command
        .stdin(if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .unwrap_or_else(|error| panic!("`{line}`: {error}"));
    // Written beside the reading, so that neither side waits for the other.
    let writer = input.map(|text| {
        let mut pipe = child.stdin.take().unwrap();
        let text = text.to_owned();
        // A child that refuses its arguments does not read; that is its answer, not an error here.
        std::thread::spawn(move || {
            let _ = pipe.write_all(text.as_bytes());
        })
    });
    let output = child.wait_with_output().unwrap();
    if let Some(writer) = writer {
        writer.join().unwrap();
    }
    Answer {
        line,
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A repository of a test's own.
pub struct Repo {
    dir: TempDir,
    root: PathBuf,
}

impl Repo {
    /// Without a commit.
    pub fn unborn() -> Self {
        let dir = TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap().join("work");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir(dir.path().join("home")).unwrap();
        let repo = Self { dir, root };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo
    }

    /// With one commit that holds a `README.md`.
    pub fn new() -> Self {
        let repo = Self::unborn();
        repo.write("README.md", "# A project\n");
        repo.commit("Begin");
        repo
    }

    /// Set up, its contract committed, its mission given.
    pub fn with_mission(mission: &str) -> Self {
        let repo = Self::new();
        repo.cook(&["init", "--mission", mission, "--commit"]).ok();
        repo
    }

    /// The worktree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A directory beside the worktree, the same at each call.
    pub fn outside(&self) -> PathBuf {
        let path = self.root.with_file_name("outside");
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// A program in the worktree, in the clean environment.
    pub fn program(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Command {
        let mut command = clean(program, &self.root.with_file_name("home"));
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// `cook` with these arguments.
    pub fn cook(&self, arguments: &[&str]) -> Answer {
        run(&mut self.program(COOK, arguments), None)
    }

    /// `cook` with standard input.
    pub fn cook_reads(&self, arguments: &[&str], input: &str) -> Answer {
        run(&mut self.program(COOK, arguments), Some(input))
    }

    /// A role's report.
    pub fn record(&self, role: &str, report: &str) -> Answer {
        self.cook_reads(&["record", role], report)
    }

    /// `git`, which must succeed; what it printed, trimmed.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        let answer = run(&mut self.program("git", arguments), None).ok();
        answer.stdout.trim_end().to_owned()
    }

    /// Writes a file, with the directories above it.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads a file.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Reads a JSON file.
    #[track_caller]
    pub fn document(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Commits everything and returns the commit.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.head()
    }

    /// Writes one file and commits it for a slice.
    pub fn commit_for(&self, slice: &str, path: &str, text: &str) -> String {
        self.write(path, text);
        self.commit(&format!("Work on {slice}\n\nCook-Slice: {slice}\n"))
    }

    /// HEAD.
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// The rule that `cook next` answers by.
    pub fn rule(&self) -> String {
        let answer = self.cook(&["next", "--json"]).json();
        answer["rule"].as_str().unwrap().to_owned()
    }

    /// The text with the temporary directory, commit ids and moments replaced.
    pub fn redact(&self, text: &str) -> String {
        let place = self.dir.path().canonicalize().unwrap();
        let text = text.replace(&*place.to_string_lossy(), "[DIR]");
        redact_words(&text)
    }
}

/// Replaces hexadecimal words of 12 and more digits and RFC 3339 moments.
fn redact_words(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_ascii_alphanumeric() || ":-".contains(c) {
            word.push(c);
            continue;
        }
        let hex = word.len() >= 12 && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let moment = word.len() == 20 && word.ends_with('Z') && word.contains('T');
        out.push_str(match (hex, moment) {
            (true, _) => "[ID]",
            (_, true) => "[TIME]",
            _ => &word,
        });
        word.clear();
        if c != '\0' {
            out.push(c);
        }
    }
    out
}
