//! What the histories add up to, kept beside the documents so that no decision
//! has to read a history: bounded by the plan's size, derived by `apply` alone,
//! recomputed by `cook verify`.

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

/// The review of one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewNote {
    /// Slice head that was reviewed.
    pub commit: String,
    /// Digest of the criteria it was reviewed against.
    pub criteria_sha256: String,
    /// Acceptable as-is.
    pub acceptable: bool,
    /// Dimensions with a `fail`.
    pub fails: Vec<String>,
    /// What its rubric says of each dimension that it does not pass: `KEY (concern): why`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concerns: Vec<String>,
    /// What it found.
    pub findings: Vec<String>,
    /// Smallest follow-up, when it named one.
    pub follow_up: Option<String>,
    /// Digest of the report.
    pub report_sha256: String,
    /// Its session, where it was shown what the implementer says proves each criterion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Planted defects that no gate notices and that it does not answer for are among its findings: cook
    /// put them there, and takes no yes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weak: bool,
    /// Log sequence of the record.
    pub seq: Count,
}

impl ReviewNote {
    /// It does not accept the work, or cook does not on its word.
    pub fn rejects(&self) -> bool {
        !self.acceptable || !self.fails.is_empty() || self.weak
    }
}

/// The audit of one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditNote {
    /// Slice head that was audited.
    pub commit: String,
    /// Digest of the criteria it was audited against.
    pub criteria_sha256: String,
    /// Open contracts, blockers and gaps it named, one text each.
    pub findings: Vec<String>,
    /// What its rubric says of each dimension that it does not pass: `KEY (concern): why`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concerns: Vec<String>,
    /// The slice it wants next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_slice: Option<String>,
    /// It finds the project not in order: something is open, a dimension fails, or plan and state are
    /// not what they say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rejects: bool,
    /// Contracts that it calls open and that a slice of the plan was to fulfil. It rejects as soon as
    /// no slice that is open or done has one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<String>,
    /// Digest of the report.
    pub report_sha256: String,
    /// Log sequence of the record.
    pub seq: Count,
}

impl AuditNote {
    /// Something that it names has to be answered, as the plan is now.
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

    /// It names something.
    pub fn names_something(&self) -> bool {
        !self.findings.is_empty() || !self.concerns.is_empty() || self.next_slice.is_some()
    }
}

/// What an implementer says that it did about something that it had to fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixNote {
    /// What had to be fixed; none = the report does not say which.
    pub what: Option<String>,
    /// What it did, or why nothing.
    pub did: String,
}

/// What is known of one slice beyond its plan entry.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SliceLedger {
    /// HEAD at selection, kept until the slice closes.
    pub basis: Option<String>,
    /// The newest commit an accepted or red `implemented` report named.
    pub reported: Option<String>,
    /// Slice head: the newest `implemented` commit since the last `reopened`.
    pub head: Option<String>,
    /// The slice head it had when it was last closed or reopened.
    pub last_head: Option<String>,
    /// Tree of the slice head.
    pub head_tree: Option<String>,
    /// Receipts of the gates at the slice head.
    pub receipts: Vec<String>,
    /// Commits it claims since the basis.
    pub claimed: Vec<String>,
    /// Review of the current key.
    pub review: Option<Box<ReviewNote>>,
    /// Audit of the current key.
    pub audit: Option<Box<AuditNote>>,
    /// The audit before the one of the current key, while what it names was not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_audit: Option<Box<AuditNote>>,
    /// The review that sent it back, or that said no to what is another now, until it is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_back: Option<Box<ReviewNote>>,
    /// What the commit that was reported last had to fix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<String>,
    /// What its implementer says that was done about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<FixNote>,
    /// What attempts before said that was done about what they had to fix, until it is accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes_before: Vec<FixNote>,
    /// What its checks came to, as its implementer says in the last report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
    /// What red gates put among what must be fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red_gates: Vec<String>,
    /// What its implementer says proves each criterion, below `strict`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<Offer>,
    /// The session of that report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_by: Option<String>,
    /// What its implementers say of the plan and of risks, in all reports until it is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remarked: Option<String>,
    /// The commit on HEAD that holds the work of a reopened slice: it may be reported as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// Where it stood in the plan that was taken in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<TaskSource>,
    /// Why it is blocked, as the plan says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// Where it was accepted, while the slice is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Accepted>,
    /// What planted defects say of its gates, at the commit that was reported last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Box<StrengthNote>>,
    /// Changes of tests in the commit that was reported last, which its review answers for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_changes: Vec<TestChange>,
}

impl SliceLedger {
    /// A re-ground named this commit as one that holds the work; it may have shortened the id.
    pub fn is_held_by(&self, commit: &str) -> bool {
        self.holds.as_ref().is_some_and(|at| commit.starts_with(at))
    }

