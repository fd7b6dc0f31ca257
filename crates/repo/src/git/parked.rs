//! Parking a user's uncommitted changes under a ref while agents work, and putting them back afterwards.
//!
//! Invariant: at every moment the changes are in the worktree, in the user's stash, or under [`PARKED_REFS`]; they
//! leave one place only after they are in the next one.
//!
//! Moving the checked-out branch to the commit that a remote has.
//!
//! Invariant: what only this worktree has is under [`RESCUED_REFS`] before the branch moves.
//!
//! git's lock files: one blocks all other writers, even after its owner died.
//!
//! cook's own refs.
//!
//! Throwaway worktrees: a commit checked out under `<common git dir>/cook/worktrees/` for as long as a reader works
//! there. Each is in a directory whose lock is held while it is in use, so that one that a killed cook left behind can
//! be told from one that another cook uses.

use super::program::{Call, fail_git};
use super::{PARKED_REFS, RESCUED_REFS, Repo, SAVED_REFS};
use crate::disk::{self, AtPath, Links, TemporaryDir, remove_tree};
use crate::process::working_directories;
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::refusal::Refusal;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The result of putting parked changes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unparked {
    /// The changes are in the worktree again, and the ref is gone.
    PutBack,
    /// The changes stay parked, for this reason.
    Stay(String),
}

/// Whether `cook init --commit` commits this file.
pub fn is_of_contract(path: &str) -> bool {
    path.starts_with(".agent/") || path == ".gitignore"
}

impl Repo {
    /// Parks all uncommitted changes, untracked files included, and returns the ref.
    ///
    /// # Errors
    /// If git fails; the changes are then where they were, or in the stash.
    pub fn park(&self, of: &str, id: &str) -> Result<String, Failure> {
        let dirty = self.status()?.worktree.dirty;
        let own = dirty.iter().find(|path| is_of_contract(path));
        if let Some(path) = own.map(String::as_str).or_else(|| {
            let unborn = self.head().ok()?.commit.is_none();
            unborn.then_some("HEAD")
        }) {
            return Err(Refusal::new(
                Code::DirtyWorktree,
                format!("`{path}` is not committed, and no work goes on without the contract"),
            )
            .replace_hints(["run `cook init --commit`"])
            .into());
        }
        let name = format!("{PARKED_REFS}{of}/{id}");
        self.stash_as(&name)?;
        Ok(name)
    }

    /// Stashes all uncommitted changes, untracked files included, and moves the stash to a ref.
    pub(super) fn stash_as(&self, name: &str) -> Result<(), Failure> {
        self.forget_status();
        let push =
            Call::new("stash push --quiet --include-untracked --message").arg("parked by cook");
        let push = push.by_cook();
        let before = self.stash()?;
        self.program.answer(push)?;
        let stashed = self.stash()?.filter(|now| Some(now) != before.as_ref());
        let Some(stashed) = stashed else {
            // The top of the stash is then the user's own.
            let what =
                "git stashes nothing of what is not committed: commit it, or put it away yourself";
            return Err(fail_git(what.to_owned()));
        };
        self.program
            .answer(Call::new("update-ref").arg(name).arg(&stashed))?;
        self.program.answer(Call::new("stash drop --quiet"))?;
        Ok(())
    }

    fn stash(&self) -> Result<Option<String>, Failure> {
        let call = Call::new("rev-parse --verify --quiet refs/stash");
        self.program.line(call)
    }

    /// The refs of parked changes, oldest first.
    ///
    /// # Errors
    /// If git fails.
    pub fn list_parked(&self, of: &str) -> Result<Vec<String>, Failure> {
        let within = format!("{PARKED_REFS}{of}/");
        let refs = self.refs()?;
        Ok(refs
            .into_keys()
            .filter(|name| name.starts_with(&within))
            .collect())
    }

    /// Refs in the user's own repository that keep what was set aside (commits a branch left, and parked changes), with
    /// the objects they name.
    ///
    /// # Errors
    /// If git fails.
    pub fn set_aside(&self) -> Result<Vec<(String, String)>, Failure> {
        Ok(self
            .refs()?
            .into_iter()
            .filter(|(name, _)| name.starts_with(PARKED_REFS) || name.starts_with(RESCUED_REFS))
            .collect())
    }

    /// Copies the user's files that a log keeps, from the refs below these prefixes, to refs of this repository.
    /// Returns all such refs.
    ///
    /// # Errors
    /// If git fails.
    pub fn save_copies(&self, log: &Path, prefixes: &[&str]) -> Result<Vec<String>, Failure> {
        let copies = prefixes.iter().map(|prefix| {
            let name = prefix.strip_prefix("refs/").unwrap_or(prefix);
            format!("{prefix}*:{SAVED_REFS}{name}*")
        });
        let call = Call::new("fetch --quiet --no-tags --no-write-fetch-head --no-auto-maintenance")
            .env("GIT_ALLOW_PROTOCOL", "file")
            .lend(&[self.common_dir.join("objects")])
            .arg(log);
        self.program.answer(copies.fold(call, Call::arg))?;
        let refs = self.refs()?.into_keys();
        Ok(refs.filter(|name| name.starts_with(SAVED_REFS)).collect())
    }

