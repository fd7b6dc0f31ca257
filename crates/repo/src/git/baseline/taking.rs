//! Taking a baseline: everything that is compared, and copies of what could not be made again.

use super::super::cleanliness::WATCHFUL;
use super::super::error::AtPath;
use super::super::index_entries::{gitlinks, is_unwatched, present};
use super::super::program::{Call, Program, path_list};
use super::super::refs::{PIN_REFS, RESCUED_REFS};
use super::super::{Repo, RepoError, path_text};
use super::pins::pin;
use super::stand::{Baseline, INDEX, OBJECTS, STAND, STASH_LOG, Stand, WORK_INDEX};
use super::steering::{Dirs, Ignored};
use crate::disk::{Durable, NewFile};
use crate::process::{LENT_VARIABLE, join_lent};
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// Submodules that are looked at.
const MAX_SUBMODULES: usize = 200;
/// What lets git look at a file again.
pub(super) const UNHIDE: [&str; 2] = ["--no-assume-unchanged", "--no-skip-worktree"];

impl Repo {
    /// Takes the baseline into `dir`, which must not be there yet. Of ignored files only those
    /// are compared that are named.
    ///
    /// # Errors
    /// When the repository cannot be read, or the directory not be written.
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
        let bytes = serde_json::to_vec(&stand).map_err(|error| {
            RepoError::Answer(format!("the baseline cannot be written: {error}"))
        })?;
        let failed = |error| RepoError::io("write", &path, error);
        NewFile::at(&path, Durable::Content)
            .write(&bytes)
            .map_err(failed)?;
        Ok(Baseline {
            dir: dir.to_owned(),
            stand,
            end: None,
        })
    }
}

impl Baseline {
    /// Whether a ref moves while others work, and not by whoever works here: a branch that was
    /// or is checked out in another worktree, what a fetch brought.
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
}

