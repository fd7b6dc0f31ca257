//! Issue trackers: the calls, `cook issue`, and hooks beside a tracker.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod hooks;
mod issue;
mod library;
