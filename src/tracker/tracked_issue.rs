//! Issues as cook sees them, whatever tracker they come from. Texts are one
//! clean line (a description and a comment keep their lines); ids are single words.

use cook_protocol::diagnostic::{Lines, clean};
use cook_protocol::machine::id_is_valid;
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
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Issue {
    /// Its id, one word.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    pub id: String,
    /// Its title.
    pub title: String,
    /// `open`, `in_progress`, `blocked`, `closed`, or a word of the tracker's own.
    #[schemars(with = "String")]
    pub status: IssueStatus,
    /// `task`, `bug`, `epic`, `slice`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// The tracker's number: small comes first.
    #[schemars(with = "Option<f64>")]
    pub priority: Option<serde_json::Number>,
    /// Whose it is.
    pub assignee: Option<String>,
    /// When it was last changed, as the tracker writes it.
    pub updated_at: Option<String>,
    /// What it is about.
    pub description: String,
}

/// What a line about another issue says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Brief {
    /// Its id.
    pub id: String,
    /// Its title; empty where the tracker does not say.
    pub title: String,
    /// Where it stands, where the tracker says.
    #[schemars(with = "Option<String>")]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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

/// The mark that makes a comment one of a kind. Only at the very end of a comment
/// does it count, so that text from elsewhere cannot pass for one.
pub fn mark(key: &str) -> String {
    format!("[cook:{key}]")
}

/// A comment without its mark, and the key the mark holds.
pub fn split_mark(comment: &str) -> (&str, Option<&str>) {
    let whole = comment.trim_end();
    let marked = whole.strip_suffix(']').and_then(|rest| {
        let (text, key) = rest.rsplit_once("[cook:")?;
        is_id(key).then_some((text.trim_end(), Some(key)))
    });
    marked.unwrap_or((comment, None))
}

/// Whether a comment carries the mark.
pub fn carries(comment: &str, key: &str) -> bool {
    split_mark(comment).1 == Some(key)
}

/// Whose an issue is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "is", content = "name")]
pub enum Holder {
    /// Nobody's.
    Nobody,
    /// This actor's.
    Mine,
    /// Somebody else's.
    Other(String),
}

/// What hangs on an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Reach {
    /// What it is a part of.
    pub parent: Option<Brief>,
    /// Open issues that wait for it.
    pub unblocks: Vec<Brief>,
    /// Open issues that wait for it, directly or not.
    pub unblocks_all: usize,
    /// Issues on the longest chain that starts here, itself among them.
    pub chain: usize,
    /// False: the numbers are lower bounds.
    pub complete: bool,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReadyIssue {
    /// The issue.
    #[serde(flatten)]
    pub issue: Issue,
    /// Whose it is.
    pub holder: Holder,
    /// What hangs on it; null where it was not looked into, or nothing came in time.
    pub reach: Option<Reach>,
}

/// What could be worked on.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReadyList {
    /// In order of work.
    #[serde(rename = "ready")]
    pub rows: Vec<ReadyIssue>,
    /// Issues that wait for one another in a circle, as far as was seen.
    pub cycles: Vec<Vec<String>>,
    /// Why rows are not complete, each reason once.
    #[serde(skip)]
    pub problems: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_mark_counts() {
        for (comment, text, key) in [
            ("done [cook:K1]", "done", Some("K1")),
            ("done [cook:K1]\n", "done", Some("K1")),
            (
                "as [cook:K1] says [cook:K2]",
                "as [cook:K1] says",
                Some("K2"),
            ),
            ("as [cook:K1] says", "as [cook:K1] says", None),
            ("[cook:]", "[cook:]", None),
            ("[cook:a b]", "[cook:a b]", None),
            ("", "", None),
        ] {
            assert_eq!(split_mark(comment), (text, key), "{comment:?}");
        }
    }
}
