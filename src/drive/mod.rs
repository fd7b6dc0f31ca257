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

pub use agents::{chosen, find_here, is_that_one, unfit};
pub use authority::{Breach, Watch};
pub use cast::{Cast, Limits, Player};
pub use driver::Driver;
pub use job::{Held, hold};
pub use left::unfinished;
pub use live::{Live, LiveSession, live};
pub use moment::{Audience, Moment};
pub use operator::{Operator, Order};
pub use outcome::{Ended, Outcome};
pub use probe::probe;
pub use spare::{drop_spares, open_whole};

use left::left_in;
