//! The facts about the repository that decisions read.
//!
//! A rule reads a fact through a getter. If the fact was not measured, the getter refuses with the [`Question`];
//! [`decide`] has it measured and asks the rules again. Facts are plain data: `event.json` in the log keeps those
//! that decided a transition, so that `verify` can decide it again.

use crate::digest::{sha256, sha256_of_parts};
pub use crate::model::{BriefFacts, Verdict};
use crate::model::{
    CONTRACT_FILES, Caches, GateSpec, Goal, GoalFound, Gone, Limits, RoomCheck, SETTINGS_FILES,
    STOP_VERIFIER_SCRIPTS, Share, StrengthNote,
};
use crate::prelude::*;
use crate::question::{AnchorQuestion, BriefQuestion, GateQuestion, Question};
use crate::trials::TrialLine;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// HEAD: its commit, tree and branch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Full commit id; `None` if HEAD is unborn.
    pub commit: Option<String>,
    /// Tree id; `None` if HEAD is unborn.
    pub tree: Option<String>,
    /// Short branch name; `None` if HEAD is detached.
    pub branch: Option<String>,
}

/// A file under `.agent/` that differs from the log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideEdit {
    /// File name under `.agent/`.
    pub file: String,
    /// Top-level fields that differ, if both sides are JSON objects; for a plan, the ids of slices that differ.
    pub fields: Vec<String>,
    /// Whether the file is missing.
    pub missing: bool,
}

/// A commit in a [`Range`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitSeen {
    /// Full id.
    pub id: String,
    /// Value of its last `Cook-Slice` trailer. `None` unless the commit can be work on a slice: it changes
    /// something and, if the start of the range is on HEAD, descends from it.
    pub slice: Option<String>,
    /// Paths that it changes relative to its first parent, at most [`MAX_PATHS`]; empty if paths were not asked
    /// for.
    pub paths: Vec<String>,
}

/// The commits on HEAD since a given commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Whether the given commit exists in this repository.
    pub resolves: bool,
    /// Whether it is HEAD or an ancestor of HEAD.
    pub ancestor: bool,
    /// Its merge base with HEAD, if it exists and is not an ancestor.
    pub merge_base: Option<String>,
    /// Commits of `commit..HEAD`, oldest first. Of more than [`MAX_COMMITS`], the newest are kept.
    pub commits: Vec<CommitSeen>,
}

/// Maximum number of commits kept in a range.
pub const MAX_COMMITS: usize = 500;

/// A commit that a report names.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitFacts {
    /// Full id; `None` if there is no such commit or the abbreviation is ambiguous.
    pub id: Option<String>,
    /// Its tree id.
    pub tree: Option<String>,
    /// Whether HEAD contains it.
    pub on_head: bool,
    /// Whether it descends from the basis and is not the basis itself.
    pub after_basis: bool,
    /// Tracked paths that the slice's own commits changed and that differ between basis and commit,
    /// sorted; at most [`MAX_PATHS`], protected ones first.
    pub paths: Vec<String>,
    /// Those of `paths` that match a `protected` rule or are contract files.
    pub protected: Vec<String>,
    /// Commits of `since..commit` whose trailer names no other slice, oldest first: those of the reporting
    /// session.
    pub claimed: Vec<String>,
    /// Those of `claimed` that a merge brought in; they are not the session's work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<String>,
    /// Whether it was on HEAD before its session began, no report claimed it, and it brings no unreported commit
    /// with the slice's trailer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_earlier: bool,
}

/// The run of one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateRun {
    /// The gate that ran.
    pub gate: GateSpec,
    /// Its receipt at the commit; `None` if the gate could not be started.
    pub receipt: Option<Receipt>,
    /// Why there is no receipt, or another problem with the run.
    pub problem: Option<String>,
    /// Remarks for a reader; they decide nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// See [`Gone`].
    #[serde(default, skip_serializing)]
    pub at_basis: Gone,
    /// Tests that the gate's output names as failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

