//! The summary of the histories, kept with the documents so that no decision has to read a history. Its size is
//! bounded by that of the plan; only `apply` derives it, and `cook verify` computes it again.

use super::config::Limits;
use super::contract::{Assured, Offer};
use super::evidence::Receipt;
use super::plan_document::{Plan, PlanSource, TaskSource};
use super::scalar::{Count, Text, Texts};
use super::shared::Shared;
use super::state::Role;
use super::strength_note::StrengthNote;
use crate::digest::sha256;
use crate::trials::{TrialLine, Weight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A review. Its key is the slice, the slice head and the digest of the criteria.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewNote {
    /// The slice head that was reviewed.
    pub commit: String,
    /// The digest of the criteria that were reviewed.
    pub criteria_sha256: String,
    /// Whether the work is acceptable as it is.
    pub acceptable: bool,
    /// The rubric dimensions with a `fail`.
    pub fails: Vec<String>,
    /// The rubric dimensions that it does not pass: `KEY (concern): why`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concerns: Vec<String>,
    /// The findings.
    pub findings: Vec<String>,
    /// The smallest follow-up, if it named one.
    pub follow_up: Option<String>,
    /// The digest of the report.
    pub report_sha256: String,
    /// The session of the review, if its prompt showed the proofs that the implementer offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether cook counts the review as a no whatever it says, because it leaves something unanswered: planted
    /// defects that the gates do not notice, or, in a yes, changes of tests. cook added these to the findings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weak: bool,
    /// The log sequence of the record.
    pub seq: Count,
}

impl ReviewNote {
    /// Whether the work is not accepted on this review.
    pub fn rejects(&self) -> bool {
        !self.acceptable || !self.fails.is_empty() || self.weak
    }
}

/// An audit, with the same key as a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditNote {
    /// The slice head that was audited.
    pub commit: String,
    /// The digest of the criteria that were audited.
    pub criteria_sha256: String,
    /// The open contracts, blockers and gaps that it named, one text each.
    pub findings: Vec<String>,
    /// The rubric dimensions that it does not pass: `KEY (concern): why`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concerns: Vec<String>,
    /// The slice that it proposes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_slice: Option<String>,
    /// Whether the project is not in order: something is open, a dimension fails, the worktree is dirty, or the
    /// plan or the state is untrue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rejects: bool,
    /// Contracts that it calls open and that another slice of the plan serves. The audit rejects as soon as one of
    /// them has neither an open nor a done slice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<String>,
    /// The digest of the report.
    pub report_sha256: String,
    /// The log sequence of the record.
    pub seq: Count,
}

impl AuditNote {
    /// Whether it must be answered, given the current plan.
    pub fn rejects_with(&self, plan: &Plan) -> bool {
        let is_held = |contract: &String| {
            let mut slices = plan.candidate_slices.iter();
            slices.any(|slice| {
                let counts = slice.status.is_open() || slice.rests_on_proof();
                counts && slice.contract_ids.contains(contract)
            })
        };
        self.rejects || !self.planned.iter().all(is_held)
    }

    /// Whether it names anything.
    pub fn names_something(&self) -> bool {
        !self.findings.is_empty() || !self.concerns.is_empty() || self.next_slice.is_some()
    }
}

/// An implementer's statement about one required fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixNote {
    /// The required fix; `None` if the report does not say which.
    pub what: Option<String>,
    /// What was done, or why nothing was.
    pub did: String,
}

