//! `cook verify`: recomputes everything from files, log and git.
//!
//! Writes nothing. A file that is JSON but breaks a rule becomes a finding and stays as it is; the catalogue of codes
//! defines the severities.

mod all;
mod base;
mod control_plane;
mod criterion_proof;
mod fetched;
mod git_facts;
mod verification;

pub(crate) use all::{accept_goal, all, slice, stop};
pub(crate) use base::{Ask, Compared, judge_by};
pub(crate) use control_plane::control_plane;
pub(crate) use criterion_proof::{Criterion, Outcome, ProofVerdict, Rerun, measure_worths};
pub(crate) use fetched::{blame_source, bring_files, bring_history, fetch};
pub(crate) use verification::{
    Answered, CommitStanding, check_signature, find_signing_base, head_at, tell_signer,
};
