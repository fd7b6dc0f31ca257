//! Exit codes, one meaning each (`README.md`).

use cook_protocol::diagnostic::FailureKind;
use cook_protocol::model::Policy;
use std::process::ExitCode;

/// What a command's exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, nothing wrong, or a role is to be dispatched.
    Ok = 0,
    /// The check failed.
    CheckFailed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// State is unreadable, or this is no git repository; of `cook check`: it is not known.
    State = 3,
    /// The event was refused.
    Refused = 4,
    /// An agent failed.
    Supplier = 5,
    /// A budget is spent, or nothing moves any more.
    Spent = 6,
    /// Another process holds the lock or the lease.
    Held = 7,
    /// The user owes an answer.
    AwaitingUser = 10,
    /// Something outside blocks.
    Blocked = 11,
    /// The user paused the work, or a person is to decide on a contract.
    Paused = 12,
    /// It ended where whoever called would not expect it: `--steps` of a run is used up, or
    /// (`cook run --once --from`) the mission is done.
    Ended = 13,
    /// Somebody asked for an end (Ctrl-C, SIGTERM).
    Interrupted = 130,
}

impl Exit {
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
        ExitCode::from(exit as u8)
    }
}
