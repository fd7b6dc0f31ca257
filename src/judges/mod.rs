//! What is known of judges: how many planted faults each caught where `cook calibrate` measured it,
//! and whose word each verdict of the log is.

mod kept;
mod known;
mod verdict;

pub(crate) use kept::{Answered, Identity, Kept};
pub(crate) use known::{Known, find_known, joint_misses};
pub(crate) use verdict::{Judged, find_verdicts};
