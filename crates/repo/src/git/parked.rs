//! A user's uncommitted changes, put aside as a ref while agents work and put back afterwards.
//!
//! Invariant: at every moment they stand in the worktree, in the user's stash, or under
//! [`PARKED_REFS`]; nothing is let go of before it stands in the next place.

use super::program::Call;
use super::{RESCUED_REFS, Repo, RepoError};
use cook_protocol::diagnostic::{Code, Failure, Refusal};
use std::collections::BTreeSet;

/// Where parked changes stand: stashes, one a ref.
pub const PARKED_REFS: &str = "refs/cook/parked/";

/// What became of parked changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unparked {
    /// They are in the worktree again, and the ref is gone.
    PutBack,
    /// They stay parked, and why.
    Stay(String),
}

impl Repo {
    /// Parks everything that is not committed, untracked files among it; the ref.
    ///
    /// # Errors
    /// What git says; the changes then stand where they stood, or in the stash.
    pub fn park(&self, of: &str, id: &str) -> Result<String, Failure> {
        let dirty = self.status()?.worktree.dirty;
        let contract = |path: &String| path.starts_with(".agent/") || path == ".gitignore";
        let own = dirty.iter().find(|path| contract(path));
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

    /// Stashes everything that is not committed, untracked files among it, under a ref.
    pub(super) fn stash_as(&self, name: &str) -> Result<(), Failure> {
        let push =
            Call::new("stash push --quiet --include-untracked --message").arg("parked by cook");
        let push = push
            .env("GIT_AUTHOR_NAME", "cook")
            .env("GIT_AUTHOR_EMAIL", "cook@localhost")
            .env("GIT_COMMITTER_NAME", "cook")
            .env("GIT_COMMITTER_EMAIL", "cook@localhost");
        let before = self.stash()?;
        self.program.answer(push)?;
        let stashed = self.stash()?.filter(|now| Some(now) != before.as_ref());
        let Some(stashed) = stashed else {
            // What stands at the top of the stash then is the user's own.
            let what =
                "git stashes nothing of what is not committed: commit it, or put it away yourself";
            return Err(RepoError::Answer(what.to_owned()).into());
        };
        self.program
            .answer(Call::new("update-ref").arg(name).arg(&stashed))?;
        self.program.answer(Call::new("stash drop --quiet"))?;
        Ok(())
    }

    fn stash(&self) -> Result<Option<String>, RepoError> {
        let call = Call::new("rev-parse --verify --quiet refs/stash");
        self.program.line(call)
    }

    /// What is parked, oldest first.
    ///
    /// # Errors
    /// What git says.
    pub fn list_parked(&self, of: &str) -> Result<Vec<String>, Failure> {
        let within = format!("{PARKED_REFS}{of}/");
        let refs = self.refs()?;
        Ok(refs
            .into_keys()
            .filter(|name| name.starts_with(&within))
            .collect())
    }

    /// Refs that hold what was set aside in the user's own repository, with their objects:
    /// commits that were taken back, and parked changes.
    ///
    /// # Errors
    /// What git says.
    pub fn set_aside(&self) -> Result<Vec<(String, String)>, Failure> {
        Ok(self
            .refs()?
            .into_iter()
            .filter(|(name, _)| name.starts_with(PARKED_REFS) || name.starts_with(RESCUED_REFS))
            .collect())
    }

    /// Puts parked changes back. Onto a worktree that is not clean, or whose commits changed
    /// the same paths meanwhile, they are not put.
    ///
    /// # Errors
    /// What git says; the ref then still stands.
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
        self.program
            .answer(Call::new("stash apply --quiet --index").arg(name))?;
        self.program.answer(Call::new("update-ref -d").arg(name))?;
        Ok(Unparked::PutBack)
    }

    fn list_paths(&self, call: Call) -> Result<BTreeSet<Vec<u8>>, RepoError> {
        Ok(self.program.entries(call)?.into_iter().collect())
    }
}
