//! The run loop: dispatch, a role's session, its report, the transition; until the policy says
//! stop, a budget is spent, or somebody asks for an end.
//!
//! Invariants: the driver never plays a role; a session's word counts only through the same
//! walk as `cook record`; whatever a session did that its role may not is put back before its
//! report is read; between two steps nothing is held but the lease, so that a run that is
//! ended goes on by being started again.

mod authority;
mod jury;
mod live;
mod spare;
mod talk;
mod turn;

pub use authority::{Breach, Watch};
pub use live::{Live, LiveSession, live};
pub use spare::{drop_spares, open_whole};

use crate::walk::{self, Applied, Workspace};
use cook_agents::{Preset, Progress, Spent, end_left, settle_left};
use cook_core::diagnostic::{Code, Failure, Finding, Refusal};
use cook_core::machine::{Dispatch, current_audit, current_review};
use cook_core::model::{Access, Actor, Event, Policy, Price, Role, Snapshot};
use cook_git::Repo;
use cook_os::process::{Alarm, Clocks, Heed, Patience};
use cook_store::session::{Fault, FileStore, SessionError};
use cook_store::store::{Lease, Recovery};
use live::Board;
use spare::Spare;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Sessions in a row that may come to nothing.
const FAILURES: u32 = 3;
/// How long after its cook an agent may still have been at work that nobody found alive.
const GRACE: Duration = Duration::from_secs(60);
/// Steps in a row that may leave everything as it was.
const IDLE_STEPS: u32 = 6;

/// An agent that plays a role, and how.
#[derive(Debug, Clone)]
pub struct Player {
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
pub type Cast = BTreeMap<Role, Vec<Player>>;

/// How far a run goes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Sessions.
    pub steps: u64,
    /// Wall time.
    pub wall: Duration,
    /// Millionths of a dollar that the workflow may cost; 0 = no limit.
    pub cost_micro_usd: u64,
    /// Tokens that its calls of unknown cost may take; none = no limit.
    pub tokens: Option<u64>,
}

