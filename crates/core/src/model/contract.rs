//! The tracked repository contract.

use super::scalar::{Count, SchemaVersion, non_empty, non_empty_items};
use serde::{Deserialize, Serialize};

/// The files that `cook init` puts under version control, relative to the worktree.
pub const CONTRACT_FILES: [&str; 5] = [
    ".agent/README.md",
    ".agent/mission.md",
    ".agent/profile.json",
    ".agent/verify_completion_control_plane.sh",
    ".agent/verify_completion_stop.sh",
];

/// The contract files whose content the user answers for: what runs, how long, and what
/// must pass at the end. A change of theirs that the user did not make stops the work.
pub const SETTINGS_FILES: [&str; 3] = [
    ".agent/cook.toml",
    ".agent/verify_completion_control_plane.sh",
    ".agent/verify_completion_stop.sh",
];

/// The command that a project's end rests on.
pub const STOP_VERIFIER: &str = "bash .agent/verify_completion_stop.sh";

/// What that command runs of the contract.
pub const STOP_VERIFIER_SCRIPTS: [&str; 2] = [
    ".agent/verify_completion_stop.sh",
    ".agent/verify_completion_control_plane.sh",
];

/// `profile.json`: how this repository runs the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Always 1.
    pub schema_version: SchemaVersion,
    /// Always `completion`.
    #[serde(deserialize_with = "protocol_id")]
    pub protocol_id: String,
    /// The repository's name.
    #[serde(deserialize_with = "non_empty")]
    pub project_name: String,
    /// How many judges must agree at one HEAD in one wave; at least 1.
    #[serde(deserialize_with = "at_least_one")]
    pub required_stop_judges: Count,
    /// How their votes add up.
    #[serde(default = "aggregation", deserialize_with = "aggregation_id")]
    pub stop_aggregation_policy: String,
    /// The order in which slices are worth doing (`protocol/completion.md#order-of-work`).
    #[serde(deserialize_with = "priority_id")]
    pub priority_policy_id: String,
    /// What kind of work this is.
    #[serde(default = "task_type", deserialize_with = "non_empty")]
    pub task_type: String,
    /// Which rubric reviewers, auditors and judges fill in.
    #[serde(default = "evaluation_profile", deserialize_with = "non_empty")]
    pub evaluation_profile: String,
    /// Paths that hold documentation.
    #[serde(deserialize_with = "non_empty_items")]
    pub docs_surfaces: Vec<String>,
}

/// The one aggregation policy.
pub const AGGREGATION: &str = "unanimous-current-head-v1";

fn aggregation() -> String {
    AGGREGATION.to_owned()
}
fn task_type() -> String {
    "completion-workflow".to_owned()
}
fn evaluation_profile() -> String {
    "completion-rubric-v1".to_owned()
}

fn exactly<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
    wanted: &'static str,
) -> Result<String, D::Error> {
    let found = String::deserialize(deserializer)?;
    if found == wanted {
        Ok(found)
    } else {
        Err(serde::de::Error::custom(format!("expected `{wanted}`")))
    }
}
fn protocol_id<'de, D: serde::Deserializer<'de>>(d: D) -> Result<String, D::Error> {
    exactly(d, "completion")
}
fn priority_id<'de, D: serde::Deserializer<'de>>(d: D) -> Result<String, D::Error> {
    exactly(d, "completion-default")
}
fn aggregation_id<'de, D: serde::Deserializer<'de>>(d: D) -> Result<String, D::Error> {
    exactly(d, AGGREGATION)
}
fn at_least_one<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Count, D::Error> {
    let count = Count::deserialize(d)?;
    if count.0 == 0 {
        return Err(serde::de::Error::custom("at least one judge is required"));
    }
    Ok(count)
}

impl Profile {
    /// The profile `cook init` writes.
    pub fn new(project_name: &str) -> Self {
        Self {
            schema_version: SchemaVersion,
            protocol_id: "completion".to_owned(),
            project_name: project_name.to_owned(),
            required_stop_judges: Count(3),
            stop_aggregation_policy: aggregation(),
            priority_policy_id: "completion-default".to_owned(),
            task_type: task_type(),
            evaluation_profile: evaluation_profile(),
            docs_surfaces: vec!["README.md".to_owned(), "docs/".to_owned()],
        }
    }
}
