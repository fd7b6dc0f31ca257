//! What a command costs, counted in what it asks of the kernel, on histories of many kinds.

#[path = "../../benches/scale/mod.rs"]
mod scale;

mod hot_path;
mod prompts;
#[cfg(unix)]
mod travel;
