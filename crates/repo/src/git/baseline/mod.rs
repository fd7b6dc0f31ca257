//! What a repository looked like before somebody else was let at it: taken, compared with
//! what it looks like afterwards, put back.
//!
//! Invariants: taking one changes nothing of the user's (objects and indexes lie in a
//! directory of its own, and refs of its own hold what could be pruned); the files that steer git are compared and put back by plain file
//! operations before git is asked anything, so that a changed configuration never decides
//! what is seen; a value that is replaced was kept before, as a ref under
//! [`super::RESCUED_REFS`] or by the caller's own copy.

mod comparison;
mod restore;
mod stand;
mod steering;

pub use stand::{Baseline, Difference};
pub use steering::Ignored;
