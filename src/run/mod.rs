//! Agents drive the workflow: preparations before a run, the run loop, sessions and their reports, and the limits of
//! what a session may change.

mod agent_turn;
mod mirror;
mod preflight;
mod run_loop;
mod run_order;
mod session_guard;
mod whole_run;

pub(crate) use mirror::{guard, open_whole};
pub(crate) use preflight::{Keeping, PLAYED, choose, find_here, fit_to_program, probe, unfit};
pub(crate) use run_loop::Driver;
pub(crate) use run_order::{
    Ended, Limits, Live, LiveSession, Observer, Opening, Operator, Order, Outcome, RoleAgent,
    RoleAssignment, RunEvent, live, paths_are,
};
pub(crate) use session_guard::{MOVED_DIR, SCRATCH, Violation, list_unfinished};
pub(crate) use whole_run::{Held, Unseen, first_agent, hold, hold_once, step_from};
