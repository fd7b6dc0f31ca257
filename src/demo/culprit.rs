//! Who misbehaves in a demonstration.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An agent that misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Culprit {
    /// Reports what is not so.
    Liar,
    /// Weakens criteria, edits what is cook's, disarms a check.
    Cheater,
    /// Dies in the middle of its work.
    Crasher,
    /// Says nothing and does not end.
    Hanger,
    /// Prints without end.
    Flooder,
    /// Changes what it is only to look at.
    Editor,
}

impl Culprit {
    /// All six.
    #[cfg(test)]
    pub const ALL: [Culprit; 6] = [
        Self::Liar,
        Self::Cheater,
        Self::Crasher,
        Self::Hanger,
        Self::Flooder,
        Self::Editor,
    ];

    /// Its name on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Self::Liar => "liar",
            Self::Cheater => "cheater",
            Self::Crasher => "crasher",
            Self::Hanger => "hanger",
            Self::Flooder => "flooder",
            Self::Editor => "editor",
        }
    }
}

impl fmt::Display for Culprit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.id())
    }
}
