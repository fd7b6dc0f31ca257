//! The documents on which decisions rest, and the records that a transition appends.

use super::brief_document::{BriefDocument, BriefRecord};
use super::contract::{Assurance, Profile};
use super::evidence::VerificationEvidence;
use super::history::{SliceRecord, StopRecord};
use super::ledger::{Counters, Goal, Ledger, SliceLedger, Undone, Waiting, WaitingKind};
use super::plan_document::{ActiveSlice, ActiveStatus, Plan, SliceStatus};
use super::state::{Policy, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All documents at one point of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The whole mission text; empty if the user has not given it yet.
    pub mission: String,
    /// `profile.json` as the log holds it.
    pub profile: Profile,
    /// `state.json`.
    pub state: State,
    /// `plan.json`.
    pub plan: Plan,
    /// `active-slice.json`.
    pub active: ActiveSlice,
    /// `verification-evidence.json`.
    pub evidence: VerificationEvidence,
    /// The summary of the histories.
    pub ledger: Ledger,
    /// Spent and granted budgets.
    pub counters: Counters,
    /// The records that `cook undo` made void.
    pub undone: Undone,
    /// `brief.json`; `None` until something is added to the brief.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<BriefDocument>,
}

impl Snapshot {
    /// Returns the id of the active slice if it is selected, in progress or committed.
    pub fn find_slice_in_work(&self) -> Option<&str> {
        let is_in_work = matches!(
            self.active.status,
            ActiveStatus::Selected | ActiveStatus::InProgress | ActiveStatus::Committed
        );
        self.active.slice_id.as_deref().filter(|_| is_in_work)
    }

    /// Returns what the ledger holds about a slice.
    pub fn find_ledger(&self, slice_id: &str) -> Option<&SliceLedger> {
        self.ledger.slices.get(slice_id).map(|slice| &**slice)
    }

    /// Whether a slice is selected, in progress or committed.
    pub fn is_in_work(&self) -> bool {
        self.find_slice_in_work().is_some()
    }

    /// Returns the goal, if the mission is one.
    pub fn goal(&self) -> Option<&Goal> {
        self.ledger.goal.as_ref().map(|pursued| &pursued.goal)
    }

    /// Stops the work with this policy, to wait for something that no role asked for.
    pub fn wait(
        &mut self,
        policy: Policy,
        kind: WaitingKind,
        what: impl Into<String>,
        exit: impl Into<String>,
    ) {
        self.state.continuation_policy = policy;
        self.ledger.waiting = Some(Waiting {
            kind,
            what: what.into(),
            exit: exit.into(),
            asker: None,
        });
    }

    /// Whether the slice is the active one and committed, and so waits for its review, audit or reconciliation.
    pub fn is_committed(&self, id: &str) -> bool {
        self.active.status == ActiveStatus::Committed && self.active.slice_id.as_deref() == Some(id)
    }

    /// Returns the profile in force.
    pub fn assurance(&self) -> Assurance {
        let chosen = self.profile.assurance;
        let bound = self.ledger.assured.bound.as_ref();
        bound.map_or(chosen, |bound| chosen.max(bound.assurance))
    }

    /// Returns the number of judges that must agree before the project ends. 0 means that only reviewers have
    /// read the work. It is possible only under `lite`, and only if the user brought the plan, no slice was
    /// cancelled, and there is no remark that a judge should see, such as a proof that is not new.
    pub fn count_required_judges(&self) -> u64 {
        let slices = &self.plan.candidate_slices;
        let is_users_plan = self.ledger.plan_source.is_some()
            && !slices.is_empty()
            && self.ledger.remarks.is_empty()
            && !slices
                .iter()
                .any(|slice| slice.status == SliceStatus::Cancelled);
        match self.assurance() == Assurance::Lite && is_users_plan {
            true => self.profile.required_stop_judges.0,
            false => self.profile.required_stop_judges.0.max(1),
        }
    }

    /// Returns the lowest profile under which a slice of this mission was accepted or a vote was taken.
    pub fn lowest_assurance(&self) -> Assurance {
        self.ledger.assured.lowest
    }

    /// Describes the profile in force and the lowest one; `None` if both are `strict`.
    pub fn describe_assurance(&self) -> Option<String> {
        let (now, lowest) = (self.assurance(), self.lowest_assurance());
        let judged = match self.count_required_judges() {
            0 => ", without a judge",
            _ => "",
        };
        match (now.is_strict() && lowest.is_strict(), lowest < now) {
            (true, _) => None,
            (_, true) => Some(format!("`{now}`; slices or votes rest on `{lowest}`")),
            (_, false) => Some(format!("`{now}`{judged}")),
        }
    }
}

/// History records that one transition appends.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// Records for `slice-history.jsonl`.
    pub slice: Vec<SliceRecord>,
    /// Records for `stop-check-history.jsonl`.
    pub stop: Vec<StopRecord>,
    /// Records for `brief-history.jsonl`; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brief: Vec<BriefRecord>,
}

/// An entry of a tree.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct TreeEntry {
    /// Octal, as git writes it.
    pub mode: String,
    /// Object id.
    pub id: String,
}