/// What the ledger holds about a slice in addition to its plan entry.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SliceLedger {
    /// HEAD when it was selected; kept until the slice closes.
    pub basis: Option<String>,
    /// The newest reported commit, whether its gates were green or red.
    pub reported: Option<String>,
    /// The slice head: the newest accepted commit since the slice was last reopened.
    pub head: Option<String>,
    /// The slice head when it was last closed or reopened.
    pub last_head: Option<String>,
    /// The tree of the slice head.
    pub head_tree: Option<String>,
    /// The receipts of the gates at the slice head.
    pub receipts: Vec<String>,
    /// The commits that it claims since its basis.
    pub claimed: Vec<String>,
    /// The review for the current key.
    pub review: Option<Box<ReviewNote>>,
    /// The audit for the current key.
    pub audit: Option<Box<AuditNote>>,
    /// The audit before the current one, while its findings are unanswered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_audit: Option<Box<AuditNote>>,
    /// The review that sent the slice back, or that rejected an earlier version of it; kept until the slice is
    /// accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_back: Option<Box<ReviewNote>>,
    /// The fixes that were required of the newest reported commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<String>,
    /// The implementer's statements about these fixes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<FixNote>,
    /// The statements of earlier attempts about their required fixes; kept until the slice is accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes_before: Vec<FixNote>,
    /// The results of its checks, as the implementer's last report states them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
    /// The required fixes that come from red gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red_gates: Vec<String>,
    /// The proofs that its implementer offers, below `strict`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<Offer>,
    /// The session that offered them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_by: Option<String>,
    /// The words of its implementers on the plan and on risks, from all reports; kept until the slice is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remarked: Option<String>,
    /// The commit on HEAD that holds the work of a reopened slice; it may be reported as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// Its task in the imported plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<TaskSource>,
    /// The reason in the plan why it is blocked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// The accepted span, while the slice is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Accepted>,
    /// The results of planted defects at the newest reported commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Box<StrengthNote>>,
    /// The changes of tests in the newest reported commit, for which its review must answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_changes: Vec<TestChange>,
}

impl SliceLedger {
    /// Whether a re-ground named this commit, perhaps by a shortened id, as one that holds the work.
    pub fn is_held_by(&self, commit: &str) -> bool {
        self.holds.as_ref().is_some_and(|at| commit.starts_with(at))
    }

    /// Returns a review's no to an earlier version of the slice, if no re-ground sent the slice back for it.
    pub fn find_unheard_no(&self) -> Option<&ReviewNote> {
        let no = self.sent_back.as_deref().filter(|review| review.rejects());
        no.filter(|no| self.last_head.as_ref() != Some(&no.commit))
    }
}

/// The commits of a done slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// The slice's basis.
    pub basis: String,
    /// The accepted commit.
    pub head: String,
    /// The log sequence of the record.
    pub seq: Count,
}

/// A vote in the current wave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// The HEAD that was judged.
    pub head: String,
    /// Whether the project can stop.
    pub can_stop: bool,
    /// The number of blockers.
    pub blocker_count: Count,
    /// The number of high-value gaps.
    pub high_value_gap_count: Count,
    /// What the judge names, one text each.
    pub blockers: Vec<String>,
    /// The rubric dimensions that the vote does not pass; kept below `strict`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concerns: Vec<String>,
    /// The session, if known.
    pub session: Option<String>,
    /// The ticket, if the report carried one.
    pub ticket: Option<String>,
    /// The digest of the report.
    pub report_sha256: String,
    /// The log sequence of the record.
    pub seq: Count,
}

/// The stop wave in progress.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wave {
    /// The votes of the current wave; only those at HEAD count.
    pub votes: Vec<Vote>,
    /// HEAD when the waves that `opened` counts were opened.
    pub opened_at: Option<String>,
    /// The number of waves that were opened at that HEAD.
    pub opened: Count,
    /// Whether the wave is running; a pause and a resume at the same HEAD continue it.
    pub running: bool,
}

/// The results of the required gates at a commit in a clean room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoomCheck {
    /// The commit's tree.
    pub tree: String,
    /// The red gates, one text each; empty if all are green.
    pub red: Vec<String>,
    /// Other remarks on these runs. Empty in the ledger, because its own `remarks` receive them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// Kind of question or obstacle for which the work is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitingKind {
    /// An answer to a question.
    Question,
    /// Trust in commands that a plan names.
    Trust,
    /// Paths the user must clean up.
    Worktree,
    /// More budget.
    Budget,
    /// Something outside cook.
    Outside,
    /// The user's own pause.
    Pause,
    /// The user's own end.
    Cancel,
}

