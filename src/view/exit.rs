//! Exit codes, one meaning each (`README.md`).

use cook_core::diagnostic::FailureKind;
use cook_core::model::Policy;
use std::process::ExitCode;

/// What a command's exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, nothing wrong, or a role is to be dispatched.
    Ok,
    /// The check failed.
    CheckFailed,
    /// The command line is wrong.
    Usage,
    /// State is unreadable, or this is no git repository.
    State,
    /// The event was refused.
    Refused,
    /// An agent failed.
    Supplier,
    /// A budget is spent, or nothing moves any more.
    Spent,
    /// Another process holds the lock or the lease.
    Held,
    /// The user owes an answer.
    AwaitingUser,
    /// Something outside blocks.
    Blocked,
    /// The user paused the work.
    Paused,
}

impl Exit {
    /// The number.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::CheckFailed => 1,
            Exit::Usage => 2,
            Exit::State => 3,
            Exit::Refused => 4,
            Exit::Supplier => 5,
            Exit::Spent => 6,
            Exit::Held => 7,
            Exit::AwaitingUser => 10,
            Exit::Blocked => 11,
            Exit::Paused => 12,
        }
    }

    /// What `cook next --exit-code` answers for a policy.
    pub fn of_policy(policy: Policy) -> Self {
        match policy {
            Policy::Continue | Policy::Done => Exit::Ok,
            Policy::AwaitUserInput => Exit::AwaitingUser,
            Policy::Blocked => Exit::Blocked,
            Policy::Paused => Exit::Paused,
        }
    }
}

impl From<FailureKind> for Exit {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Check => Exit::CheckFailed,
            FailureKind::Usage => Exit::Usage,
            FailureKind::State => Exit::State,
            FailureKind::Refused => Exit::Refused,
            FailureKind::Supplier => Exit::Supplier,
            FailureKind::Held => Exit::Held,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}
