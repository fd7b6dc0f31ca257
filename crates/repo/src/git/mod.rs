//! Facts about the user's repository: HEAD, ancestry, commits and their trailers,
//! changed paths, cleanliness.
//!
//! Invariants: the variables that point git elsewhere are never honoured;
//! discovery stops at the worktree it starts in; libgit2 reads objects, and refs where it knows their
//! format, as the `git` program does where it does not; cleanliness always comes from the program. What writes: [`Repo::commit_paths`], the throwaway
//! worktrees under `<git dir>/cook`, copies elsewhere, putting a [`Baseline`] back, parking changes, moving the branch
//! back while its commits and changes are kept, and removing locks whose owner is gone.

mod baseline;
mod branch;
mod cleanliness;
mod commit_facts;
mod commit_paths;
mod contents;
mod discover;
mod edits;
mod error;
mod harmless;
mod hunks;
mod index_entries;
mod libgit;
mod listing;
mod locks;
mod memo;
mod merged;
mod mixed;
mod moves;
mod parked;
mod partial;
mod program;
mod refs;
mod repository_copy;
mod revisions;
mod special;
mod stood;
mod throwaway;
mod trailers;

pub use baseline::{Baseline, Difference, Ignored};
pub use cleanliness::Status;
pub use contents::{Change, ChangeKind, Entry, MAX_FILE, path_text};
pub use edits::{Edit, MAX_EDITS, MAX_TEXT};
pub use error::RepoError;
pub use hunks::{digest_lines, find_digest, hunks, is_telling, make_unified_diff, split_lines};
pub use merged::{MergedAs, MergedFrom};
pub use mixed::{Put, Said, TreeChange};
pub use moves::{MAX_MADE, MadeCommit};
pub use parked::{PARKED_REFS, Unparked};
pub use refs::RESCUED_REFS;
pub use revisions::Identity;
pub use stood::{find_text, says_something};
pub use throwaway::Throwaway;
pub use trailers::last_trailer;

use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::machine::Head;
use cook_protocol::model::TreeEntry;
use index_entries::native;
use libgit::Libgit;
use memo::Known;
use program::Program;
use std::path::{Path, PathBuf};

/// The trailer by which a commit says which slice it belongs to.
pub const SLICE_TRAILER: &str = "Cook-Slice";

/// A repository with a worktree.
pub struct Repo {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    objects: Libgit,
    program: Program,
    known: Known,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Repo")
            .field("root", &self.root)
            .field("git_dir", &self.git_dir)
            .field("common_dir", &self.common_dir)
            .field("libgit2", &self.objects.has_refs)
            .finish()
    }
}

impl Repo {
    /// The worktree's root, absolute, without symlinks.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file by its path as git writes it; none where the system has no such names.
    pub fn at(&self, path: &[u8]) -> Option<PathBuf> {
        native(path).map(|path| self.root.join(path))
    }

    /// This worktree's own git dir.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git dir that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// True when libgit2 answers for refs as well as objects, false when only the program does.
    pub fn is_open_in_libgit2(&self) -> bool {
        self.objects.has_refs
    }

    /// `<common git dir>/cook`, not made: whoever writes there makes it.
    ///
    /// # Errors
    /// When it is a symlink or no directory, or cannot be looked at.
    pub fn cook_dir(&self) -> Result<PathBuf, Failure> {
        let dir = self.common_dir.join("cook");
        match std::fs::symlink_metadata(&dir) {
            Ok(found) if found.is_dir() => Ok(dir),
            Ok(_) => Err(Failure::state(
                Code::LogUnsafe,
                format!("`{}` is not a directory", dir.display()),
            )),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(dir),
            Err(error) => Err(RepoError::io("look at", &dir, error).into()),
        }
    }

    /// HEAD now.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn head(&self) -> Result<Head, Failure> {
        if let Ok(head) = self.objects.head() {
            return Ok(head);
        }
        let (commit, branch) = self.program.head()?;
        let tree = commit.as_deref().map(|commit| self.objects.tree(commit));
        Ok(Head {
            tree: tree.transpose()?,
            commit,
            branch,
        })
    }

    /// The full id of the one commit that begins with `id`; none when there is no
    /// such commit, or several. Only hexadecimal ids of at least 4 digits name a
    /// commit here, never refs.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn resolve(&self, id: &str) -> Result<Option<String>, Failure> {
        let is_id = (4..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_id {
            return Ok(None);
        }
        let id = id.to_ascii_lowercase();
        // Only git tells an ambiguous id apart by what kind of object it names.
        Ok(self
            .objects
            .resolve(&id)
            .or_else(|_| self.program.resolve(&id))?)
    }

    /// The tree of a commit, both by full id.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn find_tree(&self, commit: &str) -> Result<String, Failure> {
        Ok(self.objects.tree(commit)?)
    }

    /// True when `descendant` is `ancestor` or comes after it (full ids).
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn is_ancestor(&self, ancestor: &str, descendant: &str) -> Result<bool, Failure> {
        Ok(self.objects.is_ancestor(ancestor, descendant)?)
    }

    /// The best common ancestor of two commits (full ids).
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn merge_base(&self, one: &str, two: &str) -> Result<Option<String>, Failure> {
        Ok(self.objects.merge_base(one, two)?)
    }

    /// Paths that differ between two commits' trees, sorted; none = the empty tree.
    /// A rename is a deletion and an addition.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn changes(&self, from: Option<&str>, to: &str) -> Result<Vec<Change>, Failure> {
        Ok(self.objects.changes(from, to)?)
    }

    /// What stands at a path in a commit's tree. The path is looked up in the tree
    /// alone, so it cannot leave the repository, and links are not followed.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn entry(&self, commit: &str, path: &str) -> Result<Entry, Failure> {
        let inside = !path.is_empty()
            && path
                .split('/')
                .all(|part| !matches!(part, "" | "." | "..") && !part.contains('\0'));
        if !inside {
            return Ok(Entry::Nothing);
        }
        Ok(self.objects.entry(commit, path)?)
    }

    /// What stands at a path of a commit (full id), of whatever kind.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn tree_entry(&self, commit: &str, path: &str) -> Result<Option<TreeEntry>, Failure> {
        Ok(self.objects.tree_entry(commit, path)?)
    }

    /// A blob's content by its full id; none when this repository does not have it, or
    /// it is larger than any file that is read.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn blob(&self, id: &str) -> Result<Option<Vec<u8>>, Failure> {
        if !(40..=64).contains(&id.len()) || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        Ok(self.objects.blob(id)?)
    }
}
