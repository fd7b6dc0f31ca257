//! Everything a decision may look at, and what a transition appends.

use super::brief_document::{BriefDocument, BriefRecord};
use super::contract::{Assurance, Profile};
use super::evidence::VerificationEvidence;
use super::history::{SliceRecord, StopRecord};
use super::ledger::{Counters, Goal, Ledger, SliceLedger, Undone, Waiting, WaitingKind};
use super::plan_document::{ActiveSlice, ActiveStatus, Plan, SliceStatus};
use super::state::{Policy, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The documents at one point of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The whole mission text; empty when the user has yet to say it.
    pub mission: String,
    /// `profile.json` as the log knows it.
    pub profile: Profile,
    /// `state.json`.
    pub state: State,
    /// `plan.json`.
    pub plan: Plan,
    /// `active-slice.json`.
    pub active: ActiveSlice,
    /// `verification-evidence.json`.
    pub evidence: VerificationEvidence,
    /// What the histories add up to.
    pub ledger: Ledger,
    /// What was spent.
    pub counters: Counters,
    /// What was taken back.
    pub undone: Undone,
    /// `brief.json`; none until somebody adds to the brief.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<BriefDocument>,
}

impl Snapshot {
    /// The slice that is selected, in progress or committed.
    pub fn find_slice_in_work(&self) -> Option<&str> {
        let is_in_work = matches!(
            self.active.status,
            ActiveStatus::Selected | ActiveStatus::InProgress | ActiveStatus::Committed
        );
        self.active.slice_id.as_deref().filter(|_| is_in_work)
    }

    /// What is known of a slice beyond its plan entry.
    pub fn find_ledger(&self, slice_id: &str) -> Option<&SliceLedger> {
        self.ledger.slices.get(slice_id).map(|slice| &**slice)
    }

    /// A slice is selected, in progress or committed.
    pub fn is_in_work(&self) -> bool {
        self.find_slice_in_work().is_some()
    }

    /// The goal, where the mission is one.
    pub fn goal(&self) -> Option<&Goal> {
        self.ledger.goal.as_ref().map(|pursued| &pursued.goal)
    }

    /// The work stops, and waits for something that no report asks for.
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

    /// The slice is committed, and waits to be reviewed or reconciled.
    pub fn is_committed(&self, id: &str) -> bool {
        self.active.status == ActiveStatus::Committed && self.active.slice_id.as_deref() == Some(id)
    }

    /// The profile in force.
    pub fn assurance(&self) -> Assurance {
        let chosen = self.profile.assurance;
        let bound = self.ledger.assured.bound.as_ref();
        bound.map_or(chosen, |bound| chosen.max(bound.assurance))
    }

    /// Judges that must agree before the project ends. Without one, nobody but the reviewers has read anything: only under
    /// `lite`, and only if the user brought the plan, no slice of it was cancelled, and no remark waits for a judge, such as
    /// a proof that is not new.
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

    /// The lowest profile under which a slice of this mission was accepted or a vote taken.
    pub fn lowest_assurance(&self) -> Assurance {
        self.ledger.assured.lowest
    }

    /// Both in words; nothing where both are `strict`.
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
    /// For `slice-history.jsonl`.
    pub slice: Vec<SliceRecord>,
    /// For `stop-check-history.jsonl`.
    pub stop: Vec<StopRecord>,
    /// For `brief-history.jsonl`.
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
