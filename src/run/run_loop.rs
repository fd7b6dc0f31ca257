//! The run loop: dispatch, a role's session, its report, the transition; until the policy says
//! stop, a budget is spent, or somebody asks for an end.
//!
//! Invariants: the driver never plays a role; a session's word counts only through the same
//! walk as `cook record`; whatever a session did that its role may not is put back before its
//! report is read; between two steps nothing is held but the lease, so that a run that is
//! ended goes on by being started again.

use super::mirror::Mirror;
use super::preflight::Keeping;
use super::run_order::{
    Board, Ended, Limits, Observer, Opening, Outcome, RecentStatus, RoleAgent, RoleAssignment,
    RunEvent, Step, last_sign,
};
use super::session_guard::{Watch, all_watches, list_directory, unreadable, watches};
use crate::prelude::*;
use crate::service::{self, Applied};
use crate::workspace::Workspace;
use cook_agents::{Bounds, Spent, end_left, settle_left};
use cook_protocol::machine::{current_audit, current_review};
use cook_repo::process::Patience;
use cook_repo::store::Lease;

/// Sessions in a row that may come to nothing.
const FAILURES: u32 = 3;

/// Steps in a row that may leave everything as it was.
const IDLE_STEPS: u32 = 6;

impl Driver<'_> {
    /// Drives until there is a reason to stop.
    ///
    /// # Errors
    /// Unreadable state. What was recorded until then stays, and the next run goes on from it.
    pub fn run(mut self) -> Result<Outcome> {
        let started = Instant::now();
        let lines = self.sessions.lines()?;
        let workspace = self.open()?;
        self.before = Spent::of(&lines, workspace.store_id());
        self.limited = limits(&lines);
        let repo = &workspace.repo;
        self.recent.lend(repo);
        self.beside_edits = !repo.recent_status()?.worktree.is_clean();
        self.recent.note(repo);
        let ended = loop {
            if self.patience.is_over() {
                break Ended::Asked;
            }
            if self.tally.sessions >= self.limits.steps {
                break Ended::Steps;
            }
            let workspace = self.open()?;
            if let Some(what) = self.find_spent_limit(&workspace, started)? {
                break Ended::Budget(what);
            }
            let before = standing(&workspace)?;
            match self.step()? {
                Step::Ended(ended) => break ended,
                Step::Waited => {
                    self.recent.forget();
                    continue;
                }
                Step::Moved => {
                    self.tally.failures = 0;
                    self.tally.waits = 0;
                }
                Step::Nothing(why) | Step::Another(why) => {
                    self.tally.failures += 1;
                    if self.tally.failures >= FAILURES {
                        break Ended::Stalled(self.block(format!(
                            "{FAILURES} sessions in a row failed; the last one: {why}"
                        ))?);
                    }
                }
            }
            self.tally.idle = if standing(&self.open()?)? == before {
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
        let workspace = self.open()?;
        self.recent.lend(&workspace.repo);
        let (_, snapshot) = workspace.require()?;
        let (next, _) = service::dispatch_now(&workspace, Some(&snapshot))?;
        self.recent.note(&workspace.repo);
        Ok(Outcome {
            ended,
            sessions: self.tally.sessions,
            next,
            cost_micro_usd: self.tally.spent.micro_usd,
            unpriced: self.tally.spent.unpriced,
            cut: self.tally.cut,
        })
    }

    /// The limit that is used up: time is a run's, money and tokens are the workflow's.
    fn find_spent_limit(&self, workspace: &Workspace, started: Instant) -> Result<Option<String>> {
        if started.elapsed() >= self.limits.wall {
            return Ok(Some(format!(
                "this run has taken {}",
                humantime::format_duration(self.limits.wall)
            )));
        }
        let (_, snapshot) = workspace.require()?;
        let limit = self.compute_allowance(&snapshot);
        let cost = self.tally.spent.micro_usd + self.before.micro_usd;
        if let Some(limit) = limit.filter(|limit| cost >= *limit) {
            return Ok(Some(format!(
                "the work has cost {:.2} of {:.2} US dollars; `cook resume --add cost=N` allows more",
                cost as f64 / 1e6,
                limit as f64 / 1e6
            )));
        }
        let tokens = self.tally.spent.unpriced_tokens + self.before.unpriced_tokens;
        Ok(match self.limits.tokens {
            Some(limit) if tokens >= limit => Some(format!(
                "calls of unknown cost have taken {tokens} of {limit} tokens; `[prices]` tells their cost, `[limits] tokens` allows more"
            )),
            _ => None,
        })
    }

    /// Millionths of a dollar that the workflow may cost; none = no limit.
    fn compute_allowance(&self, snapshot: &Snapshot) -> Option<u64> {
        let granted = snapshot.counters.granted.cost_micro_usd.unwrap_or(0);
        let limit = self.limits.cost_micro_usd;
        (limit > 0).then(|| limit.saturating_add(granted))
    }

    /// What one session more may take.
    pub(super) fn compute_bounds(&self, snapshot: &Snapshot) -> Bounds {
        let (now, before) = (&self.tally.spent, &self.before);
        let cost = now.micro_usd + before.micro_usd;
        let tokens = now.unpriced_tokens + before.unpriced_tokens;
        Bounds {
            micro_usd: self
                .compute_allowance(snapshot)
                .map(|limit| limit.saturating_sub(cost)),
            tokens: self.limits.tokens.map(|limit| limit.saturating_sub(tokens)),
            requests: self.limits.requests,
            price: None,
        }
    }

    /// Waits for what ends by itself, each time longer where nobody says for how long.
    pub(super) fn wait_out(
        &mut self,
        workspace: &Workspace,
        after: Option<Duration>,
        why: String,
    ) -> Result<Step> {
        let doubled = FIRST_WAIT.saturating_mul(1 << self.tally.waits.min(16));
        let pause = after.unwrap_or(doubled).min(LONGEST_PAUSE);
        self.tally.waits += 1;
        if self.tally.waits > MOST_WAITS {
            return Ok(Step::Ended(Ended::Agents(why)));
        }
        let seconds = workspace.clock.epoch_millis() / 1000;
        let until = seconds + 1 + i64::try_from(pause.as_secs()).unwrap_or(i64::MAX / 2);
        self.wait(workspace, &Clock::of_epoch(until), why)
    }

    /// Waits where the agent whose turn it is said that its limit holds still.
    pub(super) fn wait_for(
        &mut self,
        workspace: &Workspace,
        agent: Option<&RoleAgent>,
    ) -> Result<Option<Step>> {
        let Some(name) = agent.map(|agent| agent.preset.name()) else {
            return Ok(None);
        };
        let Some(until) = self.limited.get(name).cloned() else {
            return Ok(None);
        };
        if workspace.clock.now() >= until {
            self.limited.remove(name);
            return Ok(None);
        }
        let why = format!("{name}: its limit holds until {until}");
        self.wait(workspace, &until, why).map(Some)
    }

    /// Waits for the end of a supplier's limit; the attempt is not spent.
    pub(super) fn wait(&mut self, workspace: &Workspace, until: &str, why: String) -> Result<Step> {
        self.observer.observe(&RunEvent::Waits { until });
        self.board.waits(until);
        let begun = Instant::now();
        while workspace.clock.now().as_str() < until {
            if self.patience.is_over() {
                return Ok(Step::Ended(Ended::Asked));
            }
            if begun.elapsed() > LONGEST_WAIT {
                return Ok(Step::Ended(Ended::Agents(why)));
            }
            std::thread::sleep(GLANCE);
        }
        Ok(Step::Waited)
    }

    /// Ends what an earlier run left: its agents' processes, and what their sessions changed.
    /// What came when none of them can have been at work any more is the user's. Comes before a
    /// look at the worktree.
    ///
    /// # Errors
    /// Unreadable state.
    pub fn recover(&mut self) -> Result<()> {
        let workspace = Workspace::open(&self.dir)?;
        let end = match end_left(workspace.store_id(), &workspace.place().cook_dir()) {
            true => None,
            false => last_sign(&workspace)?.map(|seen| seen + GRACE),
        };
        settle_left(&self.sessions, &workspace.clock)?;
        workspace.repo.sweep_throwaways()?;
        for path in list_directory(&watches(&workspace)?)? {
            if let Some(watch) = Watch::open_left_behind(&path, end)? {
                let unlocked = watch.unlock(&workspace)?;
                if !unlocked.is_empty() {
                    self.observer.observe(&RunEvent::Unlocked(&unlocked));
                }
                let leads = watch.put_leads_back()?;
                let breach = watch.settle(&workspace, leads)?;
                let role = watch.role();
                self.observer.observe(&RunEvent::Recovered {
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
        self.mirror.note_settled();
        Ok(())
    }
}

/// The newest word of each supplier on its limit, by the record of calls: a run that is ended
/// while it waits goes on waiting when it is started again.
fn limits(lines: &[CallRecord]) -> BTreeMap<String, String> {
    let mut limited = BTreeMap::new();
    for line in lines {
        if let Some(supplier) = line.supplier.clone() {
            match line.reset_at.clone() {
                Some(until) => limited.insert(supplier, until),
                None => limited.remove(&supplier),
            };
        }
    }
    limited
}

/// Drives one worktree's workflow.
pub struct Driver<'a> {
    pub(super) dir: PathBuf,
    pub(super) opening: Opening,
    pub(super) recent: RecentStatus,
    pub(super) cast: RoleAssignment,
    pub(super) limits: Limits,
    /// What holds its sessions to what they may write.
    pub(super) keeping: Keeping,
    pub(super) sessions: GitStore,
    pub(super) lease: Lease,
    pub(super) patience: Patience,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) board: Board,
    pub(super) mirror: Mirror,
    pub(super) tally: Tally,
    /// The worktree held what is not committed when the run began.
    pub(super) beside_edits: bool,
    /// What earlier runs of this workflow took.
    pub(super) before: Spent,
    /// Suppliers that said until when their limit holds, RFC 3339.
    pub(super) limited: BTreeMap<String, String>,
}

/// What a run has used and met so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) sessions: u64,
    pub(super) spent: Spent,
    /// Sessions in a row that failed.
    pub(super) failures: u32,
    /// Steps in a row after which everything stood as before.
    pub(super) idle: u32,
    /// Nobody could play the last time, and what keeps one from it ends by itself; after how
    /// long, where that was said.
    pub(super) passing: Option<Option<Duration>>,
    /// An agent answered in this run: a network that is away by now was there.
    pub(super) has_heard: bool,
    /// Waits in a row for that.
    pub(super) waits: u32,
    /// Whose session was ended because somebody asked for it.
    pub(super) cut: Option<Role>,
    /// Judges are held one after another, whatever the settings say.
    pub(super) one_by_one: bool,
}

impl<'a> Driver<'a> {
    /// Takes the workflow's lease.
    ///
    /// # Errors
    /// No log, or another driver.
    pub fn new(
        dir: &Path,
        cast: RoleAssignment,
        limits: Limits,
        keeping: Keeping,
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let workspace = Workspace::open(dir)?;
        let lease = workspace.store()?.lease("cook run")?;
        let sessions = GitStore::open(workspace.place())?;
        let patience = Patience::begin(observer.alarm())
            .or_fail(Code::Interrupted, "signals cannot be handled")?;
        Ok(Self {
            dir: workspace.repo.root().to_owned(),
            opening: Opening::default(),
            recent: RecentStatus::default(),
            cast,
            limits,
            keeping,
            sessions,
            lease,
            patience,
            observer,
            board: Board::new(&workspace)?,
            mirror: Mirror::new(&workspace)?,
            tally: Tally::default(),
            beside_edits: false,
            before: Spent::default(),
            limited: BTreeMap::new(),
        })
    }

    pub(super) fn open(&self) -> Result<Workspace> {
        self.opening.open(&self.dir)
    }

    /// Somebody has asked for an end since it was made.
    pub fn is_asked_to_end(&self) -> bool {
        self.patience.is_over()
    }

    /// Ends a watch whose session is settled.
    pub(super) fn end(&self, watch: Watch) -> Result<()> {
        self.mirror.forget(watch.dir())?;
        watch.end(&Repo::discover(&self.dir)?)
    }

    /// Stops the work with a reason; the reason.
    pub(super) fn block(&mut self, why: String) -> Result<String> {
        let workspace = self.open()?;
        let event = Event::Blocked {
            why: why.clone(),
            exit: "cook resume".to_owned(),
        };
        match self.record(&workspace, &event) {
            // A budget or a question stopped it already.
            Err(failure) if failure.code == Code::DoesNotApply => {}
            other => {
                other?;
            }
        }
        Ok(why)
    }

    pub(super) fn record(&mut self, workspace: &Workspace, event: &Event) -> Result<Applied> {
        let applied = service::transition_holding(workspace, &self.lease, event, Actor::Role)?;
        self.recent.note(&workspace.repo);
        let not_notified = |finding: &&Finding| finding.code == Code::NotifyFailed;
        for finding in applied.findings.iter().filter(not_notified) {
            self.observer.observe(&RunEvent::NotNotified(finding));
        }
        Ok(applied)
    }
}

/// What progress is told by: commits, slices, proof, findings, votes; never words.
fn standing(workspace: &Workspace) -> Result<String> {
    let (_, snapshot) = workspace.require()?;
    let head = workspace.repo.head()?;
    let slices = snapshot.plan.candidate_slices.iter().map(|slice| {
        let fixes = slice.must_fix_findings.as_ref().map_or(0, Vec::len);
        let (id, status) = (&slice.slice_id, slice.status.id());
        (id, status, slice.evidence.len(), fixes)
    });
    let slices: Vec<_> = slices.collect();
    let votes = cook_protocol::machine::list_votes(&snapshot, &head).count();
    let reviewed = current_review(&snapshot).map(|review| &review.commit);
    let audited = current_audit(&snapshot).map(|audit| &audit.commit);
    let commit = head.commit;
    Ok(format!(
        "{commit:?} {slices:?} {votes} {reviewed:?} {audited:?}"
    ))
}

/// How long the end of a supplier's limit is waited for at most.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The first wait where nobody says how long a limit lasts; each is twice as long as the last,
const FIRST_WAIT: Duration = Duration::from_secs(30);

/// up to this,
const LONGEST_PAUSE: Duration = Duration::from_secs(30 * 60);

/// and so many in a row: about a day.
const MOST_WAITS: u32 = 50;

/// How often it is looked whether somebody asks for an end.
const GLANCE: Duration = Duration::from_millis(200);

/// How long after its cook an agent may still have been at work that nobody found alive.
const GRACE: Duration = Duration::from_secs(60);
