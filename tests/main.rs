//! All tests of the program, as one program: each folder is a module, `support` is what they share.
//!
//! `cargo test --test all cli::` runs those of one folder. What has to run alone stands in `Cargo.toml`.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod support;

mod agents;
mod architecture;
mod calibrate;
mod cheats;
mod cli;
mod cost;
mod crash;
mod docs;
mod drive;
mod evidence;
mod goal;
mod handover;
mod hooks;
mod hostile;
mod mcp;
mod pi;
mod processes;
mod remote;
mod store;
mod strength;
mod toolchains;
mod tracker;
mod trial;
mod verify;
