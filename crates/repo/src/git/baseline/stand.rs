//! The state of a repository, and where it is kept.
//!
//! Capturing a baseline: everything that is compared, and copies of what could not be recreated.
//!
//! The objects that refs and stashes name are protected from pruning while another process works: after `git gc
//! --prune=now` removed them, they could not be restored.

use super::super::cleanliness::{WATCHFUL, gitlinks, is_unwatched, present};
use super::super::program::{Call, Program, fail_git, may_hold_submodules, path_list};
use super::super::{PIN_REFS, RESCUED_REFS, Repo, path_text};
use super::steering::{Dirs, Ignored, Steering};
use crate::disk::{self, AtPath, Durable, Links, NewFile, cannot, remove_tree};
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::sha256;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// One difference from the baseline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// A file that steers git or other readers: configuration, hooks, excludes, and ignored files that are compared
    /// nevertheless.
    Steering {
        /// Path below the shared git dir; after `worktree:` below the worktree's own git dir; after `root:` or
        /// `ignored:` below the worktree's root.
        name: String,
        /// A copy of the file that was found; `None` if there was none, or it was too large to keep.
        found: Option<PathBuf>,
        /// Whether somebody else changed it after the session; then it was not restored.
        later: bool,
    },
    /// A file of an unfinished operation of git: a merge, a rebase, a bisection.
    Operation {
        /// Path below the worktree's own git dir.
        name: String,
        /// A copy of the file that was found; `None` if there was none, or it was too large to keep.
        found: Option<PathBuf>,
    },
    /// HEAD names another branch or, detached, another commit.
    Head {
        /// The value in the baseline.
        from: String,
        /// The current value.
        to: String,
    },
    /// A branch, a tag or another ref.
    Ref {
        /// Full name.
        name: String,
        /// The value in the baseline; `None` if the ref is new.
        from: Option<String>,
        /// The current value; `None` if the ref is gone.
        to: Option<String>,
    },
    /// The list of stashes.
    Stash,
    /// Entries of the index, or their assume-unchanged and skip-worktree bits.
    Index,
    /// A file that git has been told not to watch (assume-unchanged, skip-worktree).
    Hidden {
        /// Its path.
        path: String,
    },
    /// A tracked or unignored file.
    File {
        /// Its path as git writes it.
        path: Vec<u8>,
        /// Whether it did not exist in the baseline.
        added: bool,
        /// Whether it no longer exists.
        deleted: bool,
    },
    /// The commit or the status of a submodule.
    Submodule {
        /// Its path.
        path: String,
    },
    /// A linked worktree that was added or removed.
    Worktree {
        /// Its path.
        path: String,
        /// Whether it did not exist in the baseline.
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

/// Most bytes of a stored baseline.
const MAX_STAND: u64 = 1 << 30;

/// The state of a repository, and the directory that holds the data for restoring it.
#[derive(Debug)]
pub struct Baseline {
    pub(super) dir: PathBuf,
    pub(super) stand: Stand,
    /// The end of the session: later changes belong to somebody else.
    pub(super) end: Option<SystemTime>,
}

/// Everything that is compared, apart from the steering files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stand {
    /// `ref: refs/heads/x`, or a commit.
    pub(super) head: String,
    /// All refs except the stash, [`super::super::RESCUED_REFS`] and the refs of baselines.
    pub(super) refs: BTreeMap<String, String>,
    /// Newest first.
    pub(super) stash: Vec<String>,
    /// SHA-256 of the index entries with their bits.
    pub(super) index: String,
    /// Paths that git was told not to watch.
    #[serde(default)]
    pub(super) hidden: BTreeSet<String>,
    /// The tree of the worktree: all files that are tracked or not ignored.
    pub(super) tree: String,
    /// The commit checked out in each submodule and a digest of its status, by path.
    pub(super) submodules: BTreeMap<String, String>,
    /// Paths of the other worktrees, except cook's own.
    pub(super) worktrees: BTreeSet<String>,
    /// Branches that are checked out there.
    pub(super) elsewhere: BTreeSet<String>,
    pub(super) steering: Steering,
    /// Files of unfinished operations.
    #[serde(default)]
    pub(super) operation: Steering,
    /// Nested repositories in the worktree that have no commit yet.
    #[serde(default)]
    pub(super) unborn: BTreeSet<String>,
    #[serde(default)]
    pub(super) ignored: Ignored,
    /// The worktree and its git dir, stored so that the files leading to the repository can be checked without a search
    /// for it.
    pub(super) root: PathBuf,
    pub(super) git_dir: PathBuf,
}

