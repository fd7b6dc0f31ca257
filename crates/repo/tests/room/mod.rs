//! The clean room and the sandbox, in the directories of real repositories.
#![cfg(unix)]

mod fill;
mod hostile;
mod rooms;
#[cfg(target_os = "linux")]
mod sandbox;
mod support;
