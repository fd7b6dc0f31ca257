//! The tracked repository contract.

use super::scalar::{Count, SchemaVersion, Text, Texts};
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

/// How a repository runs the completion protocol: `profile.json`. Tracked in git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Profile {
    /// Version of this document's shape.
    pub schema_version: SchemaVersion,
    /// Name of the protocol.
    #[serde(deserialize_with = "protocol_id")]
    #[cfg_attr(feature = "schema", schemars(extend("const" = "completion")))]
    pub protocol_id: String,
    /// The repository's name.
    #[serde(with = "Text")]
    pub project_name: String,
    /// Judges that must agree at one HEAD in one wave.
    #[serde(deserialize_with = "at_least_one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub required_stop_judges: Count,
    /// How the judges' votes add up.
    #[serde(default = "aggregation", deserialize_with = "aggregation_id")]
    #[cfg_attr(feature = "schema", schemars(extend("const" = AGGREGATION)))]
    pub stop_aggregation_policy: String,
    /// Order in which slices are worth doing (`protocol/completion.md#order-of-work`).
    #[serde(deserialize_with = "priority_id")]
    #[cfg_attr(feature = "schema", schemars(extend("const" = "completion-default")))]
    pub priority_policy_id: String,
    /// What kind of work this is.
    #[serde(default = "task_type", with = "Text")]
    pub task_type: String,
    /// Which rubric reviewers, auditors and judges fill in.
    #[serde(default = "evaluation_profile", with = "Text")]
    pub evaluation_profile: String,
    /// Paths that hold documentation.
    #[serde(with = "Texts")]
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
