//! One call of a tracker's program.

use super::answer::{Complaint, complaint, find_complaint, rows};
use super::error::TrackerError;
use super::issue::line;
use cook_os::process::{Captured, ProcessError, Short, capture};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a call may take and how much it may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// One call.
    pub call: Duration,
    /// All calls together.
    pub until: Option<Instant>,
    /// How long the program may wait for its own lock.
    pub lock: Duration,
    /// Whether a write also writes the tracker's exported file. That takes seconds
    /// where there are many issues, and changes a tracked file.
    pub flush: bool,
    /// Bytes of an answer.
    pub bytes: usize,
}

impl Bounds {
    /// For a command that a person or an agent waits for.
    pub fn command() -> Self {
        Self {
            call: Duration::from_secs(15),
            until: None,
            lock: Duration::from_secs(5),
            flush: true,
            bytes: 32 << 20,
        }
    }

    /// For a command that only reads: whoever calls it waits no longer than three seconds in all.
    pub fn reading() -> Self {
        Self {
            call: Duration::from_millis(2_500),
            until: Some(Instant::now() + Duration::from_millis(2_800)),
            ..Self::command()
        }
    }

    /// For what happens beside other work and is made up for later: hooks, and
    /// what follows a report.
    pub fn beside(call: Duration, until: Instant) -> Self {
        Self {
            call,
            until: Some(until),
            lock: call / 2,
            flush: false,
            bytes: 8 << 20,
        }
    }
}

/// What is asked of the program.
#[derive(Debug, Default)]
pub(super) struct Call<'a> {
    /// The command's words.
    pub words: &'a [&'a str],
    /// Options, each one argument (`--name=value`).
    pub options: Vec<String>,
    /// What comes behind `--`.
    pub free: &'a [&'a str],
    /// It changes something.
    pub writes: bool,
}

/// A program that can be called.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub name: &'static str,
    pub path: PathBuf,
    pub dir: PathBuf,
    pub actor: String,
    pub bounds: Bounds,
    /// Behind the number of milliseconds of a lock time-out.
    pub lock_unit: &'static str,
    /// This version does not know the options that only save time.
    pub plain: Arc<AtomicBool>,
}

impl Program {
    /// What is read of each row of a reading call.
    pub fn read<T>(
        &self,
        call: &Call,
        read: impl Fn(&Map<String, Value>) -> Result<T, String>,
    ) -> Result<Vec<T>, TrackerError> {
        let said = self.say(call)?;
        rows(&said.stdout)
            .and_then(|rows| rows.iter().map(read).collect())
            .map_err(|what| self.shape(call, what))
    }

    /// A writing call; what it prints is not believed, so it is only looked through
    /// for errors.
    pub fn write(&self, call: &Call) -> Result<(), TrackerError> {
        self.say(call).map(|_| ())
    }

    pub fn shape(&self, call: &Call, what: String) -> TrackerError {
        TrackerError::Shape {
            command: format!("{} {}", self.name, call.words.join(" ")),
            what,
        }
    }

    fn say(&self, call: &Call) -> Result<Captured, TrackerError> {
        let plain = self.plain.load(Ordering::Relaxed);
        match self.attempt(call, plain) {
            Err(TrackerError::Rejected { message, .. })
                if !plain && is_unknown_option(&message) =>
            {
                // Refused before it began, so saying it again is not a second write.
                self.plain.store(true, Ordering::Relaxed);
                self.attempt(call, true)
            }
            said => said,
        }
    }

    fn attempt(&self, call: &Call, plain: bool) -> Result<Captured, TrackerError> {
        let deadline = self.deadline()?;
        let said = capture(&Short {
            argv: self.argv(call, plain),
            dir: &self.dir,
            env: vec![("NO_COLOR", OsString::from("1"))],
            stdin: Vec::new(),
            deadline,
            limit: self.bounds.bytes,
            group: true,
        })
        .map_err(|error| match error {
            ProcessError::TooMuch { limit, .. } => {
                self.shape(call, format!("it is longer than {limit} bytes"))
            }
            // It had less time than a call may take: that says nothing about it.
            ProcessError::Deadline { .. } if deadline < self.bounds.call => {
                TrackerError::Spent { tracker: self.name }
            }
            error => TrackerError::of_process(self.name, &error),
        })?;
        let complaint = complaint(&said.stderr).or_else(|| in_answer(&said.stdout));
        match complaint {
            Some(complaint) => Err(self.make_error(&complaint)),
            None if said.success() => Ok(said),
            None => Err(self.make_error(&Complaint {
                code: said.code.map_or("ended by a signal".to_owned(), |code| {
                    format!("exit {code}")
                }),
                message: last_words(&said.stderr),
            })),
        }
    }

