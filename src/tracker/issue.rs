//! Issues as cook sees them, whatever tracker they come from. Texts are one
//! clean line (a description and a comment keep their lines); ids are single words.

use cook_core::diagnostic::{Lines, clean};
use cook_core::machine::id_is_valid;
use serde::Serialize;

/// Longest line that is kept of a title or a name, in characters.
const MAX_LINE: usize = 300;
/// Longest text that is kept of a description or a comment, in characters.
const MAX_TEXT: usize = 64 * 1024;

/// Where an issue stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
#[allow(missing_docs)]
pub enum IssueStatus {
    Open,
    InProgress,
    Blocked,
    Closed,
    /// A state that only the tracker knows; neither in work nor closed.
    Other(String),
}

impl IssueStatus {
    /// Reads a tracker's word.
    pub fn read(word: &str) -> Self {
        match word {
            "open" => Self::Open,
            "in_progress" | "in-progress" => Self::InProgress,
            "blocked" => Self::Blocked,
            "closed" | "done" | "tombstone" => Self::Closed,
            other => Self::Other(line(other)),
        }
    }

    /// The word that is shown.
    pub fn id(&self) -> &str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Closed => "closed",
            Self::Other(word) => word,
        }
    }
}

impl From<IssueStatus> for String {
    fn from(status: IssueStatus) -> Self {
        status.id().to_owned()
    }
}

/// One issue.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Issue {
    /// Its id, one word.
    #[cfg_attr(
        feature = "schema",
        schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))
    )]
    pub id: String,
    /// Its title.
    pub title: String,
    /// `open`, `in_progress`, `blocked`, `closed`, or a word of the tracker's own.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub status: IssueStatus,
    /// `task`, `bug`, `epic`, `slice`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// The tracker's number: small comes first.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub priority: Option<serde_json::Number>,
    /// Whose it is.
    pub assignee: Option<String>,
    /// When it was last changed, as the tracker writes it.
    pub updated_at: Option<String>,
    /// What it is about.
    pub description: String,
}

/// What a line about another issue says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Brief {
    /// Its id.
    pub id: String,
    /// Its title; empty where the tracker does not say.
    pub title: String,
    /// Where it stands, where the tracker says.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub status: Option<IssueStatus>,
    /// `task`, `epic`, …, where the tracker says.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

impl Brief {
    /// Known to be closed.
    pub fn is_closed(&self) -> bool {
        self.status == Some(IssueStatus::Closed)
    }
}

/// One dependency, seen from either end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    /// The dependency's type, as the tracker writes it. `blocks`, `conditional-blocks` and
    /// `waits-for` make an issue wait; `parent-child` makes a parent.
    #[serde(rename = "type")]
    pub kind: String,
    /// The issue at the other end.
    pub issue: Brief,
}

impl Link {
    /// Only these types make an issue wait; unknown ones do not.
    pub fn blocks(&self) -> bool {
        matches!(
            self.kind.as_str(),
            "blocks" | "conditional-blocks" | "waits-for"
        )
    }

    /// Only this type makes a parent.
    pub fn is_parent(&self) -> bool {
        self.kind == "parent-child"
    }
}

/// One comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comment {
    /// Who wrote it, where the tracker says.
    pub author: String,
    /// When, as the tracker writes it.
    pub created_at: Option<String>,
    /// Its text.
    pub text: String,
}

/// An issue to be made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewIssue {
    /// Its title.
    pub title: String,
    /// `task` when none is given.
    pub kind: Option<String>,
    /// The tracker's number.
    pub priority: Option<u8>,
    /// What it is about.
    pub description: Option<String>,
    /// The issue in whose work it was found.
    pub discovered_from: Option<String>,
}

/// Whether a word may name an issue: it goes into argument vectors, file names
/// and prompts, so it follows the rule for slice ids.
pub fn is_id(word: &str) -> bool {
    id_is_valid(word)
}

/// One clean line, capped.
pub(super) fn line(text: &str) -> String {
    cap(clean(text, Lines::Fold), MAX_LINE)
}

/// Clean text with its lines, capped.
pub(super) fn text(text: &str) -> String {
    cap(clean(text, Lines::Keep), MAX_TEXT)
}

fn cap(text: String, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => text[..at].to_owned() + "…",
        None => text,
    }
}
