//! `cook strength`: would the gates notice a defect in what a change brought? Defects are planted in
//! the lines that it changed, one at a time, in a clean room at its last commit, and the gates run.
//!
//! Invariant: nothing of the repository runs that this machine does not trust, no defect is ever
//! written where the user works, and what was not tried counts as nothing.

mod found;
mod measure;
mod reported;
mod span;

pub(crate) use found::{Ask, Measured};
pub(crate) use measure::measure;
pub(crate) use reported::{MAX_REPORT, Reported, read_report};
