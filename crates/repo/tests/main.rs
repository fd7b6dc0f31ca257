//! The library on real repositories. Every test cleans the environment of this process first (`scratch::hermetic`), which
//! those of `tests/` must keep: two programs.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[cfg(target_os = "linux")]
mod agent;
mod gates;
mod git;
#[path = "../../../tests/support/machine.rs"]
mod machine;
mod room;
mod scratch;
