//! What was asked for when a run was begun, and the person who asked.

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

/// What was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The worktree.
    pub dir: &'a Path,
    /// The agent of every role, in place of the settings'.
    pub agent: Option<&'a str>,
    /// How many sessions at most; none = as many as it takes.
    pub steps: Option<u64>,
    /// Go on beside paths that are not committed.
    pub goes_beside: bool,
    /// Put what is not committed aside, and back when the run ends.
    pub parks: bool,
    /// How the worktree is seen.
    pub opening: Opening,
}

/// How a driver sees its worktree, where that differs from how commands do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Opening {
    /// Every command of the repository is trusted for this run (`--trust-repo`).
    pub trusts_everything: bool,
    /// Transitions are pushed together, by whoever holds the run.
    pub pushes_later: bool,
    /// The command of `[notify]` is told nothing.
    pub tells_nobody: bool,
}

impl Opening {
    /// Opens the worktree that `dir` lies in.
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

/// What `git status` said a moment ago, from one opening of the repository for the next one. Whatever may change the
/// worktree, or takes time, lies between no two of them.
#[derive(Debug, Clone, Default)]
pub(super) struct RecentStatus(Rc<RefCell<Option<ToldStatus>>>);

impl RecentStatus {
    pub(super) fn note(&self, repo: &Repo) {
        *self.0.borrow_mut() = repo.last_status();
    }

    /// Gives it to the next opening, once.
    pub(super) fn lend(&self, repo: &Repo) {
        if let Some(told) = self.0.take() {
            repo.take_status(told);
        }
    }

    pub(super) fn forget(&self) {
        self.0.take();
    }
}

/// Who is told what a run will do, and asked what is not for cook to decide.
pub trait Operator {
    /// Shows one line of what there is to know.
    fn show(&self, line: &str);

    /// Tells what was done, or what is in the way.
    fn note(&self, text: &str);

    /// Tells what could not be done.
    fn warn(&self, text: &str);

    /// Asks a question; false where nobody is there to say yes.
    fn agrees(&self, question: &str) -> bool;

    /// Who looks on while agents work.
    fn observer(&self) -> Box<dyn Observer>;
}

/// An agent that plays a role, and how.
#[derive(Debug, Clone)]
pub struct RoleAgent {
    /// The agent.
    pub preset: Preset,
    /// Its model; none = its own choice.
    pub model: Option<String>,
    /// What it may do.
    pub access: Access,
    /// How long it may take.
    pub clocks: Clocks,
    /// What its tokens cost, where it does not tell itself.
    pub price: Option<Price>,
}

/// Who plays which role: first choice first.
pub type RoleAssignment = BTreeMap<Role, Vec<RoleAgent>>;

/// How far a run goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Sessions.
    pub steps: u64,
    /// Wall time.
    pub wall: Duration,
    /// Millionths of a dollar that the workflow may cost; 0 = no limit.
    pub cost_micro_usd: u64,
    /// Tokens that its calls of unknown cost may take; none = no limit.
    pub tokens: Option<u64>,
    /// Requests to a model that one session may make; none = no limit.
    pub requests: Option<u64>,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The policy says so.
    Policy(Policy),
    /// As many sessions as were asked for.
    Steps,
    /// The time, or the money, of a run is used up.
    Budget(String),
    /// Nothing moves any more.
    Stalled(String),
    /// No agent could do the work.
    Agents(String),
    /// Somebody asked for it.
    Asked,
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub ended: Ended,
    /// Sessions that were held.
    pub sessions: u64,
    /// Who would be next.
    pub next: Dispatch,
    /// Cost of those that said one.
    pub cost_micro_usd: u64,
    /// Calls whose cost is unknown.
    pub unpriced: u64,
    /// Whose session was ended before it reported, because somebody asked for it.
    pub cut: Option<Role>,
}

