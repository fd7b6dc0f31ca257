//! What is read of and done to a git repository, in the environment of [`support::scratch::hermetic`].
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod baseline;
mod commit;
mod facts;
mod merged;
mod parked;
