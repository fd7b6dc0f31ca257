//! What came after a session: the work of whoever used the repository since.
//!
//! Times are the file system's own (on Unix that of the last change of the inode, which no
//! program sets). A difference without such a time belongs to the session.

use super::super::{Entry, Repo, RepoError};
use super::deviation::Difference;
use super::stand::{Baseline, WORK_INDEX};
use super::taking::aside;
use crate::disk::{self, Links};
use cook_protocol::diagnostic::Failure;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes at the end of a ref's record that hold its last line.
const LAST_LINE: u64 = 64 << 10;

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
        let looked = Later {
            repo,
            end,
            dirs: self.dirs(repo, &differences)?,
        };
        let moved = differences
            .iter()
            .any(|one| self.moves_the_worktree(one) && looked.came(one));
        let mut own = Vec::new();
        let mut later = Vec::new();
        for one in differences {
            let went_along = moved
                && match &one {
                    Difference::Index => true,
                    Difference::File { path, .. } => self.is_in_a_commit(repo, path)?,
                    // It was renamed while it was checked out.
                    Difference::Ref { to: None, .. } => self.moves_the_worktree(&one),
                    _ => false,
                };
            match went_along || looked.came(&one) {
                true => later.push(one),
                false => own.push(one),
            }
        }
        Ok((own, later))
    }

    /// The directories that held files, where new files make that a question.
    fn dirs(
        &self,
        repo: &Repo,
        differences: &[Difference],
    ) -> Result<BTreeSet<PathBuf>, RepoError> {
        let is_new = |one: &Difference| matches!(one, Difference::File { added: true, .. });
        if !differences.iter().any(is_new) {
            return Ok(BTreeSet::new());
        }
        let call = aside(repo, &self.dir, WORK_INDEX, "ls-files -z");
        let listed = repo.program.entries(call)?;
        let paths = listed.iter().filter_map(|path| repo.at(path));
        Ok(paths
            .flat_map(|path| {
                let above = path.ancestors().skip(1).map(Path::to_owned);
                above.collect::<Vec<_>>()
            })
            .collect())
    }

    /// Whether a file was changed after that moment.
    pub fn is_later(&self, path: &Path) -> bool {
        self.end.is_some_and(|end| is_after(change_time(path), end))
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
        for commit in self
            .stand
            .commit()
            .into_iter()
            .chain(repo.head()?.commit.as_ref())
        {
            if !matches!(repo.entry(commit, path)?, Entry::Nothing) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What tells whether a difference came later.
struct Later<'a> {
    repo: &'a Repo,
    end: SystemTime,
    /// Directories that were there.
    dirs: BTreeSet<PathBuf>,
}

impl Later<'_> {
    fn came(&self, difference: &Difference) -> bool {
        let repo = self.repo;
        let at = match difference {
            Difference::Head { .. } => change_time(&repo.git_dir.join("HEAD")),
            // What is gone has no time and comes back: to delete it once more is less than to
            // lose it.
            Difference::Ref { to: None, .. } => None,
            Difference::Ref {
                name, to: Some(to), ..
            } => ref_change_time(repo, name, to),
            Difference::Stash => change_time(&repo.common_dir.join("logs/refs/stash")),
            Difference::Index => change_time(&repo.git_dir.join("index")),
            Difference::File { path, added, .. } => repo.at(path).and_then(|at| match added {
                true => self.find_arrival(&at),
                false => change_time(&at),
            }),
            Difference::Steering { later, .. } => return *later,
            Difference::Operation { name, .. } => change_time(&repo.git_dir.join(name)),
            Difference::Worktree { path, added: true } => change_time(Path::new(path)),
            // That git looks at a file again loses nothing; the others are never put back.
            Difference::Hidden { .. }
            | Difference::Submodule { .. }
            | Difference::Worktree { .. } => None,
        };
        is_after(at, self.end)
    }

    /// A file that is moved keeps its own time, as do those in a directory that is.
    fn find_arrival(&self, file: &Path) -> Option<SystemTime> {
        let new = file
            .ancestors()
            .skip(1)
            .take_while(|dir| **dir != self.repo.root && !self.dirs.contains(*dir));
        new.chain([file]).filter_map(change_time).max()
    }
}

/// A ref's own file; of one that was packed its record, else the file of those.
fn ref_change_time(repo: &Repo, name: &str, to: &str) -> Option<SystemTime> {
    let dir = &repo.common_dir;
    change_time(&dir.join(name))
        .or_else(|| find_time_in_record(&dir.join("logs").join(name), to))
        .or_else(|| change_time(&dir.join("packed-refs")))
}

/// When a ref went where it is, by the last line of its record.
fn find_time_in_record(log: &Path, to: &str) -> Option<SystemTime> {
    let mut log = disk::open_regular(log, Links::Refuse).ok()??;
    let text = disk::read_tail(&mut log, LAST_LINE).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next_back()?;
    let (_, rest) = line.split_once(' ')?;
    let who_and_when = rest.strip_prefix(to)?.split('\t').next()?;
    let seconds: u64 = who_and_when.rsplit(' ').nth(1)?.parse().ok()?;
    // It was in that second, at its end at the latest.
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.checked_add(1)?))
}

fn is_after(at: Option<SystemTime>, end: SystemTime) -> bool {
    at.is_some_and(|at| at > end)
}

#[cfg(unix)]
fn change_time(path: &Path) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let found = path.symlink_metadata().ok()?;
    let (seconds, nanos) = (found.ctime(), found.ctime_nsec());
    let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

#[cfg(not(unix))]
fn change_time(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().ok()?.modified().ok()
}
