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
    /// The test, as its runner names it; other changes have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What was seen.
    pub what: String,
    /// The reason that a commit's message gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
    /// What the review says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<String>,
}

impl TestChange {
    /// A commit declares that the test of this name, or of one that ends in it, was changed.
    pub fn is_declared_of(&self, test: &str) -> bool {
        let is_named = |name: &String| name == test || cook_trials::outcomes::names(name, test);
        self.declared.is_some() && self.name.as_ref().is_some_and(is_named)
    }
}
