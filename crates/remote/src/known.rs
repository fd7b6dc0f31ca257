//! What this clone knows of logs elsewhere without asking anybody.

use crate::remote::{PULLED, Remote};
use cook_core::diagnostic::Failure;
use cook_core::model::escape_branch;
use cook_git::Repo;
use cook_store::store::{Marks, Place};

/// Where the log of a branch may be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// Remotes on which this clone has seen it.
    pub seen: Vec<String>,
    /// Remotes that transitions were pulled from, each with the newest.
    pub pulled: Vec<(String, String)>,
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
        let mut pulled = Vec::new();
        for mark in Marks::list(place, &format!("{PULLED}/"))? {
            if let Some(remote) = mark.strip_suffix(&end)
                && let Some(tip) = Marks::read(place, &format!("{PULLED}/{mark}"))?
            {
                pulled.push((remote.to_owned(), tip));
            }
        }
        Ok(Self {
            pulled,
            seen: seen.map(str::to_owned).collect(),
            configured: Remote::list(repo)?,
        })
    }
}
