//! Failures of a call: the code, the refs that are still valid, and the next step.

use super::session_values::{Prior, Ref, RefKind, SupplierErrorKind};
use cook_protocol::diagnostic::{Code, Failure, FailureKind};
use std::fmt::Display;
use std::io;

fn check(code: Code, message: String) -> Failure {
    Failure::new(FailureKind::Check, code, message)
}

fn of_supplier(code: Code, message: String) -> Failure {
    Failure::new(FailureKind::Supplier, code, message)
}

/// Adds the refs that are still valid to a failure.
#[must_use]
pub fn keeping(mut failure: Failure, prior: Prior) -> Failure {
    failure.prior = Some(prior.into());
    failure
}

/// Something stored is damaged; `why` says how that was noticed.
pub fn corrupt(what: impl Display, why: impl Display) -> Failure {
    check(Code::ObjectCorrupt, format!("{what} is damaged: {why}"))
}

/// Turns the failure that the log cannot be read into one that a stored object is damaged.
pub(super) fn as_damage(error: Failure) -> Failure {
    match (error.code, error.message.strip_prefix("cannot read ")) {
        (Code::LogUnreadable, Some(what)) => corrupt(what, error.causes.join(": ")),
        _ => error,
    }
}

/// The reason in a failure about damage.
pub(super) fn find_why(error: &Failure) -> String {
    match error.message.split_once(" is damaged: ") {
        Some((_, why)) if error.code == Code::ObjectCorrupt => why.to_owned(),
        _ => crate::store::in_one_line(error),
    }
}

