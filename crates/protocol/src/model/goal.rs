//! A goal: words of the user's, and the commands that say whether they are reached.

use super::evidence::Receipt;
use super::scalar::Count;
use crate::digest::sha256;
use crate::trials::{TrialLine, Weight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

    /// What keeps the goal from being reached.
    pub(crate) fn list_reasons(&self, goal: &Goal) -> Vec<String> {
        let checks = self.list_open(goal).into_iter().map(|(what, ..)| what);
        let lines = self.lines.iter().map(|line| line.what.clone());
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
