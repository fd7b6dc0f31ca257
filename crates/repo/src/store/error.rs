//! What can go wrong between cook and its log. None of it leaves a transition half taken: either the
//! branch of the log moved, or nothing that counts changed.

use cook_protocol::diagnostic::{Code, Failure, FailureKind};
use cook_protocol::refusal::Refusal;
use std::error::Error;
use std::fmt::Display;
use std::path::Path;

/// Something in the log cannot be read. Packing may have moved it: whoever reads looks again.
pub(super) fn unreadable(
    what: impl Display,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> Failure {
    Failure::state(Code::LogUnreadable, format!("cannot read {what}")).with_cause(&*source.into())
}

/// Something could not be written; the branch of the log did not move.
pub(super) fn unwritable(
    what: impl Display,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> Failure {
    Failure::state(Code::WriteFailed, format!("cannot write {what}")).with_cause(&*source.into())
}

/// The log's directory, `.agent/` or the place of a restored file is not one that cook uses.
pub(super) fn unsafe_path(code: Code, path: &Path, what: impl Display) -> Failure {
    let kind = match code {
        Code::NotWritable => FailureKind::Usage,
        _ => FailureKind::State,
    };
    Failure::new(kind, code, format!("`{}` {what}", path.display()))
}

/// A name that is not a transition of this log.
pub(super) fn unknown_name(name: &str) -> Failure {
    let name: String = name.chars().take(200).collect();
    Failure::unknown(
        Code::OperationUnknown,
        format!("unknown transition `{name}`"),
    )
}

/// The log or the view is not what the transition was computed from.
pub(super) fn stale(what: &str) -> Failure {
    Refusal::new(Code::StaleFacts, what).into()
}

/// A transition that does not follow its parent, or holds a value the format has no place for.
pub(super) fn refuse_malformed(what: impl Display) -> Failure {
    Failure::state(
        Code::WriteFailed,
        format!("the transition is not well formed: {what}"),
    )
}

/// A log that came from elsewhere and is not as cook writes one; nothing of it was taken.
pub(super) fn foreign(what: impl Display) -> Failure {
    Failure::state(
        Code::RemoteLogRefused,
        format!("the log that came from elsewhere is not taken: {what}"),
    )
}

/// A file that is larger than cook keeps.
pub(super) fn too_large(path: &Path, bytes: u64, cap: u64) -> Failure {
    let what = format!(
        "`{}` holds {bytes} bytes; at most {cap} are kept",
        path.display()
    );
    Failure::state(Code::InputTooLarge, what)
        .replace_hints(["move that file out of `.agent/`, then run the command again"])
}

/// Another process writes.
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

/// Says what was being done when something failed.
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
