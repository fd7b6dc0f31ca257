//! What cook makes of the lifecycle events of an agent's interactive session.
//!
//! `input` and `answer` know the agents' JSON, `protocol/agents/` their events, `layout` and `jsonc` their
//! settings files; `core` knows none of these and decides from values alone; `keep` remembers.
//! Nothing here measures or prints; what is remembered may be lost.

mod agent;
mod answer;
mod check;
mod core;
mod event;
mod facts;
mod guard;
mod input;
pub mod jsonc;
mod keep;
pub mod layout;
mod lifecycle;
pub mod place;
mod recovery;
mod say;
mod shell;
mod state;
mod step;
mod summary;
mod words;
mod work;

pub use agent::Agent;
pub use answer::{answer, within};
pub use check::{False, Owed, check_stop, is_checked};
pub use cook_core::model::hooks::{Gate, Kind, Row};
pub use core::step;
pub use event::{Action, Effects, Event, Prompt, Source, Tool};
pub use facts::{ClosedIssue, Due, Situation, Wants, Workflow, begins, wants};
pub use input::{InputError, read};
pub use keep::{OWNER_SILENCE_MS, Owner, StateDir};
pub use recovery::{CHECKPOINTS, Item, MAX_BYTES, Recovery, ago};
pub use shell::{Segment, issue_call, segments};
pub use state::{BLOCKS, CONTEXT_LIMIT, GoOn, HeadSeen, NUDGE_AFTER, SessionState};
pub use step::Outcome;
pub use summary::first_line;
