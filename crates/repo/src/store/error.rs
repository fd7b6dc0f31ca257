//! Failures of access to the log. None of them leaves a transition half done: either the branch of the log moved, or
//! nothing that counts changed.

use cook_protocol::diagnostic::{Code, Failure, FailureKind};
use cook_protocol::refusal::Refusal;
use std::error::Error;
use std::fmt::Display;
use std::path::Path;

/// Part of the log cannot be read. Packing may have moved it, so readers try again.
pub(super) fn unreadable(
    what: impl Display,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> Failure {
    Failure::state(Code::LogUnreadable, format!("cannot read {what}")).with_cause(&*source.into())
}

/// A write failed; the branch of the log did not move.
pub(super) fn unwritable(
    what: impl Display,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> Failure {
    Failure::state(Code::WriteFailed, format!("cannot write {what}")).with_cause(&*source.into())
}

/// A path is not safe to use: the log's directory, `.agent/`, or the target of a restored file.
pub(super) fn unsafe_path(code: Code, path: &Path, what: impl Display) -> Failure {
    let kind = match code {
        Code::NotWritable => FailureKind::Usage,
        _ => FailureKind::State,
    };
    Failure::new(kind, code, format!("`{}` {what}", path.display()))
}

/// A name does not identify a transition of this log.
pub(super) fn unknown_name(name: &str) -> Failure {
    let name: String = name.chars().take(200).collect();
    Failure::unknown(
        Code::OperationUnknown,
        format!("unknown transition `{name}`"),
    )
}

/// The log or the view changed after the transition was computed.
pub(super) fn stale(what: &str) -> Failure {
    Refusal::new(Code::StaleFacts, what).into()
}

/// A transition does not follow its parent, or has a value for which the format has no place.
pub(super) fn refuse_malformed(what: impl Display) -> Failure {
    Failure::state(
        Code::WriteFailed,
        format!("the transition is not well formed: {what}"),
    )
}

/// A log from elsewhere is not one that cook would write; none of it was accepted.
pub(super) fn foreign(what: impl Display) -> Failure {
    Failure::state(
        Code::RemoteLogRefused,
        format!("the log that came from elsewhere is not taken: {what}"),
    )
}

/// A file is too large to be kept.
pub(super) fn too_large(path: &Path, bytes: u64, cap: u64) -> Failure {
    let what = format!(
        "`{}` holds {bytes} bytes; at most {cap} are kept",
        path.display()
    );
    Failure::state(Code::InputTooLarge, what)
        .replace_hints(["move that file out of `.agent/`, then run the command again"])
}

/// Another process holds the writer lock.
pub(super) fn lock_held() -> Failure {
    let what = "another cook holds the writer lock";
    Failure::new(FailureKind::Held, Code::LockHeld, what)
}

/// A failure with all its causes, on one line.
pub(crate) fn in_one_line(failure: &Failure) -> String {
    let mut texts = vec![failure.message.clone()];
    texts.extend(failure.causes.iter().cloned());
    texts.join(": ")
}

/// Adds to an error what was being read or written.
pub(super) trait During<T> {
    fn reading(self, what: impl Display) -> Result<T, Failure>;
    fn writing(self, what: impl Display) -> Result<T, Failure>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> During<T> for Result<T, E> {
    fn reading(self, what: impl Display) -> Result<T, Failure> {
        self.map_err(|error| unreadable(what, error))
    }

    fn writing(self, what: impl Display) -> Result<T, Failure> {
        self.map_err(|error| unwritable(what, error))
    }
}
