//! The plan as a regrounder hands it in.

use super::plan::SliceStatus;
use super::scalar::{Count, MaybeText, MaybeTexts, Priority, Text, Texts};
use serde::{Deserialize, Serialize};

/// One slice as a regrounder plans it. cook sets the rest; of a slice that is in the plan, what is
/// left out stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedSlice {
    /// Its name.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// What it is for.
    #[serde(with = "Text")]
    pub goal: String,
    /// What must hold.
    #[serde(with = "Texts")]
    pub acceptance_criteria: Vec<String>,
    /// Contracts it serves.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub contract_ids: Option<Vec<String>>,
    /// 1 = first.
    pub priority: Priority,
    /// Where it stands; left out = as it is (`planned` when new).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SliceStatus>,
    /// Why it comes when it comes.
    #[serde(default)]
    pub why_now: String,
    /// What must be done first.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub blocked_on: Option<Vec<String>>,
    /// Paths it will change.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub implementation_surfaces: Option<Vec<String>>,
    /// Gates of its own.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub verification_commands: Option<Vec<String>>,
    /// What must be respected.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub locked_notes: Option<Vec<String>>,
    /// Why it is cancelled or blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The plan as a regrounder wants it: what changes, or every slice in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanBlock {
    /// What the plan was made from.
    #[serde(default, alias = "basis")]
    pub plan_basis: String,
    /// Every slice; empty where the changes stand below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidate_slices: Vec<PlannedSlice>,
    /// New slices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<PlannedSlice>,
    /// Slices that change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<ChangedSlice>,
    /// Slices that nobody is to build.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancel: Vec<CancelledSlice>,
    /// Open slices, first to last; the others keep their order behind them.
    #[serde(default, with = "Texts", skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
}

impl PlanBlock {
    /// It says what changes, and leaves the rest as it is; one that names nothing changes nothing.
    pub fn is_delta(&self) -> bool {
        let changes = self.add.len() + self.change.len() + self.cancel.len();
        changes + self.order.len() > 0 || self.candidate_slices.is_empty()
    }
}

/// What changes of a slice; what is left out stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangedSlice {
    /// The slice.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// What it is for; not once it is selected.
    #[serde(default, with = "MaybeText", skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Criteria that were missing.
    #[serde(default, with = "Texts", skip_serializing_if = "Vec::is_empty")]
    pub add_criteria: Vec<String>,
    /// Numbers of criteria, from 1, that hold already; each with evidence in the same report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drop_criteria: Vec<Count>,
    /// Contracts it serves.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub contract_ids: Option<Vec<String>>,
    /// 1 = first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// planned or blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SliceStatus>,
    /// Why it comes when it comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_now: Option<String>,
    /// What must be done first.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub blocked_on: Option<Vec<String>>,
    /// Paths it will change.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub implementation_surfaces: Option<Vec<String>>,
    /// Gates of its own.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub verification_commands: Option<Vec<String>>,
    /// What must be respected.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub locked_notes: Option<Vec<String>>,
    /// Why it is blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A slice that nobody is to build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CancelledSlice {
    /// The slice.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// Why.
    #[serde(with = "Text")]
    pub reason: String,
}
