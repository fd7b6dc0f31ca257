//! The options of a run, the interface to the person who started it, and the events that an observer of it receives.

use super::session_guard::{Violation, unwritable};
use crate::prelude::*;
use crate::service::Applied;
use crate::workspace::Workspace;
use cook_agents::{Preset, Progress, Spent};
use cook_protocol::model::{Access, Price};
use cook_repo::git::ToldStatus;
use cook_repo::process::{Alarm, Clocks};
use cook_repo::store::Recovery;
use std::fs::File;
use std::rc::Rc;
use std::time::SystemTime;

/// The options of a run.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The worktree.
    pub dir: &'a Path,
    /// The agent of every role, instead of those in the settings.
    pub agent: Option<&'a str>,
    /// Maximum number of sessions; `None` if unlimited.
    pub steps: Option<u64>,
    /// Whether to continue although there are uncommitted changes.
    pub goes_beside: bool,
    /// Whether to park uncommitted changes and restore them when the run ends.
    pub parks: bool,
    /// How the driver opens the worktree.
    pub opening: Opening,
}

/// Options for opening the worktree in which a driver differs from other commands.
#[derive(Debug, Clone, Copy, Default)]
pub struct Opening {
    /// Every command of the repository is trusted for this run (`--trust-repo`).
    pub trusts_everything: bool,
    /// Whether transitions are not pushed one by one; the caller pushes them together.
    pub pushes_later: bool,
    /// Whether the command of `[notify]` is not run.
    pub tells_nobody: bool,
}

impl Opening {
    /// Opens the worktree that contains `dir`.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub(super) fn open(self, dir: &Path) -> Result<Workspace> {
        let mut workspace = Workspace::open(dir)?;
        workspace.trust_everything = self.trusts_everything;
        workspace.pushes_later = self.pushes_later;
        workspace.tells_nobody = self.tells_nobody;
        workspace.worktree_stays = true;
        Ok(workspace)
    }
}

/// A recent result of `git status`, passed from one opening of the repository to the next. Between the two, nothing may
/// change the worktree or take long.
#[derive(Debug, Clone, Default)]
pub(super) struct RecentStatus(Rc<RefCell<Option<ToldStatus>>>);

impl RecentStatus {
    pub(super) fn note(&self, repo: &Repo) {
        *self.0.borrow_mut() = repo.last_status();
    }

    /// Passes the result to the next opening, once.
    pub(super) fn lend(&self, repo: &Repo) {
        if let Some(told) = self.0.take() {
            repo.take_status(told);
        }
    }

    pub(super) fn forget(&self) {
        self.0.take();
    }
}

/// The interface to the person who started a run: receives messages and answers questions.
pub trait Operator {
    /// Shows one line of information.
    fn show(&self, line: &str);

    /// Reports an action or an obstacle.
    fn note(&self, text: &str);

    /// Reports a failed action.
    fn warn(&self, text: &str);

    /// Asks a question. Returns false if nobody can answer.
    fn agrees(&self, question: &str) -> bool;

    /// The observer of the agents' work.
    fn observer(&self) -> Box<dyn Observer>;
}

/// An agent that plays a role, with its options.
#[derive(Debug, Clone)]
pub struct RoleAgent {
    /// The agent.
    pub preset: Preset,
    /// Its model; `None` for the agent's default.
    pub model: Option<String>,
    /// What it may access.
    pub access: Access,
    /// Its time limits.
    pub clocks: Clocks,
    /// The price of its tokens, for an agent that does not report its cost.
    pub price: Option<Price>,
}

/// The agents of each role, in order of preference.
pub type RoleAssignment = BTreeMap<Role, Vec<RoleAgent>>;

/// The limits of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Number of sessions.
    pub steps: u64,
    /// Wall time.
    pub wall: Duration,
    /// Cost of the workflow in millionths of a dollar; 0 if unlimited.
    pub cost_micro_usd: u64,
    /// Tokens of its calls with unknown cost; `None` if unlimited.
    pub tokens: Option<u64>,
    /// Requests to a model in one session; `None` if unlimited.
    pub requests: Option<u64>,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The policy stops the work.
    Policy(Policy),
    /// The requested number of sessions is reached.
    Steps,
    /// The limit of time, cost or tokens is reached.
    Budget(String),
    /// Sessions failed or made no progress.
    Stalled(String),
    /// No agent could do the work.
    Agents(String),
    /// It was interrupted.
    Asked,
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub ended: Ended,
    /// Number of sessions.
    pub sessions: u64,
    /// The next role.
    pub next: Dispatch,
    /// Total of the known costs.
    pub cost_micro_usd: u64,
    /// Calls whose cost is unknown.
    pub unpriced: u64,
    /// The role whose session was interrupted before it reported.
    pub cut: Option<Role>,
}

