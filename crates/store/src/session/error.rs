//! What can go wrong with a call, each with what is needed to go on: the code, the refs that
//! are still good, and the next step.

use super::reference::{Ref, RefKind};
use super::supplier::SupplierErrorKind;
use crate::store::StoreError;
use cook_core::diagnostic::{Code, Failure, FailureKind, PriorRefs};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The refs a caller still holds when a call fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prior {
    /// The newest context window that is kept.
    pub episode: Option<Ref>,
    /// The newest chain that is kept; none for an atom.
    pub series: Option<Ref>,
}

impl From<Prior> for Box<PriorRefs> {
    fn from(prior: Prior) -> Self {
        Self::new(PriorRefs {
            episode: prior.episode.map(|name| name.to_string()),
            series: prior.series.map(|name| name.to_string()),
        })
    }
}

/// Why a window that is full is not summed up and gone on from in a new one.
#[derive(Debug, thiserror::Error)]
pub enum NoRecap {
    /// What is said now does not fit a window of its own.
    #[error("; what is said now is too long by itself")]
    WouldNotHelp,
    /// A checkpoint is gone on from as it stands; a series is what grows a new window.
    #[error("")]
    Branch,
    /// Whoever answers once has no series.
    #[error("")]
    Atom,
    /// The summary was asked for, and did not come.
    #[error("; no summary of what came before could be had: {0}")]
    Failed(SessionError),
    /// It came, and does not fit beside what is said now.
    #[error("; the summary of what came before is too long to go with it")]
    TooLong,
}

/// Why a call gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The supplier answers once and cannot go on from anything.
    #[error("`{0}` cannot go on from an earlier conversation")]
    NoContinuation(String),
    /// A supplier's own record was demanded, and cannot be forked.
    #[error(
        "the record of `{0}` cannot be gone on from: it is gone, is not as the call left it, or is another agent's"
    )]
    RecordNotUsable(String),
    /// The context window was sealed by a compaction; the series that went on.
    #[error("episode {0} was compacted; its series goes on")]
    EpisodeCompacted(Ref, Ref),
    /// No such episode or series.
    #[error("no {0} `{1}`")]
    NotFound(RefKind, String),
    /// A prefix that several refs begin with, at most ten of them.
    #[error("`{}` is ambiguous: {}", .0, .1.join(", "))]
    RefAmbiguous(String, Vec<String>),
    /// What was given names a ref of another kind than the one wanted.
    #[error("`{}` names {}, and {} is wanted", .0, one(.1.kind()), one(*.2))]
    KindMismatch(String, Ref, RefKind),
    /// What is stored is not what was stored: which, and how it shows.
    #[error("{0} is damaged: {1}")]
    Corrupt(String, String),
    /// Neither or both of episode and series.
    #[error("go on from an episode or from a series, not from both or neither")]
    OnConflict,
    /// What must be said does not fit the window: tokens that it takes, estimated, tokens that
    /// there are, and why no new window is begun.
    #[error("the call needs about {0} tokens, and {1} fit{2}")]
    WindowExceeded(u64, u64, NoRecap),
    /// What is wrong with the answer by path, and how many answers were asked for.
    #[error("the answer broke the schema {} times: {}", .1, .0.join("; "))]
    SchemaBroken(Vec<String>, u32),
    /// What the supplier did instead of answering.
    #[error("{}", supplier_failed(.0, .1))]
    Supplier(String, SupplierErrorKind),
    /// The repository changed while a question was answered, and what else went wrong with it.
    #[error("{}", read_only_violated(.0, .1.as_deref()))]
    ReadOnlyViolated(Vec<String>, Option<Box<Reason>>),
    /// The tree is not the one the conversation was about.
    #[error("the worktree is not the one the conversation left: {0}")]
    TreeDrift(String),
    /// What an earlier cook kept in another way.
    #[error("an earlier cook kept its sessions in another layout, which is not read: `{}`", .0.display())]
    EarlierLayout(PathBuf),
    /// What cannot be a name of the user's.
    #[error("{0}")]
    BadLabel(String),
    /// The store cannot be read or written.
    #[error("the session store: {0}")]
    Store(#[source] io::Error),
}

fn read_only_violated(changed: &[String], failed: Option<&Reason>) -> String {
    let failed = failed.map_or_else(String::new, |failed| format!("; {failed}"));
    format!(
        "the question changed the repository: {}{failed}",
        changed.join(", ")
    )
}