    /// Puts parked changes back, unless the worktree is not clean or commits made since then changed the same paths.
    ///
    /// # Errors
    /// If git fails; the ref then still exists.
    pub fn unpark(&self, name: &str) -> Result<Unparked, Failure> {
        if !self.status()?.worktree.is_clean() {
            return Ok(Unparked::Stay("the worktree is not clean".to_owned()));
        }
        let basis = format!("{name}^1");
        let mut parked = self.list_paths(Call::new("diff --name-only -z").arg(&basis).arg(name))?;
        let untracked = format!("{name}^3");
        let has = Call::new("rev-parse --verify --quiet").arg(&untracked);
        if self.program.line(has)?.is_some() {
            let call = Call::new("ls-tree -r -z --name-only").arg(&untracked);
            parked.extend(self.list_paths(call)?);
        }
        let since = self.list_paths(Call::new("diff --name-only -z").arg(&basis).arg("HEAD"))?;
        if let Some(both) = parked.intersection(&since).next() {
            return Ok(Unparked::Stay(format!(
                "commits changed `{}` meanwhile",
                super::path_text(both)
            )));
        }
        self.forget_status();
        self.program
            .answer(Call::new("stash apply --quiet --index").arg(name))?;
        self.program.answer(Call::new("update-ref -d").arg(name))?;
        Ok(Unparked::PutBack)
    }

    fn list_paths(&self, call: Call) -> Result<BTreeSet<Vec<u8>>, Failure> {
        Ok(self.program.entries(call)?.into_iter().collect())
    }

    /// Keeps a commit that a branch is about to leave; returns the ref.
    ///
    /// # Errors
    /// If git fails.
    pub fn keep_commit(&self, id: &str, branch: &str, commit: &str) -> Result<String, Failure> {
        let name = format!("{RESCUED_REFS}{id}/refs/heads/{branch}");
        self.program
            .answer(Call::new("update-ref").arg(&name).arg(commit))?;
        Ok(name)
    }

    /// Sets all uncommitted changes aside, including untracked files and an unfinished merge; returns the ref of the
    /// stash.
    ///
    /// # Errors
    /// If git fails; the changes are then where they were, or in the stash.
    pub fn keep_uncommitted(&self, id: &str) -> Result<String, Failure> {
        // Conflicted paths cannot be stashed. Adding their worktree content resolves that.
        self.program.answer(Call::new("add --all"))?;
        let name = format!("{RESCUED_REFS}{id}/uncommitted");
        self.stash_as(&name)?;
        Ok(name)
    }

    /// Moves the checked-out branch, with index and worktree, to another commit.
    ///
    /// # Errors
    /// If git fails. If an uncommitted file would change, nothing does.
    pub fn move_branch(&self, commit: &str) -> Result<(), Failure> {
        let call = Call::new("reset --keep --quiet --no-recurse-submodules");
        self.program.answer(call.arg(commit))?;
        let head = self.head()?.commit;
        match head.as_deref() == Some(commit) {
            true => Ok(()),
            false => Err(fail_git(format!("HEAD is not at {commit}"))),
        }
    }

    /// The lock files that exist now.
    ///
    /// # Errors
    /// If a git dir cannot be read.
    pub fn locks(&self) -> Result<BTreeSet<PathBuf>, Failure> {
        let mut found: BTreeSet<PathBuf> = [
            self.git_dir.join("index.lock"),
            self.git_dir.join("HEAD.lock"),
            self.common_dir.join("config.lock"),
            self.common_dir.join("packed-refs.lock"),
        ]
        .into_iter()
        .filter(|path| path.symlink_metadata().is_ok())
        .collect();
        list_locks(&self.common_dir.join("refs"), 0, &mut found)?;
        Ok(found)
    }

    /// Removes lock files that did not exist `before`, if no git process is working on this repository. If that is
    /// unknown, removes none.
    ///
    /// # Errors
    /// If a git dir cannot be read or written.
    pub fn remove_dead_locks(&self, before: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
        let new: Vec<PathBuf> = self.locks()?.difference(before).cloned().collect();
        if new.is_empty() {
            return Ok(new);
        }
        let Some(gits) = working_directories("git") else {
            return Ok(Vec::new());
        };
        let places = self.worktrees();
        let works_here = |dir: &PathBuf| places.iter().any(|place| dir.starts_with(place));
        if gits.iter().any(works_here) {
            return Ok(Vec::new());
        }
        for path in &new {
            disk::remove_file(path).at("remove", path)?;
        }
        Ok(new)
    }

