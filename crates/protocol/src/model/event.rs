//! The events of a workflow: each is one transition and one commit of the log.

use super::Profile;
use super::brief_document::BriefChange;
use super::config::Limits;
use super::contract::{ByCook, Offer};
use super::evidence::EvidenceClaim;
use super::history::ReportRecord;
use super::ledger::{AnswerTo, Goal, PlaceAnswer};
use super::plan_document::{Import, Plan, PlanBlock};
use super::scalar::{Count, Lines, MaybeTexts, Text, Texts};
use super::snapshot::Snapshot;
use super::state::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::{IntoStaticStr, VariantNames};

/// Who caused an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// A person at a terminal.
    User,
    /// A script that said `--as-user`.
    Script,
    /// A role's report, fed by hand or by the runner.
    Role,
    /// cook itself, by its own rules.
    Cook,
    /// cook's own runner.
    Runner,
}

/// A report, its statements that cook can measure, and its origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// The parsed report.
    pub report: ReportRecord,
    /// SHA-256 of the report's text, in hexadecimal.
    pub report_sha256: String,
    /// The session that wrote it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The ticket from dispatch, if the report carries one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    /// HEAD when a driver began the session that wrote it; `None` if it was handed in by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_at: Option<String>,
    /// The mission anchor in its header.
    pub mission_anchor: String,
    /// The remaining contract ids in its header; empty for `none`.
    pub remaining_contract_ids: Vec<String>,
    /// Whether it calls the worktree clean, if its role must say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_clean: Option<bool>,
}

/// The conclusions of a review, an audit or a vote. Fields that a role does not report are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdicts {
    /// Reviewer: acceptable as-is. Auditor: nothing open, 0 blockers, 0 gaps. Judge: the project can stop.
    pub positive: bool,
    /// Rubric dimensions with a `fail`.
    pub fails: Vec<String>,
    /// The rubric dimensions that it does not pass: `KEY (concern): why`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concerns: Vec<String>,
    /// Findings, blockers or the reason, one text each.
    pub findings: Vec<String>,
    /// The follow-up or the next slice that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_up: Option<String>,
    /// The top-level contracts that it calls open, by id.
    pub open_contract_ids: Vec<String>,
    /// The number of blockers.
    pub blocker_count: Count,
    /// The number of high-value gaps.
    pub high_value_gap_count: Count,
    /// The commit that it names, if its role must name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Auditor: whether an open contract is in order if an open slice of the plan serves it. False in logs of
    /// earlier builds, where only the contracts of the audited slice are in order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weighs_plan: bool,
}

/// Whether a committed slice is accepted or reopened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Decision {
    Accepted,
    Reopened,
}

/// The decision on a slice after its review and audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reconcile {
    /// The slice.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// Accepted or reopened.
    pub decision: Decision,
    /// Additional findings that the next attempt must fix.
    #[serde(default, with = "Texts")]
    pub findings: Vec<String>,
}

/// A slice to take up again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reopen {
    /// The slice.
    #[serde(with = "Text", alias = "slice")]
    pub slice_id: String,
    /// What is wrong with it; a list is joined by line breaks.
    #[serde(deserialize_with = "Lines::deserialize")]
    pub why: String,
    /// A commit on HEAD that holds the slice's work, so that it can be reported as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// The end of a stop wave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
