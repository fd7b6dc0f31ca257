//! What installing, or removing, makes of one file.

use std::path::PathBuf;

/// How a file stands to what belongs into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing of cook's is in it.
    Missing,
    /// Something else than this version writes.
    Stale,
    /// As it should be.
    Current,
}

/// One file, with what it is and what it would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where it is.
    pub path: PathBuf,
    /// How it stands.
    pub standing: Standing,
    /// What it holds; none = there is no file.
    pub before: Option<String>,
    /// What it would hold; none = no file.
    pub after: Option<String>,
    /// A word for the user.
    pub remark: Option<String>,
}

impl Change {
    /// Something would be written.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }
}
