//! Changes of tests that a review answers for.

use serde::{Deserialize, Serialize};

/// A change of a test that commits declare, or that could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestChange {
    /// By which a review names it.
    pub id: String,
    /// The code of what it is.
    pub code: String,
    /// What was seen.
    pub what: String,
    /// The reason that a commit's message gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
    /// What the review says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<String>,
}
