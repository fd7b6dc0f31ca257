//! Agents' lifecycle events against a worktree: facts in, one step of `cook_agents::hooks`, effects out.
//!
//! `respond` measures, remembers and prints nothing. Invariants: a hook commits no transition; it
//! ends well whatever it is given.

mod hook_issues;
mod hook_session;
pub(crate) mod install;
mod respond;

pub(crate) use hook_session::{
    attach, checkpoint, find_session_to_attach, recover, statusline, take_around,
};
pub use respond::{Call, Response, respond, respond_to_stop};