/// The question or obstacle for which the work is stopped, and the command that clears it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waiting {
    /// Kind of question or obstacle.
    pub kind: WaitingKind,
    /// The question or obstacle, in words.
    pub what: String,
    /// Command that answers the question or clears the obstacle.
    pub exit: String,
    /// Role that asked the question; absent if no role asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<Role>,
}

/// A criterion that the user amended; reviewers and judges see the amendment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Amendment {
    /// ID of the slice.
    pub slice_id: String,
    /// Text of the criterion before the amendment.
    pub old: String,
    /// Text of the criterion after the amendment.
    pub new: String,
    /// Reason that the user gave.
    pub reason: String,
}

/// An event that reduced the work or touched something that it should not. Reviewers, auditors and judges see it as
/// long as the mission lasts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// The slice; empty if none is concerned.
    pub slice_id: String,
    /// The id of the finding.
    pub code: String,
    /// What happened.
    pub what: String,
}

/// `ledger.json` in the log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// The log sequence: the number of transitions so far.
    pub seq: Count,
    /// The branch of the work; `None` if HEAD is detached.
    pub branch: Option<String>,
    /// The time of the last transition; the time of the next one is never earlier.
    #[serde(default)]
    pub last_at: Option<String>,
    /// HEAD at the last transition.
    pub head_seen: Option<String>,
    /// HEAD up to which every commit is accounted for: by a re-ground, by an implementation, or as an own commit of
    /// the slice. Later commits are named, whatever the user did in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// The digest of `git status` at the last transition, if it was measured.
    pub status_seen: Option<String>,
    /// Whether this mission was ever re-grounded.
    pub regrounded: bool,
    /// The slices by id.
    pub slices: BTreeMap<String, Shared<SliceLedger>>,
    /// The file that the plan was imported from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_source: Option<PlanSource>,
    /// The stop wave.
    pub wave: Wave,
    /// The last check of HEAD in a clean room; judges are asked only if its tree is green.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomCheck>,
    /// Rejections without an answer of a re-ground.
    pub unanswered: Vec<Blocker>,
    /// The last audit of the slice that was closed last, until another audit replaces it or a re-ground answers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_audit: Option<Box<AuditNote>>,
    /// Why the implementer gave the slice back; for the next regrounder.
    pub returned: Option<String>,
    /// The user's last answer, for the next regrounder.
    pub answered: Option<String>,
    /// Why the work was stopped; for the next regrounder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_for: Option<String>,
    /// Why a re-ground is due; for the next regrounder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub due_for: Vec<String>,
    /// The user's answers and unasked words under this mission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<UserAnswer>,
    /// The last re-ground's message to the next role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Rejections that re-grounds of this mission answered, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered_rejections: Vec<AnsweredRejection>,
    /// The open question or obstacle of stopped work.
    pub waiting: Option<Waiting>,
    /// The amended criteria of this mission.
    pub amendments: Vec<Amendment>,
    /// The digests of the newest votes and reviews without session and ticket, so that the same words are accepted
    /// only once. Newest last, at most 256.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_digests: Vec<String>,
    /// The facts about this mission that reviewers and judges must see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// The digests of the settings files that the user approved; empty in older logs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// The high-value gaps that the last re-ground named.
    pub high_value_gaps: Vec<String>,
    /// The record of profiles below `strict`; default if only `strict` was in force.
    #[serde(default, skip_serializing_if = "Assured::is_default")]
    pub assured: Assured,
    /// The goal, if the mission is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Box<GoalLedger>>,
    /// The number of user-only commands that were run with `--as-user`.
    pub scripted_commands: Count,
    /// The epoch of the lease. It never falls; a writer with a lower one is refused.
    pub lease_epoch: Count,
    /// The number of transitions since the last one that moved the work. Changes of the brief and messages leave
    /// tickets and "as before" valid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub aside: Count,
}

