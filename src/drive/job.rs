//! A whole run, as `cook run` and `cook run --once` hold it.

use super::assignment::{Limits, RoleAssignment};
use super::driver::Driver;
use super::mirror::open_whole;
use super::operator::{Operator, Order};
use super::outcome::{Ended, Outcome};
use super::parking::{count_uncommitted, park, put_back};
use super::preflight::{before, cast};
use super::sandbox::Keeping;
use crate::service::{self, Workspace};
use cook_core::diagnostic::{Code, Failure};
use cook_core::machine::Head;
use cook_core::model::{Policy, Snapshot};
use std::path::Path;

/// What a run came to, and how it left the worktree.
#[derive(Debug)]
pub struct Held {
    /// Of the driver.
    pub outcome: Outcome,
    /// The documents now.
    pub snapshot: Snapshot,
    /// HEAD.
    pub head: Head,
    /// Paths that are not committed now.
    pub uncommitted: u64,
    /// One session was asked for, and no more.
    pub is_one_step: bool,
    /// What a remote took of it, where it was held for one.
    pub given: Option<Given>,
}

/// What a step gave to the remote that it came from.
#[derive(Debug)]
pub struct Given {
    /// The remote's name or address, as it was named.
    pub remote: String,
    /// Refs that moved there.
    pub refs: Vec<String>,
}

/// Holds a run from what the last one left to what this one leaves.
///
/// # Errors
/// What stands in the way of it, and what ended it.
pub fn hold(order: &Order, operator: &dyn Operator) -> Result<Held, Failure> {
    let (workspace, was_lost) = open_whole(order.dir)?;
    workspace.require()?;
    settle_first(order.dir, operator, was_lost)?;
    if let Some(held) = find_done(order)? {
        return Ok(held);
    }
    hold_settled(order, operator)
}

/// What a run of done work comes to: no agent is named, asked or needed for it.
fn find_done(order: &Order) -> Result<Option<Held>, Failure> {
    let workspace = order.opening.open(order.dir)?;
    let (_, snapshot) = workspace.require()?;
    if snapshot.state.continuation_policy != Policy::Done {
        return Ok(None);
    }
    let (next, _) = service::dispatch_now(&workspace, Some(&snapshot))?;
    if next.role.is_some() || next.policy != Policy::Done {
        return Ok(None);
    }
    let outcome = Outcome::without_session(Ended::Policy(Policy::Done), next);
    Held::of(outcome, &workspace).map(Some)
}

/// The same where nothing is left of an earlier run.
pub(super) fn hold_settled(order: &Order, operator: &dyn Operator) -> Result<Held, Failure> {
    let workspace = order.opening.open(order.dir)?;
    let config = workspace.config()?;
    let mut cast = cast(&workspace, config, order.agent)?;
    let limits = Limits {
        steps: order.steps.unwrap_or(u64::MAX),
        wall: config.wall(),
        cost_micro_usd: config.limits().cost_micro_usd.unwrap_or(0),
        tokens: config.tokens(),
        requests: config.requests(),
    };
    let keeping = Keeping::of(&workspace)?;
    let mut observer = operator.observer();
    // Comes before the driver: until a session may begin a signal ends cook, also at a question.
    let parks = before(operator, &workspace, &mut cast, &limits, &keeping, order)?;
    let root = workspace.repo.root();
    let driver = Driver::new(root, cast, limits, keeping, &mut *observer)?.opening(order.opening);
    if parks {
        park(operator, &workspace)?;
    }
    let outcome = driver.run().map_err(with_report_lost);
    drop(observer);
    // Also after a failure: they are the user's.
    let parked = put_back(operator, &workspace);
    let outcome = outcome?;
    parked?;
    Held::of(outcome, &order.opening.open(order.dir)?)
}

impl Held {
    /// As the worktree stands now.
    pub(super) fn of(outcome: Outcome, workspace: &Workspace) -> Result<Self, Failure> {
        let (_, snapshot) = workspace.require()?;
        Ok(Self {
            outcome,
            snapshot,
            head: workspace.repo.head()?,
            uncommitted: count_uncommitted(workspace)?,
            is_one_step: false,
            given: None,
        })
    }
}

/// Settles what a killed run left, before the settings are read: its session may have
/// changed them.
pub(super) fn settle_first(
    dir: &Path,
    operator: &dyn Operator,
    was_lost: bool,
) -> Result<(), Failure> {
    if was_lost {
        operator.note(
            "what cook keeps in the git dir was gone, and is put back as the last run left it",
        );
    }
    let workspace = Workspace::open(dir)?;
    workspace.require()?;
    let mut observer = operator.observer();
    let (cast, limits) = (RoleAssignment::new(), Limits::default());
    let keeping = Keeping::Measured {
        why: "it holds no session".to_owned(),
    };
    let root = workspace.repo.root();
    let mut driver = Driver::new(root, cast, limits, keeping, &mut *observer)?;
    driver.recover()?;
    match driver.is_asked_to_end() {
        false => Ok(()),
        true => Err(Failure::state(
            Code::Interrupted,
            "interrupted before a session began",
        )),
    }
}

/// A gate that is ended takes the report along whose commit it was for.
fn with_report_lost(mut failure: Failure) -> Failure {
    if failure.code == Code::Interrupted {
        let hint = "the report of the last session was not taken: `cook run` begins its step again";
        failure.hints.push(hint.to_owned());
    }
    failure
}