/// What stands now. The tree's index begins as a copy of the one at `from` and is written as
/// `index` in `dir`, its objects beside it. Of what steers, `keep` gets copies.
pub(super) fn stand(
    repo: &Repo,
    dir: &Path,
    from: &Path,
    index: &str,
    (ignored, keep): (Ignored, Option<&Path>),
) -> Result<Stand, RepoError> {
    let git = &repo.program;
    let listed = git.answer(Call::new("ls-files --stage -v -z"))?;
    let linked = worktrees(repo)?;
    let (tree, unborn) = tree(repo, dir, from, index)?;
    let nested = list_nested(repo, dir, index, &listed)?;
    let dirs = dirs(repo, nested, &ignored);
    let (steering, operation) = (dirs.read(keep)?, dirs.read_operation(keep)?);
    Ok(Stand {
        head: head(git)?,
        refs: refs(git)?,
        stash: stash(git)?,
        index: sha256(&listed),
        hidden: listed
            .split(|byte| *byte == 0)
            .filter_map(is_unwatched)
            .filter_map(|staged| staged.splitn(2, |byte| *byte == b'\t').nth(1))
            .map(path_text)
            .collect(),
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

/// Submodules, and repositories of their own in the worktree: those that the user's index names,
/// and those that one of the baseline's does.
pub(super) fn list_nested(
    repo: &Repo,
    dir: &Path,
    index: &str,
    listed: &[u8],
) -> Result<BTreeSet<String>, RepoError> {
    let call = aside(repo, dir, index, "ls-files --stage -z");
    let own = repo.program.answer(call)?;
    Ok(gitlinks(listed)
        .chain(gitlinks(&own))
        .take(MAX_SUBMODULES)
        .map(path_text)
        .collect())
}

/// A call that reads the user's objects and writes into the baseline's own.
pub(super) fn aside<'a>(repo: &Repo, dir: &Path, index: &str, words: &str) -> Call<'a> {
    Call::new(&format!("{WATCHFUL} {words}"))
        .env("GIT_INDEX_FILE", dir.join(index))
        .env("GIT_OBJECT_DIRECTORY", dir.join(OBJECTS))
        .env(LENT_VARIABLE, join_lent(&[repo.common_dir.join("objects")]))
}

/// The tree of everything that is tracked or not ignored. An older index lends its stat data,
/// so that only what changed since is read. With it the repositories in the worktree that have no
/// commit, which no tree can name.
fn tree(
    repo: &Repo,
    dir: &Path,
    from: &Path,
    index: &str,
) -> Result<(String, BTreeSet<String>), RepoError> {
    let git = &repo.program;
    copy_if_there(from, &dir.join(index))?;
    let mut unwatched = Vec::new();
    for entry in git.entries(aside(repo, dir, index, "ls-files -v -z"))? {
        if let Some(name) = is_unwatched(&entry)
            && there(&repo.root.join(path_text(name)))?
        {
            unwatched.extend(path_list([name]));
        }
    }
    if !unwatched.is_empty() {
        for bit in UNHIDE {
            let call = aside(repo, dir, index, "update-index -z --stdin").arg(bit);
            git.answer(call.stdin(unwatched.clone()))?;
        }
    }
    // Whoever looks at a nested repository that the index names goes by its settings, filters
    // among them; one that is new to the index is entered by its HEAD alone.
    let listed = git.answer(aside(repo, dir, index, "ls-files --stage -z"))?;
    let nested = path_list(gitlinks(&listed));
    if !nested.is_empty() {
        let call = aside(repo, dir, index, "update-index --force-remove -z --stdin");
        git.answer(call.stdin(nested))?;
    }
    // A file nobody may read stays as the index has it, before and after.
    let added = git.ask(aside(repo, dir, index, "add --all --ignore-errors -- ."))?;
    if !matches!(added.code, Some(0 | 1)) {
        return Err(RepoError::Answer(format!(
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
    Ok((tree, unborn))
}

fn head(git: &Program) -> Result<String, RepoError> {
    match git.line(Call::new("symbolic-ref -q HEAD"))? {
        Some(name) => Ok(format!("ref: {name}")),
        None => git.text(Call::new("rev-parse --verify HEAD")),
    }
}

/// Newest first.
pub(super) fn stash(git: &Program) -> Result<Vec<String>, RepoError> {
    git.lines(Call::new("stash list --format=%H"))
}

fn refs(git: &Program) -> Result<BTreeMap<String, String>, RepoError> {
    let format = "--format=%(refname)%00%(objectname)%00%(symref)";
    Ok(git
        .lines(Call::new("for-each-ref").arg(format))?
        .iter()
        .filter_map(|line| {
            let mut fields = line.split('\0');
            let (name, id) = (fields.next()?, fields.next()?);
            let target = fields.next().unwrap_or_default();
            let kept = name == "refs/stash"
                || name.starts_with(RESCUED_REFS)
                || name.starts_with(PIN_REFS);
            let value = match target {
                "" => id.to_owned(),
                target => format!("ref: {target}"),
            };
            (!kept).then(|| (name.to_owned(), value))
        })
        .collect())
}

/// Another worktree of the repository.
pub(super) struct Linked {
    path: String,
    /// What is checked out there; none = detached.
    pub(super) branch: Option<String>,
}

/// The other worktrees, without cook's own.
pub(super) fn worktrees(repo: &Repo) -> Result<Vec<Linked>, RepoError> {
    let own = repo.common_dir.join("cook");
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

fn submodules(repo: &Repo, listed: &[u8]) -> Result<BTreeMap<String, String>, RepoError> {
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

pub(super) fn there(path: &Path) -> Result<bool, RepoError> {
    present(path)
        .map(|found| found.is_some())
        .at("look at", path)
}

/// Copies a file with its time: git reads the content of whatever is not older than the index,
/// and an index that seems younger than it is would hide an edit.
fn copy_if_there(from: &Path, to: &Path) -> Result<(), RepoError> {
    let copied = || -> io::Result<()> {
        let time = std::fs::metadata(from)?.modified()?;
        std::fs::copy(from, to)?;
        std::fs::File::options()
            .write(true)
            .open(to)?
            .set_modified(time)
    };
    match copied() {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(RepoError::io("copy", from, error))
        }
        _ => Ok(()),
    }
}
