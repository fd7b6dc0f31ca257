//! Keeps what refs and stashes name from being pruned while somebody else is at work: what they
//! take away and clear (`git gc --prune=now`) could not be put back.

use super::super::program::Call;
use super::super::refs::PIN_REFS;
use super::super::{Repo, RepoError};
use super::stand::{Baseline, Stand};
use crate::disk::remove_tree;
use cook_protocol::diagnostic::Failure;
use std::collections::BTreeSet;
use std::path::Path;

/// Branches and tags that are held, newest first. Whether one is merged is not asked: in a long
/// history the answer takes seconds.
const MOST: &str = "--count=200";
/// They are gone soon, and nothing rests on them that a power cut could take.
const UNSYNCED: &str = "-c core.fsync=none update-ref --stdin";

impl Repo {
    /// Lets go of what is held for baselines that are not there any more.
    ///
    /// # Errors
    /// When the refs cannot be read or removed.
    pub fn unpin_all_but(&self, baselines: &BTreeSet<String>) -> Result<(), Failure> {
        let is_stale = |name: &str| {
            let rest = name.strip_prefix(PIN_REFS).unwrap_or_default();
            !baselines.contains(rest.split('/').next().unwrap_or_default())
        };
        Ok(remove(self, PIN_REFS, is_stale)?)
    }
}

impl Baseline {
    /// Removes what putting back would have needed.
    ///
    /// # Errors
    /// When the directory or the refs cannot be removed.
    pub fn forget(self, repo: &Repo) -> Result<(), Failure> {
        unpin(repo, &self.dir)?;
        remove_tree(&self.dir).map_err(|error| RepoError::io("remove", &self.dir, error).into())
    }
}

/// Holds what stands. A repository in which git makes no refs is watched without.
pub(super) fn pin(repo: &Repo, dir: &Path, stand: &Stand) -> Result<(), RepoError> {
    let mut held: BTreeSet<String> = stand.stash.iter().cloned().collect();
    if let Some(commit) = stand.commit() {
        held.insert(commit.clone());
        if stand.refs.values().any(|id| id != commit) {
            let call = Call::new("for-each-ref")
                .arg(MOST)
                .arg("--sort=-committerdate")
                .arg("--format=%(objectname)")
                .arg("refs/heads")
                .arg("refs/tags");
            let listed = repo.program.ask(call)?;
            let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
            held.extend(listed.lines().map(str::to_owned));
        }
    }
    let place = place(dir);
    let lines: String = held
        .iter()
        .enumerate()
        .map(|(number, id)| format!("create {place}{number} {id}\n"))
        .collect();
    let call = Call::new(UNSYNCED);
    repo.program.ask(call.stdin(lines)).map(|_| ())
}

/// Lets go of what a baseline held.
fn unpin(repo: &Repo, dir: &Path) -> Result<(), RepoError> {
    remove(repo, &place(dir), |_| true)
}

fn place(dir: &Path) -> String {
    let name = dir.file_name().unwrap_or_default();
    format!("{PIN_REFS}{}/", name.to_string_lossy())
}

fn remove(repo: &Repo, below: &str, wanted: impl Fn(&str) -> bool) -> Result<(), RepoError> {
    let call = Call::new("for-each-ref --format=%(refname)").arg(below);
    let listed = repo.program.lines(call)?;
    let lines: String = listed
        .iter()
        .filter(|name| wanted(name))
        .map(|name| format!("delete {name}\n"))
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    let call = Call::new(UNSYNCED);
    repo.program.answer(call.stdin(lines)).map(|_| ())
}
