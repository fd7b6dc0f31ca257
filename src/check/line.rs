//! One thing that was found.

use cook_core::diagnostic::Code;
use serde::Serialize;

/// One thing that was found, with the command that shows more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    pub code: Code,
    /// It is not true of this commit; else it is worth a look.
    pub fails: bool,
    pub message: String,
    /// The command that shows more, or that mends it.
    pub show: String,
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
        fails: bool,
        message: impl Into<String>,
        show: impl Into<String>,
    ) -> Self {
        Self {
            code,
            fails,
            message: message.into(),
            show: show.into(),
            file: None,
        }
    }

    /// The same about a file; `after` is its text at HEAD, in which the line is looked for that the
    /// message ends with.
    pub(super) fn about(mut self, path: &str, after: Option<&str>) -> Self {
        let ends_so = |line: &str| {
            let line = line.trim();
            !line.is_empty() && self.message.ends_with(&format!(": {line}"))
        };
        let line = after.and_then(|text| text.lines().position(ends_so));
        self.file = Some(FilePlace {
            path: path.to_owned(),
            line: line.map(|at| at + 1),
        });
        self
    }

    /// Nobody looked yet: what it is about was not run.
    pub fn is_unknown(&self) -> bool {
        matches!(self.code, Code::GateUntrusted | Code::ProgramAbsent)
    }

    /// Worst first.
    pub(super) fn rank(&self) -> (bool, usize) {
        const ORDER: [Code; 11] = [
            Code::GateNeedsUncommitted,
            Code::GateRed,
            Code::TestSettingsEdited,
            Code::TestDeleted,
            Code::TestSkipped,
            Code::TestsFewer,
            Code::TestWeakened,
            Code::ChangeUnnoticed,
            Code::UnwatchedEdits,
            Code::DirtyWorktree,
            Code::GateUntrusted,
        ];
        let place = ORDER.iter().position(|code| *code == self.code);
        (!self.fails, place.unwrap_or(ORDER.len()))
    }
}