/// What an audience is told.
#[derive(Debug)]
pub enum Moment<'a> {
    /// A session of an earlier run was found unfinished and settled.
    Recovered {
        /// Whose it was.
        role: Role,
        /// What it had done that it may not.
        breach: &'a Breach,
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
        /// As in [`Moment::Shows`].
        slot: usize,
        /// What this run's calls have taken so far.
        spent: &'a Spent,
    },
    /// The command of `[notify]` was not told of a change of the policy.
    Untold(&'a Finding),
    /// The report was not usable and is asked for once more.
    Repairs(&'a [Finding]),
    /// The role did what it may not.
    Breached {
        /// The role.
        role: Role,
        /// What it did.
        breach: &'a Breach,
    },
    /// What was not committed in the worktree changed while a session was held elsewhere: copies
    /// of how it was.
    Beside(&'a [String]),
    /// `.agent/` was behind the log, and shows its tip now.
    CaughtUp(&'a Recovery),
    /// Lock files that a git of the session left which was ended, and that are removed.
    Unlocked(&'a [PathBuf]),
    /// The session gave no report, or the report was refused.
    CameToNothing {
        /// The role.
        role: Role,
        /// Why.
        why: &'a str,
    },
    /// The report was taken.
    Recorded {
        /// The role.
        role: Role,
        /// What it led to.
        applied: &'a Applied,
        /// How long the session took.
        took: Duration,
        /// What it cost; none = unknown.
        cost_micro_usd: Option<u64>,
    },
    /// A limit of the supplier's is waited for.
    Waits {
        /// Until when, RFC 3339.
        until: &'a str,
    },
}

/// Whoever looks on.
pub trait Audience {
    /// Is told what happens.
    fn told(&mut self, moment: &Moment) -> Heed;

    /// What is to be called at once when somebody asks for an end.
    fn alarm(&self) -> Option<Alarm> {
        None
    }
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

/// Drives one worktree's workflow.
pub struct Driver<'a> {
    dir: PathBuf,
    cast: Cast,
    limits: Limits,
    sessions: FileStore,
    lease: Lease,
    patience: Patience,
    audience: &'a mut dyn Audience,
    board: Board,
    spare: Spare,
    tally: Tally,
    /// The worktree held what is not committed when the run began.
    beside_edits: bool,
    /// What earlier runs of this workflow took.
    before: Spent,
    /// Suppliers that said until when their limit holds, RFC 3339.
    limited: BTreeMap<String, String>,
}

/// What a run has used and met so far.
#[derive(Debug, Default)]
struct Tally {
    sessions: u64,
    spent: Spent,
    /// Sessions in a row that failed.
    failures: u32,
    /// Steps in a row after which everything stood as before.
    idle: u32,
    /// What the role was told when its last report was refused.
    refused: Option<(Role, String)>,
    /// Nobody could play the last time, and what keeps one from it ends by itself; after how
    /// long, where that was said.
    passing: Option<Option<Duration>>,
    /// Waits in a row for that.
    waits: u32,
    /// Whose session was ended because somebody asked for it.
    cut: Option<Role>,
    /// Judges are held one after another, whatever the settings say.
    one_by_one: bool,
}

/// What a step came to.
enum Step {
    Moved,
    /// The end of a limit was waited for.
    Waited,
    /// Nothing was recorded, and another attempt may help.
    Nothing(String),
    Ended(Ended),
}

impl<'a> Driver<'a> {
    /// Takes the workflow's lease.
    ///
    /// # Errors
    /// No log, or another driver.
    pub fn new(
        dir: &Path,
        cast: Cast,
        limits: Limits,
        audience: &'a mut dyn Audience,
    ) -> Result<Self, Failure> {
        let workspace = Workspace::open(dir)?;
        let lease = workspace.store()?.lease("cook run")?;
        let sessions = FileStore::at(workspace.repo.cook_dir()?.join("sessions"));
        let patience = Patience::begin(audience.alarm()).map_err(|error| {
            Failure::state(Code::Interrupted, "signals cannot be handled").caused_by(&error)
        })?;
        Ok(Self {
            dir: workspace.repo.root().to_owned(),
            cast,
            limits,
            sessions,
            lease,
            patience,
            audience,
            board: Board::new(&workspace)?,
            spare: Spare::new(&workspace)?,
            tally: Tally::default(),
            beside_edits: false,
            before: Spent::default(),
            limited: BTreeMap::new(),
        })
    }

    /// Drives until there is a reason to stop.
    ///
    /// # Errors
    /// Unreadable state. What was recorded until then stays, and the next run goes on from it.
    pub fn run(mut self) -> Result<Outcome, Failure> {
        let started = Instant::now();
        let lines = self.sessions.lines().map_err(kept)?;
        self.before = Spent::of(&lines, Workspace::open(&self.dir)?.store_id());
        self.limited = limits(&lines);
        let repo = Workspace::open(&self.dir)?.repo;
        self.beside_edits = !repo.status()?.worktree.is_clean();
        let ended = loop {
            if self.patience.is_over() {
                break Ended::Asked;
            }
            if self.tally.sessions >= self.limits.steps {
                break Ended::Steps;
            }
            if let Some(what) = self.spent(started)? {
                break Ended::Budget(what);
            }
            let before = self.standing()?;
            match self.step()? {
                Step::Ended(ended) => break ended,
                Step::Waited => continue,
                Step::Moved => {
                    self.tally.failures = 0;
                    self.tally.waits = 0;
                }
                Step::Nothing(why) => {
                    self.tally.failures += 1;
                    if self.tally.failures >= FAILURES {
                        break Ended::Stalled(self.block(format!(
                            "{FAILURES} sessions in a row came to nothing; the last one: {why}"
                        ))?);
                    }
                }
            }
            self.tally.idle = if self.standing()? == before {
                self.tally.idle + 1
            } else {
                0
            };
            if self.tally.idle >= IDLE_STEPS {
                break Ended::Stalled(
                    self.block(format!("{IDLE_STEPS} sessions in a row changed nothing"))?,
                );
            }
        };
        let workspace = Workspace::open(&self.dir)?;
        let (_, snapshot) = workspace.require()?;
        let (next, _) = walk::dispatch_now(&workspace, Some(&snapshot))?;
        Ok(Outcome {
            ended,
            sessions: self.tally.sessions,
            next,
            cost_micro_usd: self.tally.spent.micro_usd,
            unpriced: self.tally.spent.unpriced,
            cut: self.tally.cut,
        })
    }

    /// Ends what an earlier run left: its agents' processes, and what their sessions changed.
    /// What came when none of them can have been at work any more is the user's. Comes before a
    /// look at the worktree.
    ///
    /// # Errors
    /// Unreadable state.
    pub fn recover(&mut self) -> Result<(), Failure> {
        let workspace = Workspace::open(&self.dir)?;
        let end = match end_left(workspace.store_id()) {
            true => None,
            false => live::last_sign(&workspace)?.map(|seen| seen + GRACE),
        };
        settle_left(&self.sessions, &workspace.clock).map_err(kept)?;
        workspace.repo.sweep_throwaways()?;
        for path in left_in(&watches(&workspace)?)? {
            if let Some(watch) = Watch::left_behind(&path, end)? {
                let unlocked = watch.unlock(&workspace)?;
                if !unlocked.is_empty() {
                    self.audience.told(&Moment::Unlocked(&unlocked));
                }
                let breach = watch.settle(&workspace)?;
                let role = watch.role();
                self.audience.told(&Moment::Recovered {
                    role,
                    breach: &breach,
                });
                self.end(watch)?;
            } else {
                // It was ended before the session began.
                std::fs::remove_dir_all(&path).map_err(|error| unreadable(&path, &error))?;
            }
        }
        workspace.repo.unpin_all_but(&all_watches(&workspace)?)?;
        self.spare.settled();
        Ok(())
    }

    /// Ends a watch whose session is settled.
    fn end(&self, watch: Watch) -> Result<(), Failure> {
        self.spare.forget(watch.dir())?;
        watch.end(&Repo::discover(&self.dir)?)
    }

    /// Somebody has asked for an end since it was made.
    pub fn is_asked_to_end(&self) -> bool {
        self.patience.is_over()
    }

    /// The limit that is used up: time is a run's, money and tokens are the workflow's.
    fn spent(&self, started: Instant) -> Result<Option<String>, Failure> {
        if started.elapsed() >= self.limits.wall {
            return Ok(Some(format!(
                "this run has taken {}",
                humantime::format_duration(self.limits.wall)
            )));
        }
        let workspace = Workspace::open(&self.dir)?;
        let (_, snapshot) = workspace.require()?;
        let granted = snapshot.counters.granted.cost_micro_usd.unwrap_or(0);
        let limit = self.limits.cost_micro_usd.saturating_add(granted);
        let (now, before) = (&self.tally.spent, &self.before);
        let cost = now.micro_usd + before.micro_usd;
        if self.limits.cost_micro_usd > 0 && cost >= limit {
            return Ok(Some(format!(
                "the work has cost {:.2} of {:.2} US dollars; `cook budget add cost=N` allows more",
                cost as f64 / 1e6,
                limit as f64 / 1e6
            )));
        }
        let tokens = now.unpriced_tokens + before.unpriced_tokens;
        Ok(match self.limits.tokens {
            Some(limit) if tokens >= limit => Some(format!(
                "calls of unknown cost have taken {tokens} of {limit} tokens; `[prices]` tells their cost, `[limits] tokens` allows more"
            )),
            _ => None,
        })
    }

    /// What progress is told by: commits, slices, proof, findings, votes; never words.
    fn standing(&self) -> Result<Standing, Failure> {
        let workspace = Workspace::open(&self.dir)?;
        let (_, snapshot) = workspace.require()?;
        Standing::of(&workspace, &snapshot)
    }

    /// Stops the work with a reason; the reason.
    fn block(&mut self, why: String) -> Result<String, Failure> {
        let workspace = Workspace::open(&self.dir)?;
        let event = Event::Blocked {
            why: why.clone(),
            exit: "cook resume".to_owned(),
        };
        match self.record(&workspace, &event) {
            // A budget or a question stopped it already.
            Err(failure) if failure.code == Code::DoorClosed => {}
            other => {
                other?;
            }
        }
        Ok(why)
    }

    fn record(&mut self, workspace: &Workspace, event: &Event) -> Result<Applied, Failure> {
        let applied = walk::transition_holding(workspace, &self.lease, event, Actor::Role)?;
        let untold = |finding: &&Finding| finding.code == Code::NotifyFailed;
        for finding in applied.findings.iter().filter(untold) {
            self.audience.told(&Moment::Untold(finding));
        }
        Ok(applied)
    }
}

/// What a workflow has come to.
#[derive(Debug, PartialEq, Eq)]
struct Standing {
    head: Option<String>,
    slices: Vec<(String, &'static str, usize, usize)>,
    votes: usize,
    /// Commits that are reviewed and audited.
    read: [Option<String>; 2],
}

impl Standing {
    fn of(workspace: &Workspace, snapshot: &Snapshot) -> Result<Self, Failure> {
        let head = workspace.repo.head()?;
        Ok(Self {
            slices: snapshot
                .plan
                .candidate_slices
                .iter()
                .map(|slice| {
                    (
                        slice.slice_id.clone(),
                        slice.status.id(),
                        slice.evidence.len(),
                        slice.must_fix_findings.as_ref().map_or(0, Vec::len),
                    )
                })
                .collect(),
            votes: cook_core::machine::votes_at(snapshot, &head).count(),
            read: [
                current_review(snapshot).map(|review| review.commit.clone()),
                current_audit(snapshot).map(|audit| audit.commit.clone()),
            ],
            head: head.commit,
        })
    }
}

/// Whose sessions a cook that is gone left unfinished; none while somebody drives.
///
/// # Errors
/// When the lease or what is left cannot be read.
pub fn unfinished(workspace: &Workspace) -> Result<Vec<Role>, Failure> {
    if workspace.store()?.lease_holder()?.is_some() {
        return Ok(Vec::new());
    }
    let mut roles = Vec::new();
    for path in left_in(&watches(workspace)?)? {
        roles.extend(Watch::left_behind(&path, None)?.map(|watch| watch.role()));
    }
    Ok(roles)
}

/// Names of the baselines of all worktrees.
fn all_watches(workspace: &Workspace) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    for of_one in left_in(&workspace.repo.cook_dir()?.join("watch"))? {
        let all = left_in(&of_one)?;
        names.extend(
            all.iter()
                .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())),
        );
    }
    Ok(names)
}

fn watches(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let dir = workspace.repo.cook_dir()?.join("watch");
    Ok(dir.join(workspace.store()?.id()))
}

/// What lies in a directory; nothing when it is not there.
fn left_in(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let found = match std::fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    found.map_err(|error: std::io::Error| unreadable(dir, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::state(
        Code::InputUnreadable,
        format!("cannot read `{}`", path.display()),
    )
    .caused_by(error)
}

/// The newest word of each supplier on its limit, by the record of calls: a run that is ended
/// while it waits goes on waiting when it is started again.
fn limits(lines: &[serde_json::Value]) -> BTreeMap<String, String> {
    let mut limited = BTreeMap::new();
    for line in lines {
        let Some(supplier) = line["supplier"].as_str() else {
            continue;
        };
        match line["reset_at"].as_str() {
            Some(until) => {
                limited.insert(supplier.to_owned(), until.to_owned());
            }
            None => {
                limited.remove(supplier);
            }
        }
    }
    limited
}

fn kept(fault: Fault) -> Failure {
    SessionError::new(fault).into()
}

fn no_role(dispatch: &Dispatch) -> Failure {
    Refusal::new(
        Code::NotInitialised,
        format!("the contract needs repair: {}", dispatch.reason),
    )
    .hint("run `cook init`")
    .into()
}
