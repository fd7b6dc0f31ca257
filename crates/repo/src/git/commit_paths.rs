//! Committing exactly some paths (`cook init --commit`).
//!
//! Made of plumbing: a temporary index, a tree, a commit, a compare-and-swap of
//! HEAD. Other paths that the user staged stay staged and out of the commit. The
//! user's identity is used; no hook runs and nothing is signed, because the
//! commit holds only what cook wrote and must not depend on the project's tools.

use super::error::AtPath;
use super::program::{Call, Program, path_list};
use super::{Repo, RepoError};
use crate::disk::TemporaryDir;
use cook_protocol::diagnostic::Failure;
use std::path::{Component, Path};

impl Repo {
    /// Commits the worktree's content of `paths` on top of HEAD, on an unborn branch
    /// too; the commit's full id. None when HEAD already holds them so.
    ///
    /// # Errors
    /// When a path is missing or leaves the worktree, the index is locked, no
    /// identity is set, or HEAD moved meanwhile. HEAD has not moved then.
    pub fn commit_paths(&self, paths: &[&str], message: &str) -> Result<Option<String>, Failure> {
        let git = &self.program;
        let list = encode_paths(&self.root, paths)?;
        let head = self.head()?;
        let scratch = TemporaryDir::make_in(&self.git_dir).at("write in", &self.git_dir)?;
        let tree = write_tree_with(
            git,
            &scratch.path().join("index"),
            head.commit.as_deref(),
            &list,
        )?;
        if head.tree.as_deref() == Some(tree.as_str()) {
            return Ok(None);
        }
        let mut call = Call::new("commit-tree -F -");
        if let Some(parent) = &head.commit {
            call = call.arg("-p").arg(parent);
        }
        let id = git.text(call.arg(&tree).stdin(message))?;
        // The user's index learns of these paths before HEAD moves: were it locked,
        // nothing would have changed yet.
        git.answer(Call::new("update-index --add -z --stdin").stdin(list))?;
        let old = head.commit.as_deref().unwrap_or("");
        git.answer(
            Call::new("update-ref -m")
                .arg("commit: cook init")
                .arg("HEAD")
                .arg(&id)
                .arg(old),
        )?;
        Ok(Some(id))
    }
}

/// The tree of `parent` with the worktree's content of the listed paths.
fn write_tree_with(
    git: &Program,
    index: &Path,
    parent: Option<&str>,
    list: &[u8],
) -> Result<String, RepoError> {
    let with = |call: Call<'static>| call.env("GIT_INDEX_FILE", index);
    let read = match parent {
        Some(parent) => Call::new("read-tree").arg(parent),
        None => Call::new("read-tree --empty"),
    };
    git.answer(with(read))?;
    let add = Call::new("update-index --add -z --stdin").stdin(list);
    git.answer(with(add))?;
    // A partial clone lacks contents that stay as they are.
    git.text(with(Call::new("write-tree --missing-ok")))
}

fn encode_paths(root: &Path, paths: &[&str]) -> Result<Vec<u8>, RepoError> {
    for path in paths {
        let inside = !path.contains('\0')
            && Path::new(path)
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
        if !inside || path.is_empty() {
            return Err(RepoError::PathOutside((*path).to_owned()));
        }
        let place = root.join(path);
        place.symlink_metadata().at("read", &place)?;
    }
    Ok(path_list(paths.iter().map(|path| path.as_bytes())))
}