/// Converts an error of the file system into a failure of the session store.
pub(super) trait OfStore<T> {
    fn of_store(self) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> OfStore<T> for Result<T, E> {
    fn of_store(self) -> Result<T, Failure> {
        self.map_err(|error| store_failed(error.into()))
    }
}

pub(super) fn store_failed(error: io::Error) -> Failure {
    let what = format!("the session store: {error}");
    Failure::state(Code::SessionStoreFailed, what).with_cause(&error)
}

/// There is no such episode or series.
pub fn not_found(kind: RefKind, name: impl Display) -> Failure {
    let code = match kind {
        RefKind::Series => Code::SeriesNotFound,
        _ => Code::EpisodeNotFound,
    };
    check(code, format!("no {kind} `{name}`"))
}

/// A text names a valid ref of another kind than the wanted one; the failure keeps that ref.
pub(super) fn wrong_kind(text: &str, found: Ref, wanted: RefKind) -> Failure {
    let one = |kind| match kind {
        RefKind::Exchange => "an exchange",
        RefKind::Episode => "an episode",
        RefKind::Series => "a series",
    };
    let (named, wanted) = (one(found.kind()), one(wanted));
    let what = format!("`{text}` names {named}, and {wanted} is wanted");
    let mut prior = Prior::default();
    match found.kind() {
        RefKind::Episode => prior.episode = Some(found),
        RefKind::Series => prior.series = Some(found),
        RefKind::Exchange => {}
    }
    let hint = match found.kind() {
        RefKind::Exchange => {
            "an exchange is looked at, not gone on from: `cook session show REF`".to_owned()
        }
        _ => on(found),
    };
    let error = check(Code::RefKindMismatch, what).replace_hints([hint]);
    keeping(error, prior)
}

/// The supplier answers once and cannot continue a conversation.
pub fn no_continuation(supplier: &str) -> Failure {
    let what = format!("`{supplier}` cannot go on from an earlier conversation");
    of_supplier(Code::ContinuationNotSupported, what)
}

/// The supplier's own record was required but cannot be forked.
pub(super) fn no_record(supplier: &str) -> Failure {
    let what = format!(
        "the record of `{supplier}` cannot be gone on from: it is gone, is not as the call left it, or is another agent's"
    );
    let hint = "leave `--native require` out: the agent is then told what was said";
    of_supplier(Code::ContinuationNotSupported, what).replace_hints([hint])
}

/// The episode was sealed by a compaction; `series` continues it.
pub(super) fn report_compaction(episode: Ref, series: Ref) -> Failure {
    let what = format!("episode {episode} was compacted; its series goes on");
    let prior = Prior {
        episode: Some(episode),
        series: Some(series),
    };
    let error = check(Code::EpisodeCompacted, what).replace_hints([on(series)]);
    keeping(error, prior)
}

/// The repository changed during a question; `failed` is what else went wrong with the question.
pub fn read_only_violated(changed: &[String], failed: Option<&Failure>) -> Failure {
    let failed = failed.map_or_else(String::new, |failed| format!("; {}", failed.message));
    let changed = changed.join(", ");
    let what = format!("the question changed the repository: {changed}{failed}");
    of_supplier(Code::ReadOnlyViolated, what)
}

/// The answer broke the schema: the violations by path, and the number of attempts.
pub(super) fn schema_broken(wrong: &[String], attempts: u32, prior: &Prior) -> Failure {
    let wrong = wrong.join("; ");
    let what = format!("the answer broke the schema {attempts} times: {wrong}");
    of_supplier(Code::OutputSchemaInvalid, what).replace_hints([again(prior)])
}

/// The supplier failed instead of answering.
pub(super) fn supplier_failed(name: &str, error: &SupplierErrorKind, prior: &Prior) -> Failure {
    use SupplierErrorKind::{Absent, Failed, TimedOut, Unparseable};
    let again = again(prior);
    let (code, what, hint) = match error {
        Failed(why) => (
            Code::SupplierFailed,
            format!("`{name}` failed: {why}"),
            again,
        ),
        Absent(why) => (
            Code::SupplierFailed,
            format!("`{name}` could not be started: {why}"),
            format!(
                "install the program of `{name}` (`cook doctor agents` says what is here), then {again}"
            ),
        ),
        TimedOut(why) => (
            Code::SupplierTimeout,
            format!("`{name}` did not answer in time: {why}"),
            format!("give it longer with `--timeout` or `--idle-timeout`, and {again}"),
        ),
        Unparseable(why) => (
            Code::SupplierUnparseable,
            format!("the output of `{name}` could not be read: {why}"),
            again,
        ),
    };
    of_supplier(code, what).replace_hints([hint])
}

/// Why a full context window was not summarized and continued in a new one.
pub(super) enum NoRecap {
    /// The new request alone does not fit into a window.
    WouldNotHelp,
    /// A branch from an episode is never compacted; only a series gets new windows.
    Branch,
    /// The summary was requested, but the request failed.
    Failed(Failure),
    /// The summary and the new request together do not fit.
    TooLong,
}

/// The prompt does not fit the window: estimated tokens that it needs, and tokens available.
pub(super) fn window_exceeded(needed: u64, room: u64, why: &NoRecap, prior: &Prior) -> Failure {
    const LARGER: &str = "an agent with a larger window";
    let tail = match why {
        NoRecap::WouldNotHelp => "; what is said now is too long by itself".to_owned(),
        NoRecap::Branch => String::new(),
        NoRecap::Failed(why) => {
            format!(
                "; no summary of what came before could be had: {}",
                why.message
            )
        }
        NoRecap::TooLong => {
            "; the summary of what came before is too long to go with it".to_owned()
        }
    };
    let hint = match (why, prior.series) {
        (NoRecap::Branch, Some(series)) => format!("{}, which compacts", on(series)),
        (NoRecap::Failed(why), series) => match (why.code, series) {
            (Code::ContextWindowExceeded, Some(series)) => format!("{} and {LARGER}", on(series)),
            (Code::ContextWindowExceeded, None) => format!("use {LARGER}"),
            (Code::ReadOnlyViolated, _) => {
                format!("look with `git status`, then {}", again(prior))
            }
            _ => why.hints.join("; "),
        },
        _ => format!("say less, or use {LARGER}"),
    };
    let what = format!("the call needs about {needed} tokens, and {room} fit{tail}");
    of_supplier(Code::ContextWindowExceeded, what).replace_hints([hint])
}

/// The hint how to try again.
fn again(prior: &Prior) -> String {
    let name = prior.series.or(prior.episode);
    name.map_or("ask again".to_owned(), on)
}

pub(super) fn on(name: Ref) -> String {
    format!("go on with `--on-{} {name}`", name.kind())
}
