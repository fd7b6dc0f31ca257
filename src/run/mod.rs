//! Agents drive the workflow: what is settled before a run, the run loop, a session and its
//! report, and what a session may change.

mod agent_session;
mod agent_turn;
mod agents_here;
mod handle_report;
mod live;
mod mirror;
mod preflight;
mod question_guard;
mod run_loop;
mod run_order;
mod sandbox_mode;
mod session_guard;
mod whole_run;
mod worker;

pub(crate) use agents_here::{choose, find_here, fit_to_program, probe, unfit};
pub(crate) use live::{Live, live};
pub(crate) use mirror::open_whole;
pub(crate) use preflight::PLAYED;
pub(crate) use question_guard::guard;
pub(crate) use run_loop::Driver;
pub(crate) use run_order::{
    Ended, Limits, Observer, Opening, Operator, Order, Outcome, RoleAgent, RoleAssignment,
    RunEvent, paths_are,
};
pub(crate) use sandbox_mode::Keeping;
pub(crate) use session_guard::{Violation, list_unfinished};
pub(crate) use whole_run::{Held, Unseen, first_agent, hold, hold_once};
pub(crate) use worker::step_from;
