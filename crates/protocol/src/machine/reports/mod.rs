//! What the reports of implementer, reviewer, auditor and judge do.

mod ask;
mod commit;
mod implement;
mod read_only;
mod verdict;
mod vote;

pub(super) use ask::{ask, count_refusal};
pub use commit::claims;
pub(super) use implement::{hand_back, implement, implement_needs};
pub(super) use read_only::read_only_needs;
pub(super) use verdict::{audit, review};
pub(super) use vote::judge;
