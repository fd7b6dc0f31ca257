//! What a decision may know of the world, named before it is measured.
//!
//! `needs` returns a [`FactSet`]; the caller measures exactly that and hands in
//! [`Facts`]. Reading a fact that was not asked for is the refusal
//! `fact_missing`, which the exploration treats as a defect. Both are plain
//! data: `event.json` in the log keeps the facts a transition was judged by, so
//! that `verify` can judge it again.

use crate::digest::{sha256, sha256_of_parts};
use crate::model::{
    BriefEntry, CONTRACT_FILES, Caches, EvidenceRecord, GateSpec, Goal, GoalFound, KeptProof,
    Limits, RoomCheck, SETTINGS_FILES, STOP_VERIFIER_SCRIPTS, Share, StrengthNote,
};
pub use crate::model::{BriefFacts, Verdict};
use crate::prelude::*;
use crate::trials::TrialLine;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// What must be measured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FactSet {
    /// HEAD: commit, tree, branch. Cheap; nearly always wanted.
    pub head: bool,
    /// Contract files that are not in the worktree.
    pub contract: bool,
    /// Contract files that are not committed at HEAD, and a stop verifier that is out of date.
    pub contract_committed: bool,
    /// `.agent/` against the log.
    pub view: bool,
    /// `git status`.
    pub worktree: bool,
    /// For each basis commit: does it resolve, is it an ancestor, what came since.
    pub ranges: BTreeSet<String>,
    /// What came on HEAD since this commit (HEAD at the last transition), with paths.
    pub since: Option<String>,
    /// For each commit: is it on HEAD.
    pub on_head: BTreeSet<String>,
    /// A reported commit.
    pub commit: Option<CommitQuestion>,
    /// Gates to run at that commit (its full id), or at HEAD when none is named.
    pub gates: Option<GateQuestion>,
    /// Anchors to verify.
    pub anchors: BTreeSet<AnchorQuestion>,
    /// What done slices rest on, where HEAD moved.
    pub standing: Option<StandingQuestion>,
    /// Verify anchors by kept receipts alone: run no gate for them.
    pub existing_receipts_only: bool,
    /// Run the required gates at HEAD in a clean room.
    pub room: bool,
    /// Run the stop verifier at HEAD, with what earlier runs left or without.
    pub stop_verifier: Option<Caches>,
    /// Which of these commands are not trusted here; empty = not asked.
    pub trust: BTreeSet<String>,
    /// Limits and rules of `cook.toml`.
    pub config: bool,
    /// What the anchors of the brief are worth.
    pub brief: Option<BriefQuestion>,
    /// A goal's checks at HEAD.
    pub goal: Option<Box<Goal>>,
}

/// Ask what done slices rest on, where HEAD is not the commit that was seen. No gate is run for it, but where gates run
/// at HEAD before judges are asked: whoever asks who is due learns what whoever reports does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StandingQuestion {
    /// Where nothing is asked.
    pub seen: String,
    /// Their proof.
    pub anchors: BTreeSet<AnchorQuestion>,
}

/// Ask about the brief: no gate is run for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BriefQuestion {
    /// Entries that are there: does their anchor stand as it was stamped.
    pub entries: Vec<BriefEntry>,
    /// Entries that come in: where does their anchor point.
    pub lines: Vec<BriefLine>,
    /// Messages of the user's by id, each with what is quoted of it: are they there, and do they say so.
    pub messages: BTreeSet<(String, Option<String>)>,
}

/// Ask about a commit that a report names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CommitQuestion {
    /// As reported: full or abbreviated id.
    pub commit: String,
    /// The slice's basis.
    pub basis: String,
    /// HEAD when the session that reports began: what came after it and is contained in the commit
    /// is claimed. None = nobody knows, and the commit alone is.
    pub since: Option<String>,
    /// The slice, whose trailer makes a commit its own.
    pub slice_id: String,
    /// Commits that it claims already.
    pub claimed: BTreeSet<String>,
}

/// Ask for gates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GateQuestion {
    /// The reported commit, as in [`CommitQuestion`].
    pub commit: String,
    /// The slice's basis, for gates that must fail there.
    pub basis: String,
    /// The slice's own commands, beside those of `cook.toml`.
    pub commands: Vec<String>,
}

/// Ask what an anchor is worth.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AnchorQuestion {
    /// The slice it is proof for.
    pub slice_id: String,
    /// The criterion.
    pub criterion: String,
    /// The anchor.
    pub anchor: String,
    /// Its basis kind.
    pub basis: crate::model::Basis,
    /// What it must show.
    pub required: Required,
}

/// What an anchor must show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Required {
    /// That it holds at HEAD.
    AtHead,
    /// That it holds at HEAD, and whether it held at the basis of the slice that is to be accepted.
    Claimed {
        /// The slice's basis.
        basis: String,
        /// The slice's head.
        head: String,
    },
    /// That what was accepted still holds at HEAD.
    Accepted(KeptProof),
}

impl AnchorQuestion {
    /// What a stored record of a slice is asked.
    pub fn ask_stored(slice: &Slice, record: &EvidenceRecord) -> Self {
        Self {
            slice_id: slice.slice_id.clone(),
            criterion: record.criterion.clone(),
            anchor: record.anchor.clone(),
            basis: record.basis,
            required: Required::Accepted(record.copy_kept()),
        }
    }

