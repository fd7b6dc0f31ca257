//! One session of one role as a run holds it, in a repository that is thrown away.

use super::assignment::{Limits, RoleAgent, RoleAssignment};
use super::driver::Driver;
use super::event::{Observer, RunEvent};
use super::operator::Opening;
use super::outcome::{Ended, Step};
use super::preflight::{cast_roles, require_agents};
use super::sandbox::Keeping;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, FailureKind};
use cook_core::model::Role;
use std::path::Path;
use std::time::Duration;

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
            Step::Nothing(why) => Some(why),
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
