//! `cook verify`: everything recomputed from files, log and git.
//!
//! Readers never write. A file that is JSON but breaks a rule is a finding and
//! stays as it is; severities are the catalogue's.

mod all;
mod base;
mod base_contract;
mod cited_sessions;
mod control_plane;
mod criterion_proof;
mod fetched;
mod git_facts;
mod imported_ticks;
mod log_signature;
mod proven;
mod proven_slice;
mod reached_goal;
mod stop_verifier;
mod verification;
mod verify_outcome;
mod worktree_documents;

pub(crate) use all::{all, stop};
pub(crate) use base::{Ask, Compared, judge_by};
pub(crate) use control_plane::control_plane;
pub(crate) use criterion_proof::{Criterion, ProofVerdict, Rerun};
pub(crate) use fetched::{blame_source, bring_files, bring_history, fetch};
pub(crate) use imported_ticks::measure_worths;
pub(crate) use log_signature::{check_signature, find_signing_base, tell_signer};
pub(crate) use proven::{CommitStanding, head_at};
pub(crate) use proven_slice::slice;
pub(crate) use reached_goal::accept_goal;
pub(crate) use verification::Answered;
pub(crate) use verify_outcome::Outcome;
