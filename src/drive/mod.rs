//! Agents drive the workflow: what is settled before a run, the run loop, a session and its
//! report, and what a session may change.

mod agents;
mod aside;
mod assignment;
mod authority;
mod driver;
mod event;
mod job;
mod jury;
mod left;
mod live;
mod mirror;
mod once;
mod operator;
mod outcome;
mod parking;
mod preflight;
mod probe;
mod question;
mod recover;
mod run;
mod sandbox;
mod talk;
mod turn;
mod wait;
mod weigh;
mod worker;

pub(crate) use agents::{choose, find_here, fit_to_program, unfit};
pub(crate) use assignment::{Limits, RoleAgent, RoleAssignment};
pub(crate) use authority::Violation;
pub(crate) use driver::Driver;
pub(crate) use event::{Observer, RunEvent};
pub(crate) use job::{Held, hold};
pub(crate) use left::list_unfinished;
pub(crate) use live::{Live, live};
pub(crate) use mirror::open_whole;
pub(crate) use once::{Unseen, first_agent, hold_once};
pub(crate) use operator::{Opening, Operator, Order};
pub(crate) use outcome::{Ended, Outcome};
pub(crate) use parking::paths_are;
pub(crate) use preflight::PLAYED;
pub(crate) use probe::probe;
pub(crate) use question::guard;
pub(crate) use sandbox::Keeping;
pub(crate) use worker::step_from;
