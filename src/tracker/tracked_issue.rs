//! Issues as cook sees them, whatever tracker they come from. Texts are one
//! clean line (a description and a comment keep their lines); ids are single words.

use cook_protocol::diagnostic::{Code, Failure, FailureKind, Finding, Lines, clean};
use cook_protocol::machine::id_is_valid;
use cook_repo::process::ProcessError;
use serde::Serialize;
use std::time::Instant;

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

// What can be asked of an issue tracker, whatever program it is.

/// Whether a comment may be there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// It was never sent.
    First,
    /// It may have arrived: the issue's comments are searched for its key first.
    Again,
}

/// What became of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commented {
    /// It was added now.
    Added,
    /// It was there.
    WasThere,
}

/// What became of an issue that is now closed.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// The issue, as reading shows it.
    pub issue: Issue,
    /// It was closed before.
    pub already: bool,
}

/// A list of issues and what can be done with one.
///
/// Every method that fails has a [`TrackerError`]; after an error of a write
/// for which [`TrackerError::is_outage`] holds it is not known whether it happened.
#[allow(missing_docs, clippy::missing_errors_doc)]
pub trait Tracker: Sync {
    /// `none`, `br` or `bd`.
    fn name(&self) -> &'static str;

    /// Asks whether it answers. `Absent`: there is none here, its workspace is not initialised.
    /// `Unavailable`: it is locked, hangs or is denied; worth another try at the next session start.
    fn detect(&self) -> Result<(), TrackerError> {
        Ok(())
    }

    /// Issues in work: this actor's first, then the most recently updated.
    fn current(&self) -> Result<Vec<Issue>, TrackerError>;

    /// What could be worked on, in the tracker's order of priority. May name issues in
    /// work and other people's; never blocked or closed ones.
    fn ready(&self) -> Result<Vec<Issue>, TrackerError>;

    /// One issue.
    fn show(&self, id: &str) -> Result<Issue, TrackerError>;

    /// Its comments, oldest first.
    fn comments(&self, id: &str) -> Result<Vec<Comment>, TrackerError>;

    /// Who depends on it.
    fn dependents(&self, id: &str) -> Result<Vec<Link>, TrackerError>;

    /// What it depends on.
    fn dependencies(&self, id: &str) -> Result<Vec<Link>, TrackerError>;

    /// Makes it this actor's, in work. One that another actor holds is refused and
    /// not changed.
    fn claim(&self, id: &str) -> Result<Issue, TrackerError>;

    /// Adds a comment that ends with `[cook:<key>]`.
    fn comment(
        &self,
        id: &str,
        key: &str,
        text: &str,
        attempt: Attempt,
    ) -> Result<Commented, TrackerError>;

    /// Closes it, and reads it again to see that it is closed.
    fn close(&self, id: &str, reason: &str) -> Result<Closed, TrackerError>;

    /// Makes an issue.
    fn create(&self, new: &NewIssue) -> Result<Issue, TrackerError>;

    /// What could be worked on, and what each of the first few brings: asked for
    /// side by side, and left out where it does not come before `end`.
    fn ready_list(&self, end: Instant) -> Result<ReadyList, TrackerError>;

    /// Whether a name is this actor's.
    fn is_mine(&self, _assignee: &str) -> bool {
        false
    }

    /// The same tracker, with a deadline over everything it still does.
    fn until(&self, end: Instant) -> Box<dyn Tracker + '_>;
}

