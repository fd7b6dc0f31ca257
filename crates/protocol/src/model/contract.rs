//! The tracked repository contract.

use super::assurance::Assurance;
use super::scalar::{Count, SchemaVersion, Text, Texts};
use schemars::JsonSchema;
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of this document's shape.
    pub schema_version: SchemaVersion,
    /// Name of the protocol.
    pub protocol_id: ProtocolId,
    /// The repository's name.
    #[serde(with = "Text")]
    pub project_name: String,
    /// Judges that must agree at one HEAD in one wave.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    pub required_stop_judges: Count,
    /// How much of the protocol is asked for; absent = `strict`. The user's alone to choose.
    #[serde(default, skip_serializing_if = "Assurance::is_strict")]
    pub assurance: Assurance,
    /// How the judges' votes add up.
    #[serde(default)]
    pub stop_aggregation_policy: Aggregation,
    /// Order in which slices are worth doing (`protocol/completion.md#order-of-work`).
    pub priority_policy_id: PriorityPolicy,
    /// What kind of work this is.
    #[serde(default = "task_type", with = "Text")]
    pub task_type: String,
    /// Which rubric reviewers, auditors and judges fill in.
    #[serde(default = "evaluation_profile", with = "Text")]
    pub evaluation_profile: String,
    /// Paths that hold documentation.
    #[serde(with = "Texts")]
    pub docs_surfaces: Vec<String>,
    /// A job in which no command ran passes `cook verify --strict`. The user's alone to choose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub text_proof_alone: bool,
}

/// The one protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum ProtocolId {
    #[default]
    #[serde(rename = "completion")]
    Completion,
}

/// The one way to add up votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum Aggregation {
    #[default]
    #[serde(rename = "unanimous-current-head-v1")]
    Unanimous,
}

/// The one order of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum PriorityPolicy {
    #[default]
    #[serde(rename = "completion-default")]
    Completion,
}

pub(super) fn task_type() -> String {
    "completion-workflow".to_owned()
}
pub(super) fn evaluation_profile() -> String {
    "completion-rubric-v1".to_owned()
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
            protocol_id: ProtocolId::Completion,
            project_name: project_name.to_owned(),
            required_stop_judges: Count(3),
            assurance: Assurance::Strict,
            stop_aggregation_policy: Aggregation::Unanimous,
            priority_policy_id: PriorityPolicy::Completion,
            task_type: task_type(),
            evaluation_profile: evaluation_profile(),
            docs_surfaces: vec!["README.md".to_owned(), "docs/".to_owned()],
            text_proof_alone: false,
        }
    }
}
