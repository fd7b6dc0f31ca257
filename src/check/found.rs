//! What is asked of a commit, and what was found.

use super::base::Base;
use super::line::Line;
use cook_core::machine;

/// What is asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ask<'a> {
    /// The commit to compare with, as the user names it; none = it is looked for.
    pub base: Option<&'a str>,
    /// The commit to check, by its full id; none = HEAD, and what the worktree has beside it.
    pub commit: Option<&'a str>,
    /// The gates to run, by name; none = all.
    pub gates: &'a [String],
    /// Gates do not run once more with the change taken back.
    pub no_revert: bool,
}

/// What was looked at and found.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The commit that is checked: HEAD, where none is named.
    pub head: String,
    /// What it is compared with.
    pub base: Base,
    /// One line for each thing that was looked at.
    pub checked: Vec<String>,
    /// What was found, worst first.
    pub lines: Vec<Line>,
}

/// What a person at a terminal sees while it takes time.
pub(crate) type Tell<'a> = &'a dyn Fn(&str);

impl Checked {
    /// Something is not true.
    pub fn has_passed(&self) -> bool {
        !self.lines.iter().any(|line| line.fails)
    }

    /// The command that shows what the change is; of some paths alone where there are any.
    pub(super) fn diff(&self, paths: &[&str]) -> String {
        let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
        let range = format!(
            "git diff {} {}",
            short(&self.base.commit),
            short(&self.head)
        );
        if paths.is_empty() {
            return range;
        }
        let quoted: Vec<String> = paths
            .iter()
            .map(|path| machine::quote_word(path).to_string())
            .collect();
        format!("{range} -- {}", quoted.join(" "))
    }
}
