//! `[sandbox]` of `cook.toml`: whether the kernel keeps agents and gates to what they may write.

use super::setting::SocketPath;
use serde::{Deserialize, Serialize};

/// When agents and gates run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Where it works.
    #[default]
    Auto,
    /// Never: what a session changed is measured afterwards.
    Off,
    /// Always: nothing starts where it does not work.
    Required,
}

/// `[sandbox]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// When it is used.
    pub mode: SandboxMode,
    /// Sockets of the machine that agents reach inside, with all that answers there.
    pub sockets: Vec<SocketPath>,
}