impl Stand {
    /// The commit that was checked out.
    pub(super) fn commit(&self) -> Option<&String> {
        match self.head.strip_prefix("ref: ") {
            Some(name) => self.refs.get(name),
            None => Some(&self.head),
        }
    }
}

impl Baseline {
    /// Opens a baseline that an earlier process captured in `dir`; `None` if it was never completed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(dir: &Path) -> Result<Option<Self>, Failure> {
        let path = dir.join(STAND);
        let read = disk::read(&path, MAX_STAND, Links::Refuse);
        let Some(bytes) = read.at("read", &path)? else {
            return Ok(None);
        };
        let stand = serde_json::from_slice(&bytes).map_err(|error| {
            fail_git(format!("`{}` is not a baseline: {error}", path.display()))
        })?;
        // A killed git may have left an index lock here. The opener of a baseline holds the lease, so nobody else uses
        // it.
        for index in [WORK_INDEX, NOW_INDEX] {
            let lock = dir.join(format!("{index}.lock"));
            disk::remove_file(&lock).at("remove", &lock)?;
        }
        Ok(Some(Self {
            dir: dir.to_owned(),
            stand,
            end: None,
        }))
    }

    /// The value of HEAD: `ref: refs/heads/x`, or a commit.
    pub fn head(&self) -> &str {
        &self.stand.head
    }

    /// The directory of the baseline.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether others may move this ref while a session works here: it is or was checked out in another worktree, or it
    /// is a remote-tracking ref, which a fetch moves.
    ///
    /// # Errors
    /// When the worktrees cannot be listed.
    pub fn has_moves_by_others(&self, repo: &Repo, name: &str) -> Result<bool, Failure> {
        if name.starts_with("refs/remotes/") || self.stand.elsewhere.contains(name) {
            return Ok(true);
        }
        Ok(worktrees(repo)?
            .iter()
            .any(|one| one.branch.as_deref() == Some(name)))
    }

    /// Deletes the baseline.
    ///
    /// # Errors
    /// When the directory or the refs cannot be removed.
    pub fn forget(self, repo: &Repo) -> Result<(), Failure> {
        unpin(repo, &self.dir)?;
        remove_tree(&self.dir).at("remove", &self.dir)
    }
}

/// Written last: if it exists, the rest is complete.
pub(super) const STAND: &str = "stand.json";
/// A copy of the user's index.
pub(super) const INDEX: &str = "index";
/// The index of the baseline's tree.
pub(super) const WORK_INDEX: &str = "work-index";
/// The index of the current tree, for a comparison.
pub(super) const NOW_INDEX: &str = "now-index";
/// Objects of these trees that the repository did not hold.
pub(super) const OBJECTS: &str = "objects";
/// A copy of the stash's reflog.
pub(super) const STASH_LOG: &str = "stash-log";

/// Most submodules that are examined.
const MAX_SUBMODULES: usize = 200;
/// Largest index whose bytes are compared with another; a larger one is listed.
const MAX_INDEX: u64 = 64 << 20;
/// The options of `git update-index` that make git watch a file again.
pub(super) const UNHIDE: [&str; 2] = ["--no-assume-unchanged", "--no-skip-worktree"];