    /// The key under which the answer stands in [`Facts::anchors`].
    pub fn key(&self) -> String {
        let of = match &self.required {
            Required::AtHead => "",
            Required::Claimed { basis, .. } => basis,
            Required::Accepted(kept) => &kept.head_sha,
        };
        let is_stored = matches!(self.required, Required::Accepted(_));
        format!(
            "{}\u{1f}{}\u{1f}{}\u{1f}{of}\u{1f}{is_stored}",
            self.slice_id, self.criterion, self.anchor
        )
    }
}

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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// `[rules] audit_every`; none = the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_every: Option<NonZeroU64>,
}

/// What was measured. Fields are read through the getters, which refuse when a
/// fact was not asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Facts {
    /// RFC 3339 UTC, seconds.
    pub now: String,
    /// See [`FactSet::head`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
    /// See [`FactSet::contract`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract_missing: Option<Vec<String>>,
    /// Digest of each settings file that is there; measured with [`FactSet::contract`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
    /// Which of [`CONTRACT_TEXTS`](super::CONTRACT_TEXTS) say something else than the log; measured with
    /// [`FactSet::contract`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contract_differs: Vec<String>,
    /// See [`FactSet::contract_committed`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract_uncommitted: Option<Vec<String>>,
    /// cook made the stop verifier from other gates than the settings have; measured with
    /// [`FactSet::contract_committed`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stop_verifier_stale: bool,
    /// See [`FactSet::view`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_edits: Option<Vec<OutsideEdit>>,
    /// See [`FactSet::worktree`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Worktree>,
    /// See [`FactSet::ranges`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ranges: BTreeMap<String, Range>,
    /// See [`FactSet::since`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Range>,
    /// See [`FactSet::on_head`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub on_head: BTreeMap<String, bool>,
    /// See [`FactSet::commit`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitFacts>,
    /// See [`FactSet::gates`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gates: Option<Vec<GateRun>>,
    /// What planted defects say of green gates; measured with [`FactSet::gates`] where `[rules] strength`
    /// asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<StrengthNote>,
    /// What the tests of the basis and of the commit say when they are crossed with the code of both;
    /// measured with [`FactSet::gates`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<TrialLine>,
    /// See [`FactSet::anchors`], by [`AnchorQuestion::key`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub anchors: BTreeMap<String, AnchorAnswer>,
    /// See [`FactSet::standing`], by [`AnchorQuestion::key`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub standing: BTreeMap<String, AnchorAnswer>,
    /// See [`FactSet::stop_verifier`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_verifier: Option<StopVerifierRun>,
    /// See [`FactSet::room`]; read where it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomCheck>,
    /// See [`FactSet::trust`]: those that are not trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<BTreeSet<String>>,
    /// See [`FactSet::config`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<ConfigFacts>,
    /// See [`FactSet::brief`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brief: Option<BriefFacts>,
    /// See [`FactSet::goal`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalFound>,
}

fn missing(what: &str) -> Refusal {
    refusal!(Code::FactMissing, "`{what}` was not measured")
}

/// The getters of facts that are asked for as a whole: the field, what it is, and how the question is called.
macro_rules! getters {
    ($($field:ident: $of:ty, $question:literal;)*) => {
        impl Facts {
            $(pub(super) fn $field(&self) -> Result<&$of, Refusal> {
                self.$field.as_ref().ok_or_else(|| missing($question))
            })*
        }
    };
}

getters! {
    head: Head, "head";
    contract_missing: Vec<String>, "contract";
    settings: BTreeMap<String, String>, "contract";
    contract_uncommitted: Vec<String>, "contract_committed";
    outside_edits: Vec<OutsideEdit>, "view";
    worktree: Worktree, "worktree";
    since: Range, "since";
    commit: CommitFacts, "commit";
    gates: Vec<GateRun>, "gates";
    stop_verifier: StopVerifierRun, "stop_verifier";
    brief: BriefFacts, "brief";
    goal: GoalFound, "goal";
    config: ConfigFacts, "config";
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

    pub(super) fn range(&self, basis: &str) -> Result<&Range, Refusal> {
        self.ranges.get(basis).ok_or_else(|| missing("ranges"))
    }

    pub(super) fn on_head(&self, commit: &str) -> Result<bool, Refusal> {
        self.on_head
            .get(commit)
            .copied()
            .ok_or_else(|| missing("on_head"))
    }

    pub(super) fn anchor(&self, question: &AnchorQuestion) -> Result<&AnchorAnswer, Refusal> {
        self.anchors
            .get(&question.key())
            .ok_or_else(|| missing("anchors"))
    }

    /// Which of the commands are not trusted; nothing is measured when there are none.
    pub(super) fn list_untrusted(
        &self,
        commands: &BTreeSet<String>,
    ) -> Result<Vec<String>, Refusal> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let untrusted = self.untrusted.as_ref().ok_or_else(|| missing("trust"))?;
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
        "the stop verifier was generated from other gates than `.agent/cook.toml` has now",
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