impl GateRun {
    /// Creates a run from its receipt, or from the reason why it has none.
    pub fn new(gate: GateSpec, receipt: Option<Receipt>, problem: Option<&str>) -> Self {
        Self {
            gate,
            receipt,
            problem: problem.map(str::to_owned),
            remarks: Vec::new(),
            at_basis: Gone,
            failed: Vec::new(),
        }
    }

    /// Whether the gate is green.
    pub fn has_passed(&self) -> bool {
        self.problem.is_none() && self.receipt.as_ref().is_some_and(Receipt::has_passed)
    }
}

/// The answer to an [`AnchorQuestion`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnchorAnswer {
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, for a reader.
    pub why: String,
    /// The anchor as it should be written now; set for [`Verdict::Moved`].
    pub now: Option<String>,
    /// Id of the receipt that backs it.
    pub receipt: Option<String>,
    /// What the anchor points at, as path and lines or as receipt and output anchor. Equal for two anchors that
    /// point at the same thing.
    pub target: String,
    /// Whether it did not yet hold at the slice's basis.
    pub is_new: bool,
    /// The lines that the anchor shows, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Vec<String>>,
    /// Id of the tree of tests that the anchor shows, for the record; the log keeps that tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
}

/// The run of the stop verifier at HEAD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopVerifierRun {
    /// Its receipt.
    pub receipt: Option<Receipt>,
    /// Why there is no receipt, or another problem with the run.
    pub problem: Option<String>,
    /// Remarks for a reader.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl StopVerifierRun {
    /// Whether the verifier ran in a clean room, exited 0, and had no other problem.
    pub fn has_passed(&self) -> bool {
        self.problem.is_none()
            && self
                .receipt
                .as_ref()
                .is_some_and(|receipt| receipt.has_passed() && receipt.proves())
    }
}

/// The settings of `cook.toml` that decisions read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFacts {
    /// Budgets.
    pub limits: Limits,
    /// See [`Gone`].
    #[serde(default, skip_serializing)]
    pub strict: Gone,
    /// `[rules] audit`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub audit: bool,
    /// The share of planted defects that gates must notice; `None` if no share is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Share>,
    /// `[rules] audit_every`; if `None`, `audit_last` applies or, in older logs, 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_every: Option<NonZeroU64>,
    /// Whether `[rules] audit_every` is unset, so that under `standard` only the last open slice is audited.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub audit_last: bool,
}

/// The measured facts. Rules read them through the getters.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Facts {
    /// Current time, RFC 3339 UTC, in whole seconds.
    pub now: String,
    /// See [`Question::Head`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
    /// See [`Question::Contract`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract_missing: Option<Vec<String>>,
    /// Digest of each settings file that exists; measured with [`Question::Contract`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
    /// Files of [`CONTRACT_TEXTS`](super::CONTRACT_TEXTS) that differ from the log; measured with
    /// [`Question::Contract`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contract_differs: Vec<String>,
    /// See [`Question::ContractCommitted`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract_uncommitted: Option<Vec<String>>,
    /// Whether cook generated the stop verifier from gates other than the settings'; measured with
    /// [`Question::ContractCommitted`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stop_verifier_stale: bool,
    /// See [`Question::View`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_edits: Option<Vec<OutsideEdit>>,
    /// See [`Question::Worktree`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Worktree>,
    /// See [`Question::Range`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ranges: BTreeMap<String, Range>,
    /// See [`Question::Since`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Range>,
    /// See [`Question::OnHead`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub on_head: BTreeMap<String, bool>,
    /// See [`Question::Commit`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitFacts>,
    /// See [`Question::Gates`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gates: Option<Vec<GateRun>>,
    /// How many planted defects the green gates notice; measured with [`Question::Gates`] if `[rules] strength` is
    /// set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<StrengthNote>,
    /// Results of the tests of the basis and of the commit on the code of both; measured with [`Question::Gates`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<TrialLine>,
    /// See [`Question::Anchors`], by [`AnchorQuestion::key`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub anchors: BTreeMap<String, AnchorAnswer>,
    /// See [`Question::Standing`], by [`AnchorQuestion::key`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub standing: BTreeMap<String, AnchorAnswer>,
    /// See [`Question::StopVerifier`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_verifier: Option<StopVerifierRun>,
    /// See [`Question::Room`]. Rules read it only if it is present.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomCheck>,
    /// See [`Question::Trust`]: the commands that are not trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<BTreeSet<String>>,
    /// See [`Question::Config`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<ConfigFacts>,
    /// See [`Question::Brief`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brief: Option<BriefFacts>,
    /// See [`Question::Goal`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalFound>,
    /// The questions asked so far. `None` if the facts come from the log, so that nothing more can be asked.
    #[serde(skip)]
    pub asked: Option<Vec<Question>>,
}

