//! `plan.json`: the ordered backlog of slices.

use super::evidence::Evidence;
use super::scalar::{
    Count, MaybeText, MaybeTexts, Priority, SchemaVersion, Text, Texts, Timestamp, nullable,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// Where a slice stands.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    IntoStaticStr,
    JsonSchema,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum SliceStatus {
    #[default]
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

    /// It is the slice that is worked on.
    pub fn is_selected(self) -> bool {
        matches!(self, SliceStatus::Selected | SliceStatus::InProgress)
    }

    /// The word in documents.
    pub fn id(self) -> &'static str {
        self.into()
    }
}

/// One entry of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// Its name; unique in the plan.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// What it is for.
    #[serde(with = "Text")]
    pub goal: String,
    /// What must hold for it to be done. Locked once set. Empty only in an imported plan.
    #[serde(with = "Texts")]
    pub acceptance_criteria: Vec<String>,
    /// Top-level contracts it serves.
    #[serde(with = "Texts")]
    pub contract_ids: Vec<String>,
    /// Place in the order of work; 1 comes first.
    pub priority: Priority,
    /// Where it stands.
    pub status: SliceStatus,
    /// Why it comes when it comes.
    pub why_now: String,
    /// Slices that must be done first, or a text that names an outside blocker.
    #[serde(with = "Texts")]
    pub blocked_on: Vec<String>,
    /// Proof, one entry a criterion.
    pub evidence: Vec<Evidence>,
    /// Paths it is expected to change.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub implementation_surfaces: Option<Vec<String>>,
    /// Gates of its own.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub verification_commands: Option<Vec<String>>,
    /// What the implementer must respect.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub locked_notes: Option<Vec<String>>,
    /// What a review, an audit or a gate found and the next attempt must fix.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub must_fix_findings: Option<Vec<String>>,
    /// HEAD when it was selected; set by cook.
    #[serde(default, with = "MaybeText", skip_serializing_if = "Option::is_none")]
    pub basis_commit: Option<String>,
    /// Contract ids that were open when it was selected.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub remaining_contract_ids_before: Option<Vec<String>>,
    /// Release blockers when it was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_blocker_count_before: Option<Count>,
    /// High-value gaps when it was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_value_gap_count_before: Option<Count>,
}

/// What proves the criteria of done slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProofTally {
    /// A test, a line that a command printed, or its exit code.
    pub by_command: usize,
    /// A text of the repository.
    pub by_text: usize,
    /// Nothing that can be checked, or that the user gave up.
    pub by_nothing: usize,
}

impl ProofTally {
    /// In words.
    pub fn describe(self) -> String {
        let all = self.by_command + self.by_text + self.by_nothing;
        match all {
            0 => "no criterion was to be proved".to_owned(),
            _ => format!(
                "of {all} criteria {} proved by a command, {} by a text, {} by nothing",
                self.by_command, self.by_text, self.by_nothing
            ),
        }
    }
}

impl Plan {
    /// What proves the criteria of done slices.
    pub fn tally_proofs(&self) -> ProofTally {
        let mut tally = ProofTally::default();
        let slices = self.candidate_slices.iter();
        for slice in slices.filter(|slice| slice.status == SliceStatus::Done) {
            for criterion in &slice.acceptance_criteria {
                let mut records = slice.evidence.iter().filter_map(Evidence::record);
                match records.find(|record| record.criterion == *criterion) {
                    None => tally.by_nothing += 1,
                    Some(record) if record.retired.is_some() => tally.by_nothing += 1,
                    Some(record) if record.receipt.is_some() => tally.by_command += 1,
                    Some(_) => tally.by_text += 1,
                }
            }
        }
        tally
    }
}

impl Slice {
    /// What shows it to be there is measured to the end.
    pub fn rests_on_proof(&self) -> bool {
        self.status == SliceStatus::Done || self.is_satisfied()
    }

    /// Nobody has to build it: it was cancelled with proof of each criterion.
    pub fn is_satisfied(&self) -> bool {
        let is_proven = |criterion: &String| {
            let mut records = self.evidence.iter().filter_map(Evidence::record);
            records.any(|record| record.criterion == *criterion)
        };
        self.status == SliceStatus::Cancelled
            && !self.acceptance_criteria.is_empty()
            && self.acceptance_criteria.iter().all(is_proven)
    }
}

/// The backlog of slices, in plan order: `plan.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this document's shape.
    pub schema_version: SchemaVersion,
    /// The one line that names the mission.
    #[serde(with = "Text")]
    pub mission_anchor: String,
    /// When the plan was last re-grounded.
    #[serde(deserialize_with = "nullable")]
    pub last_reground_at: Option<Timestamp>,
    /// What the plan was made from.
    pub plan_basis: String,
    /// The slices.
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
