//! The repository contract, which is tracked in git, and the profile that says how much of the protocol it asks for.

use super::scalar::{Count, SchemaVersion, Text, Texts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use strum::IntoStaticStr;

/// The files that `cook init` puts under version control, relative to the worktree.
pub const CONTRACT_FILES: [&str; 5] = [
    ".agent/README.md",
    ".agent/mission.md",
    ".agent/profile.json",
    ".agent/verify_completion_control_plane.sh",
    ".agent/verify_completion_stop.sh",
];

/// The contract files that the user is responsible for: they say which commands run, how long, and which must
/// pass at the end. A change that the user did not make stops the work.
pub const SETTINGS_FILES: [&str; 3] = [
    ".agent/cook.toml",
    ".agent/verify_completion_control_plane.sh",
    ".agent/verify_completion_stop.sh",
];

/// The command that must pass before a project ends.
pub const STOP_VERIFIER: &str = "bash .agent/verify_completion_stop.sh";

/// The contract files that this command runs.
pub const STOP_VERIFIER_SCRIPTS: [&str; 2] = [
    ".agent/verify_completion_stop.sh",
    ".agent/verify_completion_control_plane.sh",
];

/// Settings of the completion protocol for a repository: `profile.json`, which is tracked in git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of the document format.
    pub schema_version: SchemaVersion,
    /// Name of the protocol.
    pub protocol_id: ProtocolId,
    /// Name of the repository.
    #[serde(with = "Text")]
    pub project_name: String,
    /// Number of judges that must agree at one HEAD in one stop wave; 0 only under `lite`.
    pub required_stop_judges: Count,
    /// Assurance profile: how much of the protocol is required; absent for `strict`. Only the user may change it.
    #[serde(default, skip_serializing_if = "Assurance::is_strict")]
    pub assurance: Assurance,
    /// Rule by which the votes of the judges are combined.
    #[serde(default)]
    pub stop_aggregation_policy: Aggregation,
    /// Name of the rule for the order of work (`protocol/completion.md#order-of-work`).
    pub priority_policy_id: PriorityPolicy,
    /// Label for the kind of work; `state.json` repeats it.
    #[serde(default = "task_type", with = "Text")]
    pub task_type: String,
    /// Label for the rubric of reviewers, auditors and judges; `state.json` repeats it.
    #[serde(default = "evaluation_profile", with = "Text")]
    pub evaluation_profile: String,
    /// Paths of the documentation.
    #[serde(with = "Texts")]
    pub docs_surfaces: Vec<String>,
    /// Whether a job in which no command ran may pass `cook verify --strict`; absent if false. Only the user may change
    /// it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub text_proof_alone: bool,
}

/// Name of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum ProtocolId {
    #[default]
    #[serde(rename = "completion")]
    Completion,
}

/// Rule by which the votes of the judges are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum Aggregation {
    #[default]
    #[serde(rename = "unanimous-current-head-v1")]
    Unanimous,
}

/// Name of the rule for the order of work.
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

impl Profile {
    /// Returns a profile with `strict` assurance. `cook init` lowers it if the user chose less.
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

// How much of the protocol a project asks for: the field `assurance` of `profile.json`, and its record in the
// log (`docs/assurance.md`).

/// A profile, the least first.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    IntoStaticStr,
    JsonSchema,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// Commands alone decide: there is one slice, and no review, audit or judge (`docs/goal.md`).
    Goal,
    /// cook re-grounds where nothing is to be weighed, and no audit is due unless it is asked for.
    Lite,
    /// cook re-grounds where nothing is to be weighed, and the last open slice is audited.
    Standard,
    /// Each step is a session of its role.
    #[default]
    Strict,
}

impl Assurance {
    /// The profiles that `cook init` accepts, from the strictest to the most lenient.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Standard, Self::Lite];

    /// Whether it is the default, which documents leave out.
    pub fn is_strict(&self) -> bool {
        *self == Self::Strict
    }
}

impl fmt::Display for Assurance {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A profile that stays in force for a while after the user chose a lower one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// The profile.
    pub assurance: Assurance,
    /// The profile stays in force while this slice is in work; `None` if it stays until the wave ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice_id: Option<String>,
}

/// What the ledger keeps if a profile below `strict` is or was in force.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Assured {
    /// A higher profile than that of `profile.json`, while it stays in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// The lowest profile under which a slice was accepted or a vote was taken.
    #[serde(skip_serializing_if = "Assurance::is_strict")]
    pub lowest: Assurance,
    /// Slices accepted since the last audit.
    pub unaudited: Count,
    /// Re-grounds that cook itself has made since the last one of an agent.
    pub by_cook: Count,
    /// The number of remarks when an agent last re-grounded; 0 if none has and the user brought the plan. `None` if
    /// none has and the user did not, or if that re-ground was under `strict` or named blockers or deviations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remarks_seen: Option<Count>,
}

impl Assured {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A proof of a criterion that an implementer offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// The criterion.
    pub criterion: String,
    /// The anchor of the proof.
    pub anchor: String,
}

/// The kinds of re-ground that cook may make itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ByCook {
    /// Select the first slice in order of work.
    Select,
    /// Accept the committed slice.
    Accept,
    /// End the project.
    Stop,
}

impl ByCook {
    /// The author that history records name for such a re-ground: cook, and the version of the rules.
    pub const BY: &str = "cook/mechanical-v1";
}
