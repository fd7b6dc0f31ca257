//! Budgets of a workflow.

use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Budgets. In `cook.toml` a value replaces the default; in a `Resume` it is added.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Red gates or refused reports a slice may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_per_slice: Option<u64>,
    /// Role events a workflow may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Wall time of one `cook run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<String>,
    /// Money, in millionths of a dollar (`cost_usd` in the file).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
}

/// Attempts a slice has by default.
pub const ATTEMPTS_PER_SLICE: NonZeroU64 = NonZeroU64::MIN.saturating_add(3);

/// Steps a workflow has by default.
pub const STEPS: NonZeroU64 = NonZeroU64::MIN.saturating_add(59);

impl Limits {
    /// Attempts a slice may cost.
    pub fn attempts(&self) -> u64 {
        self.attempts_per_slice.unwrap_or(ATTEMPTS_PER_SLICE.get())
    }

    /// The same with what the user granted besides.
    pub fn add_attempts(&self, granted: &Limits) -> u64 {
        self.attempts()
            .saturating_add(granted.attempts_per_slice.unwrap_or(0))
    }

    /// Role events a workflow may take.
    pub fn steps(&self) -> u64 {
        self.steps.unwrap_or(STEPS.get())
    }
}
