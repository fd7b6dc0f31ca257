//! Where defects are planted, and what came of it.

use cook_mutants::{Mutant, Tally};
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::GateRun;
use cook_protocol::model::GateSpec;
use cook_repo::git::{Edit, Repo};
use cook_repo::receipt::TakenBack;
use serde::Serialize;

/// A gate that is green, and how long it took.
#[derive(Debug, Clone)]
pub(crate) struct Green {
    pub gate: GateSpec,
    pub ms: u64,
    /// The last of what it printed.
    pub tail: String,
}

/// Runs a gate at the change's last commit, with these files in it.
pub(crate) type RunGate<'a> = dyn Fn(&[TakenBack], &GateSpec) -> Result<Vec<GateRun>, Failure> + 'a;

/// A change, and by what defects in it are tried.
pub(crate) struct Field<'a> {
    pub repo: &'a Repo,
    /// The commit before it, and its last.
    pub base: &'a str,
    pub head: &'a str,
    pub edits: &'a [Edit],
    /// What decides what passes.
    pub commands: &'a [String],
    /// The fastest first.
    pub greens: &'a [Green],
    pub run: &'a RunGate<'a>,
    /// Told what is tried.
    pub tell: &'a dyn Fn(&str),
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Planted {
    pub reverted: Reverted,
    /// Why nothing was tried, where that is so.
    pub problem: Option<String>,
    /// Defects by what became of them.
    pub tally: Tally,
    /// Of those that were noticed, those with which a gate did not end.
    pub timed_out: usize,
    pub survivors: Vec<Survivor>,
    /// Defects that were not tried.
    pub left_out: usize,
    /// Seconds that planting took.
    pub seconds: f64,
    /// One line for each thing that was looked at, or could not be.
    pub checked: Vec<String>,
}

impl Default for Planted {
    fn default() -> Self {
        Self {
            reverted: Reverted::Unknown,
            problem: None,
            tally: Tally::default(),
            timed_out: 0,
            survivors: Vec::new(),
            left_out: 0,
            seconds: 0.0,
            checked: Vec::new(),
        }
    }
}

/// Whether the gates notice that the whole change is not there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reverted {
    /// A gate is red without it.
    Noticed,
    /// Every gate passes without it: they prove nothing of it.
    Unnoticed,
    /// It was not tried, or cannot be told.
    #[default]
    Unknown,
}

/// A defect with which every gate passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Survivor {
    /// The same for the same defect in the same words, wherever its lines stand.
    pub id: String,
    pub path: String,
    /// From 1, at the change's last commit.
    pub line: usize,
    /// What it does, in words.
    pub what: String,
    /// The defect as a unified diff, where it is known.
    pub diff: Option<String>,
}

impl From<Mutant> for Survivor {
    fn from(mutant: Mutant) -> Self {
        Self {
            what: mutant.operator.words().to_owned(),
            id: mutant.id,
            path: mutant.path,
            line: mutant.line,
            diff: Some(mutant.diff),
        }
    }
}