    /// A review's no to what it was before, which no re-ground sent it back for.
    pub fn find_unheard_no(&self) -> Option<&ReviewNote> {
        let no = self.sent_back.as_deref().filter(|review| review.rejects());
        no.filter(|no| self.last_head.as_ref() != Some(&no.commit))
    }
}

/// The span of a done slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// The slice's basis.
    pub basis: String,
    /// The accepted commit.
    pub head: String,
    /// Log sequence of the record.
    pub seq: Count,
}

/// One vote of the current wave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// HEAD that was judged.
    pub head: String,
    /// Yes or no.
    pub can_stop: bool,
    /// Blockers counted.
    pub blocker_count: Count,
    /// High-value gaps counted.
    pub high_value_gap_count: Count,
    /// What it names, one text each.
    pub blockers: Vec<String>,
    /// What its rubric does not pass; kept below `strict`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concerns: Vec<String>,
    /// The session, when known.
    pub session: Option<String>,
    /// The ticket, when it came with one.
    pub ticket: Option<String>,
    /// Digest of the report.
    pub report_sha256: String,
    /// Log sequence of the record.
    pub seq: Count,
}

/// The stop wave in progress.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wave {
    /// Votes of the current wave id; only those at HEAD count.
    pub votes: Vec<Vote>,
    /// HEAD at which the waves below were opened.
    pub opened_at: Option<String>,
    /// Waves opened at that HEAD.
    pub opened: Count,
    /// The wave is under way: a pause and a resume at the same HEAD go on in it.
    pub running: bool,
}

/// What gates said of a commit in a clean room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoomCheck {
    /// The commit's tree.
    pub tree: String,
    /// Required gates that are red, one text each; empty = all are green.
    pub red: Vec<String>,
    /// What else there is to say of their runs; none in the ledger, whose remarks take it in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What a stopped workflow waits for.
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

/// Why the work is stopped and the one command that leaves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waiting {
    /// What kind of thing is waited for.
    pub kind: WaitingKind,
    /// What exactly.
    pub what: String,
    /// The command that leaves it.
    pub exit: String,
    /// Whose question it is; none where a plan asked or nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<Role>,
}

/// An amended criterion; shown to reviewers and judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Amendment {
    /// The slice.
    pub slice_id: String,
    /// The text before.
    pub old: String,
    /// The text after.
    pub new: String,
    /// Why.
    pub reason: String,
}

/// Something that made the work smaller or touched what it should not: reviewers, auditors
/// and judges are told for as long as the mission lasts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// The slice; empty = of no slice.
    pub slice_id: String,
    /// Id of the finding it was.
    pub code: String,
    /// What happened.
    pub what: String,
}

/// `ledger.json` in the log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// Log sequence: number of transitions so far.
    pub seq: Count,
    /// The branch the workflow runs on; none = detached.
    pub branch: Option<String>,
    /// When the last transition was made; the next one never carries an earlier moment.
    #[serde(default)]
    pub last_at: Option<String>,
    /// HEAD at the last transition.
    pub head_seen: Option<String>,
    /// HEAD up to which every commit is accounted for: by a re-ground, by an implementation, or as the
    /// slice's own. What came since is named, whatever the user did in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// Digest of `git status` at the last transition, when it was measured.
    pub status_seen: Option<String>,
    /// A re-ground of this mission is recorded.
    pub regrounded: bool,
    /// By slice id.
    pub slices: BTreeMap<String, Shared<SliceLedger>>,
    /// The file that the plan was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_source: Option<PlanSource>,
    /// The stop wave.
    pub wave: Wave,
    /// The last check of HEAD in a clean room: judges are asked only of a tree that is green.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomCheck>,
    /// Rejections that no re-ground has answered.
    pub unanswered: Vec<Blocker>,
    /// What the audit of the slice that was closed last names, until another audit takes its place or
    /// a re-ground answers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_audit: Option<Box<AuditNote>>,
    /// Why the implementer gave the slice back, for the next regrounder.
    pub returned: Option<String>,
    /// The user's last answer, for the next regrounder.
    pub answered: Option<String>,
    /// What the work was stopped for, for the next regrounder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_for: Option<String>,
    /// What brought about that a re-ground is due, for the next regrounder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub due_for: Vec<String>,
    /// What the user answered under this mission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<UserAnswer>,
    /// What the last re-ground wants the next role to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Rejections of this mission that re-grounds answered, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered_rejections: Vec<AnsweredRejection>,
    /// What a stopped workflow waits for.
    pub waiting: Option<Waiting>,
    /// Amended criteria of this mission.
    pub amendments: Vec<Amendment>,
    /// Digests of the newest judgments and reviews that came without session and
    /// ticket: the same words are taken once. Newest last, at most 256.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_digests: Vec<String>,
    /// What reviewers and judges must know of this mission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// Digests of the settings files as the user left them; empty in logs of before.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// High-value gaps the last re-ground named.
    pub high_value_gaps: Vec<String>,
    /// Left out where `strict` is and was in force.
    #[serde(default, skip_serializing_if = "Assured::is_default")]
    pub assured: Assured,
    /// The goal, where the mission is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Box<GoalLedger>>,
    /// Times a user-only command was run with `--as-user`.
    pub scripted_commands: Count,
    /// Never lowered; a writer with a lower one is refused.
    pub lease_epoch: Count,
    /// Transitions since the last one that moved the work: changes of the brief and
    /// messages leave tickets and "as before" as they were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub aside: Count,
}

