//! `cook verify --base`: the contract of the base decides, and the head's is held against it.
//!
//! Invariant: nothing that HEAD has is believed of what is asked of HEAD, until a person outside of the
//! tree accepted exactly that.

mod contract;
mod gates;
mod judge;
mod log;

pub(super) use gates::run;
pub(crate) use judge::{Ask, Compared, judge_by};
pub(super) use log::{hold, judges};
