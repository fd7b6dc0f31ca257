//! What can go wrong with a call, each with what is needed to go on: the code, the refs that
//! are still good, and the next step.

use super::reference::{Grade, Ref};
use crate::diagnostic::{Code, Failure, FailureKind, PriorRefs};
use serde::Serialize;

/// The refs a caller still holds when a call fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Prior {
    /// The newest context window that is kept.
    pub episode: Option<Ref>,
    /// The newest chain that is kept; none for an atom.
    pub series: Option<Ref>,
}

impl Prior {
    /// This ref alone.
    pub fn of(name: Ref) -> Self {
        let named = |grade| (name.grade() == grade).then_some(name);
        Self {
            episode: named(Grade::Episode),
            series: named(Grade::Series),
        }
    }
}

/// Why a call gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The supplier answers once and cannot go on from anything.
    #[error("`{supplier}` cannot go on from an earlier conversation")]
    ContinuationNotSupported {
        /// The supplier.
        supplier: String,
    },
    /// The context window was sealed by a compaction.
    #[error("episode {episode} was compacted; its series goes on")]
    EpisodeCompacted {
        /// The sealed window.
        episode: Ref,
        /// The series that went on.
        series: Ref,
    },
    /// No such window.
    #[error("no episode `{0}`")]
    EpisodeNotFound(String),
    /// No such chain.
    #[error("no series `{0}`")]
    SeriesNotFound(String),
    /// A prefix that several refs begin with.
    #[error("`{name}` is ambiguous: {}", candidates.join(", "))]
    RefAmbiguous {
        /// What was given.
        name: String,
        /// What it may mean, at most ten.
        candidates: Vec<String>,
    },
    /// A ref of another kind than the one asked for.
    #[error("`{name}` names {}, and {} is wanted", one(found.grade()), one(*wanted))]
    RefKindMismatch {
        /// What was given.
        name: String,
        /// What it names.
        found: Ref,
        /// What was wanted.
        wanted: Grade,
    },
    /// What is stored is not what was stored.
    #[error("{what} is damaged: {why}")]
    ObjectCorrupt {
        /// Which.
        what: String,
        /// How it shows.
        why: String,
    },
    /// Neither or both of episode and series.
    #[error("go on from an episode or from a series, not from both or neither")]
    OnConflict,
    /// What must be said does not fit the window.
    #[error("the call needs about {needed} tokens, and {room} fit")]
    ContextWindowExceeded {
        /// Tokens that the prompt takes, estimated.
        needed: u64,
        /// Tokens there are, the reserve taken off.
        room: u64,
    },
    /// The answer broke the schema each time.
    #[error("the answer broke the schema {attempts} times: {}", paths.join("; "))]
    OutputSchemaInvalid {
        /// What is wrong, by path.
        paths: Vec<String>,
        /// How many answers were asked for.
        attempts: u32,
    },
    /// The supplier ended with an error.
    #[error("`{supplier}` failed: {why}")]
    SupplierFailed {
        /// The supplier.
        supplier: String,
        /// Its last word.
        why: String,
    },
    /// The supplier took too long.
    #[error("`{supplier}` did not answer in time: {why}")]
    SupplierTimeout {
        /// The supplier.
        supplier: String,
        /// Which clock ran out.
        why: String,
    },
    /// The supplier's output could not be read.
    #[error("the output of `{supplier}` could not be read: {why}")]
    SupplierUnparseable {
        /// The supplier.
        supplier: String,
        /// What was expected.
        why: String,
    },
    /// A question changed the repository.
    #[error("the question changed the repository: {}", changed.join(", "))]
    ReadOnlyViolated {
        /// What changed.
        changed: Vec<String>,
    },
    /// The tree is not the one the conversation was about.
    #[error("the worktree is not the one the conversation left: {0}")]
    TreeDrift(String),
    /// The store cannot be read or written.
    #[error("the session store: {0}")]
    Store(#[source] std::io::Error),
}

impl Fault {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        boundary(self).1.id()
    }
}

/// A failed call: why, and the refs that are still good.
#[derive(Debug, thiserror::Error)]
#[error("{fault}")]
pub struct SessionError {
    /// Why.
    #[source]
    pub fault: Box<Fault>,
    /// What the caller still holds.
    pub prior: Prior,
}

impl SessionError {
    /// A failure before anything was kept. A ref of the wrong kind is a good one all the same.
    pub fn new(fault: Fault) -> Self {
        let prior = match &fault {
            Fault::RefKindMismatch { found, .. } => Prior::of(*found),
            _ => Prior::default(),
        };
        Self {
            fault: Box::new(fault),
            prior,
        }
    }

