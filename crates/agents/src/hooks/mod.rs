//! Hooks: cook's answers to the lifecycle events of an agent's interactive session.
//!
//! `hook_event` knows the agents' JSON, `protocol/agents/` their events, and `layout`, `jsonc` and `toml_tables` their
//! settings files; `step` knows none of these and decides from values alone; `session_state` keeps what is remembered
//! of a session. Nothing here measures or prints, and the session state may be lost.

mod command_line;
mod hook_event;
pub mod jsonc;
pub mod layout;
mod recovery;
mod session_state;
mod step;
mod stop_check;
pub mod toml_tables;

pub use command_line::{Segment, find_directory, find_inside, issue_call, segments};
pub use cook_protocol::model::hook_table::{Gate, Kind, Row};
pub use hook_event::{Action, Agent, Effects, Event, Prompt, Source, Tool, answer, read, within};
pub use recovery::{CHECKPOINTS, Item, MAX_BYTES, Recovery, ago};
pub use session_state::{
    BLOCKS, CONTEXT_LIMIT, ClosedIssue, Due, GoOn, HeadSeen, NUDGE_AFTER, OWNER_SILENCE_MS, Owner,
    SessionState, Situation, StateDir, Wants, Workflow, begins, wants,
};
pub use step::{Outcome, first_line, step};
pub use stop_check::{False, Owed, check_stop, is_checked};