impl Repo {
    /// Captures the baseline in `dir`, which must not exist yet. Only the given ignored files are compared.
    ///
    /// # Errors
    /// If the repository cannot be read, or the directory cannot be written.
    pub fn baseline(&self, dir: &Path, ignored: Ignored) -> Result<Baseline, Failure> {
        let made = |path: &Path| std::fs::create_dir_all(path).at("make", path);
        made(&dir.join(OBJECTS))?;
        made(&dir.join("steering"))?;
        copy_if_there(&self.git_dir.join("index"), &dir.join(INDEX))?;
        copy_if_there(
            &self.common_dir.join("logs/refs/stash"),
            &dir.join(STASH_LOG),
        )?;
        let kept = dir.join("steering");
        let stand = stand(
            self,
            dir,
            &self.git_dir.join("index"),
            WORK_INDEX,
            (ignored, Some(&kept)),
        )?;
        pin(self, dir, &stand)?;
        let path = dir.join(STAND);
        let bytes = serde_json::to_vec(&stand)
            .map_err(|error| fail_git(format!("the baseline cannot be written: {error}")))?;
        let failed = |error| cannot("write", &path, error);
        NewFile::at(&path, Durable::Content)
            .write(&bytes)
            .map_err(failed)?;
        Ok(Baseline {
            dir: dir.to_owned(),
            stand,
            end: None,
        })
    }

    /// The roots of the other worktrees, except cook's own.
    ///
    /// # Errors
    /// If git fails.
    pub fn list_other_worktrees(&self) -> Result<Vec<PathBuf>, Failure> {
        let found = worktrees(self)?.into_iter();
        Ok(found.map(|one| PathBuf::from(one.path)).collect())
    }

    /// Removes the refs of all baselines.
    ///
    /// # Errors
    /// If git fails.
    pub fn unpin_all(&self) -> Result<(), Failure> {
        remove(self, PIN_REFS, |_| true)
    }

    /// Removes the refs of all baselines except these.
    ///
    /// # Errors
    /// When the refs cannot be read or removed.
    pub fn unpin_all_but(&self, baselines: &BTreeSet<String>) -> Result<(), Failure> {
        let is_stale = |name: &str| {
            let rest = name.strip_prefix(PIN_REFS).unwrap_or_default();
            !baselines.contains(rest.split('/').next().unwrap_or_default())
        };
        remove(self, PIN_REFS, is_stale)
    }
}

/// Captures the current state. The tree's index starts as a copy of `from` and is written to `index` in `dir`, with its
/// objects beside it. `keep` receives copies of steering files.
pub(super) fn stand(
    repo: &Repo,
    dir: &Path,
    from: &Path,
    index: &str,
    (ignored, keep): (Ignored, Option<&Path>),
) -> Result<Stand, Failure> {
    let git = &repo.program;
    let linked = worktrees(repo)?;
    let own = repo.git_dir.join("index");
    let bytes = |path: &Path| disk::read(path, MAX_INDEX, Links::Refuse).ok().flatten();
    let is_own = from == own || bytes(from).is_some_and(|from| bytes(&own) == Some(from));
    let taken = take_tree(repo, dir, from, index)?;
    // If the tree's index started as a copy of the user's, its initial listing is that of the user's index.
    let listed = match is_own {
        true => taken.began_as.clone(),
        false => git.answer(Call::new("ls-files --stage -v -z"))?,
    };
    // The user's index is the same, so its status is clean too.
    if is_own && !taken.is_indexed {
        repo.note_clean();
    }
    let Taken { tree, unborn, .. } = taken;
    let mut nested: BTreeSet<String> = gitlinks(&listed).map(path_text).collect();
    if taken.is_indexed {
        nested.extend(list_nested(repo, &dir.join(index))?);
    }
    let nested = nested.into_iter().take(MAX_SUBMODULES).collect();
    let (refs, has_stash) = refs(repo)?;
    let dirs = dirs(repo, nested, &ignored);
    let (steering, operation) = (dirs.read(keep)?, dirs.read_operation(keep)?);
    Ok(Stand {
        head: head(repo)?,
        refs,
        stash: match has_stash {
            true => stash(git)?,
            false => Vec::new(),
        },
        index: sha256(&listed),
        hidden: list_unwatched(&listed).map(path_text).collect(),
        submodules: submodules(repo, &listed)?,
        tree,
        worktrees: linked.iter().map(|one| one.path.clone()).collect(),
        elsewhere: linked.into_iter().filter_map(|one| one.branch).collect(),
        steering,
        operation,
        unborn,
        ignored,
        root: repo.root.clone(),
        git_dir: repo.git_dir.clone(),
    })
}

