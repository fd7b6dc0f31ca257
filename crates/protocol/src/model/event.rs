//! What can happen to a workflow: one event, one transition, one log commit.

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

/// What a report says that cook can measure, and where the report came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// The parsed report.
    pub report: ReportRecord,
    /// SHA-256 of its text, hex.
    pub report_sha256: String,
    /// The session it came from, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The ticket handed out at dispatch, when the report came with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    /// HEAD when a driver began the session that it came from; none when it was handed in by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_at: Option<String>,
    /// The header's mission anchor.
    pub mission_anchor: String,
    /// The header's remaining contract ids; empty = none.
    pub remaining_contract_ids: Vec<String>,
    /// What it says of the worktree, where its role is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_clean: Option<bool>,
}

/// What a verdict-giving report concludes. Fields that a role is not asked for are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdicts {
    /// Reviewer: acceptable as-is. Auditor: nothing open, 0 blockers, 0 gaps. Judge: can stop.
    pub positive: bool,
    /// Rubric dimensions with a `fail`.
    pub fails: Vec<String>,
    /// What its rubric says of each dimension that it does not pass: `KEY (concern): why`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concerns: Vec<String>,
    /// Findings, blockers or the reason, one text each.
    pub findings: Vec<String>,
    /// The follow-up or next slice it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_up: Option<String>,
    /// Open top-level contract ids it names.
    pub open_contract_ids: Vec<String>,
    /// Blockers it counts.
    pub blocker_count: Count,
    /// High-value gaps it counts.
    pub high_value_gap_count: Count,
    /// The commit it names, where its role is asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Auditor: contracts that an open slice of the plan is to fulfil are in order although they are
    /// open. Absent in the logs of earlier builds, where only those of the audited slice are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weighs_plan: bool,
}

/// accepted or reopened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Decision {
    Accepted,
    Reopened,
}

/// What becomes of a slice after review and audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reconcile {
    /// The slice.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// accepted or reopened.
    pub decision: Decision,
    /// More findings that the next attempt must fix.
    #[serde(default, with = "Texts")]
    pub findings: Vec<String>,
}

/// A slice whose work is to be looked at again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reopen {
    /// The slice.
    #[serde(with = "Text", alias = "slice")]
    pub slice_id: String,
    /// What is wrong with it; a list is one text a line.
    #[serde(deserialize_with = "Lines::deserialize")]
    pub why: String,
    /// A commit on HEAD that holds its work: it can be reported as it is.
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
    /// It is not: new or reopened slices, or a reason for another wave.
    GoOn {
        /// What becomes of each no, and why the judges should be heard again where no slice is new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// A regrounder may stop the work and say what for.
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
    /// Name what blocks and the command that leaves it.
    Blocked {
        /// What blocks.
        #[serde(with = "Text")]
        why: String,
        /// The command to run when it no longer does.
        #[serde(with = "Text")]
        exit: String,
    },
}

/// A regrounder's JSON block. Applied in the order reconcile, plan, conclude, select, policy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reground {
    /// Accept or reopen the committed slice, or reopen a done one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconcile: Option<Reconcile>,
    /// Slices to take up again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reopen: Vec<Reopen>,
    /// The whole new plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanBlock>,
    /// Proof of criteria.
    #[serde(default)]
    pub evidence: Vec<EvidenceClaim>,
    /// End of the stop wave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclude: Option<Conclude>,
    /// Answers to the blockers of a voided wave.
    #[serde(default)]
    pub answers: Vec<AnswerTo>,
    /// Which slices an answer of the user's concerns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers_to: Vec<PlaceAnswer>,
    /// The slice to work on next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<String>,
    /// Stop and say what for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyChange>,
    /// Ids of release blockers; left out = those of before.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub release_blocker_ids: Option<Vec<String>>,
    /// High-value gaps, one text each; left out = those of before.
    #[serde(default, with = "MaybeTexts", skip_serializing_if = "Option::is_none")]
    pub high_value_gaps: Option<Vec<String>>,
    /// What changes in the brief.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<BriefChange>,
}

impl Reground {
    /// The slice that it accepts.
    pub fn find_accepted(&self) -> Option<&str> {
        let made = self.reconcile.as_ref()?;
        (made.decision == Decision::Accepted).then_some(&*made.slice_id)
    }
}

/// What a user's `resume` brings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resume {
    /// Answer to the question that is waited on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Commands that are now trusted (`cook trust`).
    #[serde(default)]
    pub trust: Vec<String>,
    /// The settings files are the user's as they stand.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settings: bool,
    /// More budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Limits>,
    /// Start a new stop wave.
    #[serde(default)]
    pub new_wave: bool,
    /// Void the review of the active slice, so that it is reviewed again.
    #[serde(default)]
    pub review_again: bool,
}

