//! What came after a session: the work of whoever used the repository since.
//!
//! Times are the file system's own (on Unix that of the last change of the inode, which no
//! program sets). A difference without such a time belongs to the session.

use super::super::{Entry, Repo};
use super::{Baseline, Difference};
use crate::diagnostic::Failure;
use std::path::Path;
use std::time::SystemTime;

impl Baseline {
    /// From now on what came after a moment is somebody else's.
    #[must_use]
    pub fn until(mut self, end: Option<SystemTime>) -> Self {
        self.end = end;
        self
    }

    /// Differences that are the session's, and those that came after it. Where another branch
    /// or commit was checked out since, the index and the files in commits went with it.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn divide(
        &self,
        repo: &Repo,
        differences: Vec<Difference>,
    ) -> Result<(Vec<Difference>, Vec<Difference>), Failure> {
        let Some(end) = self.end else {
            return Ok((differences, Vec::new()));
        };
        let moved = differences
            .iter()
            .any(|one| self.moves_the_worktree(one) && came_after(repo, one, end));
        let mut own = Vec::new();
        let mut later = Vec::new();
        for one in differences {
            let went_along = moved
                && match &one {
                    Difference::Index => true,
                    Difference::File { path, .. } => self.is_in_a_commit(repo, path)?,
                    _ => false,
                };
            match went_along || came_after(repo, &one, end) {
                true => later.push(one),
                false => own.push(one),
            }
        }
        Ok((own, later))
    }

    /// Whether a file was changed after that moment.
    pub fn is_later(&self, path: &Path) -> bool {
        self.end.is_some_and(|end| is_after(changed(path), end))
    }

    fn moves_the_worktree(&self, difference: &Difference) -> bool {
        match difference {
            Difference::Head { .. } => true,
            Difference::Ref { name, .. } => self.stand.head == format!("ref: {name}"),
            _ => false,
        }
    }

    /// In the one that was checked out then, or in the one that is now.
    fn is_in_a_commit(&self, repo: &Repo, path: &[u8]) -> Result<bool, Failure> {
        let Ok(path) = std::str::from_utf8(path) else {
            return Ok(false);
        };
        let then = match self.stand.head.strip_prefix("ref: ") {
            Some(name) => self.stand.refs.get(name),
            None => Some(&self.stand.head),
        };
        for commit in then.into_iter().chain(repo.head()?.commit.as_ref()) {
            if !matches!(repo.entry(commit, path)?, Entry::Nothing) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn came_after(repo: &Repo, difference: &Difference, end: SystemTime) -> bool {
    let at = match difference {
        Difference::Head { .. } => changed(&repo.git_dir.join("HEAD")),
        Difference::Ref { to: None, .. } => None,
        Difference::Ref { name, .. } => changed_ref(repo, name),
        Difference::Stash => changed(&repo.common_dir.join("logs/refs/stash")),
        Difference::Index => changed(&repo.git_dir.join("index")),
        Difference::File { path, .. } => repo.at(path).and_then(|path| changed(&path)),
        Difference::Steering { later, .. } => return *later,
        // That git looks at a file again loses nothing; the others are never put back.
        Difference::Hidden { .. } | Difference::Submodule { .. } | Difference::Worktree { .. } => {
            None
        }
    };
    is_after(at, end)
}

/// What is gone has no time and comes back: to delete it once more is less than to lose it.
fn changed_ref(repo: &Repo, name: &str) -> Option<SystemTime> {
    let dir = &repo.common_dir;
    changed(&dir.join(name)).or_else(|| changed(&dir.join("packed-refs")))
}

fn is_after(at: Option<SystemTime>, end: SystemTime) -> bool {
    at.is_some_and(|at| at > end)
}

#[cfg(unix)]
fn changed(path: &Path) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    use std::time::Duration;
    let found = path.symlink_metadata().ok()?;
    let (seconds, nanos) = (found.ctime(), found.ctime_nsec());
    let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

#[cfg(not(unix))]
fn changed(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().ok()?.modified().ok()
}
