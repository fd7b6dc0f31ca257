//! The branch that is checked out, brought to where a remote has it.
//!
//! Invariant: what only this worktree has stands under [`RESCUED_REFS`] before it is let go of.

use super::program::Call;
use super::{RESCUED_REFS, Repo, RepoError};
use cook_protocol::diagnostic::Failure;

impl Repo {
    /// Keeps a commit of a branch that goes on without it; the ref.
    ///
    /// # Errors
    /// What git says.
    pub fn keep_commit(&self, id: &str, branch: &str, commit: &str) -> Result<String, Failure> {
        let name = format!("{RESCUED_REFS}{id}/refs/heads/{branch}");
        self.program
            .answer(Call::new("update-ref").arg(&name).arg(commit))?;
        Ok(name)
    }

    /// Puts everything that is not committed aside, untracked files and a merge in work among it; the
    /// ref, a stash.
    ///
    /// # Errors
    /// What git says; it then stands where it stood, or in the stash.
    pub fn keep_uncommitted(&self, id: &str) -> Result<String, Failure> {
        // Paths in conflict cannot be stashed; as they stand in the worktree they can.
        self.program.answer(Call::new("add --all"))?;
        let name = format!("{RESCUED_REFS}{id}/uncommitted");
        self.stash_as(&name)?;
        Ok(name)
    }

    /// Lets the branch that is checked out, with index and worktree, stand at another commit.
    ///
    /// # Errors
    /// What git says; a file that is not committed and would change keeps everything as it is.
    pub fn move_branch(&self, commit: &str) -> Result<(), Failure> {
        let call = Call::new("reset --keep --quiet --no-recurse-submodules");
        self.program.answer(call.arg(commit))?;
        let head = self.head()?.commit;
        match head.as_deref() == Some(commit) {
            true => Ok(()),
            false => Err(RepoError::Answer(format!("HEAD is not at {commit}")).into()),
        }
    }
}
