//! Agent lifecycle hooks: what happens in an interactive session comes in, what
//! cook has to say to it goes out.
//!
//! `input` and `answer` know the agents' JSON, `agent` their events; `core` knows
//! neither and decides from values alone; `respond` measures, remembers and
//! prints nothing. Invariants: a hook commits no transition; it ends well
//! whatever it is given; what it remembers may be lost.

mod agent;
mod answer;
mod core;
mod event;
mod guard;
mod input;
pub mod install;
mod issues;
mod keep;
mod measure;
mod place;
mod recovery;
mod respond;
mod session;
mod shell;
mod state;
mod summary;
mod tracker;

pub use agent::{Agent, Gate, Row};
pub use answer::{answer, within};
pub use core::{ClosedIssue, Due, Outcome, Situation, Wants, Workflow, step, wants};
pub use event::{Action, Effects, Event, Kind, Prompt, Source, Tool};
pub use input::{InputError, read};
pub use issues::tracker_of;
pub use keep::{Desk, Found, OWNER_SILENCE_MS, Owner};
pub use measure::command;
pub use recovery::{Item, MAX_BYTES, Recovery, ago};
pub use respond::{Call, OpenTracker, Response, SWITCH, respond};
pub use session::{attach, checkpoint, recover, session_to_attach, statusline, take_around};
pub use shell::{Segment, segments};
pub use state::{BLOCKS, CONTEXT_LIMIT, GoOn, HeadSeen, NUDGE_AFTER, SessionState};
pub use tracker::{Picture, Tracker, Wanted};
