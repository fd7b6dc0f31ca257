//! An entry of a git tree.

use serde::{Deserialize, Serialize};

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeEntry {
    /// Octal, as git writes it.
    pub mode: String,
    /// Object id.
    pub id: String,
}
