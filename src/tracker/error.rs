//! Why a tracker did not do what it was asked.

use cook_core::diagnostic::{Code, Failure, Finding, Refusal};
use cook_os::process::ProcessError;

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

    /// Trying again can never help.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::BadId(_) | Self::BadText(_))
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
        let error = match error {
            TrackerError::Trail(error) => return error,
            error => error,
        };
        let said = error.to_string();
        let refused = |code| Failure::from(Refusal::new(code, said.clone()));
        match &error {
            TrackerError::Absent { tracker, .. } => {
                Failure::state(Code::TrackerAbsent, said.clone())
                    .replace_hints([format!("run `{tracker} init`, or set `[tracker] kind`")])
            }
            TrackerError::Unavailable { .. } | TrackerError::Spent { .. } => {
                Failure::state(Code::TrackerUnavailable, said.clone())
            }
            TrackerError::Shape { .. } | TrackerError::Trail(_) => {
                Failure::state(Code::TrackerUnreadable, said.clone())
            }
            TrackerError::BadId(_) | TrackerError::BadText(_) => Failure::usage(said.clone()),
            TrackerError::Unknown(_) => refused(Code::IssueUnknown),
            TrackerError::Held { .. } => refused(Code::IssueHeld),
            TrackerError::NotClosed { .. } => refused(Code::IssueNotClosed),
            TrackerError::NotClaimed { .. } | TrackerError::Rejected { .. } => {
                refused(Code::TrackerRefused)
            }
            TrackerError::Plan { hint, .. } => {
                let mut failure = refused(Code::IssueFollowsSlice);
                failure.hints = vec![(*hint).to_owned()];
                failure
            }
        }
    }
}