impl Outcome {
    /// The result of a run without a session.
    pub(super) fn without_session(ended: Ended, next: Dispatch) -> Self {
        Self {
            ended,
            sessions: 0,
            next,
            cost_micro_usd: 0,
            unpriced: 0,
            cut: None,
        }
    }
}

/// The result of a step.
pub(super) enum Step {
    Moved,
    /// It waited for the end of a limit, or for the network.
    Waited,
    /// No progress was recorded, and another attempt may help.
    Nothing(String),
    /// The agent could not play the role; another one may.
    Another(String),
    Ended(Ended),
}

/// An event that an observer receives.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// An unfinished session of an earlier run was found and settled.
    Recovered {
        /// Its role.
        role: Role,
        /// The changes that it was not allowed to make.
        breach: &'a Violation,
    },
    /// A session begins.
    Begins {
        /// The role.
        role: Role,
        /// Why it is this role's turn.
        dispatch: &'a Dispatch,
        /// The name of the agent.
        agent: &'a str,
        /// How long it may be silent.
        idle: Duration,
    },
    /// Progress of an agent.
    Shows {
        /// Index of the session among those that run at once, in the order in which they began.
        slot: usize,
        /// The progress.
        progress: Progress<'a>,
    },
    /// An agent has ended; its answer is not examined yet.
    Ends {
        /// As in [`RunEvent::Shows`].
        slot: usize,
        /// The total of this run's calls so far.
        spent: &'a Spent,
    },
    /// The command of `[notify]` could not report a change of the policy.
    NotNotified(&'a Finding),
    /// A request that a session left in the inbox was accepted or refused.
    Inbox(&'a Finding),
    /// The report was malformed and is requested once more.
    Repairs(&'a [Finding]),
    /// The session violated its role.
    Breached {
        /// The role.
        role: Role,
        /// The violation.
        breach: &'a Violation,
    },
    /// Uncommitted changes of the worktree were altered while a session ran in its own checkout; the ids of copies of
    /// their earlier content.
    Beside(&'a [String]),
    /// `.agent/` was behind the log, and now shows its tip.
    CaughtUp(&'a Recovery),
    /// Lock files that killed git processes of the session left, and that are removed.
    Unlocked(&'a [PathBuf]),
    /// The session gave no report, or the report was refused; the reason.
    CameToNothing(&'a str),
    /// The report was accepted.
    Recorded {
        /// The event of the report.
        event: &'a Event,
        /// Its result.
        applied: &'a Applied,
        /// How long the session took.
        took: Duration,
        /// Its cost in millionths of a dollar; `None` if unknown.
        cost_micro_usd: Option<u64>,
    },
    /// cook made a re-ground itself.
    ByCook(&'a Applied),
    /// The profile lets cook make re-grounds, but this one needs a model; the reason.
    ModelAsked(&'a str),
    /// The run waits for the end of a supplier's limit.
    Waits {
        /// The end of the wait, in RFC 3339.
        until: &'a str,
    },
}

/// An observer of a run.
pub trait Observer: Send {
    /// Receives an event.
    fn observe(&mut self, event: &RunEvent);

    /// A function to call as soon as an interruption is requested.
    fn alarm(&self) -> Option<Alarm> {
        None
    }
}

/// The number of paths, with the verb.
pub fn paths_are(paths: u64) -> String {
    match paths {
        1 => "1 path is".to_owned(),
        paths => format!("{paths} paths are"),
    }
}

// The live status of a driver's sessions, for other terminals: a small file next to the log, rewritten as the sessions
// progress.
//
// It is a view and decides nothing. Only the lease tells whether the driver is alive.

/// Minimum time between two writes, except when a session begins or ends.
const PACE: Duration = Duration::from_millis(400);
/// Maximum number of bytes that are read.
const LIMIT: u64 = 1 << 20;
/// Maximum number of characters of a tool's name.
const NAME: usize = 200;

/// The live status of a driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// The driver's process id.
    pub pid: u32,
    /// Until when it waits for the end of a supplier's limit, in RFC 3339.
    pub waits_until: Option<String>,
    /// The sessions that are running.
    pub sessions: Vec<LiveSession>,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LiveSession {
    /// Role of the session.
    pub role: Role,
    /// Agent of the session.
    pub agent: String,
    /// Process ID of the agent.
    pub pid: Option<u32>,
    /// Start time of the session (RFC 3339, UTC).
    pub began_at: String,
    /// Time of the last output of the session (RFC 3339, UTC).
    pub output_at: String,
    /// Tool that the session used last; null if unknown.
    pub tool: Option<String>,
}

/// The writer of the driver's live status.
#[derive(Debug)]
pub(super) struct Board {
    path: PathBuf,
    clock: Clock,
    live: Live,
    written: Instant,
    /// Whether a session has begun.
    has_begun: bool,
}

fn path(workspace: &Workspace) -> Result<PathBuf> {
    find_path(&workspace.repo, workspace.store()?.id())
}

fn find_path(repo: &Repo, id: &str) -> Result<PathBuf> {
    let dir = repo.cook_dir()?.join("live");
    Ok(dir.join(format!("{id}.json")))
}

/// The live status of this worktree's driver; `None` if no driver runs.
///
/// # Errors
/// A lease that cannot be read.
pub fn live(workspace: &Workspace) -> Result<Option<Live>> {
    let written = disk::read(&path(workspace)?, LIMIT, Links::Follow);
    let bytes = written.unwrap_or_default().unwrap_or_default();
    let holder = workspace.store()?.lease_holder()?;
    let live: Option<Live> = serde_json::from_slice(&bytes).ok();
    Ok(live.filter(|live| holder.is_some_and(|holder| holder.pid == live.pid)))
}

/// When a driver of this worktree was last seen alive; `None` if unknown.
pub(super) fn last_sign(workspace: &Workspace) -> Result<Option<SystemTime>> {
    let found = std::fs::metadata(path(workspace)?);
    Ok(found.and_then(|found| found.modified()).ok())
}

/// Records that a process of the workflow was running until now, whoever started it.
pub(super) fn was_alive(repo: &Repo, id: &str) -> Result<()> {
    let path = find_path(repo, id)?;
    let dir = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    dir.and_then(|()| File::options().create(true).append(true).open(&path))
        .and_then(|file| file.set_modified(SystemTime::now()))
        .map_err(|error| unwritable(&path, &error))
}

impl Board {
    pub fn new(workspace: &Workspace) -> Result<Self> {
        let path = path(workspace)?;
        if let Some(dir) = path.parent() {
            // If the status cannot be written, it is not shown; the work goes on.
            let _ = std::fs::create_dir_all(dir);
        }
        Ok(Self {
            path,
            clock: workspace.clock,
            live: Live {
                pid: std::process::id(),
                waits_until: None,
                sessions: Vec::new(),
            },
            written: Instant::now(),
            has_begun: false,
        })
    }

    /// A session begins. Returns its slot.
    pub fn begins(&mut self, role: Role, agent: &str) -> usize {
        let now = self.clock.now();
        self.has_begun = true;
        self.live.waits_until = None;
        self.live.sessions.push(LiveSession {
            role,
            agent: agent.to_owned(),
            pid: None,
            began_at: now.clone(),
            output_at: now,
            tool: None,
        });
        self.write();
        self.live.sessions.len() - 1
    }

    /// Records progress of the session in that slot.
    pub fn shows(&mut self, slot: usize, progress: &Progress) {
        let now = self.clock.now();
        let Some(session) = self.live.sessions.get_mut(slot) else {
            return;
        };
        match progress {
            Progress::Started(pid) => session.pid = Some(*pid),
            Progress::Tool(name) => {
                session.tool = Some(name.chars().take(NAME).collect());
                session.output_at = now;
            }
            Progress::Said(_) | Progress::Notice(_) => session.output_at = now,
            Progress::Pulse { quiet, .. } => {
                let quiet = i64::try_from(quiet.as_secs()).unwrap_or(i64::MAX);
                let seconds = self.clock.epoch_millis() / 1000 - quiet;
                session.output_at = Clock::of_epoch(seconds);
            }
        }
        if matches!(progress, Progress::Started(_)) || self.written.elapsed() >= PACE {
            self.write();
        }
    }

    /// Records a wait for the end of a limit, or for the network.
    pub fn waits(&mut self, until: &str) {
        self.live.waits_until = Some(until.to_owned());
        self.write();
    }

    /// All sessions have ended.
    pub fn ends(&mut self) {
        self.live.sessions.clear();
        self.live.waits_until = None;
        self.write();
    }

    fn write(&mut self) {
        self.written = Instant::now();
        let written = serde_json::to_vec(&self.live)
            .map_err(std::io::Error::other)
            .and_then(|bytes| NewFile::at(&self.path, Durable::Nothing).write(&bytes));
        // Without this view the work continues.
        drop(written);
    }
}

/// The file stays: its modification time tells when this driver was last alive.
impl Drop for Board {
    fn drop(&mut self) {
        if self.has_begun {
            self.ends();
        }
    }
}
