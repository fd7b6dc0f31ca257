//! What a call could change in the repository, before and after it: HEAD, all refs, and what stands
//! in the worktree.

use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::Head;
use cook_repo::git::Repo;
use std::collections::{BTreeMap, BTreeSet};

/// The repository at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    head: Head,
    refs: BTreeMap<String, String>,
    status: String,
    /// A commit of what stands in the worktree; none where git cannot make one.
    tree: Option<String>,
}

impl Surroundings {
    /// The repository now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(repo: &Repo) -> Result<Self, Failure> {
        let head = repo.head()?;
        let commit = head.commit.as_deref();
        Ok(Self {
            refs: repo.refs()?,
            status: repo.status()?.worktree.digest,
            tree: commit.and_then(|commit| repo.make_snapshot(commit).ok()),
            head,
        })
    }

    /// The commit that is checked out.
    pub fn head(&self) -> Option<&str> {
        self.head.commit.as_deref()
    }

    /// What tells the worktree from others, for a comparison much later.
    pub fn tree_digest(&self) -> String {
        self.tree.clone().unwrap_or_else(|| self.status.clone())
    }

    /// What is another now: `HEAD`, refs, and paths, those of new commits among them.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn list_changes(&self, repo: &Repo, now: &Self) -> Result<Vec<String>, Failure> {
        let mut changed = BTreeSet::new();
        if self.head != now.head {
            changed.insert("HEAD".to_owned());
        }
        let names = self.refs.keys().chain(now.refs.keys());
        let moved = names.filter(|name| self.refs.get(*name) != now.refs.get(*name));
        changed.extend(moved.cloned());
        let pairs = [
            (self.head(), now.head()),
            (self.tree.as_deref(), now.tree.as_deref()),
        ];
        for pair in pairs {
            if let (Some(before), Some(after)) = pair
                && before != after
            {
                let paths = repo.changes(Some(before), after)?.into_iter();
                changed.extend(paths.map(|change| change.path));
            }
        }
        if changed.is_empty() && self.status != now.status {
            changed.insert("the worktree".to_owned());
        }
        Ok(changed.into_iter().collect())
    }

    /// Commits that came on HEAD, oldest first.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn commits(&self, repo: &Repo, now: &Self) -> Result<Vec<String>, Failure> {
        let Some(before) = self.head() else {
            return Ok(now.head().map(str::to_owned).into_iter().collect());
        };
        let range = repo.range(&now.head, before, false)?;
        Ok(range.commits.into_iter().map(|commit| commit.id).collect())
    }
}
