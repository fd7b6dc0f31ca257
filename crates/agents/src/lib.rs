//! Agent programs as suppliers: presets are data, and one interpreter starts a program,
//! reads its events, judges whether it succeeded and keeps what it said.
//!
//! Invariants: the prompt goes to stdin and never into an argument; an exit code alone is
//! never a success where the program speaks in events; nothing the program started
//! outlives a run; what is kept holds none of the secrets that are recognised; cook goes
//! on from a program's own record by a fork only, and only while the record is what it was.

mod acp;
mod argv;
mod error;
mod event;
mod failure;
mod found;
mod left;
mod listen;
mod meter;
mod named;
mod preset;
mod redact;
mod report;
mod run;
mod sandbox;
pub mod scripted;
mod spent;
mod supplier;
mod surroundings;
mod task;
mod usage;

pub use error::AgentError;
pub use failure::{AgentFailure, FailureClass};
pub use found::{Found, find, probe_version};
pub use left::{end_left, settle_left, workflow_mark};
pub use listen::Progress;
pub use meter::Bounds;
pub use preset::{Preset, presets};
pub use redact::{find_secrets, redact};
pub use report::Report;
pub use run::{open_command, run, transcript_digest};
pub use sandbox::{Directories, Sandbox};
pub use spent::Spent;
pub use supplier::{AgentSupplier, PutBack, Watch};
pub use surroundings::Surroundings;
pub use task::Task;
pub use usage::{Tokens, prompt_tokens, tokens};
