//! Agents' lifecycle events against a worktree: facts in, one step of `cook_hooks`, effects out.
//!
//! `respond` measures, remembers and prints nothing. Invariants: a hook commits no transition; it
//! ends well whatever it is given.

mod at_stop;
mod context;
mod effects;
mod error;
mod facts;
pub(crate) mod install;
mod issues;
mod measure;
mod respond;
mod session;
mod tracker;

pub use at_stop::respond_to_stop;
pub(crate) use issues::find_tracker;
pub use respond::{Call, OpenTracker, Response, respond};
pub(crate) use session::{
    attach, checkpoint, find_session_to_attach, recover, statusline, take_around,
};
pub use tracker::{Picture, Tracker, Wanted};
