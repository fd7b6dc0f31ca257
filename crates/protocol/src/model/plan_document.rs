//! Slices: in the plan (`plan.json`), in work (`active-slice.json`), as a regrounder plans them, and in an imported
//! plan.

use super::evidence::Evidence;
use super::scalar::{
    Count, MaybeText, MaybeTexts, Priority, SchemaVersion, Text, Texts, Timestamp,
};
use super::state::Policy;
use super::{Shared, SliceRecord, StopRecord};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use strum::IntoStaticStr;

// `plan.json`: the ordered backlog of slices.

/// Status of a slice.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, IntoStaticStr, JsonSchema,
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
    /// Whether it is neither done nor cancelled.
    pub fn is_open(self) -> bool {
        !matches!(self, SliceStatus::Done | SliceStatus::Cancelled)
    }

    /// Whether it is the slice in work.
    pub fn is_selected(self) -> bool {
        matches!(self, SliceStatus::Selected | SliceStatus::InProgress)
    }
}

/// A slice of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// ID of the slice; unique in the plan.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// Purpose of the slice.
    #[serde(with = "Text")]
    pub goal: String,
    /// Conditions that must hold before the slice is done. Empty only in an imported plan.
    #[serde(with = "Texts")]
    pub acceptance_criteria: Vec<String>,
    /// IDs of the top-level contracts that the slice serves.
    #[serde(with = "Texts")]
    pub contract_ids: Vec<String>,
    /// Rank in the order of work; the smallest number comes first.
    pub priority: Priority,
    /// Status of the slice.
    pub status: SliceStatus,
    /// Reason for the position of the slice in the order of work.
    pub why_now: String,
    /// IDs of slices that must be done first, or texts that name outside blockers.
    #[serde(with = "Texts")]
    pub blocked_on: Vec<String>,
    /// Proofs of the criteria, at most one record for each criterion.
    pub evidence: Vec<Evidence>,
    /// Paths or path patterns of the files that the slice is expected to change.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub implementation_surfaces: Option<Vec<String>>,
    /// Commands that run as additional gates of the slice.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub verification_commands: Option<Vec<String>>,
    /// Notes that the implementer must respect.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub locked_notes: Option<Vec<String>>,
    /// Findings of reviews, audits, gates and re-grounds that the next attempt must fix.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub must_fix_findings: Option<Vec<String>>,
    /// Full ID of the commit at which the slice starts: HEAD at its selection, or the merge base after a rebase. Set by
    /// cook; absent before the first selection.
    #[serde(default, with = "MaybeText", skip_serializing_if = "Option::is_none")]
    pub basis_commit: Option<String>,
    /// IDs of the contracts that were open when the slice was selected.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub remaining_contract_ids_before: Option<Vec<String>>,
    /// Number of release blockers when the slice was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_blocker_count_before: Option<Count>,
    /// Number of high-value gaps when the slice was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_value_gap_count_before: Option<Count>,
}

/// The number of criteria of done slices, by kind of proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProofTally {
    /// Proved by a test, a printed line or the exit code of a command.
    pub by_command: usize,
    /// Proved by a text in the repository.
    pub by_text: usize,
    /// Not proved by anything that can be checked, or given up by the user.
    pub by_nothing: usize,
}

impl ProofTally {
    /// Describes the numbers.
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
    /// Counts the criteria of done slices by their kind of proof.
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

    /// Returns the slice with this id.
    pub fn slice(&self, id: &str) -> Option<&Slice> {
        let mut slices = self.candidate_slices.iter();
        slices.find(|slice| slice.slice_id == id).map(Deref::deref)
    }

    /// Returns the slice with this id, to change it.
    pub fn slice_mut(&mut self, id: &str) -> Option<&mut Slice> {
        let mut slices = self.candidate_slices.iter_mut();
        slices
            .find(|slice| slice.slice_id == id)
            .map(DerefMut::deref_mut)
    }

    /// Whether the slice with this id is neither done nor cancelled.
    pub fn is_open(&self, id: &str) -> bool {
        self.slice(id).is_some_and(|slice| slice.status.is_open())
    }

    /// Whether the slice with this id is done.
    pub fn is_done(&self, id: &str) -> bool {
        self.slice(id)
            .is_some_and(|slice| slice.status == SliceStatus::Done)
    }

    /// Returns the paths that the slice is expected to change.
    pub fn surfaces(&self, id: &str) -> &[String] {
        let slice = self.slice(id);
        let surfaces = slice.and_then(|slice| slice.implementation_surfaces.as_deref());
        surfaces.unwrap_or_default()
    }

    /// Returns the contracts that open slices serve, each once, in plan order.
    pub fn list_open_contracts(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let ids = self.open_slices().flat_map(|slice| &slice.contract_ids);
        ids.filter(|id| seen.insert(*id)).cloned().collect()
    }

