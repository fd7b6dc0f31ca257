//! Who misbehaves in a demonstration.

use serde::{Deserialize, Serialize};

/// An agent that misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Culprit {
    /// Reports a commit that is not there, and green tests that are red
    Liar,
    /// Weakens a criterion, edits cook's files, disarms the stop verifier
    Cheater,
    /// Dies in the middle of a line, with its work committed
    Crasher,
    /// Prints nothing and does not end
    Hanger,
    /// Prints 1 GB
    Flooder,
    /// Edits, commits and tags where it may only read
    Editor,
}
