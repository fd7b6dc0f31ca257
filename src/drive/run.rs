//! The run loop: dispatch, a role's session, its report, the transition; until the policy says
//! stop, a budget is spent, or somebody asks for an end.
//!
//! Invariants: the driver never plays a role; a session's word counts only through the same
//! walk as `cook record`; whatever a session did that its role may not is put back before its
//! report is read; between two steps nothing is held but the lease, so that a run that is
//! ended goes on by being started again.

use super::driver::Driver;
use super::outcome::{Ended, Outcome, Step};
use crate::service::{self, Workspace};
use cook_agents::{Bounds, Spent};
use cook_core::diagnostic::Failure;
use cook_core::machine::{current_audit, current_review};
use cook_core::model::Snapshot;
use cook_store::session::CallRecord;
use std::collections::BTreeMap;
use std::time::Instant;

/// Sessions in a row that may come to nothing.
const FAILURES: u32 = 3;

/// Steps in a row that may leave everything as it was.
const IDLE_STEPS: u32 = 6;

impl Driver<'_> {
    /// Drives until there is a reason to stop.
    ///
    /// # Errors
    /// Unreadable state. What was recorded until then stays, and the next run goes on from it.
    pub fn run(mut self) -> Result<Outcome, Failure> {
        let started = Instant::now();
        let lines = self.sessions.lines()?;
        self.before = Spent::of(&lines, self.open()?.store_id());
        self.limited = limits(&lines);
        let repo = self.open()?.repo;
        self.beside_edits = !repo.status()?.worktree.is_clean();
        let ended = loop {
            if self.patience.is_over() {
                break Ended::Asked;
            }
            if self.tally.sessions >= self.limits.steps {
                break Ended::Steps;
            }
            if let Some(what) = self.find_spent_limit(started)? {
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
        let workspace = self.open()?;
        let (_, snapshot) = workspace.require()?;
        let (next, _) = service::dispatch_now(&workspace, Some(&snapshot))?;
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
    fn find_spent_limit(&self, started: Instant) -> Result<Option<String>, Failure> {
        if started.elapsed() >= self.limits.wall {
            return Ok(Some(format!(
                "this run has taken {}",
                humantime::format_duration(self.limits.wall)
            )));
        }
        let workspace = self.open()?;
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

    /// What progress is told by: commits, slices, proof, findings, votes; never words.
    fn standing(&self) -> Result<Standing, Failure> {
        let workspace = self.open()?;
        let (_, snapshot) = workspace.require()?;
        Standing::of(&workspace, &snapshot)
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
            votes: cook_core::machine::list_votes(snapshot, &head).count(),
            read: [
                current_review(snapshot).map(|review| review.commit.clone()),
                current_audit(snapshot).map(|audit| audit.commit.clone()),
            ],
            head: head.commit,
        })
    }
}

/// The newest word of each supplier on its limit, by the record of calls: a run that is ended
/// while it waits goes on waiting when it is started again.
fn limits(lines: &[CallRecord]) -> BTreeMap<String, String> {
    let mut limited = BTreeMap::new();
    for line in lines {
        match (&line.supplier, &line.reset_at) {
            (Some(supplier), Some(until)) => {
                limited.insert(supplier.clone(), until.clone());
            }
            (Some(supplier), None) => {
                limited.remove(supplier);
            }
            (None, _) => {}
        }
    }
    limited
}