impl Outcome {
    /// No session was held.
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

/// What a step came to.
pub(super) enum Step {
    Moved,
    /// The end of a limit, or the network, was waited for.
    Waited,
    /// Nothing was recorded, and another attempt may help.
    Nothing(String),
    /// The agent could not play; another one may.
    Another(String),
    Ended(Ended),
}

/// What an observer is told.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// A session of an earlier run was found unfinished and settled.
    Recovered {
        /// Whose it was.
        role: Role,
        /// What it had done that it may not.
        breach: &'a Violation,
    },
    /// A session begins.
    Begins {
        /// The role.
        role: Role,
        /// Why it is its turn.
        dispatch: &'a Dispatch,
        /// Who plays it.
        agent: &'a str,
        /// How long it may be silent.
        idle: Duration,
    },
    /// What an agent shows while it works.
    Shows {
        /// Which of the sessions that are held at once, by the order in which they began.
        slot: usize,
        /// What.
        progress: Progress<'a>,
    },
    /// An agent has ended; its answer is not looked at yet.
    Ends {
        /// As in [`RunEvent::Shows`].
        slot: usize,
        /// What this run's calls have taken so far.
        spent: &'a Spent,
    },
    /// The command of `[notify]` was not told of a change of the policy.
    NotNotified(&'a Finding),
    /// What a session left in the inbox was taken in, or not.
    Inbox(&'a Finding),
    /// The report was not usable and is asked for once more.
    Repairs(&'a [Finding]),
    /// The role did what it may not.
    Breached {
        /// The role.
        role: Role,
        /// What it did.
        breach: &'a Violation,
    },
    /// What was not committed in the worktree changed while a session was held elsewhere: copies
    /// of how it was.
    Beside(&'a [String]),
    /// `.agent/` was behind the log, and shows its tip now.
    CaughtUp(&'a Recovery),
    /// Lock files that a git of the session left which was ended, and that are removed.
    Unlocked(&'a [PathBuf]),
    /// The session gave no report, or the report was refused: why.
    CameToNothing(&'a str),
    /// The report was taken.
    Recorded {
        /// What it says.
        event: &'a Event,
        /// What it led to.
        applied: &'a Applied,
        /// How long the session took.
        took: Duration,
        /// What it cost; none = unknown.
        cost_micro_usd: Option<u64>,
    },
    /// cook re-grounded itself.
    ByCook(&'a Applied),
    /// cook may re-ground itself under this profile, and a model is asked here: why.
    ModelAsked(&'a str),
    /// A limit of the supplier's is waited for.
    Waits {
        /// Until when, RFC 3339.
        until: &'a str,
    },
}

/// Whoever looks on.
pub trait Observer: Send {
    /// Is told what happens.
    fn observe(&mut self, event: &RunEvent);

    /// What is to be called at once when somebody asks for an end.
    fn alarm(&self) -> Option<Alarm> {
        None
    }
}

/// How many paths, with the verb.
pub fn paths_are(paths: u64) -> String {
    match paths {
        1 => "1 path is".to_owned(),
        paths => format!("{paths} paths are"),
    }
}

// What a driver's sessions are at, for whoever looks from another terminal: one small file
// beside the log, rewritten as the sessions move.
//
// It is a view and decides nothing. Whether its driver lives is told by the lease alone.

/// How often it is rewritten at most, but for beginnings and ends.
const PACE: Duration = Duration::from_millis(400);
/// Bytes that are read.
const LIMIT: u64 = 1 << 20;
/// Characters of a tool's name.
const NAME: usize = 200;

/// The sessions of a driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// The driver's process.
    pub pid: u32,
    /// Until when the end of a supplier's limit is waited for, RFC 3339.
    pub waits_until: Option<String>,
    /// Those that are held now.
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
    /// Start time, in the form of RFC 3339.
    pub began_at: String,
    /// Time of its last output, in the form of RFC 3339.
    pub output_at: String,
    /// Tool that it used last.
    pub tool: Option<String>,
}

/// Where the driver writes.
#[derive(Debug)]
pub(super) struct Board {
    path: PathBuf,
    clock: Clock,
    live: Live,
    written: Instant,
    /// A session was held.
    has_begun: bool,
}

fn path(workspace: &Workspace) -> Result<PathBuf> {
    find_path(&workspace.repo, workspace.store()?.id())
}

fn find_path(repo: &Repo, id: &str) -> Result<PathBuf> {
    let dir = repo.cook_dir()?.join("live");
    Ok(dir.join(format!("{id}.json")))
}

/// What the driver of this worktree is at; none when nobody drives it.
///
/// # Errors
/// When the lease cannot be looked at.
pub fn live(workspace: &Workspace) -> Result<Option<Live>> {
    let written = disk::read(&path(workspace)?, LIMIT, Links::Follow);
    let bytes = written.unwrap_or_default().unwrap_or_default();
    let holder = workspace.store()?.lease_holder()?;
    let live: Option<Live> = serde_json::from_slice(&bytes).ok();
    Ok(live.filter(|live| holder.is_some_and(|holder| holder.pid == live.pid)))
}

/// When a driver of this worktree was last seen alive; none when that is not known.
pub(super) fn last_sign(workspace: &Workspace) -> Result<Option<SystemTime>> {
    let found = std::fs::metadata(path(workspace)?);
    Ok(found.and_then(|found| found.modified()).ok())
}

/// Notes that something of that workflow's was at work until now, whoever began it.
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
            // What cannot be written is not shown, and stops no work.
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

    /// A session begins; its slot.
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

    /// The session of that slot shows something.
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

    /// The end of a limit, or the network, is waited for.
    pub fn waits(&mut self, until: &str) {
        self.live.waits_until = Some(until.to_owned());
        self.write();
    }

    /// No session is held any more.
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
        // A view for onlookers: without it the work goes on unseen.
        drop(written);
    }
}

/// The file stays: its time says when this driver was last there.
impl Drop for Board {
    fn drop(&mut self) {
        if self.has_begun {
            self.ends();
        }
    }
}
