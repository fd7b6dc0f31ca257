//! What is asked of a commit, and what was found.

use super::base::Base;
use super::line::Line;
use cook_trials::{Side, Weight};
use serde::Serialize;

/// What is asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ask<'a> {
    /// The commit to compare with, as the user names it; none = it is looked for.
    pub base: Option<&'a str>,
    /// The commit to check, by its full id; none = HEAD, and what the worktree has beside it.
    pub commit: Option<&'a str>,
    /// The gates to run, by name; none = all.
    pub gates: &'a [String],
    /// What is run.
    pub runs: Runs,
}

/// What a check runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Runs {
    /// The gates at the head, and the trials.
    #[default]
    All,
    /// The gates at the head alone: nothing is compared with the base.
    Head,
    /// Nothing: what needs no gate is looked at.
    Nothing,
}

/// Whether what was claimed is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    /// Nothing says otherwise.
    True,
    /// Something is not so.
    False,
    /// Something could not be asked.
    NotKnown,
}

/// A path that differs, and the side of a trial that it stands on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ChangedPath {
    /// Relative to the root; where it is gone as it was.
    pub path: String,
    /// `code`, `test` or `both`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub side: Side,
}

/// What was looked at and found.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The commit that is checked: HEAD, where none is named.
    pub head: String,
    /// What it is compared with.
    pub base: Base,
    /// One line for each thing that was looked at.
    pub checked: Vec<String>,
    /// What was found, worst first.
    pub lines: Vec<Line>,
    /// What differs.
    pub changed: Vec<ChangedPath>,
}

/// What a person at a terminal sees while it takes time.
pub(crate) type Tell<'a> = &'a dyn Fn(&str);

impl Checked {
    /// The answer: false where a line refuses, else not known where a line says so.
    pub fn truth(&self) -> Truth {
        let has = |weight| self.lines.iter().any(|line| line.weight == weight);
        if has(Weight::Refuses) {
            Truth::False
        } else if has(Weight::NotKnown) {
            Truth::NotKnown
        } else {
            Truth::True
        }
    }
}
