//! What is asked, and what was found.

use crate::check::Base;
use crate::measure::Planted;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    /// The slice whose change it is; none = what `base` says.
    pub slice: Option<&'a str>,
    /// The commit to compare HEAD with, as the user names it; none = it is looked for.
    pub base: Option<&'a str>,
    /// Defects, at most.
    pub mutants: usize,
    /// Minutes for all of them.
    pub minutes: u64,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The change's last commit, in which defects were planted.
    pub head: String,
    pub base: Base,
    /// Why there is nothing to plant in, where that is so.
    pub not_applicable: Option<String>,
    /// Code that changed and that nobody could read, in words.
    pub unread: Option<String>,
    pub planted: Planted,
}