fn is_zero(count: &Count) -> bool {
    count.0 == 0
}

/// `counters.json` in the log: no event lowers a value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counters {
    /// Role events that were applied.
    pub steps: Count,
    /// Attempts spent, by slice id.
    pub attempts: BTreeMap<String, Count>,
    /// Refused reports of driven sessions.
    pub refused: Count,
    /// Stop waves opened.
    pub waves: Count,
    /// Times the user extended a budget, with what was added.
    pub granted: Limits,
    /// Money spent by driven sessions, millionths of a dollar.
    pub cost_micro_usd: Count,
}

/// `undone.json` in the log: records that no longer count.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undone {
    /// Log sequences of the transitions whose records are void.
    pub seqs: Vec<u64>,
}

/// A change of a test that commits declare, or that could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestChange {
    /// By which a review names it.
    pub id: String,
    /// The code of what it is.
    pub code: String,
    /// The test, as its runner names it; other changes have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What was seen.
    pub what: String,
    /// The reason that a commit's message gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
    /// What the review says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<String>,
}

impl TestChange {
    /// A commit declares that the test of this name, or of one that ends in it, was changed.
    pub fn is_declared_of(&self, test: &str) -> bool {
        let is_named = |name: &String| name == test || crate::trials::outcomes::names(name, test);
        self.declared.is_some() && self.name.as_ref().is_some_and(is_named)
    }
}

// Answers: the user's to questions, re-grounds' to judges.

/// What the user answered, or said unasked: a condition of every slice that it concerns, and no plan removes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserAnswer {
    /// Log sequence of the answer; its id is `answer-<seq>`.
    pub seq: Count,
    /// What was asked; empty = the user said it unasked.
    pub question: String,
    /// What the user said.
    pub answer: String,
    /// The slices that it concerns; empty = every one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<String>,
}

impl UserAnswer {
    /// The id under which it is named; `user@` stands before it in anchors and notes.
    pub fn id(&self) -> String {
        format!("answer-{}", self.seq.0)
    }

    /// As it stands among the notes of a slice.
    pub fn note(&self) -> String {
        format!("{ANSWER_NOTE}{}: {}", self.seq.0, self.words())
    }

    /// What was asked and said. The question is a role's: it is one line, and no quote in it ends it, so
    /// that nothing of it reads as said by the user.
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

/// How a note begins that holds the user's answer.
pub const ANSWER_NOTE: &str = "user@answer-";

/// What stands for the reason of a pause that the user gave none for.
pub const PAUSED_BY_HAND: &str = "paused by hand";
/// The same of an end.
pub const CANCELLED_BY_HAND: &str = "cancelled by hand";

/// A rejection and what a re-ground did about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnsweredRejection {
    /// What was named.
    pub no: Blocker,
    /// The answer.
    pub answer: String,
    /// The slices that take it up: once one of them is cancelled, the rejection is owed again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<String>,
}

impl AnsweredRejection {
    /// One that no slice takes up.
    pub fn new(no: Blocker, answer: String) -> Self {
        Self {
            no,
            answer,
            slices: Vec::new(),
        }
    }
}

/// A `no` of a wave that HEAD left behind or that was undone, of a review whose criteria are others
/// now or whose slice is cancelled, or of the last audit before the end; or words of the user's that no
/// open or done slice holds to: it must be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blocker {
    /// Short id: `no-`, `review-`, `audit-` or `answer-` and the log sequence of the vote, the review, the
    /// audit or the user's answer.
    pub id: String,
    /// What it names.
    pub what: Vec<String>,
}

impl Blocker {
    /// How the id of a review's no begins; a judge's begins with `no-`.
    pub const REVIEW: &str = "review-";

    /// How the id of what an audit leaves open begins.
    pub const AUDIT: &str = "audit-";

    /// Words of the user's, which say what holds and reject nothing.
    pub fn is_users(&self) -> bool {
        self.id.starts_with("answer-")
    }

