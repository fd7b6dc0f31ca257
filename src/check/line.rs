//! One thing that was found.

use cook_core::change::code_of;
use cook_core::diagnostic::Code;
use cook_trials::{TrialLine, Weight};
use serde::Serialize;

/// One thing that was found, with the command that shows more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    pub code: Code,
    /// `refuses`: it is not true of this commit; `not_known`: it could not be asked; `shown`: it is worth a
    /// look.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub weight: Weight,
    /// The test, file or gate that it is about, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub message: String,
    /// The command that shows more, or that mends it.
    pub show: String,
    /// The line of a commit's message that answers for it; `WHY` stands for the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declare: Option<String>,
    /// The reason that a commit's message gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
    /// The file that it is about.
    #[serde(skip)]
    pub file: Option<FilePlace>,
}

/// A file of the commit, and a line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    pub path: String,
    /// From 1.
    pub line: Option<usize>,
}

impl Line {
    pub fn new(
        code: Code,
        weight: Weight,
        message: impl Into<String>,
        show: impl Into<String>,
    ) -> Self {
        Self {
            code,
            weight,
            name: None,
            message: message.into(),
            show: show.into(),
            declare: None,
            declared: None,
            file: None,
        }
    }

    /// Worst first.
    pub(super) fn rank(&self) -> (Weight, usize) {
        const FIRST: [Code; 3] = [Code::GateNeedsUncommitted, Code::GateRed, Code::PassToFail];
        let place = FIRST.iter().position(|code| *code == self.code);
        (self.weight, place.unwrap_or(FIRST.len()))
    }
}

impl From<TrialLine> for Line {
    fn from(line: TrialLine) -> Self {
        let declare = line.declaration();
        let message = match &line.declared {
            Some(why) => format!("{}; declared: {why}", line.what),
            None => line.what,
        };
        Self {
            code: code_of(line.word),
            weight: line.weight,
            name: Some(line.name),
            message,
            show: line.show,
            declare,
            declared: line.declared,
            file: line.file.map(|path| FilePlace { path, line: None }),
        }
    }
}
