//! An agent program as a supplier of conversations.

use super::failure::AgentFailure;
use super::listen::Progress;
use super::{Bounds, Preset, Sandbox};
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::sha256;
use cook_protocol::model::Access;
use cook_repo::clock::Clock;
use cook_repo::git::Repo;
use cook_repo::process::{Clocks, ControlFlow, INVOCATION_VARIABLE, WORKFLOW_VARIABLE, end_marked};
use cook_repo::session::{Action, Capability, GitStore, Native, Turn};
use serde_json::Value;
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Sees what goes on, and may stop it.
pub type Watch<'a> = Box<dyn FnMut(Progress) -> ControlFlow + 'a>;

/// Puts back what a question changed, and says what that was, one line each; none = it was not
/// looked at.
pub type PutBack<'a> = Box<dyn FnOnce() -> Result<Option<Vec<String>>, Failure> + 'a>;
/// Begins to watch a question; of an order only what cook keeps is put back.
pub type Guard<'a> = dyn Fn(Action) -> Result<PutBack<'a>, Failure> + 'a;

/// What came of a run. Its raw output lies in [`Report::kept`], capped and redacted.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The final text; where there was data only, its JSON.
    pub text: String,
    /// Structured data that the program reported.
    pub data: Option<Value>,
    /// The program's name for the session.
    pub session: Option<String>,
    /// How it can be gone on from.
    pub native: Option<Native>,
    /// Tokens of this run, as the program counts them.
    pub usage: Option<Value>,
    /// Millionths of a dollar of this run; none = unknown.
    pub cost_micro_usd: Option<u64>,
    /// The summary, when the program compacted its context on its own.
    pub compaction: Option<String>,
    /// Why there is no result.
    pub failure: Option<AgentFailure>,
    /// Exit code; none when a signal ended it, or it was never started.
    pub exit: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// What its last event was.
    pub last_event: Option<String>,
    /// Wall time.
    pub duration: Duration,
    /// No process of it was left, as far as could be seen.
    pub swept: bool,
    /// Where `stdout` and `stderr` are kept.
    pub kept: PathBuf,
}

impl Report {
    /// How it ended, in one line: after what time, how, with what event, and where what it said lies.
    pub fn describe_end(&self) -> String {
        if (self.signal, self.exit) == (None, None) {
            return "it was not started".to_owned();
        }
        let mut parts = vec![format!(
            "ended after {}",
            humantime::format_duration(Duration::from_millis(self.duration.as_millis() as u64))
        )];
        match (self.signal, self.exit) {
            (Some(signal), _) => parts.push(format!("by signal {signal}")),
            (None, code) => parts.extend(code.map(|code| format!("with exit code {code}"))),
        }
        parts.push(match &self.last_event {
            Some(event) => format!("last event `{event}`"),
            None => "no event".to_owned(),
        });
        parts.push(format!("its output lies in `{}`", self.kept.display()));
        parts.join(", ")
    }
}

/// An agent with what it may do. It works in one directory; calls follow one another.
pub struct AgentSupplier<'a> {
    pub(super) preset: Preset,
    pub(super) dir: PathBuf,
    root: PathBuf,
    pub(super) clocks: Clocks,
    /// The repository that is compared before and after each call.
    pub repo: Option<&'a Repo>,
    /// Holds a question to reading, an order to what is not cook's; none = what it changed is named alone.
    pub guard: Option<Box<Guard<'a>>>,
    /// A model other than its own choice.
    pub model: Option<String>,
    /// The role of the workflow that it plays.
    pub role: Option<String>,
    /// The workflow: its log's id.
    pub workflow: Option<String>,
    /// What a call may take.
    pub bounds: Bounds,
    /// An access other than that of the action: reading for an ask, writing for an act.
    pub access: Option<Access>,
    /// What keeps it to what its action may do; none = nothing does.
    pub sandbox: Option<Sandbox>,
    /// Further variables.
    pub env: Vec<(String, OsString)>,
    /// Sees it while it works.
    pub watch: RefCell<Watch<'a>>,
    pub(super) last: RefCell<Option<Report>>,
}

impl<'a> AgentSupplier<'a> {
    /// An agent that works in `dir` and keeps its files in the session store's directory
    /// `root`: raw output in `attempts/<exchange>/`, session files in `native/<agent>/`.
    pub fn new(
        preset: Preset,
        dir: impl Into<PathBuf>,
        root: impl Into<PathBuf>,
        clocks: Clocks,
    ) -> Self {
        Self {
            preset,
            repo: None,
            guard: None,
            dir: dir.into(),
            root: root.into(),
            clocks,
            model: None,
            role: None,
            workflow: None,
            bounds: Bounds::default(),
            access: None,
            sandbox: None,
            env: Vec::new(),
            watch: RefCell::new(Box::new(|_| ControlFlow::Continue)),
            last: RefCell::new(None),
        }
    }

    /// What came of the last call, the failure's class among it.
    pub fn last(&self) -> Option<Report> {
        self.last.borrow().clone()
    }

    pub(super) fn choose_access(&self, action: Action) -> Access {
        if self.preset.capability() == Capability::Atom {
            return Access::None;
        }
        self.access.unwrap_or(match action {
            Action::Ask => Access::Read,
            Action::Act => Access::Write,
        })
    }

    /// Where the session files lie that cook names.
    pub(super) fn state(&self) -> PathBuf {
        self.root.join("native").join(self.preset.name())
    }

    /// Where what is kept of one call lies.
    pub(super) fn attempt_dir(&self, turn: &Turn) -> PathBuf {
        self.root.join("attempts").join(turn.name.to_string())
    }
}

/// What marks the processes of a workflow's agents: its log's id, and where that log is, because a
/// copy of a repository has the same id and work of its own.
pub fn workflow_mark(workflow: &str, cook_dir: &Path) -> String {
    let place = sha256(cook_dir.as_os_str().as_encoded_bytes());
    format!("{workflow}-{}", &place[..16])
}

/// Ends whatever a run of that workflow left at work, also when nothing is known of its calls
/// any more. Nobody else may drive it: whoever calls this holds the lease, or knows that
/// nobody does. True when there was anything.
pub fn end_left(workflow: &str, cook_dir: &Path) -> bool {
    end_marked(WORKFLOW_VARIABLE, &workflow_mark(workflow, cook_dir)) > 0
}

/// Ends the agents of calls whose cook is gone, and writes those calls down as interrupted.
///
/// # Errors
/// When the store cannot be read or written.
pub fn settle_left(store: &GitStore, clock: &Clock) -> Result<(), Failure> {
    for call in store.list_interrupted()? {
        end_marked(INVOCATION_VARIABLE, &call.name.to_string());
        store.settle(call, &clock.now())?;
    }
    Ok(())
}
