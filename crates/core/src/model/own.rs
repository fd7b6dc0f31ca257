//! What a slice's own commits wrote and took away, by digests: it can be followed when the commits
//! are gone.

use super::scalar::Count;
use serde::{Deserialize, Serialize};
use std::ops::Range;

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

impl OwnHunk {
    /// Lines `old` of the basis, which stood in the place of lines `new`; both from 0.
    pub fn new(new: &Range<usize>, sha256: String, old: &Range<usize>, was_sha256: String) -> Self {
        let first = |lines: &Range<usize>| Count(lines.start as u64 + u64::from(!lines.is_empty()));
        Self {
            first: first(new),
            lines: Count(new.len() as u64),
            sha256,
            was_first: first(old),
            was_lines: Count(old.len() as u64),
            was_sha256,
        }
    }

    /// The own lines, from 0.
    pub fn span(&self) -> Range<usize> {
        range(self.first, self.lines)
    }

    /// The lines of the basis that they replaced, from 0.
    pub fn was(&self) -> Range<usize> {
        range(self.was_first, self.was_lines)
    }
}

/// A side without lines is named by the line before it.
fn range(first: Count, lines: Count) -> Range<usize> {
    let start = first.0.saturating_sub(u64::from(lines.0 > 0)) as usize;
    start..start + lines.0 as usize
}

fn is_zero(count: &Count) -> bool {
    count.0 == 0
}

/// What became of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TextOutcome {
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

impl TextOutcome {
    /// The word in documents.
    pub fn id(self) -> &'static str {
        match self {
            TextOutcome::Stands => "stands",
            TextOutcome::Moved => "moved",
            TextOutcome::Reshaped => "reshaped",
            TextOutcome::Rewritten => "rewritten",
            TextOutcome::Reverted => "reverted",
            TextOutcome::Gone => "gone",
        }
    }

    /// The work is there, in this shape or another.
    pub fn survives(self) -> bool {
        matches!(
            self,
            TextOutcome::Stands | TextOutcome::Moved | TextOutcome::Reshaped
        )
    }

    /// The work was taken back.
    pub fn is_lost(self) -> bool {
        matches!(self, TextOutcome::Reverted | TextOutcome::Gone)
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
