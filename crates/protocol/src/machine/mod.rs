//! The protocol itself: which role is due, and what a report does to the documents.
//!
//! Pure. [`needs`] names the facts a decision wants, the caller measures them, and
//! [`dispatch`] and [`apply`] decide from values alone. Nothing else moves state.

mod active;
mod answers;
mod apply;
mod asked;
mod assurance;
mod blocked;
mod bootstrap;
mod brief;
mod by_cook;
mod cancelling;
mod contract;
mod dispatch;
mod drift;
mod due;
mod estimate;
mod facts;
mod finish;
mod goal;
mod planning;
mod proof;
mod records;
mod reground;
mod reports;
mod rule;
mod slices;
mod text;
mod ticket;
mod trust;
mod unfixed;
mod user;
mod vanished;
mod wave;
mod work;
mod worktree;

pub use apply::{apply, needs};
pub use asked::list_other_ratings;
pub use assurance::{AUDIT_EVERY, AuditRule};
pub use bootstrap::NO_MISSION;
pub use brief::{incoming, message_id};
pub use by_cook::{MOST_BY_COOK, derive};
pub use contract::{CONTRACT_TEXTS, stale_stop_verifier, take_in_command};
pub use dispatch::{dispatch, dispatch_needs, explain, not_your_turn};
pub use drift::{contradictions, handoff_differences, list_others_since, new_answer};
pub use estimate::{SessionEstimate, estimate};
pub use facts::{
    AnchorAnswer, AnchorQuestion, BriefFacts, BriefQuestion, CommitFacts, CommitQuestion,
    CommitSeen, ConfigFacts, FactSet, Facts, GateQuestion, GateRun, Head, MAX_COMMITS, MAX_PATHS,
    OutsideEdit, Range, Required, StandingQuestion, StopVerifierRun, Verdict, Worktree,
};
pub use goal::ASK as ASK_GOAL;
pub use planning::MAX_SLICES;
pub use reground::{Choice, Found, Selection, find_slice, find_state, list_needs};
pub use reports::claims;
pub use rule::{Dispatch, Rule, Trace, VERIFY_STOP};
pub use slices::{
    ReadyRow, SliceGraph, criteria_sha256, current_audit, current_review, id_is_valid, ready,
    waits_for,
};
pub use text::{quote_word, short};
pub use ticket::{is_for_tree, ticket};
pub use vanished::{ask_to_follow, follow};
pub use wave::{
    find_audit_to_answer, list_left_if_cancelled, list_left_without, list_owed, list_unanswered,
    list_votes, open_audit,
};
pub use work::Step;
