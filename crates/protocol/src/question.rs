//! What a rule asks of the repository. A rule that needs a fact which nobody measured is refused with
//! the question; the caller measures the answer and asks the rule again.

use crate::model::{Basis, BriefEntry, BriefLine, Caches, EvidenceRecord, Goal, KeptProof, Slice};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One thing that a decision asks, and its answers in [`Facts`](crate::machine::Facts).
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Question {
    /// HEAD: commit, tree, branch. Answer: `head`.
    Head,
    /// The files of the contract in the worktree. Answers: `contract_missing`, `settings`, `contract_differs`.
    Contract,
    /// Contract files that HEAD does not hold, and a stop verifier that is out of date. Answers:
    /// `contract_uncommitted`, `stop_verifier_stale`.
    ContractCommitted,
    /// `.agent/` against the log. Answer: `outside_edits`.
    View,
    /// `git status`; at the end also files that git was told not to look at. Answer: `worktree`.
    Worktree {
        /// The project is to end.
        ends: bool,
    },
    /// Whether a basis commit resolves and is an ancestor of HEAD, and which commits follow it. Answer: `ranges`.
    Range(String),
    /// What followed this commit on HEAD, with paths. Answer: `since`.
    Since(String),
    /// Whether HEAD contains a commit. Answer: `on_head`.
    OnHead(String),
    /// A reported commit. Answer: `commit`.
    Commit(CommitQuestion),
    /// Gates to run at a commit. Answers: `gates`, `strength`, `trials`.
    Gates(GateQuestion),
    /// What anchors are worth. Answer: `anchors`.
    Anchors {
        /// The anchors.
        asked: BTreeSet<AnchorQuestion>,
        /// The project is to end: a run that used what earlier runs left proves nothing.
        ends: bool,
    },
    /// What done slices rest on, where HEAD is not the commit that was seen; no gate is run for it. Answer:
    /// `standing`.
    Standing {
        /// The commit that was seen; where it is HEAD, nothing is asked.
        seen: String,
        /// Their proof.
        anchors: BTreeSet<AnchorQuestion>,
    },
    /// The stop verifier at HEAD, with what earlier runs left or without. Answer: `stop_verifier`.
    StopVerifier(Caches),
    /// Whether this machine trusts commands. Answer: `untrusted`.
    Trust(BTreeSet<String>),
    /// Limits and rules of `cook.toml`. Answer: `config`.
    Config,
    /// What the anchors of the brief are worth; no gate is run for it. Answer: `brief`.
    Brief(BriefQuestion),
    /// The required gates at HEAD in a clean room. Answer: `room`.
    Room,
    /// A goal's checks at HEAD. Answer: `goal`.
    Goal(Box<Goal>),
}

impl Question {
    /// `cook.toml` must be readable for its answer.
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

    /// Commands of the repository may run for its answer, and may change HEAD and the worktree.
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
    pub basis: Basis,
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

    /// The key under which the answer stands in `anchors` of [`Facts`](crate::machine::Facts).
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
