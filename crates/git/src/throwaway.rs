//! Throwaway worktrees: a commit checked out under `<common git dir>/cook/worktrees/`
//! for as long as a gate runs or a reader works there.
//!
//! Each holds the lock of a file beside it while it lives, so that what a killed
//! cook left behind can be told from what another one is using.

use super::error::AtPath;
use super::program::Call;
use super::{Repo, RepoError};
use cook_core::diagnostic::Failure;
use cook_os::disk::{self, Links, remove_tree};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// Bytes of a path, at most.
const MAX_NOTE: u64 = 64 << 10;

/// In git's own directory of a throwaway worktree: the root of the one it stands for.
const STANDS_FOR: &str = "cook-stands-for";

/// A worktree that is removed when this value goes.
#[derive(Debug)]
pub struct Throwaway {
    path: PathBuf,
    admin: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl Throwaway {
    /// Where it is checked out.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets whoever asks about the work in there be answered for the worktree of `repo`.
    ///
    /// # Errors
    /// When that cannot be written down.
    pub fn stand_for(&self, repo: &Repo) -> Result<(), Failure> {
        let note = self.admin.join(STANDS_FOR);
        std::fs::write(&note, repo.root().as_os_str().as_encoded_bytes()).at("write", &note)?;
        Ok(())
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        // What cannot be removed now is found by the next sweep: its lock file stays.
        if remove(&self.path, &self.admin).is_ok() {
            let _ = std::fs::remove_file(&self.lock_path);
        }
    }
}

impl Repo {
    /// Checks a commit (full id) out where nobody else works. Hooks do not run, and
    /// submodules are not filled in.
    ///
    /// # Errors
    /// When git cannot check it out; nothing is left behind then.
    pub fn throwaway(&self, commit: &str) -> Result<Throwaway, Failure> {
        self.sweep_throwaways()?;
        let throwaway = self.reserve()?;
        // A checkout needs every file, also those that a partial clone has yet to fetch.
        let call = Call::new("worktree add --quiet --detach --force")
            .env("GIT_NO_LAZY_FETCH", "0")
            .env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh");
        self.program.answer(call.arg(&throwaway.path).arg(commit))?;
        Ok(throwaway)
    }

    /// The root of the worktree that this throwaway one stands for; none when it is none.
    /// A note anywhere else is nobody's: it does not lead out of the repository.
    pub fn stands_for(&self) -> Option<PathBuf> {
        let rooms = self.common_dir.join("cook").join("worktrees");
        if self.root.parent() != Some(&rooms) {
            return None;
        }
        let note = self.git_dir.join(STANDS_FOR);
        let note = disk::read(&note, MAX_NOTE, Links::Refuse).ok()??;
        let root = super::native(&note)?;
        let owner = Self::discover(&root).ok()?;
        (owner.root == root && owner.common_dir == self.common_dir).then_some(root)
    }

    /// Removes what cooks that were killed left behind; how many there were.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn sweep_throwaways(&self) -> Result<usize, Failure> {
        let dir = self.throwaways_dir()?;
        let entries = std::fs::read_dir(&dir).at("read", &dir)?;
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .map(|name| name.trim_end_matches(".lock").to_owned())
            .filter(|name| ulid::Ulid::from_string(name).is_ok())
            .collect();
        names.sort();
        names.dedup();
        Ok(names.iter().filter(|name| self.sweep(&dir, name)).count())
    }

    /// Removes one, unless it is in use; true when it is gone.
    fn sweep(&self, dir: &Path, name: &str) -> bool {
        let lock_path = dir.join(format!("{name}.lock"));
        if let Ok(Some(lock)) = disk::open_regular(&lock_path, Links::Refuse)
            && let Err(TryLockError::WouldBlock) = lock.try_lock()
        {
            return false;
        }
        let removed = remove(&dir.join(name), &self.admin_dir(name)).is_ok();
        if removed {
            let _ = std::fs::remove_file(&lock_path);
        }
        removed
    }

    fn throwaways_dir(&self) -> Result<PathBuf, Failure> {
        let dir = self.cook_dir()?.join("worktrees");
        std::fs::create_dir_all(&dir).at("make", &dir)?;
        Ok(dir)
    }

    /// Where git keeps its side of a worktree with that last path part.
    fn admin_dir(&self, name: &str) -> PathBuf {
        self.common_dir.join("worktrees").join(name)
    }

    /// A name of its own, locked before anything stands under it.
    fn reserve(&self) -> Result<Throwaway, Failure> {
        let dir = self.throwaways_dir()?;
        loop {
            let name = ulid::Ulid::generate().to_string();
            let lock_path = dir.join(format!("{name}.lock"));
            let lock = File::create_new(&lock_path)
                .and_then(|lock| lock.lock().map(|()| lock))
                .at("lock", &lock_path)?;
            // A sweep between making and locking it takes it away; then again.
            if lock_path.exists() {
                return Ok(Throwaway {
                    path: dir.join(&name),
                    admin: self.admin_dir(&name),
                    lock_path,
                    _lock: lock,
                });
            }
        }
    }
}

fn remove(path: &Path, admin: &Path) -> std::io::Result<()> {
    remove_tree(path)?;
    remove_tree(admin)
}