    /// Who said it.
    pub fn by(&self) -> &'static str {
        match &self.id {
            id if id.starts_with(Self::REVIEW) => "a review",
            id if id.starts_with(Self::AUDIT) => "an audit",
            _ if self.is_users() => "the user",
            _ => "a judge",
        }
    }
}

/// An answer to a blocker that a voided wave's `no` named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerTo {
    /// Id of the unanswered `no`, as `cook next` prints it.
    #[serde(with = "Text")]
    pub no: String,
    /// Why it no longer holds, or the slice that takes it up.
    #[serde(with = "Text")]
    pub reason: String,
}

/// The slices that an answer of the user's concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceAnswer {
    /// The answer, as the prompt names it: `answer-12`.
    #[serde(with = "Text")]
    pub answer: String,
    /// The slices; none = every one.
    #[serde(with = "Texts")]
    pub slices: Vec<String>,
}

// A goal: words of the user's, and the commands that say whether they are reached.

/// The slice that a goal is.
pub const GOAL_SLICE: &str = "goal";
/// The directory in a worktree's git dir that shows the documents of a goal, in place of `.agent/`.
pub const GOAL_VIEW: &str = "cook-goal";

/// What was frozen when the user set it. Nothing of it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The words.
    pub words: String,
    /// HEAD then.
    pub base: String,
    /// What must be green.
    pub checks: Vec<GoalCheck>,
    /// How long each of them may take, in milliseconds.
    pub time_ms: Count,
    /// `.agent/cook.toml` as it stood then; empty = there was none.
    pub settings: String,
    /// The files that the checks name, which are laid over each later commit with the set-up beside them.
    pub frozen: Vec<String>,
    /// The bundle that holds them; the log keeps it.
    pub tests: String,
    /// Files that whoever works on it does not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<HiddenFile>,
}

/// One command that must be green.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalCheck {
    /// The command.
    pub run: String,
    /// It needs the hidden files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// It was green at the base already, which the user allows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub green_at_base: bool,
}

/// A file outside of the repository, known by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HiddenFile {
    /// Where it is laid down in the room.
    pub path: String,
    /// What it holds.
    pub sha256: String,
}

impl Goal {
    /// What names all of it.
    pub fn digest(&self) -> String {
        // Strings, numbers and lists: nothing that JSON cannot hold.
        sha256(serde_json::to_vec(self).unwrap_or_default())
    }

    /// What its slice must show, one text each.
    pub fn list_criteria(&self) -> Vec<String> {
        let checks = self.checks.iter();
        checks
            .map(|check| format!("`{}` is green", check.run))
            .collect()
    }
}

/// What is said of a check, or of all of them.
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

/// What came of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRun {
    /// What it came to.
    pub verdict: CheckVerdict,
    /// Why, for a reader.
    pub why: String,
    /// The command that shows more, or mends it; empty = there is none.
    pub next: String,
    /// Its run; none of a check that needs hidden files, and in the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
}

/// What is known of a goal at one commit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalFound {
    /// The commit.
    pub commit: String,
    /// In the order of the checks.
    pub checks: Vec<CheckRun>,
    /// What the tests of the base say of its code, once every check is green.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<TrialLine>,
}

impl GoalFound {
    /// Red where one is, then not known where one is.
    pub fn verdict(&self) -> CheckVerdict {
        let lines = self.lines.iter().filter_map(|line| match line.weight {
            Weight::Refuses => Some(CheckVerdict::Red),
            Weight::NotKnown => Some(CheckVerdict::NotKnown),
            Weight::Shown => None,
        });
        let checks = self.checks.iter().map(|run| run.verdict);
        checks.chain(lines).min().unwrap_or(CheckVerdict::NotKnown)
    }

    /// What is not green, for whoever works on it, with the command that shows more and whether it could not be
    /// asked; of hidden checks a count.
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

    /// What the base's tests object to; a change that a commit declares is a person's to judge.
    pub fn list_objections(&self) -> impl Iterator<Item = &TrialLine> {
        self.lines
            .iter()
            .filter(|line| line.weight != Weight::Shown)
    }

    /// What keeps the goal from being reached.
    pub(crate) fn list_reasons(&self, goal: &Goal) -> Vec<String> {
        let checks = self.list_open(goal).into_iter().map(|(what, ..)| what);
        let lines = self.list_objections().map(|line| line.what.clone());
        checks.chain(lines).collect()
    }

    /// A green check is one whose receipt says so, on the goal's own command.
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

    /// The same without receipts, for the ledger.
    pub(crate) fn without_receipts(&self) -> Self {
        let mut found = self.clone();
        for run in &mut found.checks {
            run.receipt = None;
        }
        found
    }
}

/// A goal, and what was last found of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalLedger {
    /// The goal.
    pub goal: Goal,
    /// At the commit that was asked last.
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
