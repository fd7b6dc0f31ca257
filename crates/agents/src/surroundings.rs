//! What a call could change in the repository, before and after it: HEAD, all refs, and
//! the paths that differ from HEAD with what they hold.

use cook_core::diagnostic::Failure;
use cook_core::digest::{hex, sha256};
use cook_core::machine::Head;
use cook_git::Repo;
use cook_os::disk::{self, Links};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A file larger than this counts by length and time of change.
const MAX_DIGESTED: u64 = 16 << 20;
/// Entries of an untracked directory that are looked at.
const MAX_ENTRIES: usize = 20_000;

/// The repository at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    head: Head,
    refs: BTreeMap<String, String>,
    dirty: BTreeMap<String, String>,
    status: String,
}

impl Surroundings {
    /// The repository now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(repo: &Repo) -> Result<Self, Failure> {
        let status = repo.status()?.worktree;
        Ok(Self {
            head: repo.head()?,
            refs: repo.refs()?,
            dirty: status
                .dirty
                .iter()
                .map(|path| (path.clone(), content(&repo.root().join(path))))
                .collect(),
            status: status.digest,
        })
    }

    /// The commit that is checked out.
    pub fn head(&self) -> Option<&str> {
        self.head.commit.as_deref()
    }

    /// A digest of all that the worktree holds beside HEAD, for a comparison much later.
    pub fn tree_digest(&self) -> String {
        let mut digest = Sha256::new();
        digest.update(self.status.as_bytes());
        for (path, content) in &self.dirty {
            digest.update(format!("\n{path}\n{content}"));
        }
        hex(&digest.finalize())
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
        changed.extend(differing(&self.refs, &now.refs));
        changed.extend(differing(&self.dirty, &now.dirty));
        if let (Some(before), Some(after)) = (self.head(), now.head())
            && before != after
        {
            changed.extend(
                repo.changes(Some(before), after)?
                    .into_iter()
                    .map(|c| c.path),
            );
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

fn differing(one: &BTreeMap<String, String>, two: &BTreeMap<String, String>) -> Vec<String> {
    let names: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
    names
        .into_iter()
        .filter(|name| one.get(*name) != two.get(*name))
        .cloned()
        .collect()
}

/// What stands at a path, as a text that differs when it does.
fn content(path: &Path) -> String {
    let Ok(found) = path.symlink_metadata() else {
        return "nothing".to_owned();
    };
    if found.is_symlink() {
        return format!("link {:?}", std::fs::read_link(path).ok());
    }
    if found.is_dir() {
        return directory(path);
    }
    let by_time = || format!("{} bytes, {:?}", found.len(), found.modified().ok());
    if !found.is_file() || found.len() > MAX_DIGESTED {
        return by_time();
    }
    match disk::read_present(path, MAX_DIGESTED, Links::Follow) {
        Ok(bytes) => sha256(bytes),
        Err(_) => by_time(),
    }
}

/// All files of an untracked directory.
fn directory(root: &Path) -> String {
    let mut files = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = std::fs::read_dir(directory) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if files.len() >= MAX_ENTRIES {
                break;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(path),
                _ => {
                    let found = content(&path);
                    files.insert(path, found);
                }
            }
        }
    }
    let mut digest = Sha256::new();
    for (path, content) in &files {
        digest.update(path.as_os_str().as_encoded_bytes());
        digest.update(format!("\n{content}\n"));
    }
    hex(&digest.finalize())
}
