//! `plan.json`: the ordered backlog of slices.

use super::evidence::Evidence;
use super::scalar::{
    Count, Priority, SchemaVersion, Timestamp, non_empty, non_empty_items, nullable, optional_items,
};
use serde::{Deserialize, Serialize};

/// Where a slice stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum SliceStatus {
    Planned,
    Selected,
    InProgress,
    Blocked,
    Done,
    Cancelled,
}

impl SliceStatus {
    /// Neither done nor cancelled.
    pub fn is_open(self) -> bool {
        !matches!(self, SliceStatus::Done | SliceStatus::Cancelled)
    }

    /// The word in documents.
    pub fn id(self) -> &'static str {
        match self {
            SliceStatus::Planned => "planned",
            SliceStatus::Selected => "selected",
            SliceStatus::InProgress => "in_progress",
            SliceStatus::Blocked => "blocked",
            SliceStatus::Done => "done",
            SliceStatus::Cancelled => "cancelled",
        }
    }
}

/// One entry of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// Its name; unique in the plan.
    #[serde(deserialize_with = "non_empty")]
    pub slice_id: String,
    /// What it is for.
    #[serde(deserialize_with = "non_empty")]
    pub goal: String,
    /// What must hold for it to be done. Locked once set. Empty only in an imported plan.
    #[serde(deserialize_with = "non_empty_items")]
    pub acceptance_criteria: Vec<String>,
    /// Top-level contracts it serves.
    #[serde(deserialize_with = "non_empty_items")]
    pub contract_ids: Vec<String>,
    /// 1 = first.
    pub priority: Priority,
    /// Where it stands.
    pub status: SliceStatus,
    /// Why it comes when it comes.
    pub why_now: String,
    /// Slices that must be done first, or a text that names an outside blocker.
    #[serde(deserialize_with = "non_empty_items")]
    pub blocked_on: Vec<String>,
    /// Proof, one entry a criterion.
    pub evidence: Vec<Evidence>,
    /// Paths it is expected to change.
    #[serde(
        default,
        deserialize_with = "optional_items",
        skip_serializing_if = "Option::is_none"
    )]
    pub implementation_surfaces: Option<Vec<String>>,
    /// Gates of its own.
    #[serde(
        default,
        deserialize_with = "optional_items",
        skip_serializing_if = "Option::is_none"
    )]
    pub verification_commands: Option<Vec<String>>,
    /// What the implementer must respect.
    #[serde(
        default,
        deserialize_with = "optional_items",
        skip_serializing_if = "Option::is_none"
    )]
    pub locked_notes: Option<Vec<String>>,
    /// What a review, an audit or a gate found and the next attempt must fix.
    #[serde(
        default,
        deserialize_with = "optional_items",
        skip_serializing_if = "Option::is_none"
    )]
    pub must_fix_findings: Option<Vec<String>>,
    /// HEAD when it was selected; set by cook.
    #[serde(
        default,
        deserialize_with = "optional_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub basis_commit: Option<String>,
    /// Contract ids that were open when it was selected.
    #[serde(
        default,
        deserialize_with = "optional_items",
        skip_serializing_if = "Option::is_none"
    )]
    pub remaining_contract_ids_before: Option<Vec<String>>,
    /// Release blockers when it was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_blocker_count_before: Option<Count>,
    /// High-value gaps when it was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_value_gap_count_before: Option<Count>,
}

pub(super) fn optional_text<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    if text.as_deref() == Some("") {
        return Err(serde::de::Error::custom("an empty text"));
    }
    Ok(text)
}

/// `plan.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Always 1.
    pub schema_version: SchemaVersion,
    /// First line of the mission.
    #[serde(deserialize_with = "non_empty")]
    pub mission_anchor: String,
    /// When the plan was last re-grounded.
    #[serde(deserialize_with = "nullable")]
    pub last_reground_at: Option<Timestamp>,
    /// What the plan was made from.
    pub plan_basis: String,
    /// The slices, in plan order.
    pub candidate_slices: Vec<Slice>,
}

impl Plan {
    /// The slice of that name.
    pub fn slice(&self, id: &str) -> Option<&Slice> {
        self.candidate_slices
            .iter()
            .find(|slice| slice.slice_id == id)
    }

    /// The slice of that name, to change.
    pub fn slice_mut(&mut self, id: &str) -> Option<&mut Slice> {
        self.candidate_slices
            .iter_mut()
            .find(|slice| slice.slice_id == id)
    }

    /// Slices that are neither done nor cancelled.
    pub fn open_slices(&self) -> impl Iterator<Item = &Slice> {
        self.candidate_slices
            .iter()
            .filter(|slice| slice.status.is_open())
    }
}