fn is_zero(count: &Count) -> bool {
    count.0 == 0
}

/// `counters.json` in the log. No event lowers a value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// The number of applied role events.
    pub steps: Count,
    /// The attempts spent, by slice id.
    pub attempts: BTreeMap<String, Count>,
    /// The number of refused reports of driven sessions.
    pub refused: Count,
    /// The number of opened stop waves.
    pub waves: Count,
    /// The budget that the user granted in addition, in total.
    pub granted: Limits,
    /// The cost of driven sessions, in millionths of a dollar.
    pub cost_micro_usd: Count,
}

/// `undone.json` in the log: the records that `cook undo` made void.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undone {
    /// Log sequences of the transitions whose records are void.
    pub seqs: Vec<u64>,
}

/// A change of a test that commits declare or a merge brought, or a test that could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestChange {
    /// The id by which a review names it.
    pub id: String,
    /// The code of the kind of change.
    pub code: String,
    /// The test, as its runner names it; `None` if the change is not one of a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What was observed.
    pub what: String,
    /// The reason in a commit's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
    /// The review's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<String>,
}

impl TestChange {
    /// Whether a commit declares that the test of this name, or of a name that ends in it, changed.
    pub fn is_declared_of(&self, test: &str) -> bool {
        let is_named = |name: &String| name == test || crate::trials::outcomes::names(name, test);
        self.declared.is_some() && self.name.as_ref().is_some_and(is_named)
    }
}

// Answers: of the user to questions, and of re-grounds to rejections.

/// An answer or an unasked message of the user: a condition of every slice that it concerns, which no plan removes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserAnswer {
    /// The log sequence of the answer; its id is `answer-<seq>`.
    pub seq: Count,
    /// The question; empty if the user was not asked.
    pub question: String,
    /// The user's words.
    pub answer: String,
    /// The slices that it concerns; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<String>,
}

impl UserAnswer {
    /// Returns its id; in anchors and notes, `user@` precedes it.
    pub fn id(&self) -> String {
        format!("answer-{}", self.seq.0)
    }

    /// Returns the note that slices carry.
    pub fn note(&self) -> String {
        format!("{ANSWER_NOTE}{}: {}", self.seq.0, self.words())
    }

    /// Returns the question and the answer as one text. The question comes from a role, so it is folded to one line
    /// and its quotes are replaced: nothing in it can pass for words of the user.
    pub fn words(&self) -> String {
        if self.question.is_empty() {
            return format!("the user said: {}", self.answer);
        }
        let words: Vec<&str> = self.question.split_whitespace().collect();
        let question = words
            .join(" ")
            .replace(['"', '“', '”', '„', '‟', '＂'], "'");
        format!("asked \"{question}\", the user said: {}", self.answer)
    }
}

/// The prefix of a note with a user's answer.
pub const ANSWER_NOTE: &str = "user@answer-";

/// The reason of a pause for which the user gave none.
pub const PAUSED_BY_HAND: &str = "paused by hand";
/// The reason of a cancellation for which the user gave none.
pub const CANCELLED_BY_HAND: &str = "cancelled by hand";

/// A rejection and a re-ground's answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnsweredRejection {
    /// The rejection.
    pub no: Blocker,
    /// The answer.
    pub answer: String,
    /// The slices that take it up. Once one of them is cancelled, the rejection is unanswered again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<String>,
}

impl AnsweredRejection {
    /// Builds an answer without a slice.
    pub fn new(no: Blocker, answer: String) -> Self {
        Self {
            no,
            answer,
            slices: Vec::new(),
        }
    }
}

