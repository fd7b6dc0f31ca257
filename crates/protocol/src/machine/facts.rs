//! What a decision knows of the repository.
//!
//! A rule reads a fact through a getter; where nobody measured it, the getter refuses with the
//! [`Question`], and [`decide`] has it measured and asks the rules again. Facts are plain data:
//! `event.json` in the log keeps those a transition was judged by, so that `verify` can judge it again.

use crate::digest::{sha256, sha256_of_parts};
pub use crate::model::{BriefFacts, Verdict};
use crate::model::{
    CONTRACT_FILES, Caches, GateSpec, Goal, GoalFound, Limits, RoomCheck, SETTINGS_FILES,
    STOP_VERIFIER_SCRIPTS, Share, StrengthNote,
};
use crate::prelude::*;
use crate::question::{AnchorQuestion, BriefQuestion, GateQuestion, Question};
use crate::trials::TrialLine;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// HEAD.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Full commit id; none = unborn.
    pub commit: Option<String>,
    /// Tree id; none = unborn.
    pub tree: Option<String>,
    /// Short branch name; none = detached.
    pub branch: Option<String>,
}

/// A file under `.agent/` that differs from the log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideEdit {
    /// File name under `.agent/`.
    pub file: String,
    /// Top-level fields that differ, when both sides are objects; slice ids for a plan.
    pub fields: Vec<String>,
    /// True when the file is gone.
    pub missing: bool,
}

/// A commit as seen from HEAD.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitSeen {
    /// Full id.
    pub id: String,
    /// Value of its last `Cook-Slice` trailer, where it can be a slice's work: it changes something,
    /// and is built on where the range begins.
    pub slice: Option<String>,
    /// Paths it changes against its first parent; only where paths were asked for,
    /// at most [`MAX_PATHS`].
    pub paths: Vec<String>,
}

/// What came on HEAD since some commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The commit exists in this repository.
    pub resolves: bool,
    /// It is an ancestor of HEAD, or HEAD itself.
    pub ancestor: bool,
    /// Merge base with HEAD when it resolves and is not an ancestor; where it does not resolve, the newest
    /// commit on HEAD that has its tree, and the commits are those since that one.
    pub merge_base: Option<String>,
    /// Commits of `commit..HEAD`, oldest first; at most [`MAX_COMMITS`], newest kept.
    pub commits: Vec<CommitSeen>,
}

/// Commits kept of a range.
pub const MAX_COMMITS: usize = 500;

/// A reported commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitFacts {
    /// Full id; none = no such commit, or the abbreviation is ambiguous.
    pub id: Option<String>,
    /// Its tree.
    pub tree: Option<String>,
    /// HEAD contains it.
    pub on_head: bool,
    /// It descends from the basis and is not the basis.
    pub after_basis: bool,
    /// Tracked paths that the slice's own commits changed and that differ between basis and commit,
    /// sorted; at most [`MAX_PATHS`], protected ones first.
    pub paths: Vec<String>,
    /// Those of them that match a `protected` rule or are contract files.
    pub protected: Vec<String>,
    /// Commits of `since..commit`, oldest first: what its session made.
    pub claimed: Vec<String>,
    /// Those of them that a merge brought in: they are somebody else's work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<String>,
    /// It was on HEAD before its session began, no report claimed it, and it brings no commit with the
    /// slice's trailer that was not reported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_earlier: bool,
}

/// One gate's run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateRun {
    /// The gate.
    pub gate: GateSpec,
    /// Its receipt at the commit; none = it could not be started.
    pub receipt: Option<Receipt>,
    /// Why there is no receipt, or what else is wrong with it.
    pub problem: Option<String>,
    /// What a reader should know of it, though it decides nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Receipt at the basis, for a gate that must fail there.
    pub at_basis: Option<Receipt>,
    /// Tests that its output names as failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

impl GateRun {
    /// A run with its receipt, or why it has none.
    pub fn new(gate: GateSpec, receipt: Option<Receipt>, problem: Option<&str>) -> Self {
        Self {
            gate,
            receipt,
            problem: problem.map(str::to_owned),
            remarks: Vec::new(),
            at_basis: None,
            failed: Vec::new(),
        }
    }

    /// Green, and red at the basis where that is asked for.
    pub fn has_passed(&self) -> bool {
        self.problem.is_none()
            && self.receipt.as_ref().is_some_and(Receipt::has_passed)
            && (!self.gate.must_fail_at_basis
                || self
                    .at_basis
                    .as_ref()
                    .is_some_and(|receipt| !receipt.has_passed()))
    }
}

/// The answer to an [`AnchorQuestion`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnchorAnswer {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, for a reader.
    pub why: String,
    /// The anchor as it should be written now (`Moved`).
    pub now: Option<String>,
    /// The receipt that backs it.
    pub receipt: Option<String>,
    /// What it points at, in a form that is equal when two anchors point at the same thing:
    /// path and lines, or receipt and output anchor.
    pub target: String,
    /// It did not hold at the slice's basis already.
    pub is_new: bool,
    /// The lines that it shows, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Vec<String>>,
    /// The tree of the tests that it shows, for the record; the log keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
}

/// The stop verifier's run at HEAD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopVerifierRun {
    /// Its receipt.
    pub receipt: Option<Receipt>,
    /// Why there is none.
    pub problem: Option<String>,
    /// What else there is to say of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl StopVerifierRun {
    /// It ran in a clean room and exited 0, and nothing else is wrong with its run.
    pub fn has_passed(&self) -> bool {
        self.problem.is_none()
            && self
                .receipt
                .as_ref()
                .is_some_and(|receipt| receipt.has_passed() && receipt.proves())
    }
}