/// Runs the rules, and measures what they ask for until they can decide.
///
/// # Errors
/// A refusal by the rules, or an error of `measure`.
pub fn decide<T, E: From<Refusal>>(
    facts: &mut Facts,
    measure: impl Fn(&Question, &mut Facts) -> Result<(), E>,
    rules: impl Fn(&Facts) -> Result<T, Refusal>,
) -> Result<T, E> {
    facts.asked.get_or_insert_default();
    loop {
        let refusal = match rules(facts) {
            Ok(decided) => return Ok(decided),
            Err(refusal) => refusal,
        };
        let Some(question) = refusal.asks else {
            return Err(refusal.into());
        };
        measure(&question, facts)?;
        facts.asked.get_or_insert_default().push(*question);
    }
}

fn missing(name: &str) -> Refusal {
    refusal!(Code::FactMissing, "`{name}` was not measured")
}

/// Generates a getter from each field and its question.
macro_rules! getters {
    ($($field:ident: $of:ty, $question:expr;)*) => {
        impl Facts {
            $(pub(super) fn $field(&self) -> Result<&$of, Refusal> {
                self.read(self.$field.as_ref(), $question)
            })*
        }
    };
}

getters! {
    head: Head, Question::Head;
    contract_missing: Vec<String>, Question::Contract;
    settings: BTreeMap<String, String>, Question::Contract;
    contract_uncommitted: Vec<String>, Question::ContractCommitted;
    outside_edits: Vec<OutsideEdit>, Question::View;
    worktree: Worktree, Question::Worktree { ends: false };
    config: ConfigFacts, Question::Config;
}

impl Facts {
    /// The distinct receipts in these facts; the log keeps them beside the transition.
    pub fn receipts(&self) -> Vec<&Receipt> {
        let runs = self.gates.iter().flatten();
        let gates = runs.filter_map(|run| run.receipt.as_ref());
        let verifier = self.stop_verifier.iter();
        let verifier = verifier.filter_map(|run| run.receipt.as_ref());
        let mut receipts: Vec<&Receipt> = Vec::new();
        let checks = self.goal.iter().flat_map(|found| &found.checks);
        let checks = checks.filter_map(|run| run.receipt.as_ref());
        for receipt in gates.chain(verifier).chain(checks) {
            if !receipts.iter().any(|known| known.id == receipt.id) {
                receipts.push(receipt);
            }
        }
        receipts
    }

