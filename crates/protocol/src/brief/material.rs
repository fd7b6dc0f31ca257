//! What a whole brief is filled from, and what it is filled with.

use super::render::Weight;
use crate::diagnostic::Finding;
use crate::model::{
    Basis, BriefDocument, BriefLine, BriefStanding, Pattern, Role, SliceRecord, Slot, Snapshot,
    Verdict,
};
use std::collections::BTreeMap;

/// A slice's evidence as it stands now.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The slice.
    pub slice_id: String,
    /// What it proves.
    pub criterion: String,
    /// Where it is now.
    pub anchor: String,
    /// Its kind.
    pub basis: Basis,
    /// When it was last stamped.
    pub at: String,
    /// What it is worth.
    pub verdict: Verdict,
    /// Why.
    pub why: String,
}

/// An attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The slice, when it is known.
    pub slice_id: Option<String>,
    /// One word: `gate_red`, `returned`, `refused`.
    pub class: &'static str,
    /// The last line of the error, or the reason.
    pub line: String,
    /// Log sequence.
    pub seq: u64,
}

/// Who is due.
#[derive(Debug, Clone)]
pub struct Due {
    /// The short name of the role; none when the work is stopped.
    pub role: Option<&'static str>,
    /// What is to be done.
    pub action: String,
    /// Why.
    pub reason: String,
    /// A command to run first.
    pub command: Option<String>,
}

/// On what the worktree stands.
#[derive(Debug, Clone, Default)]
pub struct Here {
    /// The branch; none = detached.
    pub branch: Option<String>,
    /// The commit.
    pub head: Option<String>,
    /// What is not committed, cook's own files left out.
    pub dirty: Vec<String>,
    /// How many more paths there are.
    pub more: u64,
}

/// What somebody wrote down before the context went.
#[derive(Debug, Clone)]
pub struct LastCheckpoint {
    /// When.
    pub at: String,
    /// What it says is done, while no commit came after it.
    pub done: Option<String>,
    /// What it says is next.
    pub next: Option<String>,
}

/// Everything the slots are filled from.
#[derive(Debug, Clone)]
pub struct Material<'a> {
    /// The documents.
    pub snapshot: &'a Snapshot,
    /// Who is due.
    pub due: Due,
    /// On what the worktree stands.
    pub here: Here,
    /// The last checkpoint of this mission.
    pub checkpoint: Option<LastCheckpoint>,
    /// What was noticed on the way.
    pub findings: &'a [Finding],
    /// Evidence of the plan's criteria.
    pub proofs: &'a [Proof],
    /// Reopened slices, oldest first.
    pub reopened: &'a [SliceRecord],
    /// Failed attempts, oldest first.
    pub attempts: &'a [Attempt],
    /// Slices and their heads that are on HEAD.
    pub commits: &'a [(String, String)],
    /// Protected paths of `cook.toml`.
    pub protected: &'a [Pattern],
    /// HEAD's tree.
    pub tree: Option<&'a str>,
    /// The entries that were added, reconciled.
    pub added: &'a BriefDocument,
    /// Those of them whose anchor does not stand as it was stamped.
    pub standings: &'a BTreeMap<String, BriefStanding>,
}

/// Where an entry comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// An agent or the user added it.
    Added,
    /// The documents and histories.
    State,
    /// A slice that was reopened: what had to be fixed then.
    Findings(Vec<String>),
    /// A no that was answered: its id.
    Rejection(String),
    /// A criterion that the user amended.
    Amendment,
}

/// An entry of the whole brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    /// What it says.
    pub line: BriefLine,
    /// Its id; `c…` for what cook fills in.
    pub id: String,
    /// Who added it; `cook` for what cook fills in.
    pub by: String,
    /// Where it comes from.
    pub origin: Origin,
    /// How much it matters when room is short.
    pub weight: Weight,
}

impl Filled {
    /// cook fills it in by itself; it is not stored.
    pub fn is_own(&self) -> bool {
        self.origin != Origin::Added
    }

    /// The role's prompt says it in a part of its own: criteria, gates, findings, who is due.
    /// `shown` are the findings, and the ids of rejections, that it shows. A judge reads no checkpoint:
    /// it may tell another judge's vote.
    pub fn stands_in_prompt(&self, role: Role, shown: &[String]) -> bool {
        self.is_own()
            && match self.line.slot {
                Slot::Learned => match &self.origin {
                    Origin::Findings(findings) => {
                        !findings.is_empty() && findings.iter().all(|one| shown.contains(one))
                    }
                    Origin::Rejection(id) => role == Role::StopJudge || shown.contains(id),
                    Origin::Amendment => role != Role::Bootstrapper,
                    Origin::State => {
                        role == Role::StopJudge && self.line.head.starts_with(SAID_DONE)
                    }
                    Origin::Added => false,
                },
                Slot::Forbid => self.line.tail != PROTECTED,
                Slot::Next => role == Role::StopJudge || !self.line.tail.starts_with(CHECKPOINT),
                _ => true,
            }
    }
}

/// The source of a rule that comes from the settings.
pub(super) const PROTECTED: &str = "`rules.protected` in .agent/cook.toml";

/// How the outcome of a step begins that a checkpoint names.
pub(super) const CHECKPOINT: &str = "The last checkpoint goes on with:";
/// How it begins what the last checkpoint calls done.
pub(super) const SAID_DONE: &str = "Said to be done, and in no commit since:";