/// Everything that can go wrong between cook and a tracker.
#[derive(Debug, thiserror::Error)]
pub enum TrackerError {
    /// There is no tracker here: no workspace, no program, or not initialised.
    #[error("there is no `{tracker}` workspace here: {why}")]
    Absent {
        /// `br` or `bd`.
        tracker: &'static str,
        /// What is missing.
        why: String,
    },
    /// It hangs, is locked, vanished, or may not be used. What a write did is not known.
    #[error("`{tracker}` is unavailable: {why}")]
    Unavailable {
        /// `br` or `bd`.
        tracker: &'static str,
        /// What happened.
        why: String,
    },
    /// The time that it and its other calls have together was over. It may be well.
    #[error("`{tracker}` took longer than cook waits")]
    Spent {
        /// `br` or `bd`.
        tracker: &'static str,
    },
    /// No such issue.
    #[error("unknown issue `{0}`")]
    Unknown(String),
    /// Somebody else has it.
    #[error("issue `{id}` is held by {by}")]
    Held {
        /// The issue.
        id: String,
        /// Who has it.
        by: String,
    },
    /// It was asked to close and is not closed.
    #[error("issue `{id}` is not closed: {why}")]
    NotClosed {
        /// The issue.
        id: String,
        /// What stands there instead.
        why: String,
    },
    /// It was asked to go to somebody and did not.
    #[error("issue `{id}` was not claimed: {why}")]
    NotClaimed {
        /// The issue.
        id: String,
        /// What stands there instead.
        why: String,
    },
    /// A word that can name no issue.
    #[error("`{0}` is not an issue id")]
    BadId(String),
    /// A text that no tracker takes.
    #[error("the text {0}")]
    BadText(&'static str),
    /// The tracker said no, for a reason of its own.
    #[error("`{tracker}` refused ({code}): {message}")]
    Rejected {
        /// `br` or `bd`.
        tracker: &'static str,
        /// Its own code, or its exit code.
        code: String,
        /// Its own words.
        message: String,
    },
    /// Its answer does not have a shape that cook knows.
    #[error("the answer of `{command}` cannot be read: {what}")]
    Shape {
        /// The command line without free text.
        command: String,
        /// What is wrong with it.
        what: String,
    },
    /// The checkpoint trail cannot be read or written.
    #[error("the checkpoint trail: {}", .0.message)]
    Trail(Failure),
    /// The plan is moved by reports alone.
    #[error("{message}")]
    Plan {
        /// What cannot be done so.
        message: String,
        /// The command that can.
        hint: &'static str,
    },
}

impl TrackerError {
    /// Trying later can help, and a write may have happened all the same.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Spent { .. })
    }

    /// The tracker itself is out of reach, for the next caller too.
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Absent { .. })
    }

    /// The same as something worth a word beside another answer.
    pub fn finding(&self) -> Finding {
        Finding::new(Code::TrackerBehind, self.to_string())
    }

    /// From a child process that gave no answer.
    pub(super) fn of_process(tracker: &'static str, error: &ProcessError) -> Self {
        let why = match error {
            ProcessError::NotFound(_) => "its program is gone".to_owned(),
            ProcessError::NotExecutable(_) => "its program may not be executed".to_owned(),
            ProcessError::Deadline { after, .. } => format!(
                "no answer within {}; it was ended",
                humantime::format_duration(*after)
            ),
            other => other.to_string(),
        };
        Self::Unavailable { tracker, why }
    }
}

impl From<TrackerError> for Failure {
    fn from(error: TrackerError) -> Self {
        let (kind, code) = match &error {
            TrackerError::Absent { .. } => (FailureKind::State, Code::TrackerAbsent),
            TrackerError::Unavailable { .. } | TrackerError::Spent { .. } => {
                (FailureKind::State, Code::TrackerUnavailable)
            }
            TrackerError::Shape { .. } | TrackerError::Trail(_) => {
                (FailureKind::State, Code::TrackerUnreadable)
            }
            TrackerError::BadId(_) | TrackerError::BadText(_) => (FailureKind::Usage, Code::Usage),
            TrackerError::Unknown(_) => (FailureKind::Refused, Code::IssueUnknown),
            TrackerError::Held { .. } => (FailureKind::Refused, Code::IssueHeld),
            TrackerError::NotClosed { .. } => (FailureKind::Refused, Code::IssueNotClosed),
            TrackerError::NotClaimed { .. } | TrackerError::Rejected { .. } => {
                (FailureKind::Refused, Code::TrackerRefused)
            }
            TrackerError::Plan { .. } => (FailureKind::Refused, Code::IssueFollowsSlice),
        };
        let failure = Self::new(kind, code, error.to_string());
        match error {
            TrackerError::Trail(error) => error,
            TrackerError::Plan { hint, .. } => failure.replace_hints([hint]),
            TrackerError::Absent { tracker, .. } => {
                failure.replace_hints([format!("run `{tracker} init`, or set `[tracker] kind`")])
            }
            _ => failure,
        }
    }
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
