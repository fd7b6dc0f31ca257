//! A copy of the repository that can be thrown away: history up to a commit, on a branch of the same
//! name, and nothing that leads back.

use super::program::{Call, Program};
use super::{Repo, RepoError};
use cook_protocol::diagnostic::Failure;
use std::path::Path;

/// What a copied commit says of who made it and when, in the order of the variables.
const WHO: &str = "--format=%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd";
const VARIABLES: [&str; 6] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
];

impl Repo {
    /// Copies the repository into a directory that is not there yet, with a commit (full id) checked out
    /// on a branch; none = on none. No remote, no other branch, no tag, no log of refs leads further.
    ///
    /// # Errors
    /// What git says.
    pub fn copy_to(&self, dir: &Path, branch: Option<&str>, commit: &str) -> Result<Self, Failure> {
        let clone = Call::new(
            "clone --quiet --no-hardlinks --no-checkout --no-tags --template= -c gc.auto=0 -c maintenance.auto=false -c core.logAllRefUpdates=false --",
        );
        let clone = clone.env("GIT_ALLOW_PROTOCOL", "file");
        self.program.answer(clone.arg(&self.root).arg(dir))?;
        let git = Program::at(dir);
        git.answer(Call::new("remote remove origin"))?;
        let own = git.line(Call::new("symbolic-ref --quiet HEAD"))?;
        let mut checkout = Call::new("checkout --quiet --force --no-recurse-submodules");
        checkout = match branch {
            Some(branch) => checkout.arg("-B").arg(branch).arg(commit),
            None => checkout.arg("--detach").arg(commit),
        };
        git.answer(checkout)?;
        let copy = Self::discover(dir)?;
        let stays = copy.head()?.branch.map(|name| format!("refs/heads/{name}"));
        if let Some(own) = own.filter(|own| Some(own) != stays.as_ref()) {
            git.answer(Call::new("update-ref -d").arg(&own))?;
        }
        Ok(copy)
    }

    /// Commits the tree of `like` with other texts in some files on top of HEAD, as `like` was
    /// committed: its author, its time, its message. HEAD, index and worktree stand there then. None =
    /// the file is not there.
    ///
    /// # Errors
    /// What git says; a path that `like` does not have.
    pub fn commit_like(
        &self,
        like: &str,
        texts: &[(String, Option<String>)],
    ) -> Result<String, Failure> {
        let git = &self.program;
        git.answer(Call::new("read-tree").arg(like))?;
        for (path, text) in texts {
            let entry = self.tree_entry(like, path)?;
            let Some(entry) = entry else {
                let what = format!("{like} holds no `{path}`");
                return Err(RepoError::Answer(what).into());
            };
            let mut line = match text {
                None => format!("0 {}\t{path}", "0".repeat(like.len())),
                Some(text) => {
                    let hash = Call::new("hash-object -w --no-filters --stdin");
                    let id = git.text(hash.stdin(text.as_bytes()))?;
                    format!("{} {id}\t{path}", entry.mode)
                }
            };
            line.push('\0');
            let update = Call::new("update-index -z --index-info");
            git.answer(update.stdin(line))?;
        }
        let tree = git.text(Call::new("write-tree"))?;
        let show = |format: &str| {
            Call::new("log -1 --no-show-signature --date=raw")
                .arg(format)
                .arg(like)
        };
        let who = git.text(show(WHO))?;
        let message = git.answer(show("--format=%B"))?;
        let parent = git.text(Call::new("rev-parse HEAD"))?;
        let mut commit = Call::new("commit-tree -F - -p")
            .arg(parent)
            .arg(tree)
            .stdin(message);
        for (name, value) in VARIABLES.iter().zip(who.split('\0')) {
            commit = commit.env(name, value);
        }
        let id = git.text(commit)?;
        let reset = Call::new("reset --hard --quiet --no-recurse-submodules");
        git.answer(reset.arg(&id))?;
        Ok(id)
    }
}
