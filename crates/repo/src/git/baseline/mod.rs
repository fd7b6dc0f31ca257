//! The state of a repository before another process works on it: captured, compared with the state afterwards, and
//! restored.
//!
//! Invariants: capturing changes nothing of the user's (objects and indexes go to a directory of the baseline's own,
//! and refs of its own hold what could be pruned); the files that steer git are compared and restored by plain file
//! operations before git is run, so that a changed configuration never affects the comparison; a value is kept before
//! it is replaced, as a ref under [`super::RESCUED_REFS`] or by the caller's own copy.

mod comparison;
mod restore;
mod stand;
mod steering;

pub use stand::{Baseline, Difference};
pub use steering::Ignored;
