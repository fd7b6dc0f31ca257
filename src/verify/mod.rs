//! `cook verify`: everything recomputed from files, log and git.
//!
//! Readers never write. A file that is JSON but breaks a rule is a finding and
//! stays as it is; severities are the catalogue's.

mod all;
mod answered;
mod asked;
mod base;
mod cited;
mod commit;
mod contract;
mod control_plane;
mod criteria;
mod criterion;
mod documents;
mod facts;
mod fetched;
mod goal;
mod histories;
mod independence;
mod no_log;
mod outcome;
mod proof;
mod proven;
mod rerun;
mod slice;
mod stop;
mod ticks;
mod word;

pub(crate) use all::all;
pub(crate) use answered::Answered;
pub(crate) use base::{Ask, Compared, judge_by};
pub(crate) use control_plane::control_plane;
pub(crate) use criteria::Rerun;
pub(crate) use criterion::{Criterion, ProofVerdict};
pub(crate) use fetched::{blame_source, bring_files, bring_history, fetch};
pub(crate) use goal::accept_goal;
pub(crate) use outcome::Outcome;
pub(crate) use proven::{CommitStanding, Proven};
pub(crate) use slice::slice;
pub(crate) use stop::stop;
pub(crate) use ticks::measure_worths;
pub(crate) use word::{check_signature, find_signing_base, tell_signer};