pub(super) fn dirs<'a>(repo: &'a Repo, nested: BTreeSet<String>, ignored: &'a Ignored) -> Dirs<'a> {
    Dirs {
        root: &repo.root,
        common: &repo.common_dir,
        own: &repo.git_dir,
        nested,
        ignored,
    }
}

/// Submodules and nested repositories that an index names.
pub(super) fn list_nested(repo: &Repo, index: &Path) -> Result<BTreeSet<String>, Failure> {
    if !may_hold_submodules(&repo.git_dir, index) {
        return Ok(BTreeSet::new());
    }
    let call = Call::new("ls-files --stage -z").env("GIT_INDEX_FILE", index);
    let listed = repo.program.answer(call)?;
    Ok(gitlinks(&listed)
        .take(MAX_SUBMODULES)
        .map(path_text)
        .collect())
}

/// A call that reads the user's objects and writes to the baseline's own.
pub(super) fn aside(repo: &Repo, dir: &Path, index: &str, words: &str) -> Call {
    Call::new(&format!("{WATCHFUL} {words}"))
        .env("GIT_INDEX_FILE", dir.join(index))
        .env("GIT_OBJECT_DIRECTORY", dir.join(OBJECTS))
        .lend(&[repo.common_dir.join("objects")])
}

/// The captured state of the worktree.
struct Taken {
    /// The tree of all files that are tracked or not ignored.
    tree: String,
    /// Nested repositories without a commit, which no tree can name.
    unborn: BTreeSet<String>,
    /// The entries with which its index started, with their bits.
    began_as: Vec<u8>,
    /// Whether its index has changed since.
    is_indexed: bool,
}

/// Captures the tree of the worktree. The stat data of an older index limits the files that are read to those changed
/// since.
fn take_tree(repo: &Repo, dir: &Path, from: &Path, index: &str) -> Result<Taken, Failure> {
    let git = &repo.program;
    copy_if_there(from, &dir.join(index))?;
    let mut unwatched = Vec::new();
    let listed = git.answer(aside(repo, dir, index, "ls-files --stage -v -z"))?;
    for name in list_unwatched(&listed) {
        if there(&repo.root.join(path_text(name)))? {
            unwatched.extend(path_list([name]));
        }
    }
    let nested = path_list(gitlinks(&listed));
    let is_plain = unwatched.is_empty() && nested.is_empty();
    // If nothing differs from HEAD, and nothing is new, it is HEAD's tree.
    if let (true, Some(tree)) = (is_plain, repo.head()?.tree) {
        let status = "status --porcelain=v2 -z --untracked-files=normal";
        let call = aside(repo, dir, index, status).env("GIT_NO_REPLACE_OBJECTS", "1");
        let told = git.ask(call)?;
        if told.code == Some(0) && told.stdout.is_empty() && told.stderr.is_empty() {
            return Ok(Taken {
                tree,
                unborn: BTreeSet::new(),
                began_as: listed,
                is_indexed: false,
            });
        }
    }
    if !unwatched.is_empty() {
        for bit in UNHIDE {
            let call = aside(repo, dir, index, "update-index -z --stdin").arg(bit);
            git.answer(call.stdin(unwatched.clone()))?;
        }
    }
    // If the index names a nested repository, git obeys that repository's settings, including filters. For one that is
    // new to the index, git reads only its HEAD.
    if !nested.is_empty() {
        let call = aside(repo, dir, index, "update-index --force-remove -z --stdin");
        git.answer(call.stdin(nested))?;
    }
    // An unreadable file stays as it is in the index, before and after.
    let added = git.ask(aside(repo, dir, index, "add --all --ignore-errors -- ."))?;
    if !matches!(added.code, Some(0 | 1)) {
        return Err(fail_git(format!(
            "git cannot look at the worktree: {}",
            added.stderr.lines().next().unwrap_or("it says nothing")
        )));
    }
    let mut unborn = BTreeSet::new();
    if added.code == Some(1) {
        let arguments = "ls-files --others --directory --exclude-standard -z";
        for entry in git.entries(aside(repo, dir, index, arguments))? {
            let Some(path) = entry.strip_suffix(b"/") else {
                continue;
            };
            let path = path_text(path);
            if there(&repo.root.join(&path).join(".git"))? {
                unborn.insert(path);
            }
        }
    }
    let tree = git.text(aside(repo, dir, index, "write-tree"))?;
    Ok(Taken {
        tree,
        unborn,
        began_as: listed,
        is_indexed: true,
    })
}

