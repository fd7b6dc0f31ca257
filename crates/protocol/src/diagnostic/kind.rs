//! How much a code weighs, and where it is used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a code weighs in `cook verify`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// For the reader; never changes an exit code.
    Note,
    /// Worth a look; changes an exit code only where more is asked for (`--strict`, `cook check`).
    Warning,
    /// A re-ground puts it right; fails with `--strict`.
    NeedsReground,
    /// Fails.
    Error,
}

/// Where a code is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// A breach of the report grammar or of its consistency rules.
    Report,
    /// A transition that is not taken.
    Refusal,
    /// Something `verify`, `next` or `status` points at.
    Finding,
    /// A command that cannot run.
    Failure,
}
