//! What can be asked of an issue tracker, whatever program it is.

use super::tracked_issue::{Comment, Issue, Link, NewIssue, ReadyList};
use cook_protocol::diagnostic::{Code, Failure, FailureKind, Finding};
use cook_repo::process::ProcessError;
use std::time::Instant;

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
