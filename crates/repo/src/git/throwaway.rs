//! Throwaway worktrees: a commit checked out under `<common git dir>/cook/worktrees/`
//! for as long as a reader works there.
//!
//! Each lies in a directory that holds a lock while it lives, so that what a killed
//! cook left behind can be told from what another one is using.

use super::Repo;
use super::program::Call;
use crate::disk::{self, AtPath, Links, TemporaryDir, remove_tree};
use cook_protocol::diagnostic::Failure;
use std::path::{Path, PathBuf};

/// Bytes of a path, at most.
const MAX_NOTE: u64 = 64 << 10;

/// In git's own directory of a throwaway worktree: the root of the one it stands for.
const STANDS_FOR: &str = "cook-stands-for";

/// A worktree that is removed when this value goes.
#[derive(Debug)]
pub struct Throwaway {
    /// It goes last: what cannot be removed now is found by the next sweep.
    _dir: TemporaryDir,
    path: PathBuf,
    /// Where git keeps its side of it.
    admin: PathBuf,
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
        if remove_tree(&self.path).is_ok() {
            let _ = remove_tree(&self.admin);
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
        let parent = self.cook_dir()?.join("worktrees");
        std::fs::create_dir_all(&parent).at("make", &parent)?;
        let dir = TemporaryDir::make_in(&parent).at("make a directory in", &parent)?;
        // git calls its side by the last part of the path.
        let name = dir.path().file_name().unwrap_or_default();
        let throwaway = Throwaway {
            path: dir.path().join(name),
            admin: self.common_dir.join("worktrees").join(name),
            _dir: dir,
        };
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
        if self.root.parent()?.parent() != Some(&rooms) {
            return None;
        }
        let note = self.git_dir.join(STANDS_FOR);
        let note = disk::read(&note, MAX_NOTE, Links::Refuse).ok()??;
        let root = disk::native_path(&note)?;
        let owner = Self::discover(&root).ok()?;
        (owner.root == root && owner.common_dir == self.common_dir).then_some(root)
    }

    /// Removes what cooks that were killed left behind; how many there were.
    ///
    /// # Errors
    /// When the directory cannot be read.
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
