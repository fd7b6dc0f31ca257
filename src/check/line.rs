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
        }
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
