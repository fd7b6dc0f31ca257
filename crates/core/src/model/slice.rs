//! `active-slice.json`: the one slice in work, with the exact handoff.

use super::plan::optional_text;
use super::scalar::{Count, Priority, SchemaVersion, non_empty, non_empty_items, optional_items};
use serde::{Deserialize, Serialize};

/// Where the active slice stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
        match self {
            ActiveStatus::Idle => "idle",
            ActiveStatus::Selected => "selected",
            ActiveStatus::InProgress => "in_progress",
            ActiveStatus::Committed => "committed",
            ActiveStatus::Done => "done",
        }
    }
}

/// `active-slice.json`. In every status but `idle` the handoff fields are
/// required; reading one without them fails with the missing names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct ActiveSlice {
    /// Always 1.
    pub schema_version: SchemaVersion,
    /// Log sequence, as in `state.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Count>,
    /// Where it stands.
    pub status: ActiveStatus,
    /// The slice; null when idle.
    pub slice_id: Option<String>,
    /// Its goal; null when idle.
    pub goal: Option<String>,
    /// Its contracts.
    pub contract_ids: Vec<String>,
    /// First line of the mission.
    pub mission_anchor: String,
    /// The exact handoff; written flat into the document.
    #[serde(flatten)]
    pub handoff: Option<Handoff>,
}

/// The exact handoff: what an implementer needs to start or to go on after a
/// compaction, without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    /// What must hold.
    pub acceptance_criteria: Vec<String>,
    /// 1 = first.
    pub priority: Priority,
    /// Why this slice now.
    pub why_now: String,
    /// What it waits for.
    pub blocked_on: Vec<String>,
    /// What must be respected.
    pub locked_notes: Vec<String>,
    /// What must be fixed.
    pub must_fix_findings: Vec<String>,
    /// HEAD at selection.
    pub basis_commit: String,
    /// Open contracts at selection.
    pub remaining_contract_ids_before: Vec<String>,
    /// Release blockers at selection.
    pub release_blocker_count_before: Count,
    /// High-value gaps at selection.
    pub high_value_gap_count_before: Count,
    /// Paths it is expected to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementation_surfaces: Option<Vec<String>>,
    /// Gates of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification_commands: Option<Vec<String>>,
}

/// The document as it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    schema_version: SchemaVersion,
    #[serde(default)]
    revision: Option<Count>,
    status: ActiveStatus,
    #[serde(default, deserialize_with = "optional_text")]
    slice_id: Option<String>,
    #[serde(default, deserialize_with = "optional_text")]
    goal: Option<String>,
    #[serde(deserialize_with = "non_empty_items")]
    contract_ids: Vec<String>,
    #[serde(deserialize_with = "non_empty")]
    mission_anchor: String,
    #[serde(default, deserialize_with = "optional_items")]
    acceptance_criteria: Option<Vec<String>>,
    #[serde(default)]
    priority: Option<Priority>,
    #[serde(default)]
    why_now: Option<String>,
    #[serde(default, deserialize_with = "optional_items")]
    blocked_on: Option<Vec<String>>,
    #[serde(default, deserialize_with = "optional_items")]
    locked_notes: Option<Vec<String>>,
    #[serde(default, deserialize_with = "optional_items")]
    must_fix_findings: Option<Vec<String>>,
    #[serde(default, deserialize_with = "optional_text")]
    basis_commit: Option<String>,
    #[serde(default, deserialize_with = "optional_items")]
    remaining_contract_ids_before: Option<Vec<String>>,
    #[serde(default)]
    release_blocker_count_before: Option<Count>,
    #[serde(default)]
    high_value_gap_count_before: Option<Count>,
    #[serde(default, deserialize_with = "optional_items")]
    implementation_surfaces: Option<Vec<String>>,
    #[serde(default, deserialize_with = "optional_items")]
    verification_commands: Option<Vec<String>>,
}

impl TryFrom<Raw> for ActiveSlice {
    type Error = String;

    fn try_from(raw: Raw) -> Result<Self, String> {
        if raw.status == ActiveStatus::Idle {
            return Ok(Self {
                schema_version: raw.schema_version,
                revision: raw.revision,
                status: raw.status,
                slice_id: None,
                goal: None,
                contract_ids: raw.contract_ids,
                mission_anchor: raw.mission_anchor,
                handoff: None,
            });
        }
        let mut missing = Vec::new();
        let mut check = |name: &'static str, present: bool| {
            if !present {
                missing.push(name);
            }
        };
        check("slice_id", raw.slice_id.is_some());
        check("goal", raw.goal.is_some());
        check("acceptance_criteria", raw.acceptance_criteria.is_some());
        check("priority", raw.priority.is_some());
        check("why_now", raw.why_now.is_some());
        check("blocked_on", raw.blocked_on.is_some());
        check("locked_notes", raw.locked_notes.is_some());
        check("must_fix_findings", raw.must_fix_findings.is_some());
        check("basis_commit", raw.basis_commit.is_some());
        check(
            "remaining_contract_ids_before",
            raw.remaining_contract_ids_before.is_some(),
        );
        check(
            "release_blocker_count_before",
            raw.release_blocker_count_before.is_some(),
        );
        check(
            "high_value_gap_count_before",
            raw.high_value_gap_count_before.is_some(),
        );
        let handoff = (|| {
            Some(Handoff {
                acceptance_criteria: raw.acceptance_criteria?,
                priority: raw.priority?,
                why_now: raw.why_now?,
                blocked_on: raw.blocked_on?,
                locked_notes: raw.locked_notes?,
                must_fix_findings: raw.must_fix_findings?,
                basis_commit: raw.basis_commit?,
                remaining_contract_ids_before: raw.remaining_contract_ids_before?,
                release_blocker_count_before: raw.release_blocker_count_before?,
                high_value_gap_count_before: raw.high_value_gap_count_before?,
                implementation_surfaces: raw.implementation_surfaces,
                verification_commands: raw.verification_commands,
            })
        })();
        if !missing.is_empty() {
            return Err(format!(
                "the exact handoff of a slice that is {} lacks {}",
                raw.status.id(),
                missing.join(", ")
            ));
        }
        Ok(Self {
            schema_version: raw.schema_version,
            revision: raw.revision,
            status: raw.status,
            slice_id: raw.slice_id,
            goal: raw.goal,
            contract_ids: raw.contract_ids,
            mission_anchor: raw.mission_anchor,
            handoff,
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
