//! What can go wrong with a call, each with what is needed to go on: the code, the refs that
//! are still good, and the next step.

use super::reference::{Ref, RefKind};
use cook_core::diagnostic::{Code, Failure, FailureKind, PriorRefs};
use serde::Serialize;
use std::fmt;

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
        let named = |kind| (name.kind() == kind).then_some(name);
        Self {
            episode: named(RefKind::Episode),
            series: named(RefKind::Series),
        }
    }
}

/// Why a window that is full is not summed up and gone on from in a new one.
#[derive(Debug)]
pub enum NoRecap {
    /// What is said now does not fit a window of its own.
    WouldNotHelp,
    /// A checkpoint is gone on from as it stands; a series is what grows a new window.
    Branch,
    /// Whoever answers once has no series.
    Atom,
    /// The summary was asked for, and did not come.
    Failed(Box<Fault>),
    /// It came, and does not fit beside what is said now.
    TooLong,
}

impl fmt::Display for NoRecap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch | Self::Atom => Ok(()),
            Self::WouldNotHelp => f.write_str("; what is said now is too long by itself"),
            Self::Failed(why) => write!(f, "; no summary of what came before could be had: {why}"),
            Self::TooLong => {
                f.write_str("; the summary of what came before is too long to go with it")
            }
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
    /// Its own record was demanded, and cannot be forked.
    #[error(
        "the record of `{supplier}` cannot be gone on from: it is gone, is not as the call left it, or is another agent's"
    )]
    RecordNotUsable {
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
    #[error("`{name}` names {}, and {} is wanted", one(found.kind()), one(*wanted))]
    RefKindMismatch {
        /// What was given.
        name: String,
        /// What it names.
        found: Ref,
        /// What was wanted.
        wanted: RefKind,
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
    #[error("the call needs about {needed} tokens, and {room} fit{recap}")]
    ContextWindowExceeded {
        /// Tokens that the prompt takes, estimated.
        needed: u64,
        /// Tokens there are, the reserve taken off.
        room: u64,
        /// Why no new window is begun.
        recap: NoRecap,
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
    /// The supplier could not be started.
    #[error("`{supplier}` could not be started: {why}")]
    SupplierAbsent {
        /// The supplier.
        supplier: String,
        /// What is missing.
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
    /// An earlier cook kept its sessions in another way.
    #[error("an earlier cook kept its sessions in another layout, which is not read: `{}`", .0.display())]
    EarlierLayout(std::path::PathBuf),
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
        next_step(&self.fault, &self.prior)
    }
}

fn next_step(fault: &Fault, prior: &Prior) -> String {
    match fault {
        Fault::ContinuationNotSupported { .. } => {
            "ask afresh without `--on-…`, or go on with another agent".to_owned()
        }
        Fault::RecordNotUsable { .. } => {
            "leave `--native require` out: the agent is then told what was said".to_owned()
        }
        Fault::EpisodeCompacted { series, .. } => on_series(series),
        Fault::EpisodeNotFound(_) | Fault::SeriesNotFound(_) => {
            "leave `--on-…` out to begin afresh; `cook session log` lists what there is".to_owned()
        }
        Fault::RefAmbiguous { .. } => "give more of the ref".to_owned(),
        Fault::RefKindMismatch { found, .. } => match (found.kind(), &prior.episode) {
            (RefKind::Exchange, _) => {
                "an exchange is looked at, not gone on from: `cook session show`".to_owned()
            }
            (RefKind::Episode, _) => on_episode(found),
            // Whoever takes no series goes on from the window that it stands at.
            (RefKind::Series, Some(episode)) => on_episode(episode),
            (RefKind::Series, None) => on_series(found),
        },
        Fault::ObjectCorrupt { .. } => "run `cook session verify`".to_owned(),
        Fault::OnConflict => "give one of `--on-episode` and `--on-series`".to_owned(),
        Fault::ContextWindowExceeded { recap, .. } => make_room(recap, prior),
        Fault::SupplierAbsent { supplier, .. } => format!(
            "install the program of `{supplier}` (`cook agents` says what is here), then {}",
            again(prior)
        ),
        Fault::SupplierTimeout { .. } => format!(
            "give it longer with `--timeout` or `--idle-timeout`, and {}",
            again(prior)
        ),
        Fault::OutputSchemaInvalid { .. }
        | Fault::SupplierFailed { .. }
        | Fault::SupplierUnparseable { .. } => again(prior),
        Fault::ReadOnlyViolated { .. } => "look with `git status`".to_owned(),
        Fault::TreeDrift(_) => {
            "leave `--require-tree` out to go on with the tree as it is".to_owned()
        }
        Fault::EarlierLayout(found) => {
            let dir = found.parent().unwrap_or(found);
            format!("move `{}` away, or remove it", dir.display())
        }
        Fault::Store(_) => "run `cook doctor`".to_owned(),
    }
}

/// What helps when a window is full; the command that just failed is none of it.
fn make_room(recap: &NoRecap, prior: &Prior) -> String {
    const LARGER: &str = "an agent with a larger window";
    match (recap, &prior.series) {
        (NoRecap::Branch, Some(series)) => format!("{}, which compacts", on_series(series)),
        (NoRecap::WouldNotHelp | NoRecap::Branch | NoRecap::Atom | NoRecap::TooLong, _) => {
            format!("say less, or use {LARGER}")
        }
        (NoRecap::Failed(why), series) => match (&**why, series) {
            (Fault::ContextWindowExceeded { .. }, Some(series)) => {
                format!("{} and {LARGER}", on_series(series))
            }
            (Fault::ContextWindowExceeded { .. }, None) => format!("use {LARGER}"),
            (Fault::ReadOnlyViolated { .. }, _) => {
                format!("look with `git status`, then {}", again(prior))
            }
            (why, _) => next_step(why, prior),
        },
    }
}

/// From where another try goes on.
fn again(prior: &Prior) -> String {
    match (&prior.series, &prior.episode) {
        (Some(series), _) => on_series(series),
        (None, Some(episode)) => on_episode(episode),
        (None, None) => "ask again".to_owned(),
    }
}

fn on_series(series: &Ref) -> String {
    format!("go on with `--on-series {series}`")
}

fn on_episode(episode: &Ref) -> String {
    format!("go on with `--on-episode {episode}`")
}

impl From<Fault> for SessionError {
    fn from(fault: Fault) -> Self {
        Self::new(fault)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        SessionError::new(fault).into()
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let (kind, code) = boundary(&error.fault);
        let mut failure = Self::new(kind, code, error.to_string());
        failure.hints = vec![error.hint()];
        failure.prior = Some(error.prior.into());
        match &*error.fault {
            Fault::Store(cause) => failure.caused_by(cause),
            _ => failure,
        }
    }
}

impl From<Prior> for Box<PriorRefs> {
    fn from(prior: Prior) -> Self {
        Self::new(PriorRefs {
            episode: prior.episode.map(|name| name.to_string()),
            series: prior.series.map(|name| name.to_string()),
        })
    }
}

fn one(kind: RefKind) -> &'static str {
    match kind {
        RefKind::Exchange => "an exchange",
        RefKind::Episode => "an episode",
        RefKind::Series => "a series",
    }
}

/// Exit 1 for refs and stored data, 2 for usage, 5 for the supplier.
fn boundary(fault: &Fault) -> (FailureKind, Code) {
    use FailureKind::{Check, State, Supplier, Usage};
    match fault {
        Fault::ContinuationNotSupported { .. } | Fault::RecordNotUsable { .. } => {
            (Supplier, Code::ContinuationNotSupported)
        }
        Fault::EpisodeCompacted { .. } => (Check, Code::EpisodeCompacted),
        Fault::EpisodeNotFound(_) => (Check, Code::EpisodeNotFound),
        Fault::SeriesNotFound(_) => (Check, Code::SeriesNotFound),
        Fault::RefAmbiguous { .. } => (Check, Code::RefAmbiguous),
        Fault::RefKindMismatch { .. } => (Check, Code::RefKindMismatch),
        Fault::ObjectCorrupt { .. } => (Check, Code::ObjectCorrupt),
        Fault::OnConflict => (Usage, Code::OnConflict),
        Fault::ContextWindowExceeded { .. } => (Supplier, Code::ContextWindowExceeded),
        Fault::OutputSchemaInvalid { .. } => (Supplier, Code::OutputSchemaInvalid),
        Fault::SupplierFailed { .. } | Fault::SupplierAbsent { .. } => {
            (Supplier, Code::SupplierFailed)
        }
        Fault::SupplierTimeout { .. } => (Supplier, Code::SupplierTimeout),
        Fault::SupplierUnparseable { .. } => (Supplier, Code::SupplierUnparseable),
        Fault::ReadOnlyViolated { .. } => (Supplier, Code::ReadOnlyViolated),
        Fault::TreeDrift(_) => (Check, Code::TreeDrift),
        Fault::EarlierLayout(_) => (State, Code::SessionLayoutEarlier),
        Fault::Store(_) => (State, Code::SessionStoreFailed),
    }
}
