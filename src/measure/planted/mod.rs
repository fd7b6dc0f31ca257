//! Defects that are planted in a change, one at a time, in a clean room at its last commit, and what its
//! gates say of each.
//!
//! Invariant: no defect is ever written where the user works, and what was not tried counts as nothing.

mod before;
mod built;
mod found;
mod slice;
mod trial;
mod tried;

pub(crate) use before::{list_unread, tell_unread};
pub(crate) use found::{Field, Green, Planted, Reverted, Survivor};
pub(crate) use trial::{plant_defects, texts, why_not};
