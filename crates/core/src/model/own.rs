//! What a slice's own commits wrote and took away, by digests: it can be followed when the commits
//! are gone.

use super::scalar::Count;
use serde::{Deserialize, Serialize};

/// The work of a slice as it was accepted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Own {
    /// The slice's basis.
    pub basis: String,
    /// The slice's head.
    pub head: String,
    /// The slice's own commits, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
    /// Files that own commits changed, sorted by path.
    pub files: Vec<OwnFile>,
    /// How many there are beyond these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: Count,
}

/// A file that own commits changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnFile {
    /// Its path at the slice's head, or at the basis where it is deleted.
    pub path: String,
    /// Its path at the basis, where it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What stands there at the slice's head; none = nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<TreeEntry>,
    /// What stood there at the basis; none = nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<TreeEntry>,
    /// Own text and removals, in order. None at all: the entry counts as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<OwnHunk>,
}

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeEntry {
    /// Octal, as git writes it.
    pub mode: String,
    /// Object id.
    pub id: String,
}

/// Lines that own commits wrote in the place of lines of the basis; either may be none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnHunk {
    /// First own line, from 1; the line after which something was removed where there is none.
    pub first: Count,
    /// Own lines.
    pub lines: Count,
    /// Digest of them.
    pub sha256: String,
    /// First line that they replaced, from 1.
    pub was_first: Count,
    /// Lines that they replaced.
    pub was_lines: Count,
    /// Digest of those.
    pub was_sha256: String,
}

fn is_zero(count: &Count) -> bool {
    count.0 == 0
}

/// What became of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Fate {
    /// It stands where it was, whatever came before it in the file.
    Stands,
    /// The same text stands in another place.
    Moved,
    /// The same but for white space stands in its place.
    Reshaped,
    /// Another text stands in its place, which is not the basis's.
    Rewritten,
    /// The basis's text stands in its place again.
    Reverted,
    /// Nothing stands in its place.
    Gone,
}

impl Fate {
    /// The word in documents.
    pub fn id(self) -> &'static str {
        match self {
            Fate::Stands => "stands",
            Fate::Moved => "moved",
            Fate::Reshaped => "reshaped",
            Fate::Rewritten => "rewritten",
            Fate::Reverted => "reverted",
            Fate::Gone => "gone",
        }
    }

    /// The work is there, in this shape or another.
    pub fn survives(self) -> bool {
        matches!(self, Fate::Stands | Fate::Moved | Fate::Reshaped)
    }

    /// The work was taken back.
    pub fn is_lost(self) -> bool {
        matches!(self, Fate::Reverted | Fate::Gone)
    }
}

/// How much of a slice's work is at HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Rest {
    Whole,
    Part,
    None,
}

/// What became of a done slice's work.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survival {
    /// How much of it is at HEAD.
    pub rest: Rest,
    /// The accepted commit is on HEAD.
    pub on_head: bool,
    /// Places whose text was taken back or is gone; at most [`MAX_NAMED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Places where other text stands now; at most [`MAX_NAMED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewritten: Vec<String>,
}

/// Places that are named of a list that can be long.
pub const MAX_NAMED: usize = 8;
