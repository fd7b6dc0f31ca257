//! The run loop: dispatch, a session of the role, its report, the transition; until the policy stops the work, a budget
//! is spent, or the run is interrupted.
//!
//! Invariants: the driver plays no role. A session's report is recorded exactly as `cook record` does. Changes that a
//! session's role may not make are reverted before its report is read. Between two steps nothing is held except the
//! lease, so an interrupted run continues when it is started again.

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

/// Number of failed sessions in a row after which the run stops.
const FAILURES: u32 = 3;

/// Number of steps without progress in a row after which the run stops.
const IDLE_STEPS: u32 = 6;

impl Driver<'_> {
    /// Drives until there is a reason to stop.
    ///
    /// # Errors
    /// Unreadable state. Recorded transitions stay, and the next run continues from them.
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

    /// The limit that is used up, if any. Time is limited for each run, cost and tokens for the workflow.
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

    /// Cost limit of the workflow in millionths of a dollar; `None` if unlimited.
    fn compute_allowance(&self, snapshot: &Snapshot) -> Option<u64> {
        let granted = snapshot.counters.granted.cost_micro_usd.unwrap_or(0);
        let limit = self.limits.cost_micro_usd;
        (limit > 0).then(|| limit.saturating_add(granted))
    }

    /// The limits of the next session.
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

    /// Waits for a temporary obstacle. If its duration is unknown, each wait is twice as long as the last.
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

    /// Waits if the agent whose turn it is has reported a limit that is still in force.
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

    /// Waits for the end of a supplier's limit, without spending an attempt.
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

    /// Ends the agent processes of an earlier run and reverts the forbidden changes of its sessions. Changes made when
    /// none of its agents can have been running are the user's. Must run before the worktree is examined.
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
                // The earlier run ended before the session began.
                std::fs::remove_dir_all(&path).map_err(|error| unreadable(&path, &error))?;
            }
        }
        workspace.repo.unpin_all_but(&all_watches(&workspace)?)?;
        self.mirror.note_settled();
        Ok(())
    }
}

/// The newest limit of each supplier, from the record of calls: a run that ended while it waited continues to wait when
/// it is started again.
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
    /// How its sessions are kept to the files that they may write.
    pub(super) keeping: Keeping,
    pub(super) sessions: GitStore,
    pub(super) lease: Lease,
    pub(super) patience: Patience,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) board: Board,
    pub(super) mirror: Mirror,
    pub(super) tally: Tally,
    /// Whether the worktree had uncommitted changes when the run began.
    pub(super) beside_edits: bool,
    /// What earlier runs of this workflow spent.
    pub(super) before: Spent,
    /// The end of each supplier's known limit, in RFC 3339.
    pub(super) limited: BTreeMap<String, String>,
}

/// What a run has used and encountered so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) sessions: u64,
    pub(super) spent: Spent,
    /// Failed sessions in a row.
    pub(super) failures: u32,
    /// Steps in a row without progress.
    pub(super) idle: u32,
    /// Set if the last agent failed because of a temporary obstacle; holds the time to wait, if known.
    pub(super) passing: Option<Option<Duration>>,
    /// Whether an agent has answered in this run, so that the network and the programs were there.
    pub(super) has_heard: bool,
    /// Waits in a row for temporary obstacles.
    pub(super) waits: u32,
    /// The role whose session was ended by an interruption.
    pub(super) cut: Option<Role>,
    /// Whether judges run one at a time, regardless of the settings.
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

    /// Whether an interruption was requested since the driver was created.
    pub fn is_asked_to_end(&self) -> bool {
        self.patience.is_over()
    }

    /// Ends a watch whose session is settled.
    pub(super) fn end(&self, watch: Watch) -> Result<()> {
        self.mirror.forget(watch.dir())?;
        watch.end(&Repo::discover(&self.dir)?)
    }

    /// Stops the work with a reason, and returns the reason.
    pub(super) fn block(&mut self, why: String) -> Result<String> {
        let workspace = self.open()?;
        let event = Event::Blocked {
            why: why.clone(),
            exit: "cook resume".to_owned(),
        };
        match self.record(&workspace, &event) {
            // A budget or a question has stopped the work already.
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

/// A description of the state that changes with progress: commits, slices, evidence, findings and votes, but no prose.
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

/// Longest wait for the end of a supplier's limit.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The first wait for a limit of unknown duration; each further wait is twice as long,
const FIRST_WAIT: Duration = Duration::from_secs(30);

/// up to this length,
const LONGEST_PAUSE: Duration = Duration::from_secs(30 * 60);

/// and at most this number of waits in a row: about a day.
const MOST_WAITS: u32 = 50;

/// How often a waiting run checks for an interruption.
const GLANCE: Duration = Duration::from_millis(200);

/// How long an agent that was not found alive may have outlived the `cook` that started it.
const GRACE: Duration = Duration::from_secs(60);