fn supplier_failed(supplier: &str, failure: &SupplierErrorKind) -> String {
    match failure {
        SupplierErrorKind::Failed(why) => format!("`{supplier}` failed: {why}"),
        SupplierErrorKind::Absent(why) => format!("`{supplier}` could not be started: {why}"),
        SupplierErrorKind::TimedOut(why) => format!("`{supplier}` did not answer in time: {why}"),
        SupplierErrorKind::Unparseable(why) => {
            format!("the output of `{supplier}` could not be read: {why}")
        }
    }
}

/// A failed call: why, and the refs that are still good.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct SessionError {
    /// Why.
    #[source]
    pub reason: Box<Reason>,
    /// What the caller still holds.
    pub prior: Prior,
    /// What an order changed all the same.
    pub changed: Vec<String>,
}

impl From<Reason> for SessionError {
    /// A failure before anything was kept. A ref of the wrong kind is a good one all the same.
    fn from(reason: Reason) -> Self {
        let mut prior = Prior::default();
        if let Reason::KindMismatch(_, found, _) = reason {
            match found.kind() {
                RefKind::Episode => prior.episode = Some(found),
                RefKind::Series => prior.series = Some(found),
                RefKind::Exchange => {}
            }
        }
        Self {
            reason: Box::new(reason),
            prior,
            changed: Vec::new(),
        }
    }
}

impl From<io::Error> for SessionError {
    fn from(error: io::Error) -> Self {
        Reason::Store(error).into()
    }
}

impl From<StoreError> for SessionError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unreadable { what, source } => Self::corrupt(what, source),
            other => match std::error::Error::source(&other) {
                Some(cause) => io::Error::other(format!("{other}: {cause}")).into(),
                None => io::Error::other(other.to_string()).into(),
            },
        }
    }
}

impl SessionError {
    /// Something that is stored is damaged.
    pub(super) fn corrupt(what: impl fmt::Display, why: impl fmt::Display) -> Self {
        Reason::Corrupt(what.to_string(), why.to_string()).into()
    }

    /// The same with the refs that are still good.
    #[must_use]
    pub fn keeping(mut self, prior: Prior) -> Self {
        self.prior = prior;
        self
    }

    /// Whether what is stored is not what was stored.
    pub(super) fn is_damage(&self) -> bool {
        matches!(*self.reason, Reason::Corrupt(..))
    }

    /// How damage shows.
    pub(super) fn why(&self) -> String {
        match &*self.reason {
            Reason::Corrupt(_, why) => why.clone(),
            Reason::Store(error) => error.to_string(),
            _ => self.to_string(),
        }
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.class().1
    }

    /// Exit 1 for refs and stored data, 2 for usage, 5 for the supplier; and the code.
    fn class(&self) -> (FailureKind, Code) {
        use FailureKind::{Check, State, Supplier, Usage};
        match &*self.reason {
            Reason::NoContinuation(_) | Reason::RecordNotUsable(_) => {
                (Supplier, Code::ContinuationNotSupported)
            }
            Reason::EpisodeCompacted(..) => (Check, Code::EpisodeCompacted),
            Reason::NotFound(RefKind::Series, _) => (Check, Code::SeriesNotFound),
            Reason::NotFound(..) => (Check, Code::EpisodeNotFound),
            Reason::RefAmbiguous(..) => (Check, Code::RefAmbiguous),
            Reason::KindMismatch(..) => (Check, Code::RefKindMismatch),
            Reason::Corrupt(..) => (Check, Code::ObjectCorrupt),
            Reason::OnConflict => (Usage, Code::OnConflict),
            Reason::WindowExceeded(..) => (Supplier, Code::ContextWindowExceeded),
            Reason::SchemaBroken(..) => (Supplier, Code::OutputSchemaInvalid),
            Reason::Supplier(_, failure) => match failure {
                SupplierErrorKind::TimedOut(_) => (Supplier, Code::SupplierTimeout),
                SupplierErrorKind::Unparseable(_) => (Supplier, Code::SupplierUnparseable),
                _ => (Supplier, Code::SupplierFailed),
            },
            Reason::ReadOnlyViolated(..) => (Supplier, Code::ReadOnlyViolated),
            Reason::TreeDrift(_) => (Check, Code::TreeDrift),
            Reason::EarlierLayout(_) => (State, Code::SessionLayoutEarlier),
            Reason::BadLabel(_) => (Usage, Code::Usage),
            Reason::Store(_) => (State, Code::SessionStoreFailed),
        }
    }

