//! Agents as processes: the program itself, recorded streams, the Agent Client Protocol.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod acp;
mod process;
mod streams;
