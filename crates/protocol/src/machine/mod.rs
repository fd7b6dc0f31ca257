//! The protocol's rules: which role is due, and how a report changes the documents.
//!
//! Pure. [`dispatch`] and [`apply`] decide from [`Facts`] alone and ask for facts that they lack; [`decide`] has
//! those measured. Nothing else changes the state.

mod active;
mod apply;
mod assurance;
mod bootstrap;
mod brief_changes;
mod by_cook;
mod dispatch;
mod drift;
mod facts;
mod finish;
mod goal_transitions;
mod implementer;
mod planning;
mod proof;
mod reground;
mod resume;
mod rule;
mod slices;
mod user;
mod user_answers;
mod verdicts;
mod wave;
mod work;

pub use active::follow;
pub use apply::apply;
pub use assurance::{AUDIT_EVERY, AuditRule};
pub use bootstrap::NO_MISSION;
pub use brief_changes::message_id;
pub use by_cook::{MOST_BY_COOK, SessionEstimate, derive, estimate};
pub use dispatch::{dispatch, explain, not_your_turn};
pub use drift::{
    ask_standing, contradictions, handoff_differences, list_others_since, mark, new_answer,
};
pub use facts::{
    AnchorAnswer, BriefFacts, CONTRACT_TEXTS, CommitFacts, CommitSeen, ConfigFacts, Facts, GateRun,
    Head, MAX_COMMITS, MAX_PATHS, OutsideEdit, Range, StopVerifierRun, Verdict, Worktree, decide,
    is_for_tree, stale_stop_verifier, take_in_command, ticket,
};
pub use goal_transitions::{ASK as ASK_GOAL, has_mission};
pub use implementer::{ask_commit, claims};
pub use planning::MAX_SLICES;
pub use reground::{Choice, Found, Selection, find_slice, find_state, list_questions};
pub use rule::{Dispatch, Rule, Trace, VERIFY_STOP};
pub use slices::{
    ReadyRow, SliceGraph, criteria_sha256, current_audit, current_review, id_is_valid, ready,
    waits_for,
};
pub use wave::{
    EXCHANGE, describe_typed_votes, find_audit_to_answer, list_left_if_cancelled,
    list_left_without, list_other_ratings, list_owed, list_unanswered, list_votes, open_audit,
};
pub use work::{Step, quote_word};