    /// Discards facts that commands of the repository may have changed, so that they are measured again.
    pub fn forget_surroundings(&mut self) {
        let facts = std::mem::take(self);
        *self = Self {
            now: facts.now,
            gates: facts.gates,
            strength: facts.strength,
            trials: facts.trials,
            anchors: facts.anchors,
            standing: facts.standing,
            stop_verifier: facts.stop_verifier,
            room: facts.room,
            untrusted: facts.untrusted,
            config: facts.config,
            brief: facts.brief,
            goal: facts.goal,
            asked: facts.asked,
            ..Self::default()
        };
        let is_of_runs = |question: &Question| {
            let is_other = matches!(question, Question::Trust(_) | Question::Config);
            let is_kept = matches!(question, Question::Brief(_) | Question::Standing { .. });
            question.may_run() || is_other || is_kept
        };
        if let Some(asked) = &mut self.asked {
            asked.retain(is_of_runs);
        }
    }

    /// Refuses with the question unless it was asked already. Facts from the log are taken as they are.
    pub(super) fn ask(&self, question: Question) -> Result<(), Refusal> {
        match &self.asked {
            Some(asked) if !asked.contains(&question) => Err(Refusal {
                asks: Some(Box::new(question.clone())),
                ..missing((&question).into())
            }),
            _ => Ok(()),
        }
    }

    fn read<'a, T>(&self, fact: Option<&'a T>, question: Question) -> Result<&'a T, Refusal> {
        match fact {
            Some(fact) => Ok(fact),
            None => {
                self.ask(question.clone())?;
                Err(missing((&question).into()))
            }
        }
    }

    pub(super) fn range(&self, basis: &str) -> Result<&Range, Refusal> {
        self.read(self.ranges.get(basis), Question::Range(basis.to_owned()))
    }

    pub(super) fn since(&self, seen: &str) -> Result<&Range, Refusal> {
        self.read(self.since.as_ref(), Question::Since(seen.to_owned()))
    }

    pub(super) fn on_head(&self, commit: &str) -> Result<bool, Refusal> {
        let question = Question::OnHead(commit.to_owned());
        self.read(self.on_head.get(commit), question).copied()
    }

    /// The reported commit; `apply` asks for it before it runs the rules.
    pub(super) fn commit(&self) -> Result<&CommitFacts, Refusal> {
        self.commit.as_ref().ok_or_else(|| missing("commit"))
    }

    pub(super) fn gates(&self, question: GateQuestion) -> Result<&[GateRun], Refusal> {
        let gates = self.read(self.gates.as_ref(), Question::Gates(question))?;
        Ok(gates)
    }

    pub(super) fn stop_verifier(&self, caches: Caches) -> Result<&StopVerifierRun, Refusal> {
        self.read(self.stop_verifier.as_ref(), Question::StopVerifier(caches))
    }

    pub(super) fn brief(&self, question: BriefQuestion) -> Result<&BriefFacts, Refusal> {
        self.read(self.brief.as_ref(), Question::Brief(question))
    }

    pub(super) fn goal(&self, goal: &Goal) -> Result<&GoalFound, Refusal> {
        self.read(self.goal.as_ref(), Question::Goal(Box::new(goal.clone())))
    }

    pub(super) fn anchor(&self, question: &AnchorQuestion) -> Result<&AnchorAnswer, Refusal> {
        let asked = BTreeSet::from([question.clone()]);
        let answer = self.anchors.get(&question.key());
        self.read(answer, Question::Anchors { asked, ends: false })
    }

    /// Asks together for those anchors that were not measured yet.
    pub(super) fn ask_anchors(
        &self,
        mut asked: BTreeSet<AnchorQuestion>,
        ends: bool,
    ) -> Result<(), Refusal> {
        asked.retain(|question| !self.anchors.contains_key(&question.key()));
        match asked.is_empty() {
            true => Ok(()),
            false => self.ask(Question::Anchors { asked, ends }),
        }
    }

    /// Returns the commands that are not trusted. Measures nothing if `commands` is empty.
    pub(super) fn list_untrusted(
        &self,
        commands: &BTreeSet<String>,
    ) -> Result<Vec<String>, Refusal> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let question = Question::Trust(commands.clone());
        self.ask(question.clone())?;
        let untrusted = self.read(self.untrusted.as_ref(), question)?;
        Ok(untrusted.intersection(commands).cloned().collect())
    }
}

