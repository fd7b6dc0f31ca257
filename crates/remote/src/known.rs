//! What this clone knows of logs elsewhere without asking anybody.

use crate::remote::Remote;
use cook_core::diagnostic::Failure;
use cook_core::model::escape_branch;
use cook_git::Repo;
use cook_store::store::{Marks, Place};

/// Where the log of a branch may be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// Remotes on which this clone has seen it.
    pub seen: Vec<String>,
    /// Remotes that are configured.
    pub configured: Vec<String>,
}

impl Elsewhere {
    /// Looks at this clone alone.
    ///
    /// # Errors
    /// git, or a log, that cannot be read.
    pub fn find(repo: &Repo, place: &Place, branch: &str) -> Result<Self, Failure> {
        let end = format!("/{}", escape_branch(branch));
        let marks = Marks::list(place, "remotes/")?;
        let seen = marks.iter().filter_map(|mark| mark.strip_suffix(&end));
        Ok(Self {
            seen: seen.map(str::to_owned).collect(),
            configured: Remote::list(repo)?,
        })
    }
}
