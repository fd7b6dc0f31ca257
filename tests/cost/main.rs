//! What a command costs, counted in what it asks of the kernel, on histories of many kinds.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../../benches/scale/mod.rs"]
mod scale;

mod histories;
mod hot_path;
#[cfg(unix)]
mod travel;