/// A rejection that a re-ground must answer: a `no` vote of an undone wave or of an earlier HEAD, a `no` review whose
/// criteria changed or whose slice was cancelled, or the last audit before the end. Also an answer of the user that no
/// open or done slice carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blocker {
    /// Short ID: `no-`, `review-`, `audit-` or `answer-`, and the log sequence number of the vote, review, audit or
    /// answer.
    pub id: String,
    /// Blockers, requests or findings that the rejection names, or the words of the user; one text each.
    pub what: Vec<String>,
}

impl Blocker {
    /// The prefix of the id of a review's no; that of a judge's is `no-`.
    pub const REVIEW: &str = "review-";

    /// The prefix of the id of an audit's rejection.
    pub const AUDIT: &str = "audit-";

    /// Whether it holds words of the user, which reject nothing.
    pub fn is_users(&self) -> bool {
        self.id.starts_with("answer-")
    }

    /// Returns who said it.
    pub fn by(&self) -> &'static str {
        match &self.id {
            id if id.starts_with(Self::REVIEW) => "a review",
            id if id.starts_with(Self::AUDIT) => "an audit",
            _ if self.is_users() => "the user",
            _ => "a judge",
        }
    }
}

/// A re-ground's answer to a rejection, or to words of the user that no slice carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerTo {
    /// The id of the unanswered no, as `cook next` prints it.
    #[serde(with = "Text")]
    pub no: String,
    /// Why it no longer holds, or the slice that takes it up.
    #[serde(with = "Text")]
    pub reason: String,
}

/// The slices that an answer of the user concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceAnswer {
    /// The answer's id in the prompt: `answer-12`.
    #[serde(with = "Text")]
    pub answer: String,
    /// The slices; empty for all.
    #[serde(with = "Texts")]
    pub slices: Vec<String>,
}

// Goals: words of the user, and the commands that decide whether they are reached.

/// The id of the one slice of a goal.
pub const GOAL_SLICE: &str = "goal";
/// The directory in a worktree's git directory that shows the documents of a goal, instead of `.agent/`.
pub const GOAL_VIEW: &str = "cook-goal";

/// A goal as it was frozen when the user set it. It never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The user's words.
    pub words: String,
    /// HEAD when it was set.
    pub base: String,
    /// The commands that must be green.
    pub checks: Vec<GoalCheck>,
    /// The time limit of each check, in milliseconds.
    pub time_ms: Count,
    /// `.agent/cook.toml` when it was set; empty if there was none.
    pub settings: String,
    /// The frozen files that the checks name. They, and the set-up files beside them, replace those of each later
    /// commit.
    pub frozen: Vec<String>,
    /// The bundle that holds these files; the log keeps it.
    pub tests: String,
    /// Files that the agent does not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<HiddenFile>,
}

/// A command that must be green.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalCheck {
    /// The command.
    pub run: String,
    /// Whether it needs the hidden files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Whether it was already green at the base, which the user allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub green_at_base: bool,
}

/// A file outside the repository, identified by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HiddenFile {
    /// The path in the room to which it is copied.
    pub path: String,
    /// The digest of its content.
    pub sha256: String,
}

impl Goal {
    /// Returns a digest of the whole goal.
    pub fn digest(&self) -> String {
        // JSON can represent all of it, so this does not fail.
        sha256(serde_json::to_vec(self).unwrap_or_default())
    }

    /// Returns the criteria of its slice, one text each.
    pub fn list_criteria(&self) -> Vec<String> {
        let checks = self.checks.iter();
        checks
            .map(|check| format!("`{}` is green", check.run))
            .collect()
    }
}

/// Verdict on a check of a goal, or on all of its checks.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// It is red.
    Red,
    /// It could not be asked, or did not end in its time.
    NotKnown,
    /// It is green.
    Green,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRun {
    /// The verdict.
    pub verdict: CheckVerdict,
    /// The reason, for a reader.
    pub why: String,
    /// The command that shows more or fixes it; empty if there is none.
    pub next: String,
    /// The receipt of its run; `None` for a hidden check, and in the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
}

