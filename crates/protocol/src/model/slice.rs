//! `active-slice.json`: the one slice in work, with the exact handoff.

use super::scalar::{Count, MaybeText, MaybeTexts, Priority, SchemaVersion, Text, Texts};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use strum::IntoStaticStr;

/// Where the active slice stands.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    JsonSchema,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ActiveStatus {
    Idle,
    Selected,
    InProgress,
    Committed,
    Done,
}

impl ActiveStatus {
    /// The word in documents.
    pub fn id(self) -> &'static str {
        self.into()
    }
}

/// The one slice in work. In every status but idle it carries the exact handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActiveSlice {
    /// Version of this document's shape.
    pub schema_version: SchemaVersion,
    /// Number of the transition that wrote the document; the same in `state.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Count>,
    /// Where the slice stands.
    pub status: ActiveStatus,
    /// The slice; null when idle.
    #[serde(with = "MaybeText")]
    pub slice_id: Option<String>,
    /// What it is for; null when idle.
    #[serde(with = "MaybeText")]
    pub goal: Option<String>,
    /// Contracts it serves.
    #[serde(with = "Texts")]
    pub contract_ids: Vec<String>,
    /// The one line that names the mission.
    #[serde(with = "Text")]
    pub mission_anchor: String,
    /// The exact handoff; written flat into the document.
    #[serde(flatten)]
    pub handoff: Option<Handoff>,
}

/// The exact handoff: what an implementer needs to start or to go on after a
/// compaction, without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    /// What must hold for it to be done.
    #[serde(with = "Texts")]
    pub acceptance_criteria: Vec<String>,
    /// Place in the order of work; 1 comes first.
    pub priority: Priority,
    /// Why it comes when it comes.
    pub why_now: String,
    /// What it waits for.
    #[serde(with = "Texts")]
    pub blocked_on: Vec<String>,
    /// What the implementer has to respect.
    #[serde(with = "Texts")]
    pub locked_notes: Vec<String>,
    /// What this attempt has to fix.
    #[serde(with = "Texts")]
    pub must_fix_findings: Vec<String>,
    /// HEAD when it was selected.
    #[serde(with = "Text")]
    pub basis_commit: String,
    /// Contracts that were open when it was selected.
    #[serde(with = "Texts")]
    pub remaining_contract_ids_before: Vec<String>,
    /// Release blockers when it was selected.
    pub release_blocker_count_before: Count,
    /// High-value gaps when it was selected.
    pub high_value_gap_count_before: Count,
    /// Paths it is expected to change.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub implementation_surfaces: Option<Vec<String>>,
    /// Gates of its own.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub verification_commands: Option<Vec<String>>,
}

impl Handoff {
    /// The handoff of a slice in work: all of it, and nothing else.
    fn read_whole(fields: Map<String, Value>) -> serde_json::Result<Self> {
        Self::deserialize(Value::Object(fields))
    }

    /// What is left of a handoff in an idle document: as much as there is, each field with its type.
    fn check_rest(fields: Map<String, Value>) -> serde_json::Result<()> {
        let mut whole = serde_json::to_value(Self {
            basis_commit: "none".to_owned(),
            ..Self::default()
        })?;
        for (name, value) in fields {
            // Null is as good as nothing, of a field that there is.
            if !value.is_null() || whole.get(&name).is_none() {
                whole[&name] = value;
            }
        }
        Self::deserialize(whole).map(|_| ())
    }
}

/// The document as it stands in the file.
#[derive(Deserialize)]
struct Raw {
    schema_version: SchemaVersion,
    #[serde(default)]
    revision: Option<Count>,
    status: ActiveStatus,
    #[serde(default, with = "MaybeText")]
    slice_id: Option<String>,
    #[serde(default, with = "MaybeText")]
    goal: Option<String>,
    #[serde(with = "Texts")]
    contract_ids: Vec<String>,
    #[serde(with = "Text")]
    mission_anchor: String,
    #[serde(flatten)]
    handoff: Map<String, Value>,
}

impl<'de> Deserialize<'de> for ActiveSlice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Raw::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl TryFrom<Raw> for ActiveSlice {
    type Error = String;

    fn try_from(raw: Raw) -> Result<Self, String> {
        let idle = raw.status == ActiveStatus::Idle;
        if !idle && (raw.slice_id.is_none() || raw.goal.is_none()) {
            return Err(format!(
                "a slice that is {} has a `slice_id` and a `goal`",
                raw.status.id()
            ));
        }
        let handoff = match idle {
            true => Handoff::check_rest(raw.handoff).map(|()| None),
            false => Handoff::read_whole(raw.handoff).map(Some),
        };
        Ok(Self {
            schema_version: raw.schema_version,
            revision: raw.revision,
            status: raw.status,
            slice_id: raw.slice_id.filter(|_| !idle),
            goal: raw.goal.filter(|_| !idle),
            contract_ids: raw.contract_ids,
            mission_anchor: raw.mission_anchor,
            handoff: handoff.map_err(|error| format!("the exact handoff: {error}"))?,
        })
    }
}

impl ActiveSlice {
    /// No slice in work.
    pub fn idle(mission_anchor: &str) -> Self {
        Self {
            schema_version: SchemaVersion,
            revision: None,
            status: ActiveStatus::Idle,
            slice_id: None,
            goal: None,
            contract_ids: Vec::new(),
            mission_anchor: mission_anchor.to_owned(),
            handoff: None,
        }
    }
}