    /// Returns the slices that are neither done nor cancelled.
    pub fn open_slices(&self) -> impl Iterator<Item = &Slice> {
        let slices = self.candidate_slices.iter().map(Deref::deref);
        slices.filter(|slice| slice.status.is_open())
    }
}

impl Slice {
    /// Returns the slice as a regrounder would plan it. Fields that are left out stay as they are.
    pub(crate) fn restate(&self) -> PlannedSlice {
        PlannedSlice {
            slice_id: self.slice_id.clone(),
            goal: self.goal.clone(),
            acceptance_criteria: self.acceptance_criteria.clone(),
            contract_ids: Some(self.contract_ids.clone()),
            priority: self.priority.clone(),
            why_now: self.why_now.clone(),
            blocked_on: Some(self.blocked_on.clone()),
            ..PlannedSlice::default()
        }
    }

    /// Whether the slice counts as done, so that its proof is checked until the project ends.
    pub fn rests_on_proof(&self) -> bool {
        self.status == SliceStatus::Done || self.is_satisfied()
    }

    /// Whether nobody has to build it: it was cancelled with proof of each criterion.
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

/// The ordered list of slices: `plan.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of the document format.
    pub schema_version: SchemaVersion,
    /// The line by which documents and reports name the mission.
    #[serde(with = "Text")]
    pub mission_anchor: String,
    /// Time of the last accepted re-ground (RFC 3339, UTC); null before the first one.
    #[serde(deserialize_with = "Option::deserialize")]
    pub last_reground_at: Option<Timestamp>,
    /// Description of the sources from which the plan was made.
    pub plan_basis: String,
    /// The slices, in the order of the plan.
    #[schemars(with = "Vec<Slice>")]
    pub candidate_slices: Vec<Shared<Slice>>,
}

// `active-slice.json`: the one slice in work, with the exact handoff.

/// Where the active slice stands.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, IntoStaticStr, JsonSchema,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ActiveStatus {
    #[default]
    Idle,
    Selected,
    InProgress,
    Committed,
    Done,
}

/// The slice in work: `active-slice.json`. It includes the handoff fields unless its status is `idle`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct ActiveSlice {
    /// Version of the document format.
    pub schema_version: SchemaVersion,
    /// Number of the transition that wrote the document; the same as in `state.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Count>,
    /// Status of the slice in work; `idle` if there is none.
    pub status: ActiveStatus,
    /// ID of the slice; null if the status is `idle`.
    #[serde(with = "MaybeText")]
    pub slice_id: Option<String>,
    /// Purpose of the slice; null if the status is `idle`.
    #[serde(with = "MaybeText")]
    pub goal: Option<String>,
    /// IDs of the contracts that the slice serves.
    #[serde(with = "Texts")]
    pub contract_ids: Vec<String>,
    /// The line by which documents and reports name the mission.
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
    /// Conditions that must hold before the slice is done.
    #[serde(with = "Texts")]
    pub acceptance_criteria: Vec<String>,
    /// Rank in the order of work; the smallest number comes first.
    pub priority: Priority,
    /// Reason for the position of the slice in the order of work.
    pub why_now: String,
    /// IDs of slices that must be done first, or texts that name outside blockers.
    #[serde(with = "Texts")]
    pub blocked_on: Vec<String>,
    /// Notes that the implementer must respect.
    #[serde(with = "Texts")]
    pub locked_notes: Vec<String>,
    /// Findings that the current attempt must fix.
    #[serde(with = "Texts")]
    pub must_fix_findings: Vec<String>,
    /// Full ID of the commit at which the slice starts: HEAD at its selection, or the merge base after a rebase.
    #[serde(with = "Text")]
    pub basis_commit: String,
    /// IDs of the contracts that were open when the slice was selected.
    #[serde(with = "Texts")]
    pub remaining_contract_ids_before: Vec<String>,
    /// Number of release blockers when the slice was selected.
    pub release_blocker_count_before: Count,
    /// Number of high-value gaps when the slice was selected.
    pub high_value_gap_count_before: Count,
    /// Paths or path patterns of the files that the slice is expected to change.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub implementation_surfaces: Option<Vec<String>>,
    /// Commands that run as additional gates of the slice.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub verification_commands: Option<Vec<String>>,
}

impl Handoff {
    /// Reads the handoff of a slice in work. Every field must be there, and no other.
    fn read_whole(fields: Map<String, Value>) -> serde_json::Result<Self> {
        Self::deserialize(Value::Object(fields))
    }

    /// Checks the rest of a handoff in an idle document: fields may be missing, but each must have its type.
    fn check_rest(fields: Map<String, Value>) -> serde_json::Result<()> {
        let mut whole = serde_json::to_value(Self {
            basis_commit: "none".to_owned(),
            ..Self::default()
        })?;
        for (name, value) in fields {
            // Null in a known field counts as missing.
            if !value.is_null() || whole.get(&name).is_none() {
                whole[&name] = value;
            }
        }
        Self::deserialize(whole).map(|_| ())
    }
}

