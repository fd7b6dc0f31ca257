//! Agent programs as suppliers: presets are data, and one interpreter starts a program, reads its events, judges
//! whether it succeeded and stores its output.
//!
//! Invariants: the prompt goes to stdin and never into an argument; if a program emits events, exit code 0 alone is
//! never a success; no process that the program started outlives a run; recognised secrets are removed from everything
//! that is stored; an earlier session is continued only by a fork, and only if the program's own record of it is
//! unchanged.

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