/// What `cook.toml` says about deciding.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFacts {
    /// Budgets.
    pub limits: Limits,
    /// Findings that need a re-ground refuse.
    pub strict: bool,
    /// `[rules] audit`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub audit: bool,
    /// The share of planted defects that gates must notice; none = nothing is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Share>,
    /// `[rules] audit_every`; none = `audit_last`, or, in older logs, 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_every: Option<NonZeroU64>,
    /// No `[rules] audit_every` is stated: under `standard` only the last open slice is audited.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub audit_last: bool,
}

/// What was measured. Rules read the fields through the getters.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Facts {
    /// RFC 3339 UTC, seconds.
    pub now: String,
    /// See [`Question::Head`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
    /// See [`Question::Contract`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract_missing: Option<Vec<String>>,
    /// Digest of each settings file that is there; measured with [`Question::Contract`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
    /// Which of [`CONTRACT_TEXTS`](super::CONTRACT_TEXTS) say something else than the log; measured with
    /// [`Question::Contract`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contract_differs: Vec<String>,
    /// See [`Question::ContractCommitted`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract_uncommitted: Option<Vec<String>>,
    /// cook made the stop verifier from other gates than the settings have; measured with
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
    /// What planted defects say of green gates; measured with [`Question::Gates`] where `[rules] strength`
    /// asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<StrengthNote>,
    /// What the tests of the basis and of the commit say when they are crossed with the code of both;
    /// measured with [`Question::Gates`].
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
    /// See [`Question::Room`]; read where it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomCheck>,
    /// See [`Question::Trust`]: those that are not trusted.
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
    /// What was asked; none where the facts come out of the log, and nothing more can be asked.
    #[serde(skip)]
    pub asked: Option<Vec<Question>>,
}

/// Has the rules decide, and measures what they ask for until they can.
///
/// # Errors
/// A refusal of theirs, or what `measure` fails at.
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

/// The getters of facts: the field and its question.
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
    /// The receipts that they hold, each once; the log keeps them beside the transition.
    pub fn receipts(&self) -> Vec<&Receipt> {
        let runs = self.gates.iter().flatten();
        let gates = runs.flat_map(|run| run.receipt.iter().chain(&run.at_basis));
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

    /// Forgets what commands of the repository may have changed: it is measured again after them.
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

    /// Asks what was not asked yet. Facts out of the log are as they are.
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

    /// The reported commit; it is asked before the rules are.
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

    /// Asks anchors together, those that nobody looked at.
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

    /// Which of the commands are not trusted; nothing is measured when there are none.
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

// What `git status` says.

/// `git status`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worktree {
    /// Dirty paths, sorted; at most [`MAX_PATHS`], the rest counted.
    pub dirty: Vec<String>,
    /// How many more there are.
    pub more: u64,
    /// Tracked files that HEAD has otherwise and git was told not to look at, at most [`MAX_PATHS`]; asked
    /// for at the end alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unwatched: Vec<String>,
    /// SHA-256 of the whole status output.
    pub digest: String,
}

/// Paths kept of any list that a repository can make long.
pub const MAX_PATHS: usize = 200;

impl Worktree {
    /// No entry in `git status`.
    pub fn is_clean(&self) -> bool {
        self.dirty.is_empty()
    }

    /// Some of the dirty paths, and how many there are beside them.
    pub(super) fn first_dirty(&self) -> String {
        self.name_dirty(5)
    }

    /// How the user commits what is cook's own among the dirty paths.
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

    /// As many of the dirty paths, and how many there are beside them.
    pub fn name_dirty(&self, most: usize) -> String {
        let named = self.dirty.iter().take(most).cloned().collect::<Vec<_>>();
        let rest = (self.dirty.len() - named.len()) as u64 + self.more;
        match rest {
            0 => named.join(", "),
            _ => format!("{} and {rest} more", named.join(", ")),
        }
    }
}

// The contract's files: which of them the log holds, and what takes an edited one in.

/// That the last gate which a project passes is not made from its gates.
pub fn stale_stop_verifier() -> Finding {
    Finding::new(
        Code::StopVerifierStale,
        "the stop verifier was generated from gates that differ from those in `.agent/cook.toml`",
    )
    .at(STOP_VERIFIER_SCRIPTS[0])
}

/// The mission and the profile: what the log was started with.
pub const CONTRACT_TEXTS: [&str; 2] = [".agent/mission.md", ".agent/profile.json"];

/// The command that makes one of [`CONTRACT_TEXTS`], as it stands, the log's.
pub fn take_in_command(path: &str) -> &'static str {
    match path == CONTRACT_TEXTS[0] {
        true => "cook plan refocus --mission-file .agent/mission.md",
        false => "cook init",
    }
}

// Tickets: what a report that comes with one was made from.

/// The ticket given out at dispatch: it fits one tip of the log and one HEAD, and where a role is due
/// that leaves the worktree alone, the worktree of which `git status` has this digest.
pub fn ticket(tip: &str, head: &Head, status: Option<&str>) -> String {
    let parts = [Some(tip), head.commit.as_deref(), head.branch.as_deref()];
    let digest = sha256_of_parts(parts.map(Option::unwrap_or_default));
    let state = &digest[..16];
    match status {
        Some(status) => format!("{state}-{}", tree_mark(status)),
        None => state.to_owned(),
    }
}

/// The part of a ticket that stands for a worktree.
fn tree_mark(status: &str) -> String {
    sha256(status)[..8].to_owned()
}

/// Whether a ticket was given for the worktree whose `git status` has this digest; none where it
/// speaks of no worktree.
pub fn is_for_tree(ticket: &str, status: &str) -> Option<bool> {
    let (_, mark) = ticket.split_once('-')?;
    Some(mark == tree_mark(status))
}