/// The document as the file holds it.
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
    /// Returns the document without a slice in work.
    pub fn idle(mission_anchor: &str) -> Self {
        Self {
            mission_anchor: mission_anchor.to_owned(),
            ..Self::default()
        }
    }
}

// The plan as a regrounder submits it.

/// A slice as a regrounder plans it; cook sets the other fields. Fields that are left out of a known slice stay as
/// they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedSlice {
    /// Its id.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// The purpose of the slice.
    #[serde(with = "Text")]
    pub goal: String,
    /// The criteria that must hold for it to be done.
    #[serde(with = "Texts")]
    pub acceptance_criteria: Vec<String>,
    /// The contracts that it serves.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub contract_ids: Option<Vec<String>>,
    /// Its place in the order of work; 1 comes first.
    pub priority: Priority,
    /// Its status; if left out, it stays as it is (`planned` for a new slice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SliceStatus>,
    /// The reason for its place in the order.
    #[serde(default)]
    pub why_now: String,
    /// The slices that must be done first.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub blocked_on: Option<Vec<String>>,
    /// The paths that it will change.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub implementation_surfaces: Option<Vec<String>>,
    /// Its own gates.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub verification_commands: Option<Vec<String>>,
    /// Notes that the implementer must respect.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub locked_notes: Option<Vec<String>>,
    /// The reason why it is cancelled or blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A plan as a regrounder submits it: its changes, or every slice in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanBlock {
    /// The basis from which the plan was made.
    #[serde(default, alias = "basis")]
    pub plan_basis: String,
    /// Every slice in order; empty if the fields below hold the changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidate_slices: Vec<PlannedSlice>,
    /// New slices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<PlannedSlice>,
    /// Changes of known slices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<ChangedSlice>,
    /// Slices to cancel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cancel: Vec<CancelledSlice>,
    /// Open slices, first to last; the others follow in their old order.
    #[serde(default, with = "Texts", skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
}

impl PlanBlock {
    /// Whether it lists changes and leaves the other slices as they are, as an empty block does.
    pub fn is_delta(&self) -> bool {
        let changes = self.add.len() + self.change.len() + self.cancel.len();
        changes + self.order.len() > 0 || self.candidate_slices.is_empty()
    }
}

/// Changes of a slice; fields that are left out stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangedSlice {
    /// The slice.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// The purpose of the slice; it cannot change once the slice is selected.
    #[serde(default, with = "MaybeText", skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Criteria to add.
    #[serde(default, with = "Texts", skip_serializing_if = "Vec::is_empty")]
    pub add_criteria: Vec<String>,
    /// Numbers of criteria, from 1, that hold already; each needs evidence in the same report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drop_criteria: Vec<Count>,
    /// The contracts that it serves.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub contract_ids: Option<Vec<String>>,
    /// Its place in the order of work; 1 comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// `planned` or `blocked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SliceStatus>,
    /// The reason for its place in the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_now: Option<String>,
    /// The slices that must be done first.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub blocked_on: Option<Vec<String>>,
    /// The paths that it will change.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub implementation_surfaces: Option<Vec<String>>,
    /// Its own gates.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub verification_commands: Option<Vec<String>>,
    /// Notes that the implementer must respect.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub locked_notes: Option<Vec<String>>,
    /// The reason why it is blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A slice to cancel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CancelledSlice {
    /// The slice.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// The reason.
    #[serde(with = "Text")]
    pub reason: String,
}

// State and plans that `cook init` imports.

/// The origin of a slice in the plan that `cook init --from` imported.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSource {
    /// The task's id in its file, or its words, by which it can be found again.
    pub item: String,
    /// `FILE:LINE`, or the file alone.
    pub at: String,
    /// Whether the file calls it done, which is only a claim.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ticked: bool,
}

/// The file from which `cook init --from` imported the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanSource {
    /// The tool: `spec-kit`, `openspec`, `kiro`, `task-master`, `prd`, `check-list`, `github-issues`, `beads`.
    pub kind: String,
    /// The path, relative to the worktree.
    pub path: String,
}

/// State that `cook init` found and imports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// The layout of the state: `agent-0.1.26`, `agent-current`, or the tool that wrote the plan.
    pub layout: String,
    /// The file of the tool's plan, relative to the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The task of each slice in that file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tasks: BTreeMap<String, TaskSource>,
    /// The old plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The old active slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<ActiveSlice>,
    /// The old policy, if it stopped the work and is still in force (`paused`, `blocked`, `await_user_input`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// The reason for that policy.
    #[serde(default)]
    pub reason: String,
    /// The old slice history.
    #[serde(default)]
    pub slice_history: Vec<SliceRecord>,
    /// The old history of votes.
    #[serde(default)]
    pub stop_history: Vec<StopRecord>,
}

impl Import {
    /// Returns the newest record of a slice.
    pub fn find_newest(&self, slice_id: &str) -> Option<&SliceRecord> {
        let mut records = self.slice_history.iter().rev();
        records.find(|record| record.slice_id == slice_id)
    }
}