    fn argv(&self, call: &Call, plain: bool) -> Vec<OsString> {
        let mut argv = vec![self.path.clone().into_os_string()];
        argv.extend(call.words.iter().map(OsString::from));
        argv.push("--json".into());
        if call.writes {
            argv.push(format!("--actor={}", self.actor).into());
        }
        if !plain {
            let milliseconds = self.bounds.lock.as_millis();
            argv.push(format!("--lock-timeout={milliseconds}{}", self.lock_unit).into());
            if call.writes && !self.bounds.flush {
                argv.push("--no-auto-flush".into());
            }
        }
        argv.extend(call.options.iter().map(OsString::from));
        if !call.free.is_empty() {
            argv.push("--".into());
            argv.extend(call.free.iter().map(OsString::from));
        }
        argv
    }

    /// What is left for this call.
    fn deadline(&self) -> Result<Duration, TrackerError> {
        let left = self
            .bounds
            .until
            .map(|end| end.saturating_duration_since(Instant::now()));
        match left {
            Some(Duration::ZERO) => Err(TrackerError::Spent { tracker: self.name }),
            Some(left) => Ok(self.bounds.call.min(left)),
            None => Ok(self.bounds.call),
        }
    }

    /// What a complaint means: by its code, and by its words only where it has none.
    fn make_error(&self, complaint: &Complaint) -> TrackerError {
        let tracker = self.name;
        let why = match complaint.message.as_str() {
            "" => complaint.code.clone(),
            message => message.to_owned(),
        };
        match meaning(complaint) {
            Some(Meaning::Absent) => TrackerError::Absent { tracker, why },
            Some(Meaning::Away) => TrackerError::Unavailable { tracker, why },
            Some(Meaning::Unknown) => TrackerError::Unknown(complaint.message.clone()),
            None => TrackerError::Rejected {
                tracker,
                code: line(&complaint.code),
                message: complaint.message.clone(),
            },
        }
    }
}

enum Meaning {
    Absent,
    Away,
    Unknown,
}

fn meaning(complaint: &Complaint) -> Option<Meaning> {
    let code = complaint.code.to_ascii_uppercase();
    match code.as_str() {
        "NOT_INITIALIZED" | "NO_WORKSPACE" | "NO_DATABASE" => return Some(Meaning::Absent),
        "DATABASE_LOCKED" | "DATABASE_BUSY" | "LOCKED" | "BUSY" | "LOCK_TIMEOUT" | "TIMEOUT"
        | "PERMISSION_DENIED" | "ACCESS_DENIED" | "IO_ERROR" => return Some(Meaning::Away),
        "ISSUE_NOT_FOUND" | "NOT_FOUND" => return Some(Meaning::Unknown),
        _ => {}
    }
    if !code.is_empty() && !code.starts_with("EXIT ") {
        return None;
    }
    let said = complaint.message.to_ascii_lowercase();
    let words = [
        (Meaning::Absent, "not initialized"),
        (Meaning::Absent, "no beads database"),
        (Meaning::Absent, "no beads workspace"),
        (Meaning::Away, "database is locked"),
        (Meaning::Away, "lock timeout"),
        (Meaning::Away, "permission denied"),
        (Meaning::Unknown, "issue not found"),
        (Meaning::Unknown, "no issue found"),
        (Meaning::Unknown, "no such issue"),
    ];
    let found = words.into_iter().find(|(_, words)| said.contains(words));
    found.map(|(meaning, _)| meaning)
}

/// Whether the program complains of one of the options that only save time.
fn is_unknown_option(message: &str) -> bool {
    let names = ["--lock-timeout", "--no-auto-flush"];
    let complaints = ["unknown", "unexpected", "unrecognized", "not defined"];
    names.iter().any(|name| message.contains(name))
        && complaints.iter().any(|word| message.contains(word))
}

/// An error that stands where the answer should.
fn in_answer(stdout: &[u8]) -> Option<Complaint> {
    // Only an object can be one; lists, which may be long, are not read twice.
    if stdout.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return None;
    }
    find_complaint(&serde_json::from_slice(stdout).ok()?)
}

/// The first line that complains, or else the last one.
fn last_words(stderr: &str) -> String {
    let lines = || {
        stderr
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let said = lines()
        .find(|said| said.to_ascii_lowercase().starts_with("error"))
        .or_else(|| lines().next_back());
    line(said.unwrap_or("it said nothing"))
}
