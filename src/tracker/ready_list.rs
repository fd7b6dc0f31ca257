//! What could be worked on, and what hangs on each of it.

use super::issue::{Brief, Issue};
use serde::Serialize;

/// Whose an issue is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is", content = "name")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Holder {
    /// Nobody's.
    Nobody,
    /// This actor's.
    Mine,
    /// Somebody else's.
    Other(String),
}

/// What hangs on an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reach {
    /// What it is a part of.
    pub parent: Option<Brief>,
    /// Open issues that wait for it.
    pub unblocks: Vec<Brief>,
    /// Open issues that wait for it, directly or not.
    pub unblocks_all: usize,
    /// Issues on the longest chain that starts here, itself among them.
    pub chain: usize,
    /// False: the numbers are lower bounds.
    pub complete: bool,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadyIssue {
    /// The issue.
    #[serde(flatten)]
    pub issue: Issue,
    /// Whose it is.
    pub holder: Holder,
    /// What hangs on it; null where it was not looked into, or nothing came in time.
    pub reach: Option<Reach>,
}

/// What could be worked on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadyList {
    /// In order of work.
    #[serde(rename = "ready")]
    pub rows: Vec<ReadyIssue>,
    /// Issues that wait for one another in a circle, as far as was seen.
    pub cycles: Vec<Vec<String>>,
    /// Why rows are not complete, each reason once.
    #[serde(skip)]
    pub problems: Vec<String>,
}