    /// The same with the refs that are still good.
    #[must_use]
    pub fn keeping(mut self, prior: Prior) -> Self {
        self.prior = prior;
        self
    }

    /// The next step, as a command where there is one.
    pub fn hint(&self) -> String {
        let on_series = |series: &Ref| format!("go on with `--on-series {series}`");
        match &*self.fault {
            Fault::ContinuationNotSupported { .. } => {
                "ask afresh without `--on-…`, or go on with another agent".to_owned()
            }
            Fault::EpisodeCompacted { series, .. } => on_series(series),
            Fault::EpisodeNotFound(_) | Fault::SeriesNotFound(_) => {
                "leave `--on-…` out to begin afresh; `cook session log` lists what there is"
                    .to_owned()
            }
            Fault::RefAmbiguous { .. } => "give more of the ref".to_owned(),
            Fault::RefKindMismatch { found, .. } => match found.grade() {
                Grade::Exchange => {
                    "an exchange is looked at, not gone on from: `cook session show`".to_owned()
                }
                Grade::Episode => format!("go on with `--on-episode {found}`"),
                Grade::Series => on_series(found),
            },
            Fault::ObjectCorrupt { .. } => "run `cook session verify`".to_owned(),
            Fault::OnConflict => "give one of `--on-episode` and `--on-series`".to_owned(),
            Fault::ContextWindowExceeded { .. } => match &self.prior.series {
                Some(series) => format!("{}, which compacts, or say less", on_series(series)),
                None => "say less, or use an agent with a larger window".to_owned(),
            },
            Fault::OutputSchemaInvalid { .. }
            | Fault::SupplierFailed { .. }
            | Fault::SupplierTimeout { .. }
            | Fault::SupplierUnparseable { .. } => {
                match (&self.prior.series, &self.prior.episode) {
                    (Some(series), _) => on_series(series),
                    (None, Some(episode)) => format!("go on with `--on-episode {episode}`"),
                    (None, None) => "ask again".to_owned(),
                }
            }
            Fault::ReadOnlyViolated { .. } => "look with `git status`".to_owned(),
            Fault::TreeDrift(_) => {
                "leave `--require-tree` out to go on with the tree as it is".to_owned()
            }
            Fault::Store(_) => "run `cook doctor`".to_owned(),
        }
    }
}

impl From<Fault> for SessionError {
    fn from(fault: Fault) -> Self {
        Self::new(fault)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let (kind, code) = boundary(&error.fault);
        let mut failure = Self::new(kind, code, error.to_string());
        failure.hints = vec![error.hint()];
        failure.prior = Some(Box::new(PriorRefs {
            episode: error.prior.episode.map(|name| name.to_string()),
            series: error.prior.series.map(|name| name.to_string()),
        }));
        match &*error.fault {
            Fault::Store(cause) => failure.caused_by(cause),
            _ => failure,
        }
    }
}

fn one(grade: Grade) -> &'static str {
    match grade {
        Grade::Exchange => "an exchange",
        Grade::Episode => "an episode",
        Grade::Series => "a series",
    }
}

/// Exit 1 for refs and stored data, 2 for usage, 5 for the supplier.
fn boundary(fault: &Fault) -> (FailureKind, Code) {
    use FailureKind::{Check, State, Supplier, Usage};
    match fault {
        Fault::ContinuationNotSupported { .. } => (Supplier, Code::ContinuationNotSupported),
        Fault::EpisodeCompacted { .. } => (Check, Code::EpisodeCompacted),
        Fault::EpisodeNotFound(_) => (Check, Code::EpisodeNotFound),
        Fault::SeriesNotFound(_) => (Check, Code::SeriesNotFound),
        Fault::RefAmbiguous { .. } => (Check, Code::RefAmbiguous),
        Fault::RefKindMismatch { .. } => (Check, Code::RefKindMismatch),
        Fault::ObjectCorrupt { .. } => (Check, Code::ObjectCorrupt),
        Fault::OnConflict => (Usage, Code::OnConflict),
        Fault::ContextWindowExceeded { .. } => (Supplier, Code::ContextWindowExceeded),
        Fault::OutputSchemaInvalid { .. } => (Supplier, Code::OutputSchemaInvalid),
        Fault::SupplierFailed { .. } => (Supplier, Code::SupplierFailed),
        Fault::SupplierTimeout { .. } => (Supplier, Code::SupplierTimeout),
        Fault::SupplierUnparseable { .. } => (Supplier, Code::SupplierUnparseable),
        Fault::ReadOnlyViolated { .. } => (Supplier, Code::ReadOnlyViolated),
        Fault::TreeDrift(_) => (Check, Code::TreeDrift),
        Fault::Store(_) => (State, Code::SessionStoreFailed),
    }
}
