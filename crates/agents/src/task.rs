//! What an agent is asked to do.

use super::{Bounds, Preset, Sandbox};
use cook_core::model::Access;
use cook_os::process::Clocks;
use cook_store::session::{Action, Native};
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;

/// What an agent is to do, and within what.
#[derive(Debug)]
pub struct Task<'a> {
    /// The agent.
    pub preset: &'a Preset,
    /// All that it is told; goes to its stdin.
    pub prompt: &'a str,
    /// What it may do.
    pub access: Access,
    /// Whether it may change anything.
    pub action: Action,
    /// What keeps it to that; none = nothing does.
    pub sandbox: Option<&'a Sandbox>,
    /// Where it works.
    pub dir: &'a Path,
    /// Its model; none = its own choice.
    pub model: Option<&'a str>,
    /// The shape of its answer.
    pub schema: Option<&'a Value>,
    /// The record of its own to fork; none = a fresh session.
    pub fork: Option<&'a Native>,
    /// How long it may take.
    pub clocks: Clocks,
    /// What it may take.
    pub bounds: Bounds,
    /// What marks all its processes; unique.
    pub invocation: &'a str,
    /// The role it plays, for `COOK_ROLE`.
    pub role: Option<&'a str>,
    /// Further variables.
    pub env: &'a [(String, OsString)],
    /// A directory for the session files that cook names.
    pub state: &'a Path,
    /// A directory for what is kept of this run alone; it must not be there yet.
    pub keep: &'a Path,
}
