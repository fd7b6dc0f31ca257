//! Agents drive the workflow: what is settled before a run, the run loop, a session and its
//! report, and what a session may change.

mod agents;
mod authority;
mod cast;
mod driver;
mod job;
mod jury;
mod left;
mod live;
mod moment;
mod operator;
mod outcome;
mod parking;
mod preflight;
mod probe;
mod recover;
mod run;
mod spare;
mod talk;
mod turn;
mod wait;
mod weigh;

pub(crate) use agents::{chosen, find_here, is_that_one, unfit};
pub(crate) use authority::Breach;
pub(crate) use cast::{Cast, Limits, Player};
pub(crate) use driver::Driver;
pub(crate) use job::hold;
pub(crate) use left::unfinished;
pub(crate) use live::{Live, live};
pub(crate) use moment::{Audience, Moment};
pub(crate) use operator::{Operator, Order};
pub(crate) use outcome::{Ended, Outcome};
pub(crate) use probe::probe;
pub(crate) use spare::{drop_spares, open_whole};

use left::left_in;
