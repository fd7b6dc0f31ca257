//! Lifecycle events of agents, through the built `cook`.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod agents;
mod check;
mod inbox;
mod lifecycle;
mod settings;
mod shims;
mod speed;