/// The paths that git was told not to watch, from the output of `git ls-files --stage -v -z`.
fn list_unwatched(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    let entries = listed.split(|byte| *byte == 0);
    let staged = entries.filter_map(is_unwatched);
    staged.filter_map(|staged| staged.splitn(2, |byte| *byte == b'\t').nth(1))
}

/// HEAD as its file states it; if the file is not as git writes it, HEAD as git reads it.
fn head(repo: &Repo) -> Result<String, Failure> {
    const MAX_HEAD: u64 = 4 << 10;
    let place = repo.git_dir.join("HEAD");
    let text = disk::read_text(&place, MAX_HEAD, Links::Refuse);
    if let Ok(Some(text)) = text
        && let Some(line) = text.strip_suffix('\n')
    {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
        let branch = line.strip_prefix("ref: refs/heads/");
        // A repository that does not store refs in files has a name such as `.invalid` here.
        let is_branch = branch.is_some_and(|name| {
            !name.is_empty() && !name.starts_with('.') && name.bytes().all(is_plain)
        });
        let is_commit = matches!(line.len(), 40 | 64)
            && line
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if is_branch || is_commit {
            return Ok(line.to_owned());
        }
    }
    let git = &repo.program;
    match git.line(Call::new("symbolic-ref -q HEAD"))? {
        Some(name) => Ok(format!("ref: {name}")),
        None => git.text(Call::new("rev-parse --verify HEAD")),
    }
}

/// Commits of the stashes, newest first.
pub(super) fn stash(git: &Program) -> Result<Vec<String>, Failure> {
    git.lines(Call::new("stash list --format=%H"))
}

/// The refs that are compared, and whether there is a stash.
fn refs(repo: &Repo) -> Result<(BTreeMap<String, String>, bool), Failure> {
    let mut has_stash = false;
    let mut refs = BTreeMap::new();
    for (name, id, target) in repo.list_refs()? {
        has_stash |= name == "refs/stash";
        let kept =
            name == "refs/stash" || name.starts_with(RESCUED_REFS) || name.starts_with(PIN_REFS);
        if !kept {
            let value = target.map_or(id, |target| format!("ref: {target}"));
            refs.insert(name, value);
        }
    }
    Ok((refs, has_stash))
}

/// Another worktree of the repository.
pub(super) struct Linked {
    path: String,
    /// The branch checked out there; `None` if HEAD is detached.
    pub(super) branch: Option<String>,
}

/// The other worktrees, except cook's own.
pub(super) fn worktrees(repo: &Repo) -> Result<Vec<Linked>, Failure> {
    let own = repo.common_dir.join("cook");
    if repo.git_dir == repo.common_dir && has_own_worktrees_alone(repo, &own) {
        return Ok(Vec::new());
    }
    let call = Call::new("worktree list --porcelain -z");
    let mut found: Vec<Linked> = Vec::new();
    for line in repo.program.entries(call)? {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            found.push(Linked {
                path: path_text(path),
                branch: None,
            });
        } else if let (Some(branch), Some(last)) = (line.strip_prefix(b"branch "), found.last_mut())
        {
            last.branch = Some(path_text(branch));
        }
    }
    found.retain(|one| {
        let path = Path::new(&one.path);
        path != repo.root && !path.starts_with(&own)
    });
    Ok(found)
}

