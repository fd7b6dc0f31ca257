//! What is asked, and what was found.

use crate::check::Base;
use cook_strength::{Mutant, Tally};
use serde::Serialize;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    /// The slice whose change it is; none = what `base` says.
    pub slice: Option<&'a str>,
    /// The commit to compare HEAD with, as the user names it; none = it is looked for.
    pub base: Option<&'a str>,
    /// Defects, at most.
    pub mutants: usize,
    /// Minutes for all of them.
    pub minutes: u64,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The change's last commit, in which defects were planted.
    pub head: String,
    pub base: Base,
    /// Why there is nothing to plant in, where that is so.
    pub not_applicable: Option<String>,
    pub reverted: Reverted,
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

/// Whether the gates notice that the whole change is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reverted {
    /// A gate is red without it.
    Noticed,
    /// Every gate passes without it: they prove nothing of it.
    Unnoticed,
    /// It was not tried, or cannot be told.
    Unknown,
}

/// A defect with which every gate passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