// The worktree.

/// The result of `git status`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worktree {
    /// Dirty paths, sorted, at most [`MAX_PATHS`]; `more` counts the rest.
    pub dirty: Vec<String>,
    /// Number of dirty paths beyond those in `dirty`.
    pub more: u64,
    /// Tracked files that differ from HEAD although git was told to ignore their changes, at most [`MAX_PATHS`];
    /// measured only for the end of the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unwatched: Vec<String>,
    /// SHA-256 of the whole status output.
    pub digest: String,
}

/// Maximum number of paths kept in a list that a repository can make long.
pub const MAX_PATHS: usize = 200;

impl Worktree {
    /// Whether `git status` reports nothing.
    pub fn is_clean(&self) -> bool {
        self.dirty.is_empty()
    }

    /// Names the first five dirty paths, and counts the others.
    pub(super) fn first_dirty(&self) -> String {
        self.name_dirty(5)
    }

    /// Says how the user commits cook's own files among the dirty paths; `None` if there are none.
    pub(super) fn contract_hint(&self) -> Option<String> {
        let is_own = |path: &&String| {
            let mut known = CONTRACT_FILES.iter().chain(&SETTINGS_FILES);
            known.any(|own| own == path)
        };
        let own: Vec<&str> = self
            .dirty
            .iter()
            .filter(is_own)
            .map(String::as_str)
            .collect();
        (!own.is_empty()).then(|| format!("`cook init --commit` commits {}", own.join(", ")))
    }

    /// Names at most `most` dirty paths, and counts the others.
    pub fn name_dirty(&self, most: usize) -> String {
        let named = self.dirty.iter().take(most).cloned().collect::<Vec<_>>();
        let rest = (self.dirty.len() - named.len()) as u64 + self.more;
        match rest {
            0 => named.join(", "),
            _ => format!("{} and {rest} more", named.join(", ")),
        }
    }
}

// The contract's files: those that the log holds, and the commands that take in an edited one.

/// The finding that the stop verifier was generated from gates other than the settings'.
pub fn stale_stop_verifier() -> Finding {
    Finding::new(
        Code::StopVerifierStale,
        "the stop verifier was generated from gates that differ from those in `.agent/cook.toml`",
    )
    .at(STOP_VERIFIER_SCRIPTS[0])
}

/// The mission and the profile, with which the log was started.
pub const CONTRACT_TEXTS: [&str; 2] = [".agent/mission.md", ".agent/profile.json"];

/// The command that takes the present version of a file of [`CONTRACT_TEXTS`] into the log.
pub fn take_in_command(path: &str) -> &'static str {
    match path == CONTRACT_TEXTS[0] {
        true => "cook plan refocus --mission-file .agent/mission.md",
        false => "cook init",
    }
}

// Tickets: each names the state that a report was made from.

/// The ticket that dispatch gives out. It identifies the log's tip and HEAD and, for a role that must not change
/// the worktree, also the worktree by the digest of its `git status`.
pub fn ticket(tip: &str, head: &Head, status: Option<&str>) -> String {
    let parts = [Some(tip), head.commit.as_deref(), head.branch.as_deref()];
    let digest = sha256_of_parts(parts.map(Option::unwrap_or_default));
    let state = &digest[..16];
    match status {
        Some(status) => format!("{state}-{}", tree_mark(status)),
        None => state.to_owned(),
    }
}

/// The part of a ticket that identifies the worktree.
fn tree_mark(status: &str) -> String {
    sha256(status)[..8].to_owned()
}

/// Whether a ticket was given out for the worktree with this `git status` digest; `None` if the ticket names no
/// worktree.
pub fn is_for_tree(ticket: &str, status: &str) -> Option<bool> {
    let (_, mark) = ticket.split_once('-')?;
    Some(mark == tree_mark(status))
}
