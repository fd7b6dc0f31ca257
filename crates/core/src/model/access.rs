//! What a session may do to the repository.

use serde::{Deserialize, Serialize};

/// What a session may do to the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Access {
    /// Not even read: no tools at all.
    None,
    Read,
    Write,
    Full,
}
