//! What is told while a run goes on, and to whom.

use super::authority::Violation;
use crate::service::Applied;
use cook_agents::{Progress, Spent};
use cook_core::diagnostic::Finding;
use cook_core::machine::Dispatch;
use cook_core::model::Role;
use cook_os::process::Alarm;
use cook_store::store::Recovery;
use std::path::PathBuf;
use std::time::Duration;

/// What an observer is told.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// A session of an earlier run was found unfinished and settled.
    Recovered {
        /// Whose it was.
        role: Role,
        /// What it had done that it may not.
        breach: &'a Violation,
    },
    /// A session begins.
    Begins {
        /// The role.
        role: Role,
        /// Why it is its turn.
        dispatch: &'a Dispatch,
        /// Who plays it.
        agent: &'a str,
        /// How long it may be silent.
        idle: Duration,
    },
    /// What an agent shows while it works.
    Shows {
        /// Which of the sessions that are held at once, by the order in which they began.
        slot: usize,
        /// What.
        progress: Progress<'a>,
    },
    /// An agent has ended; its answer is not looked at yet.
    Ends {
        /// As in [`RunEvent::Shows`].
        slot: usize,
        /// What this run's calls have taken so far.
        spent: &'a Spent,
    },
    /// The command of `[notify]` was not told of a change of the policy.
    NotNotified(&'a Finding),
    /// What a session left in the inbox was taken in, or not.
    Inbox(&'a Finding),
    /// The report was not usable and is asked for once more.
    Repairs(&'a [Finding]),
    /// The role did what it may not.
    Breached {
        /// The role.
        role: Role,
        /// What it did.
        breach: &'a Violation,
    },
    /// What was not committed in the worktree changed while a session was held elsewhere: copies
    /// of how it was.
    Beside(&'a [String]),
    /// `.agent/` was behind the log, and shows its tip now.
    CaughtUp(&'a Recovery),
    /// Lock files that a git of the session left which was ended, and that are removed.
    Unlocked(&'a [PathBuf]),
    /// The session gave no report, or the report was refused.
    CameToNothing {
        /// The role.
        role: Role,
        /// Why.
        why: &'a str,
    },
    /// The report was taken.
    Recorded {
        /// The role.
        role: Role,
        /// What it led to.
        applied: &'a Applied,
        /// How long the session took.
        took: Duration,
        /// What it cost; none = unknown.
        cost_micro_usd: Option<u64>,
    },
    /// cook re-grounded itself.
    ByCook(&'a Applied),
    /// cook may re-ground itself under this profile, and a model is asked here: why.
    ModelAsked(&'a str),
    /// A limit of the supplier's is waited for.
    Waits {
        /// Until when, RFC 3339.
        until: &'a str,
    },
}

/// Whoever looks on.
pub trait Observer: Send {
    /// Is told what happens.
    fn observe(&mut self, event: &RunEvent);

    /// What is to be called at once when somebody asks for an end.
    fn alarm(&self) -> Option<Alarm> {
        None
    }
}
