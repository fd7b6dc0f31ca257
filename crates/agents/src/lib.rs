//! Agent programs as suppliers: presets are data, and one interpreter starts a program,
//! reads its events, judges whether it succeeded and keeps what it said.
//!
//! Invariants: the prompt goes to stdin and never into an argument; an exit code alone is
//! never a success where the program speaks in events; nothing the program started
//! outlives a run; what is kept holds none of the secrets that are recognised; cook goes
//! on from a program's own record by a fork only, and only while the record is what it was.

mod acp;
mod agent_run;
mod agent_sandbox;
mod agent_supplier;
pub mod hooks;
mod listen;
mod preset;
mod usage;

pub use agent_run::{open_command, run, transcript_digest};
pub use agent_sandbox::{Directories, Sandbox, Surroundings};
pub use agent_supplier::{
    AgentSupplier, PutBack, Report, SecretSearch, Watch, end_left, redact, settle_left,
    workflow_mark,
};
pub use listen::{AgentFailure, FailureClass, Progress, describe_error};
pub use preset::{Found, Preset, describe_elsewhere, find, presets, probe_version};
pub use usage::{Bounds, Spent, Tokens, prompt_tokens, tokens};