/// Whether all linked worktrees are cook's own, according to their `gitdir` files.
fn has_own_worktrees_alone(repo: &Repo, own: &Path) -> bool {
    const MAX_PLACE: u64 = 16 << 10;
    let linked = match std::fs::read_dir(repo.common_dir.join("worktrees")) {
        Ok(linked) => linked,
        Err(error) => return error.kind() == io::ErrorKind::NotFound,
    };
    let mut linked = linked.into_iter();
    linked.all(|entry| {
        let Ok(entry) = entry else { return false };
        let place = entry.path().join("gitdir");
        let read = disk::read_text(&place, MAX_PLACE, Links::Refuse);
        read.ok().flatten().is_some_and(|text| {
            let dir = Path::new(text.trim_end());
            let is_plain = |part| !matches!(part, Component::ParentDir);
            dir.starts_with(own) && dir.components().all(is_plain)
        })
    })
}

fn submodules(repo: &Repo, listed: &[u8]) -> Result<BTreeMap<String, String>, Failure> {
    let mut found = BTreeMap::new();
    for path in gitlinks(listed).take(MAX_SUBMODULES) {
        let path = path_text(path);
        let root = repo.root.join(&path);
        if !there(&root.join(".git"))? {
            continue;
        }
        let inside = Program::at(&root);
        let head = inside.line(Call::new("rev-parse -q --verify HEAD"))?;
        let status = inside.answer(Call::new("status --porcelain=v2 -z"))?;
        found.insert(
            path,
            format!(
                "{} {}",
                head.unwrap_or_else(|| "unborn".to_owned()),
                sha256(&status)
            ),
        );
    }
    Ok(found)
}

pub(super) fn there(path: &Path) -> Result<bool, Failure> {
    present(path)
        .map(|found| found.is_some())
        .at("look at", path)
}

/// Copies a file with its modification time: git reads the content of files that are not older than the index, so an
/// index that looks too new would hide an edit.
fn copy_if_there(from: &Path, to: &Path) -> Result<(), Failure> {
    let copied = || -> io::Result<()> {
        let time = std::fs::metadata(from)?.modified()?;
        std::fs::copy(from, to)?;
        std::fs::File::options()
            .write(true)
            .open(to)?
            .set_modified(time)
    };
    match copied() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        copied => copied.at("copy", from),
    }
}

/// Most branches and tags that are protected, newest first. They are not reduced to unmerged ones: in a long history
/// that takes seconds.
const MOST: &str = "--count=200";
/// These refs are short-lived, and losing them in a power cut does no harm.
const UNSYNCED: &str = "-c core.fsync=none update-ref --stdin";

/// Protects the objects of a baseline. If git refuses to make the refs, the baseline works without them.
pub(super) fn pin(repo: &Repo, dir: &Path, stand: &Stand) -> Result<(), Failure> {
    let mut held: BTreeSet<String> = stand.stash.iter().cloned().collect();
    if let Some(commit) = stand.commit() {
        held.insert(commit.clone());
        if stand.refs.values().any(|id| id != commit) {
            let call = Call::new("for-each-ref")
                .arg(MOST)
                .arg("--sort=-committerdate")
                .arg("--format=%(objectname)")
                .arg("refs/heads")
                .arg("refs/tags");
            let listed = repo.program.ask(call)?;
            let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
            held.extend(listed.lines().map(str::to_owned));
        }
    }
    let place = place(dir);
    let lines: String = held
        .iter()
        .enumerate()
        .map(|(number, id)| format!("create {place}{number} {id}\n"))
        .collect();
    let call = Call::new(UNSYNCED);
    repo.program.ask(call.stdin(lines)).map(|_| ())
}

/// Removes the refs of a baseline.
fn unpin(repo: &Repo, dir: &Path) -> Result<(), Failure> {
    remove(repo, &place(dir), |_| true)
}

fn place(dir: &Path) -> String {
    let name = dir.file_name().unwrap_or_default();
    format!("{PIN_REFS}{}/", name.to_string_lossy())
}

fn remove(repo: &Repo, below: &str, wanted: impl Fn(&str) -> bool) -> Result<(), Failure> {
    let listed = repo.list_refs_below(below)?;
    let lines: String = listed
        .iter()
        .filter(|name| wanted(name))
        .map(|name| format!("delete {name}\n"))
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    let call = Call::new(UNSYNCED);
    repo.program.answer(call.stdin(lines)).map(|_| ())
}