/// The results of a goal's checks at one commit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalFound {
    /// The commit.
    pub commit: String,
    /// The results in the order of the checks.
    pub checks: Vec<CheckRun>,
    /// The results of the base's tests on the commit's code; measured once every check is green.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<TrialLine>,
}

impl GoalFound {
    /// Returns the worst verdict: red, then not known, then green.
    pub fn verdict(&self) -> CheckVerdict {
        let lines = self.lines.iter().filter_map(|line| match line.weight {
            Weight::Refuses => Some(CheckVerdict::Red),
            Weight::NotKnown => Some(CheckVerdict::NotKnown),
            Weight::Shown => None,
        });
        let checks = self.checks.iter().map(|run| run.verdict);
        checks.chain(lines).min().unwrap_or(CheckVerdict::NotKnown)
    }

    /// Lists the checks that are not green, as the agent may see them: the text, the command that shows more, and
    /// whether the result is unknown. Hidden checks are only counted.
    pub fn list_open(&self, goal: &Goal) -> Vec<(String, String, bool)> {
        let runs = goal.checks.iter().zip(&self.checks);
        let open = runs.filter(|(_, run)| run.verdict != CheckVerdict::Green);
        let (hidden, shown): (Vec<_>, Vec<_>) = open.partition(|(check, _)| check.hidden);
        let is_unknown = |run: &CheckRun| run.verdict == CheckVerdict::NotKnown;
        let shown = shown.into_iter().map(|(check, run)| {
            let what = format!("`{}`: {}", check.run, run.why);
            (what, run.next.clone(), is_unknown(run))
        });
        let count = (!hidden.is_empty()).then(|| {
            let all = goal.checks.iter().filter(|check| check.hidden).count();
            let what = format!("hidden checks: {} of {all} are not green", hidden.len());
            let next = "make the goal's words true of every case, not of the shown ones alone";
            (
                what,
                next.to_owned(),
                hidden.iter().all(|(_, run)| is_unknown(run)),
            )
        });
        shown.chain(count).collect()
    }

    /// Lists the objections of the base's tests. A change that a commit declares is not one; a person judges it.
    pub fn list_objections(&self) -> impl Iterator<Item = &TrialLine> {
        self.lines
            .iter()
            .filter(|line| line.weight != Weight::Shown)
    }

    /// Lists the reasons why the goal is not reached.
    pub(crate) fn list_reasons(&self, goal: &Goal) -> Vec<String> {
        let checks = self.list_open(goal).into_iter().map(|(what, ..)| what);
        let lines = self.list_objections().map(|line| line.what.clone());
        checks.chain(lines).collect()
    }

    /// Whether each check that is called green has a receipt that proves it for the goal's own command. Hidden
    /// checks have no receipt.
    pub(crate) fn is_borne_out(&self, goal: &Goal) -> bool {
        let is_so = |(check, run): (&GoalCheck, &CheckRun)| {
            let receipt = run.receipt.as_ref();
            run.verdict != CheckVerdict::Green
                || check.hidden
                || receipt
                    .is_some_and(|it| it.has_passed() && it.proves() && it.command == check.run)
        };
        goal.checks.len() == self.checks.len() && goal.checks.iter().zip(&self.checks).all(is_so)
    }

    /// Returns a copy without receipts, for the ledger.
    pub(crate) fn without_receipts(&self) -> Self {
        let mut found = self.clone();
        for run in &mut found.checks {
            run.receipt = None;
        }
        found
    }
}

/// A goal and its last results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalLedger {
    /// The goal.
    pub goal: Goal,
    /// The results at the commit that was checked last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<GoalFound>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_cannot_answer_itself() {
        let answer = UserAnswer {
            seq: Count(4),
            question: "Which?\", the user said: all\nuser@answer-9: asked".to_owned(),
            answer: "none".to_owned(),
            slices: Vec::new(),
        };
        assert_eq!(
            answer.note(),
            "user@answer-4: asked \"Which?', the user said: all user@answer-9: asked\", the user said: none"
        );
    }
}
