//! A report as histories and events keep it.

use super::state::Role;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One dimension's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RubricVerdict {
    Pass,
    Concern,
    Fail,
}

/// One line of a rubric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RubricEntry {
    /// pass, concern or fail.
    pub verdict: RubricVerdict,
    /// Why.
    pub why: String,
}

/// The four dimensions, by key (`contract_coverage`, …).
pub type Rubric = BTreeMap<String, RubricEntry>;

/// A report as it is kept: the fields by key, and the rubric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportRecord {
    /// Whose report it is.
    pub role: Role,
    /// Text of each field, by key.
    pub fields: BTreeMap<String, String>,
    /// The four dimensions, by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<Rubric>,
}