#[serde(expecting = "an object with `decision`")]
pub enum Conclude {
    /// The project is done.
    Stop,
    /// It is not done: slices are new or reopened, or there is a reason for another wave.
    GoOn {
        /// The answer to each no, and the reason to ask the judges again if no slice is new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// A re-ground's decision to stop the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "to", rename_all = "snake_case", deny_unknown_fields)]
#[serde(expecting = "an object with `to`")]
pub enum PolicyChange {
    /// Ask the user one exact question.
    AwaitUserInput {
        /// The question.
        #[serde(with = "Text")]
        question: String,
    },
    /// Name the obstacle and the command that resumes the work.
    Blocked {
        /// The obstacle.
        #[serde(with = "Text")]
        why: String,
        /// The command to run when the obstacle is gone.
        #[serde(with = "Text")]
        exit: String,
    },
}

/// A regrounder's JSON block, applied in the order reopen, reconcile, plan, conclude, select, policy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reground {
    /// Accepts or reopens the committed slice, or reopens a done one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconcile: Option<Reconcile>,
    /// Slices to take up again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reopen: Vec<Reopen>,
    /// The changes of the plan, or the whole new plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanBlock>,
    /// Proof of criteria.
    #[serde(default)]
    pub evidence: Vec<EvidenceClaim>,
    /// The end of the stop wave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclude: Option<Conclude>,
    /// Answers to rejections, and to words of the user that no slice carries.
    #[serde(default)]
    pub answers: Vec<AnswerTo>,
    /// The slices that answers of the user concern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers_to: Vec<PlaceAnswer>,
    /// The slice to work on next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<String>,
    /// Stops the work and says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyChange>,
    /// Ids of release blockers; `None` keeps the earlier ones.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub release_blocker_ids: Option<Vec<String>>,
    /// High-value gaps, one text each; `None` keeps the earlier ones.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub high_value_gaps: Option<Vec<String>>,
    /// Changes of the brief.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<BriefChange>,
}

impl Reground {
    /// Returns the slice that it accepts.
    pub fn find_accepted(&self) -> Option<&str> {
        let made = self.reconcile.as_ref()?;
        (made.decision == Decision::Accepted).then_some(&*made.slice_id)
    }
}

/// The content of a user's `resume`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resume {
    /// The answer to the open question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Commands that are now trusted (`cook trust`).
    #[serde(default)]
    pub trust: Vec<String>,
    /// Whether the user approves the settings files as they are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settings: bool,
    /// Additional budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Limits>,
    /// Whether to start a new stop wave.
    #[serde(default)]
    pub new_wave: bool,
    /// Whether to void the review of the active slice, so that it is reviewed again.
    #[serde(default)]
    pub review_again: bool,
}

