//! Refs that are cook's own.

/// Where refs are kept that were put back.
pub const RESCUED_REFS: &str = "refs/cook/rescue/";

/// Where the refs are that hold what a baseline names.
pub(super) const PIN_REFS: &str = "refs/cook/watch/";
