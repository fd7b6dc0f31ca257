//! The protocol itself: which role is due, and what a report does to the documents.
//!
//! Pure. `needs` names the facts a decision wants, the caller measures them, and
//! `dispatch` and `apply` decide from values alone.

mod facts;

pub use facts::{
    AnchorAnswer, AnchorQuestion, CommitFacts, CommitQuestion, CommitSeen, ConfigFacts, FactSet,
    Facts, GateQuestion, GateRun, Head, MAX_COMMITS, MAX_PATHS, OutsideEdit, Range,
    StopVerifierRun, Verdict, Worktree,
};
