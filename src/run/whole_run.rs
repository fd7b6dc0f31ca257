//! A whole run, as `cook run` and `cook run --once` hold it.

use super::mirror::open_whole;
use super::preflight::{PLAYED, before, cast_roles, require_agents};
use super::run_loop::Driver;
use super::run_order::{
    Ended, Limits, Observer, Opening, Operator, Order, Outcome, RoleAgent, RoleAssignment,
    RunEvent, Step, paths_are,
};
use super::sandbox_mode::Keeping;
use crate::service::{self, Workspace};
use cook_protocol::diagnostic::{Code, Failure, FailureKind};
use cook_protocol::machine::Head;
use cook_protocol::model::{Policy, Role, Snapshot};
use cook_repo::git::Unparked;
use std::path::Path;
use std::time::Duration;

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
    let mut cast = cast_roles(&workspace, config, order.agent, &PLAYED)?;
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

/// Limits of a supplier that are waited for in one session.
const MOST_WAITS: usize = 50;

/// What came of the session.
#[derive(Debug)]
pub struct HeldOnce {
    /// Why nothing was recorded, where nothing was.
    pub nothing: Option<String>,
    /// Millionths of a dollar; none = unknown.
    pub cost_micro_usd: Option<u64>,
    /// Somebody asked for an end meanwhile.
    pub is_asked_to_end: bool,
}

/// The agent that plays a role here first, by the settings or by name; it is installed and trusted.
///
/// # Errors
/// No agent, one that may not be run, one that is not there.
pub fn first_agent(
    workspace: &Workspace,
    role: Role,
    only: Option<&str>,
) -> Result<RoleAgent, Failure> {
    let all = cast_roles(workspace, workspace.config()?, only, &[role])?;
    let first = all.get(&role).and_then(|agents| agents.first()).cloned();
    let mut one: RoleAssignment = first.map(|agent| (role, vec![agent])).into_iter().collect();
    require_agents(workspace, &mut one)?;
    let agent = one.into_values().flatten().next();
    agent.ok_or_else(|| Failure::usage(format!("no agent is named for the {role}")))
}

/// Holds one session of the role that is due in `dir`.
///
/// # Errors
/// An interruption, an agent that could not play, unreadable state.
pub fn hold_once(
    dir: &Path,
    role: Role,
    agent: &RoleAgent,
    keeping: &Keeping,
    observer: &mut dyn Observer,
) -> Result<HeldOnce, Failure> {
    let only = RoleAssignment::from([(role, vec![agent.clone()])]);
    let limits = Limits {
        steps: 1,
        wall: Duration::from_secs(u64::from(u32::MAX)),
        ..Limits::default()
    };
    let mut driver = Driver::new(dir, only, limits, keeping.clone(), observer)?.opening(Opening {
        trusts_everything: true,
        pushes_later: true,
        tells_nobody: true,
    });
    driver.tally.one_by_one = true;
    for _ in 0..MOST_WAITS {
        let nothing = match driver.step()? {
            Step::Waited => continue,
            Step::Moved => None,
            Step::Nothing(why) | Step::Another(why) => Some(why),
            Step::Ended(Ended::Agents(why) | Ended::Stalled(why) | Ended::Budget(why)) => {
                return Err(Failure::new(
                    FailureKind::Supplier,
                    Code::SupplierFailed,
                    why,
                ));
            }
            Step::Ended(Ended::Policy(policy)) => Some(format!("the work is stopped: {policy}")),
            Step::Ended(Ended::Steps | Ended::Asked) => {
                return Err(Failure::state(Code::Interrupted, "interrupted"));
            }
        };
        let spent = &driver.tally.spent;
        return Ok(HeldOnce {
            nothing,
            cost_micro_usd: (spent.unpriced == 0).then_some(spent.micro_usd),
            is_asked_to_end: driver.is_asked_to_end(),
        });
    }
    let why = format!("{}: its limit does not end", agent.preset.name());
    Err(Failure::state(Code::SupplierFailed, why))
}

/// Nobody looks on.
#[derive(Debug)]
pub struct Unseen;

impl Observer for Unseen {
    fn observe(&mut self, _: &RunEvent) {}
}

pub(super) fn count_uncommitted(workspace: &Workspace) -> Result<u64, Failure> {
    let worktree = workspace.repo.status()?.worktree;
    Ok(worktree.dirty.len() as u64 + worktree.more)
}

/// Puts what is not committed aside.
pub(super) fn park(operator: &dyn Operator, workspace: &Workspace) -> Result<(), Failure> {
    let paths = count_uncommitted(workspace)?;
    let name = workspace
        .repo
        .park(workspace.store_id(), &cook_repo::store::fresh_id())?;
    operator.note(&format!("{} parked as `{name}`", paths_are(paths)));
    Ok(())
}

/// Puts parked changes of this workflow back, newest first: they lie on each other so.
pub(super) fn put_back(operator: &dyn Operator, workspace: &Workspace) -> Result<(), Failure> {
    for name in workspace
        .repo
        .list_parked(workspace.store_id())?
        .into_iter()
        .rev()
    {
        match workspace.repo.unpark(&name)? {
            Unparked::PutBack => operator.note("what was parked is in the worktree again"),
            Unparked::Stay(why) => {
                operator.warn(&format!("parked changes stay where they are, because {why}: `git stash apply --index {name}` puts them back, then `git update-ref -d {name}`"),
                );
                break;
            }
        }
    }
    Ok(())
}