    /// Directories in which a git process that works on this repository may run.
    fn worktrees(&self) -> Vec<PathBuf> {
        let mut places = vec![
            self.root.clone(),
            self.git_dir.clone(),
            self.common_dir.clone(),
        ];
        places.extend(self.common_dir.parent().map(Path::to_owned));
        if let Ok(linked) = std::fs::read_dir(self.common_dir.join("worktrees")) {
            let names = linked.flatten().map(|entry| entry.path().join("gitdir"));
            let files =
                names.filter_map(|file| disk::read_text(&file, MAX_LINE, Links::Refuse).ok()?);
            places.extend(files.filter_map(|text| {
                let path = PathBuf::from(text.trim_end());
                path.parent().map(Path::to_owned)
            }));
        }
        // The system reports working directories with symlinks resolved.
        let plain = places.iter().filter_map(|place| place.canonicalize().ok());
        plain.collect()
    }

    /// Checks a commit (full id) out into a new throwaway worktree. Hooks do not run, and submodules stay empty.
    ///
    /// # Errors
    /// If git cannot check it out; nothing is left behind then.
    pub fn throwaway(&self, commit: &str) -> Result<Throwaway, Failure> {
        self.sweep_throwaways()?;
        let parent = self.cook_dir()?.join("worktrees");
        std::fs::create_dir_all(&parent).at("make", &parent)?;
        let dir = TemporaryDir::make_in(&parent).at("make a directory in", &parent)?;
        // git names its administrative directory after the last component of the path.
        let name = dir.path().file_name().unwrap_or_default();
        let throwaway = Throwaway {
            path: dir.path().join(name),
            admin: self.common_dir.join("worktrees").join(name),
            _dir: dir,
        };
        // A checkout needs every file, including those that a partial clone has not fetched yet.
        let call = Call::new("worktree add --quiet --detach --force")
            .env("GIT_NO_LAZY_FETCH", "0")
            .env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh");
        self.program.answer(call.arg(&throwaway.path).arg(commit))?;
        Ok(throwaway)
    }

    /// The root of the worktree that this throwaway worktree stands for; `None` if this is not a throwaway worktree. A
    /// note that names a worktree of another repository is ignored.
    pub fn stands_for(&self) -> Option<PathBuf> {
        let rooms = self.common_dir.join("cook").join("worktrees");
        if self.root.parent()?.parent() != Some(&rooms) {
            return None;
        }
        let note = self.git_dir.join(STANDS_FOR);
        let note = disk::read(&note, MAX_LINE, Links::Refuse).ok()??;
        let root = disk::native_path(&note)?;
        let owner = Self::discover(&root).ok()?;
        (owner.root == root && owner.common_dir == self.common_dir).then_some(root)
    }

    /// Removes the throwaway worktrees that killed cooks left behind; returns their number.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn sweep_throwaways(&self) -> Result<usize, Failure> {
        let parent = self.cook_dir()?.join("worktrees");
        TemporaryDir::sweep(&parent);
        let admins = self.common_dir.join("worktrees");
        let entries = std::fs::read_dir(&admins).into_iter().flatten();
        let names = entries.flatten().map(|entry| entry.file_name());
        let left = names.filter(|name| {
            TemporaryDir::is_name(name) && parent.join(name).symlink_metadata().is_err()
        });
        let removed = left.filter(|name| remove_tree(&admins.join(name)).is_ok());
        Ok(removed.count())
    }
}

/// Most bytes of a path that are read.
const MAX_LINE: u64 = 64 << 10;

/// Most levels of directories below `refs` that are searched.
const DEPTH: usize = 16;

fn list_locks(dir: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) -> Result<(), Failure> {
    for name in disk::list_names(dir).at("read", dir)? {
        let path = dir.join(name);
        if disk::is_directory(&path) && depth < DEPTH {
            list_locks(&path, depth + 1, found)?;
        } else if path.extension().is_some_and(|end| end == "lock") && path.is_file() {
            found.insert(path);
        }
    }
    Ok(())
}

/// File in the administrative directory of a throwaway worktree: the root of the worktree it stands for.
const STANDS_FOR: &str = "cook-stands-for";

/// A worktree that is removed when this value is dropped.
#[derive(Debug)]
pub struct Throwaway {
    /// Dropped last: if something cannot be removed now, the next sweep finds it.
    _dir: TemporaryDir,
    path: PathBuf,
    /// git's administrative directory of the worktree.
    admin: PathBuf,
}

impl Throwaway {
    /// The root of the checkout.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets commands that run in this worktree answer for the worktree of `repo`.
    ///
    /// # Errors
    /// If the note cannot be written.
    pub fn stand_for(&self, repo: &Repo) -> Result<(), Failure> {
        let note = self.admin.join(STANDS_FOR);
        std::fs::write(&note, repo.root().as_os_str().as_encoded_bytes()).at("write", &note)?;
        Ok(())
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        if remove_tree(&self.path).is_ok() {
            let _ = remove_tree(&self.admin);
        }
    }
}
