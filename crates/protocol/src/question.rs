//! Questions of the rules about the repository. A rule that needs a fact which was not measured yet refuses
//! with a question; the caller measures the answer and evaluates the rule again.

use crate::model::{Basis, BriefEntry, BriefLine, Caches, EvidenceRecord, Goal, KeptProof, Slice};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A question of a rule, with the fields of [`Facts`](crate::machine::Facts) that hold its answer.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Question {
    /// The commit, tree and branch of HEAD. Answer: `head`.
    Head,
    /// The contract files in the worktree. Answers: `contract_missing`, `settings`, `contract_differs`.
    Contract,
    /// Contract files that are not committed at HEAD, and whether the stop verifier is out of date. Answers:
    /// `contract_uncommitted`, `stop_verifier_stale`.
    ContractCommitted,
    /// Differences between `.agent/` and the log. Answer: `outside_edits`.
    View,
    /// The result of `git status`. Answer: `worktree`.
    Worktree {
        /// Whether the project is about to end: then files that git was told not to look at are listed too.
        ends: bool,
    },
    /// Whether a basis commit exists and is an ancestor of HEAD, and which commits follow it. Answer: `ranges`.
    Range(String),
    /// The commits after this one on HEAD, with the paths that they change. Answer: `since`.
    Since(String),
    /// Whether HEAD contains this commit. Answer: `on_head`.
    OnHead(String),
    /// The facts of a reported commit. Answer: `commit`.
    Commit(CommitQuestion),
    /// The results of gates at a commit. Answers: `gates`, `strength`, `trials`.
    Gates(GateQuestion),
    /// Whether anchors hold. Answer: `anchors`.
    Anchors {
        /// The anchors.
        asked: BTreeSet<AnchorQuestion>,
        /// Whether the project is about to end: a run that used caches of earlier runs then proves nothing.
        ends: bool,
    },
    /// Whether the proof of done slices still holds, if HEAD is no longer the commit `seen`. Runs no gate.
    /// Answer: `standing`.
    Standing {
        /// HEAD at the last transition. If it is still HEAD, nothing is measured.
        seen: String,
        /// The proof of these slices.
        anchors: BTreeSet<AnchorQuestion>,
    },
    /// The stop verifier's run at HEAD, with or without the caches of earlier runs. Answer: `stop_verifier`.
    StopVerifier(Caches),
    /// Which of these commands this machine does not trust. Answer: `untrusted`.
    Trust(BTreeSet<String>),
    /// The limits and rules of `cook.toml`. Answer: `config`.
    Config,
    /// Whether the anchors of the brief hold. Runs no gate. Answer: `brief`.
    Brief(BriefQuestion),
    /// The results of the required gates at HEAD in a clean room. Answer: `room`.
    Room,
    /// The results of a goal's checks at HEAD. Answer: `goal`.
    Goal(Box<Goal>),
}

impl Question {
    /// Whether the answer needs a readable `cook.toml`.
    pub fn reads_settings(&self) -> bool {
        matches!(
            self,
            Self::Commit(_)
                | Self::Gates(_)
                | Self::Anchors { .. }
                | Self::Standing { .. }
                | Self::StopVerifier(_)
                | Self::Config
                | Self::Brief(_)
                | Self::Room
        )
    }

    /// Whether measuring the answer may run commands of the repository, which may change HEAD and the worktree.
    pub fn may_run(&self) -> bool {
        matches!(
            self,
            Self::Gates(_)
                | Self::Anchors { .. }
                | Self::StopVerifier(_)
                | Self::Room
                | Self::Goal(_)
        )
    }
}

/// A question about the anchors of the brief.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BriefQuestion {
    /// Entries of the brief: whether the anchor still points at the text that was stamped.
    pub entries: Vec<BriefEntry>,
    /// New entries: where the anchor points.
    pub lines: Vec<BriefLine>,
    /// Ids of the user's messages, each with a quote from it: whether the message exists and contains the quote.
    pub messages: BTreeSet<(String, Option<String>)>,
}

/// A question about a commit that a report names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CommitQuestion {
    /// The full or abbreviated id, as reported.
    pub commit: String,
    /// The slice's basis.
    pub basis: String,
    /// HEAD when the reporting session began: the commits after it that `commit` contains are claimed. `None`
    /// if unknown; then only `commit` is claimed.
    pub since: Option<String>,
    /// The slice; a commit with its trailer is its own commit.
    pub slice_id: String,
    /// Commits that the slice claims already.
    pub claimed: BTreeSet<String>,
}

/// A question about the results of gates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GateQuestion {
    /// The reported commit, as in [`CommitQuestion`].
    pub commit: String,
    /// The slice's basis; the trials compare with it.
    pub basis: String,
    /// The slice's own gates, in addition to those of `cook.toml`.
    pub commands: Vec<String>,
}

/// A question whether an anchor holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AnchorQuestion {
    /// The slice whose criterion it proves.
    pub slice_id: String,
    /// The criterion.
    pub criterion: String,
    /// The anchor.
    pub anchor: String,
    /// The kind of proof.
    pub basis: Basis,
    /// What must be shown about the anchor.
    pub required: Required,
}

/// What must be shown about an anchor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Required {
    /// It holds at HEAD.
    AtHead,
    /// It holds at HEAD; the answer also says whether it already held at the basis of the slice to accept.
    Claimed {
        /// The slice's basis.
        basis: String,
        /// The slice's head.
        head: String,
    },
    /// The accepted proof still holds at HEAD.
    Accepted(KeptProof),
}

impl AnchorQuestion {
    /// Returns the question whether a stored proof of a slice still holds.
    pub fn ask_stored(slice: &Slice, record: &EvidenceRecord) -> Self {
        Self {
            slice_id: slice.slice_id.clone(),
            criterion: record.criterion.clone(),
            anchor: record.anchor.clone(),
            basis: record.basis,
            required: Required::Accepted(record.copy_kept()),
        }
    }

    /// The key of the answer in `anchors` and `standing` of [`Facts`](crate::machine::Facts).
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
