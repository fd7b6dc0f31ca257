//! A place in a text where a defect can be planted.

use serde::{Deserialize, Serialize};

/// What a defect does. The first ones say most when nobody notices them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// Changed lines are as they were.
    HunkReverted,
    /// A branch that came is never taken.
    BranchRemoved,
    /// A function gives back nothing, or what is nearest to it.
    ReturnEmptied,
    /// An error does not stop anything.
    ErrorIgnored,
    /// A condition is the opposite.
    ConditionNegated,
    /// A comparison is off by one, or the opposite.
    ComparisonShifted,
    /// A sum is a difference, a product a quotient.
    ArithmeticChanged,
    /// A statement is gone.
    StatementDropped,
    /// A number, a truth value or a text is another one.
    ConstantChanged,
}

impl Operator {
    /// What it does, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::HunkReverted => "changed lines are as they were",
            Self::BranchRemoved => "a branch is never taken",
            Self::ReturnEmptied => "a function gives back nothing, or what is nearest to it",
            Self::ErrorIgnored => "an error does not stop anything",
            Self::ConditionNegated => "a condition is the opposite",
            Self::ComparisonShifted => "a comparison is another one",
            Self::ArithmeticChanged => "it calculates otherwise",
            Self::StatementDropped => "a statement is gone",
            Self::ConstantChanged => "a constant is another one",
        }
    }
}

/// Bytes of a text that become others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Site {
    pub operator: Operator,
    /// From 1.
    pub line: usize,
    pub from: usize,
    pub to: usize,
    pub with: String,
}