/// A `plan.json` that the user edited and adopts.
pub type AdoptedPlan = Plan;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
#[allow(clippy::large_enum_variant)]
pub enum Event {
    /// `cook init` ran: the first time it starts the log, later it repairs the contract.
    Bootstrapped {
        /// The whole mission; `None` if the user must be asked for it.
        mission: Option<String>,
        /// The profile in the worktree.
        profile: Profile,
        /// The branch of the work; `None` if HEAD is detached.
        branch: Option<String>,
        /// Digests of the settings files that the user approves; `None` keeps the earlier ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<BTreeMap<String, String>>,
        /// Older state that `cook init` found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        import: Option<Box<Import>>,
    },
    /// The user sets a goal: the first transition of its log.
    GoalSet {
        /// The frozen goal.
        goal: Box<Goal>,
        /// The branch of the work.
        branch: String,
    },
    /// cook ran the goal's checks at HEAD.
    GoalAsked,
    /// A regrounder reported.
    Regrounded {
        /// The JSON block of the report.
        block: Reground,
        /// The report.
        submission: Submission,
    },
    /// cook re-grounded by its own rules, under a profile below `strict`.
    RegroundedByCook {
        /// The kind of re-ground.
        kind: ByCook,
        /// The derived block.
        block: Reground,
    },
    /// An implementer reported a commit.
    Implemented {
        /// The slice.
        slice_id: String,
        /// The full or abbreviated id, as reported; the facts hold the full id.
        commit: String,
        /// The proofs of criteria that it offers; used only below `strict`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<Offer>,
        /// The report.
        submission: Submission,
    },
    /// An implementer returned without a commit: the plan must change.
    Returned {
        /// The slice.
        slice_id: String,
        /// The reason.
        why: String,
        /// The report.
        submission: Submission,
    },
    /// A reviewer reported.
    Reviewed {
        /// The conclusions of the report.
        verdicts: Verdicts,
        /// The report.
        submission: Submission,
    },
    /// An auditor reported.
    Audited {
        /// The conclusions of the report.
        verdicts: Verdicts,
        /// The report.
        submission: Submission,
    },
    /// A judge voted.
    Judged {
        /// The conclusions of the report.
        verdicts: Verdicts,
        /// The report.
        submission: Submission,
    },
    /// A role needs something that only the user has.
    Asked {
        /// The role that asks.
        role: Role,
        /// The exact question.
        question: String,
        /// The report.
        submission: Submission,
    },
    /// The report of a driven session was refused; recorded so that attempts are counted.
    Refused {
        /// The role of the session.
        role: Role,
        /// The codes of the rules that the report broke.
        codes: Vec<String>,
        /// The same in words, for the next session of the role.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// The user pauses the work.
    Paused {
        /// The reason.
        why: String,
    },
    /// The user resumes stopped work.
    Resumed(Resume),
    /// The user ends the workflow.
    Cancelled {
        /// The reason.
        why: String,
    },
    /// The runner or an exhausted budget stops the work.
    Blocked {
        /// The reason.
        why: String,
        /// The command that resumes the work.
        exit: String,
    },
    /// The user changes the mission.
    Refocused {
        /// The whole new mission.
        mission: String,
    },
    /// The user adopts an edited `plan.json`.
    Adopted {
        /// The edited plan.
        plan: AdoptedPlan,
    },
    /// The user moves the work to the branch that is checked out.
    BranchAdopted,
    /// The user restores the log's version of edited files.
    Restored,
    /// The gates ran at HEAD in a clean room, because HEAD moved without a transition.
    Verified,
    /// The user undoes transitions.
    Undone {
        /// The documents before these transitions.
        to: Box<Snapshot>,
        /// The log sequence of these documents.
        to_seq: Count,
        /// The log sequences of the records that become void.
        undone: Vec<u64>,
        /// The log commits that are undone.
        operations: Vec<String>,
    },
    /// The user corrects a criterion that proved false.
    CriterionAmended {
        /// The slice.
        slice_id: String,
        /// The number of the criterion, from 1.
        number: u64,
        /// The new text.
        text: String,
        /// The reason.
        reason: String,
    },
    /// The user gives up the proof of a criterion of a closed slice.
    ProofRetired {
        /// The slice.
        slice_id: String,
        /// The number of the criterion, from 1.
        number: u64,
        /// The reason.
        reason: String,
    },
    /// The brief changes by a note, an import or a checkpoint.
    Briefed {
        /// The change.
        change: BriefChange,
        /// The name that the author gives.
        by: String,
        /// The session, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// The user says something that `user@` anchors may cite.
    Said {
        /// The words.
        text: String,
        /// The session, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// The user vouches for the content of the log by signing the commit of this transition.
    Signed,
}

/// Names of the events that only a person may cause (`protocol/completion.md#what-is-the-users-alone`).
pub const USER_COMMANDS: [&str; 12] = [
    "goal_set",
    "resumed",
    "cancelled",
    "refocused",
    "adopted",
    "branch_adopted",
    "restored",
    "undone",
    "criterion_amended",
    "proof_retired",
    "said",
    "signed",
];

impl Event {
    /// The names of all events.
    pub const NAMES: &[&str] = <Self as VariantNames>::VARIANTS;

    /// Returns the name in `Cook-Event` trailers and in `event.json`.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Returns the block of a re-ground.
    pub fn block(&self) -> Option<&Reground> {
        match self {
            Event::Regrounded { block, .. } | Event::RegroundedByCook { block, .. } => Some(block),
            _ => None,
        }
    }

    /// Returns the role whose report caused the event.
    pub fn role(&self) -> Option<Role> {
        match self {
            Event::Regrounded { .. } => Some(Role::Regrounder),
            Event::Implemented { .. } | Event::Returned { .. } => Some(Role::Implementer),
            Event::Reviewed { .. } => Some(Role::Reviewer),
            Event::Audited { .. } => Some(Role::Auditor),
            Event::Judged { .. } => Some(Role::StopJudge),
            Event::Asked { role, .. } | Event::Refused { role, .. } => Some(*role),
            _ => None,
        }
    }

    /// Returns the report that caused the event.
    pub fn submission(&self) -> Option<&Submission> {
        match self {
            Event::Regrounded { submission, .. }
            | Event::Implemented { submission, .. }
            | Event::Returned { submission, .. }
            | Event::Reviewed { submission, .. }
            | Event::Audited { submission, .. }
            | Event::Judged { submission, .. }
            | Event::Asked { submission, .. } => Some(submission),
            _ => None,
        }
    }

    /// Whether only cook causes it, by its own rules.
    pub fn is_cooks_own(&self) -> bool {
        matches!(self, Event::RegroundedByCook { .. } | Event::GoalAsked)
    }

    /// Whether it is one of [`USER_COMMANDS`].
    pub fn is_user_only(&self) -> bool {
        USER_COMMANDS.contains(&self.name())
    }

    /// Whether it leaves the state of the work unchanged.
    pub fn is_aside(&self) -> bool {
        matches!(self, Event::Briefed { .. } | Event::Signed)
    }
}
