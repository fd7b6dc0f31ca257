//! What `git status` says.

use crate::model::{CONTRACT_FILES, SETTINGS_FILES};
use serde::{Deserialize, Serialize};

/// `git status`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worktree {
    /// Dirty paths, sorted; at most [`MAX_PATHS`], the rest counted.
    pub dirty: Vec<String>,
    /// How many more there are.
    pub more: u64,
    /// Tracked files that HEAD has otherwise and git was told not to look at, at most [`MAX_PATHS`]; asked
    /// for at the end alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unwatched: Vec<String>,
    /// SHA-256 of the whole status output.
    pub digest: String,
}

/// Paths kept of any list that a repository can make long.
pub const MAX_PATHS: usize = 200;

impl Worktree {
    /// No entry in `git status`.
    pub fn is_clean(&self) -> bool {
        self.dirty.is_empty()
    }

    /// Some of the dirty paths, and how many there are beside them.
    pub(super) fn first_dirty(&self) -> String {
        self.name_dirty(5)
    }

    /// How the user commits what is cook's own among the dirty paths.
    pub(super) fn contract_hint(&self) -> Option<String> {
        let is_own = |path: &&String| {
            let mut known = CONTRACT_FILES.iter().chain(&SETTINGS_FILES);
            known.any(|own| own == path)
        };
        let own: Vec<&str> = self
            .dirty
            .iter()
            .filter(is_own)
            .map(String::as_str)
            .collect();
        (!own.is_empty()).then(|| format!("`cook init --commit` commits {}", own.join(", ")))
    }

    /// As many of the dirty paths, and how many there are beside them.
    pub fn name_dirty(&self, most: usize) -> String {
        let named = self.dirty.iter().take(most).cloned().collect::<Vec<_>>();
        let rest = (self.dirty.len() - named.len()) as u64 + self.more;
        match rest {
            0 => named.join(", "),
            _ => format!("{} and {rest} more", named.join(", ")),
        }
    }
}
