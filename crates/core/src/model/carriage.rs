//! `[log]` of `cook.toml`: what a log holds, and how it travels.

use super::log_refs::LogRefs;
use serde::{Deserialize, Serialize};

/// What is recorded of the session that a report came out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchanges {
    /// Nothing: the report alone.
    None,
    /// The exchange that holds the report.
    #[default]
    Cited,
    /// Those before it in its window too.
    All,
}

impl Exchanges {
    /// What somebody who gets the log can read of sessions.
    pub fn describe(self) -> &'static str {
        match self {
            Self::None => "the log keeps reports and nothing of the sessions they came out of",
            Self::Cited => {
                "the log keeps each report with the exchange it came out of (`[log] exchanges`)"
            }
            Self::All => {
                "the log keeps each report with the session it came out of (`[log] exchanges`)"
            }
        }
    }
}

/// When transitions reach the remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// By `cook push` alone.
    #[default]
    Manual,
    /// After each transition, as far as the remote takes them.
    Push,
    /// With each transition, which counts only when the remote took it.
    Each,
}

/// `[log]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogSettings {
    /// What is recorded of sessions.
    pub exchanges: Exchanges,
    /// When transitions reach the remote.
    pub sync: Sync,
    /// The remote; that of the branch where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// What a log's ref is called there.
    pub remote_ref: LogRefs,
}
