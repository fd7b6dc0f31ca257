//! `cook verify`: everything recomputed from files, log and git.
//!
//! Readers never write. A file that is JSON but breaks a rule is a finding and
//! stays as it is; severities are the catalogue's.

mod cited;
mod contract;
mod control_plane;
mod documents;
mod histories;
mod outcome;
mod proof;
mod stop;

pub(crate) use control_plane::control_plane;
pub(crate) use outcome::Outcome;
pub(crate) use stop::{check_released, stop};
