//! One thing that is not as it was.

use super::super::path_text;
use std::path::PathBuf;

/// One thing that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// A file that steers git or whoever reads it: configuration, hooks, excludes, ignored files
    /// that are compared all the same.
    Steering {
        /// Path below the git dir; the worktree's own after `worktree:`; of the worktree itself
        /// after `root:` and `ignored:`.
        name: String,
        /// A copy of what was found in its place; none = it was gone, or too large to keep.
        found: Option<PathBuf>,
        /// Somebody else changed it later: it was not put back.
        later: bool,
    },
    /// A file of what git is in the middle of: a merge, a rebase, a bisection.
    Operation {
        /// Path below the worktree's own git dir.
        name: String,
        /// A copy of what was found in its place; none = it was gone, or too large to keep.
        found: Option<PathBuf>,
    },
    /// HEAD names another branch or, detached, another commit.
    Head {
        /// As before.
        from: String,
        /// As now.
        to: String,
    },
    /// A branch, a tag or another ref.
    Ref {
        /// Full name.
        name: String,
        /// None = it is new.
        from: Option<String>,
        /// None = it is gone.
        to: Option<String>,
    },
    /// The list of stashes.
    Stash,
    /// Entries of the index, or their assume-unchanged and skip-worktree bits.
    Index,
    /// A file that git was told not to look at (assume-unchanged, skip-worktree).
    Hidden {
        /// Its path.
        path: String,
    },
    /// A tracked or unignored file.
    File {
        /// Its path as git writes it.
        path: Vec<u8>,
        /// It was not there.
        added: bool,
        /// It is not there any more.
        deleted: bool,
    },
    /// What is checked out in a submodule.
    Submodule {
        /// Its path.
        path: String,
    },
    /// A linked worktree came or went.
    Worktree {
        /// Its path.
        path: String,
        /// It was not there.
        added: bool,
    },
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Steering { name, .. } => {
                let path = name.strip_prefix("root:").or(name.strip_prefix("ignored:"));
                match path {
                    Some(path) => write!(f, "`{path}`"),
                    None => write!(f, "`.git/{name}`"),
                }
            }
            Self::Operation { name, .. } => write!(f, "`.git/{name}`"),
            Self::Head { from, to } => write!(f, "HEAD went from {from} to {to}"),
            Self::Ref { name, from, to } => match (from, to) {
                (None, _) => write!(f, "`{name}` is new"),
                (_, None) => write!(f, "`{name}` is gone"),
                _ => write!(f, "`{name}` was moved"),
            },
            Self::Stash => f.write_str("the stash"),
            Self::Index => f.write_str("the index"),
            Self::Hidden { path } => write!(f, "`{path}` was hidden from `git status`"),
            Self::File {
                path,
                added,
                deleted,
            } => {
                let how = match (added, deleted) {
                    (true, _) => "is new",
                    (_, true) => "is gone",
                    _ => "was changed",
                };
                write!(f, "`{}` {how}", path_text(path))
            }
            Self::Submodule { path } => write!(f, "submodule `{path}`"),
            Self::Worktree { path, added } => {
                let how = if *added { "is new" } else { "is gone" };
                write!(f, "worktree `{path}` {how}")
            }
        }
    }
}
