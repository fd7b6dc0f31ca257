//! Handles agents' hook events in a worktree: measures facts, makes one step of `cook_agents::hooks`, and applies its
//! effects.
//!
//! `respond` prints nothing. Invariants: a hook commits no transition, and it succeeds whatever its input.

mod hook_issues;
mod hook_session;
pub(crate) mod install;
mod respond;

pub(crate) use hook_session::{
    attach, checkpoint, find_session_to_attach, recover, statusline, take_around,
};
pub use respond::{Call, Response, respond, respond_to_stop};
