//! The log and the exchanges of sessions.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod load;
mod log;
mod safety;
mod sessions;
mod view;
