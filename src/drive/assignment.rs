//! Who plays what in a run, and how far it goes.

use cook_agents::Preset;
use cook_core::model::{Access, Price, Role};
use cook_os::process::Clocks;
use std::collections::BTreeMap;
use std::time::Duration;

/// An agent that plays a role, and how.
#[derive(Debug, Clone)]
pub struct RoleAgent {
    /// The agent.
    pub preset: Preset,
    /// Its model; none = its own choice.
    pub model: Option<String>,
    /// What it may do.
    pub access: Access,
    /// How long it may take.
    pub clocks: Clocks,
    /// What its tokens cost, where it does not tell itself.
    pub price: Option<Price>,
}

/// Who plays which role: first choice first.
pub type RoleAssignment = BTreeMap<Role, Vec<RoleAgent>>;

/// How far a run goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Sessions.
    pub steps: u64,
    /// Wall time.
    pub wall: Duration,
    /// Millionths of a dollar that the workflow may cost; 0 = no limit.
    pub cost_micro_usd: u64,
    /// Tokens that its calls of unknown cost may take; none = no limit.
    pub tokens: Option<u64>,
    /// Requests to a model that one session may make; none = no limit.
    pub requests: Option<u64>,
}