    /// The next step, as a command where there is one.
    pub fn hint(&self) -> String {
        let fixed = match &*self.reason {
            Reason::NoContinuation(_) => "ask afresh without `--on-…`, or go on with another agent",
            Reason::RecordNotUsable(_) => {
                "leave `--native require` out: the agent is then told what was said"
            }
            Reason::NotFound(..) => {
                "leave `--on-…` out to begin afresh; `cook session log` lists what there is"
            }
            Reason::RefAmbiguous(..) => "give more of the ref",
            Reason::KindMismatch(_, found, _) if found.kind() == RefKind::Exchange => {
                "an exchange is looked at, not gone on from: `cook session show`"
            }
            Reason::Corrupt(..) => "run `cook session verify`",
            Reason::OnConflict => "give one of `--on-episode` and `--on-series`",
            Reason::ReadOnlyViolated(..) => "look with `git status`",
            Reason::TreeDrift(_) => "leave `--require-tree` out to go on with the tree as it is",
            Reason::BadLabel(_) => Code::Usage.hint(),
            Reason::Store(_) => "run `cook doctor`",
            _ => return self.describe_way_on(),
        };
        fixed.to_owned()
    }

    /// The next step that depends on what is still good.
    fn describe_way_on(&self) -> String {
        let again = again(&self.prior);
        match &*self.reason {
            Reason::EpisodeCompacted(_, series) => on(series),
            // Whoever takes no series goes on from the window that it stands at.
            Reason::KindMismatch(_, found, _) => on(self.prior.episode.as_ref().unwrap_or(found)),
            Reason::WindowExceeded(_, _, recap) => make_room(recap, &self.prior),
            Reason::Supplier(supplier, SupplierErrorKind::Absent(_)) => format!(
                "install the program of `{supplier}` (`cook doctor agents` says what is here), then {again}"
            ),
            Reason::Supplier(_, SupplierErrorKind::TimedOut(_)) => {
                format!("give it longer with `--timeout` or `--idle-timeout`, and {again}")
            }
            Reason::EarlierLayout(found) => {
                let dir = found.parent().unwrap_or(found);
                format!("move `{}` away, or remove it", dir.display())
            }
            _ => again,
        }
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let (kind, code) = error.class();
        let mut failure = Self::new(kind, code, error.to_string());
        failure.hints = vec![error.hint()];
        failure.prior = Some(error.prior.into());
        if !error.changed.is_empty() {
            let changed = error.changed.join(", ");
            failure.causes.push(format!(
                "what was ordered changed the repository, and that stays: {changed}"
            ));
        }
        match &*error.reason {
            Reason::Store(cause) => failure.with_cause(cause),
            _ => failure,
        }
    }
}

/// What helps when a window is full; the command that just failed is none of it.
fn make_room(recap: &NoRecap, prior: &Prior) -> String {
    const LARGER: &str = "an agent with a larger window";
    match (recap, &prior.series) {
        (NoRecap::Branch, Some(series)) => format!("{}, which compacts", on(series)),
        (NoRecap::Failed(why), series) => match (&*why.reason, series) {
            (Reason::WindowExceeded(..), Some(series)) => format!("{} and {LARGER}", on(series)),
            (Reason::WindowExceeded(..), None) => format!("use {LARGER}"),
            (Reason::ReadOnlyViolated(..), _) => {
                format!("look with `git status`, then {}", again(prior))
            }
            _ => why.hint(),
        },
        _ => format!("say less, or use {LARGER}"),
    }
}

/// From where another try goes on.
fn again(prior: &Prior) -> String {
    let name = prior.series.or(prior.episode);
    name.map_or("ask again".to_owned(), |name| on(&name))
}

fn on(name: &Ref) -> String {
    format!("go on with `--on-{} {name}`", name.kind())
}

fn one(kind: RefKind) -> &'static str {
    match kind {
        RefKind::Exchange => "an exchange",
        RefKind::Episode => "an episode",
        RefKind::Series => "a series",
    }
}
