//! Several commands and several worktrees at once, odd surroundings, and that every state leads on.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod concurrency;
mod liveness;
mod surroundings;
mod watch;
mod worktrees;