/// An edited `plan.json` that the user wants taken in.
pub type AdoptedPlan = Plan;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
#[allow(clippy::large_enum_variant)]
pub enum Event {
    /// `cook init`: the first one starts the log, later ones repair the contract.
    Bootstrapped {
        /// The whole mission; none = the user is asked.
        mission: Option<String>,
        /// The profile as it stands in the worktree.
        profile: Profile,
        /// The branch the workflow runs on; none = detached.
        branch: Option<String>,
        /// Digests of the settings files as the user leaves them; none = as they were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<BTreeMap<String, String>>,
        /// Older state that was found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        import: Option<Box<Import>>,
    },
    /// The user sets a goal: the first transition of its log.
    GoalSet {
        /// What is frozen.
        goal: Box<Goal>,
        /// The branch that it is for.
        branch: String,
    },
    /// cook asked the goal's checks of HEAD.
    GoalAsked,
    /// A regrounder's report.
    Regrounded {
        /// Its block.
        block: Reground,
        /// Its report.
        submission: Submission,
    },
    /// A re-ground that cook derived itself, under a profile below `strict`.
    RegroundedByCook {
        /// Which.
        kind: ByCook,
        /// The block, as it was derived.
        block: Reground,
    },
    /// An implementer's report of a commit.
    Implemented {
        /// The slice.
        slice_id: String,
        /// The commit, full or abbreviated as reported; the facts hold the full id.
        commit: String,
        /// What it says proves each criterion; heard below `strict`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<Offer>,
        /// Its report.
        submission: Submission,
    },
    /// An implementer came back without a commit: the plan has to change.
    Returned {
        /// The slice.
        slice_id: String,
        /// Why.
        why: String,
        /// Its report.
        submission: Submission,
    },
    /// A reviewer's report.
    Reviewed {
        /// What it concludes.
        verdicts: Verdicts,
        /// Its report.
        submission: Submission,
    },
    /// An auditor's report.
    Audited {
        /// What it concludes.
        verdicts: Verdicts,
        /// Its report.
        submission: Submission,
    },
    /// A judge's report.
    Judged {
        /// What it concludes.
        verdicts: Verdicts,
        /// Its report.
        submission: Submission,
    },
    /// A role needs something only the user has.
    Asked {
        /// Who asks.
        role: Role,
        /// What exactly.
        question: String,
        /// Its report.
        submission: Submission,
    },
    /// A driven session's report was refused; kept so that attempts count.
    Refused {
        /// Whose.
        role: Role,
        /// Which rules it broke.
        codes: Vec<String>,
        /// The same in words, for the next session of the role.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// The user pauses.
    Paused {
        /// Why.
        why: String,
    },
    /// The user leaves a stopped state.
    Resumed(Resume),
    /// The user ends the workflow.
    Cancelled {
        /// Why.
        why: String,
    },
    /// The runner, or a spent budget, stops the work.
    Blocked {
        /// Why.
        why: String,
        /// The command that leaves it.
        exit: String,
    },
    /// The user changes the mission.
    Refocused {
        /// The whole new mission.
        mission: String,
    },
    /// The user takes in an edited `plan.json`.
    Adopted {
        /// The plan as edited.
        plan: AdoptedPlan,
    },
    /// The user moves the workflow to the branch that is checked out.
    BranchAdopted,
    /// The user puts back the log's version of edited files.
    Restored,
    /// The gates were run at HEAD in a clean room, because it moved without a transition.
    Verified,
    /// The user takes back transitions.
    Undone {
        /// The documents as they were.
        to: Box<Snapshot>,
        /// The log sequence they are from.
        to_seq: Count,
        /// Record sequences that no longer count.
        undone: Vec<u64>,
        /// The log commits that are taken back.
        operations: Vec<String>,
    },
    /// The user corrects a criterion that proved false.
    CriterionAmended {
        /// The slice.
        slice_id: String,
        /// Which criterion, from 1.
        number: u64,
        /// The new text.
        text: String,
        /// Why.
        reason: String,
    },
    /// The user gives up the proof of a criterion of a closed slice.
    ProofRetired {
        /// The slice.
        slice_id: String,
        /// Which criterion, from 1.
        number: u64,
        /// Why.
        reason: String,
    },
    /// The brief changes: a note, an import, a checkpoint.
    Briefed {
        /// How.
        change: BriefChange,
        /// Who, as they call themselves.
        by: String,
        /// The session, when known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// The user said something that `user@` anchors may point to.
    Said {
        /// What.
        text: String,
        /// The session, when known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// The user vouches for what the log records: the commit of this transition bears a signature.
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
    /// Every name.
    pub const NAMES: &[&str] = <Self as VariantNames>::VARIANTS;

    /// The name in `Cook-Event` trailers and `event.json`.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// What a re-ground decides.
    pub fn block(&self) -> Option<&Reground> {
        match self {
            Event::Regrounded { block, .. } | Event::RegroundedByCook { block, .. } => Some(block),
            _ => None,
        }
    }

    /// The role whose report this is.
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

    /// The report behind it.
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

    /// cook alone causes it, by its own rules.
    pub fn is_cooks_own(&self) -> bool {
        matches!(self, Event::RegroundedByCook { .. } | Event::GoalAsked)
    }

    /// One of [`USER_COMMANDS`].
    pub fn is_user_only(&self) -> bool {
        USER_COMMANDS.contains(&self.name())
    }

    /// Events that leave the work where it stands.
    pub fn is_aside(&self) -> bool {
        matches!(self, Event::Briefed { .. } | Event::Signed)
    }
}
