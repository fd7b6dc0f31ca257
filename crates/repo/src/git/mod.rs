//! Facts about the user's repository: HEAD, ancestry, commits and their trailers, changed paths, cleanliness.
//!
//! Invariants: environment variables that redirect git are ignored; discovery stops at the worktree in which it starts;
//! libgit2 reads objects, and refs if it knows their format, otherwise the `git` program reads the refs; cleanliness
//! always comes from the program. The following write: [`Repo::commit_paths`], throwaway worktrees under `<git
//! dir>/cook`, copies elsewhere, restoring a [`Baseline`], parking changes, moving the branch back while its commits
//! and changes are kept, removing dead locks, made commits and fetched objects.

mod baseline;
mod cleanliness;
mod commit_facts;
mod libgit;
mod merged;
mod mixed;
mod parked;
mod program;
mod special;
mod texts;

use crate::disk::{AtPath, native_path};
pub use baseline::{Baseline, Difference, Ignored};
pub use cleanliness::{Status, ToldStatus};
pub use commit_facts::{Identity, MAX_MADE, MadeCommit, last_trailer};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::TreeEntry;
use git2::{ErrorCode, ObjectFormat, Odb, Oid, Repository, RepositoryOpenFlags};
pub use libgit::{Change, ChangeKind, Entry, MAX_FILE, path_text};
pub use merged::{MergedAs, MergedFrom};
pub use mixed::{Put, Said, TreeChange};
pub use parked::{Throwaway, Unparked, is_of_contract};
pub(crate) use program::{Call, LENT_VARIABLE, join_lent, missing};
use program::{OrFail, Program, fail_git};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
pub use texts::{
    Edit, MAX_EDITS, MAX_TEXT, digest_lines, find_digest, find_text, is_telling, make_unified_diff,
    says_something, split_lines,
};

/// The trailer that names the slice to which a commit belongs.
pub const SLICE_TRAILER: &str = "Cook-Slice";
/// Prefix of the refs of parked changes; each ref is one stash.
pub const PARKED_REFS: &str = "refs/cook/parked/";
/// Prefix of the refs that keep commits which a moved ref left, and uncommitted changes that were set aside.
pub const RESCUED_REFS: &str = "refs/cook/rescue/";
/// Prefix of the refs that hold copies of the user's files, taken from a log before it is removed.
const SAVED_REFS: &str = "refs/cook/saved/";
/// Prefix of the refs that protect the objects of a baseline from pruning.
const PIN_REFS: &str = "refs/cook/watch/";

/// A repository with a worktree.
pub struct Repo {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    objects: Repository,
    /// Whether libgit2 can also read the refs.
    has_refs: bool,
    /// The large directories that were read last.
    directories: RefCell<VecDeque<(Oid, Directory)>>,
    /// Commits and directories that are known to be within the size limits.
    small: RefCell<HashSet<Oid>>,
    /// Commits that were read.
    commits: RefCell<HashMap<Oid, Rc<KnownCommit>>>,
    program: Program,
    known: Known,
}

/// Objects and modes of a directory's entries, by name.
type Directory = Rc<HashMap<Vec<u8>, (Oid, i32)>>;

/// A commit that was read.
struct KnownCommit {
    id: Oid,
    tree: Oid,
    parents: Vec<Oid>,
    author: String,
    message: String,
}

/// Cached answers of git about commits, and about facts that do not change while a command runs.
#[derive(Default)]
struct Known {
    /// The files of a commit, by its full id.
    trees: Memo<BTreeMap<String, TreeEntry>>,
    /// The differences between two commits as git lists them, by both full ids.
    changes: Memo<Vec<Vec<u8>>>,
    /// The remote of a partial clone.
    promisor: Memo<Option<String>>,
    /// The last output of `git status`.
    status: RefCell<Option<Vec<u8>>>,
}

/// Most answers that one cache keeps: the files of a commit of 100,000 files take about 10 MB.
const MOST: usize = 4;

/// Answers, by question.
#[derive(Default)]
struct Memo<T>(RefCell<BTreeMap<String, T>>);

impl<T: Clone> Memo<T> {
    /// Returns the known answer, or asks for it. Errors are not cached.
    fn recall(
        &self,
        question: &str,
        ask: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(answer) = self.0.borrow().get(question) {
            return Ok(answer.clone());
        }
        let answer = ask()?;
        let mut known = self.0.borrow_mut();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(question.to_owned(), answer.clone());
        Ok(answer)
    }
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Repo({})", self.root.display())
    }
}

impl Repo {
    /// The worktree's root, absolute, without symlinks.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The absolute path of a file, from its path as git writes it; `None` if the system cannot represent it.
    pub fn at(&self, path: &[u8]) -> Option<PathBuf> {
        native_path(path).map(|path| self.root.join(path))
    }

    /// This worktree's own git dir.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git dir that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Whether libgit2 reads refs as well as objects; if not, only the `git` program reads refs.
    pub fn is_open_in_libgit2(&self) -> bool {
        self.has_refs
    }

    /// `<common git dir>/cook`. This call does not create it; writers do.
    ///
    /// # Errors
    /// If it is a symlink or not a directory, or cannot be examined.
    pub fn cook_dir(&self) -> Result<PathBuf, Failure> {
        let dir = self.common_dir.join("cook");
        match crate::disk::look(&dir).at("look at", &dir)? {
            Some(found) if !found.is_dir() => {
                let what = format!("`{}` is not a directory", dir.display());
                Err(Failure::state(Code::LogUnsafe, what))
            }
            _ => Ok(dir),
        }
    }

    /// Opens the repository whose worktree holds `dir`: the nearest one at or above it, on the same file system. The
    /// environment is ignored.
    ///
    /// # Errors
    /// `not_a_repository`, `bare_repository`, `foreign_owner`, `repository_astray`, or the error that git reports.
    pub fn discover(dir: &Path) -> Result<Self, Failure> {
        let none = |dir: &Path| {
            let what = format!("there is no git repository at or above `{}`", dir.display());
            Failure::state(Code::NotARepository, what)
        };
        let start = dir.canonicalize().map_err(|cause| {
            let what = format!("`{}` cannot be opened: {cause}", dir.display());
            let failure = Failure::state(Code::NotARepository, what);
            failure.replace_hints(["name a directory that exists"])
        })?;
        let place = nearest(&start).ok_or_else(|| none(&start))?;
        // A commit can hold files that form a git directory with settings of its author's choice. It cannot hold an
        // entry named `.git`, so only such an entry may lead to a repository.
        if !holds_git(&place) {
            return Err(refuse_bare(&place));
        }
        special::check(&place)?;
        let from: [&OsStr; 0] = [];
        let opened = match Repository::open_ext(&place, RepositoryOpenFlags::NO_SEARCH, from) {
            Ok(repository) => by_libgit(repository, &place)?,
            Err(error) => by_program(&place).map_err(|refused| explain(refused, &error, &place))?,
        };
        // Only the git dir of a linked worktree, which lies below the common one, may have this file. Anywhere else it
        // redirects git, and cook, to another repository.
        let file = opened.git_dir.join("commondir");
        let is_linked = opened.git_dir.parent() == Some(&opened.common_dir.join("worktrees"));
        if !is_linked && file.symlink_metadata().is_ok() {
            let what = format!("`{}` leads to another repository", file.display());
            let failure = Failure::state(Code::RepositoryAstray, what);
            return Err(failure.replace_hints([special::look_at(&file)]));
        }
        if opened.git_dir == real(&place)? {
            return Err(refuse_bare(&place));
        }
        // `core.worktree` must not make another directory the worktree.
        if opened.root != real(&place)? {
            let (git, root) = (place.join(".git"), opened.root.display());
            let what = format!("`core.worktree` of `{}` leads to `{root}`", git.display());
            let config = git.join("config").display().to_string();
            return Err(fail_git(what).replace_hints([format!(
                "run `git config --file {} --unset core.worktree`",
                shell_words::quote(&config)
            )]));
        }
        Ok(opened)
    }
}

fn refuse_bare(place: &Path) -> Failure {
    let what = format!("`{}` is a git directory, not a worktree", place.display());
    Failure::state(Code::BareRepository, what)
}

/// The nearest directory, from `start` upwards, that holds a `.git` or is itself a git dir with another name.
fn nearest(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .take_while(|dir| same_device(start, dir))
        .find(|dir| holds_git(dir) || !dir.ends_with(".git") && is_git_dir(dir))
        .map(Path::to_owned)
}

fn holds_git(dir: &Path) -> bool {
    let git = dir.join(".git");
    git.is_file() || is_git_dir(&git)
}

#[cfg(unix)]
fn same_device(one: &Path, two: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| path.metadata().map(|found| found.dev()).ok();
    device(one) == device(two)
}

#[cfg(not(unix))]
fn same_device(_: &Path, _: &Path) -> bool {
    true
}

/// Whether git accepts this as a git dir: it has a HEAD, objects and refs. Like git, cook passes over a `.git`
/// directory that does not.
fn is_git_dir(dir: &Path) -> bool {
    dir.join("HEAD").symlink_metadata().is_ok()
        && dir.join("objects").is_dir()
        && dir.join("refs").is_dir()
}

fn by_libgit(repository: Repository, place: &Path) -> Result<Repo, Failure> {
    let root = real(repository.workdir().ok_or_else(|| refuse_bare(place))?)?;
    Ok(Repo {
        git_dir: real(repository.path())?,
        common_dir: real(repository.commondir())?,
        program: Program::at(&root),
        root,
        objects: repository,
        has_refs: true,
        directories: RefCell::default(),
        small: RefCell::default(),
        commits: RefCell::default(),
        known: Known::default(),
    })
}

/// Opens a repository whose refs libgit2 cannot read; libgit2 gets its objects only.
fn by_program(place: &Path) -> Result<Repo, Failure> {
    let git = Program::at(place);
    let ask = |what: &str| {
        let call = Call::new("rev-parse --path-format=absolute").arg(what);
        let answer = git.answer(call)?;
        Ok::<_, Failure>(answer.strip_suffix(b"\n").unwrap_or(&answer).to_owned())
    };
    let ask_path = |what: &str| real(&native_path(&ask(what)?).unwrap_or_default());
    if ask("--is-bare-repository")? == b"true" {
        return Err(refuse_bare(place));
    }
    let root = ask_path("--show-toplevel")?;
    let common_dir = ask_path("--git-common-dir")?;
    let format = git.text(Call::new("rev-parse --show-object-format"))?;
    let database = Odb::new_ext(match &*format {
        "sha256" => ObjectFormat::Sha256,
        _ => ObjectFormat::Sha1,
    })
    .or_fail()?;
    let objects = common_dir.join("objects");
    database
        .add_disk_alternate(&objects.to_string_lossy())
        .or_fail()?;
    Ok(Repo {
        git_dir: ask_path("--git-dir")?,
        objects: Repository::from_odb(database).or_fail()?,
        has_refs: false,
        directories: RefCell::default(),
        small: RefCell::default(),
        commits: RefCell::default(),
        common_dir,
        program: Program::at(&root),
        root,
        known: Known::default(),
    })
}

/// Makes one failure of the two errors, that of the `git` program and that of libgit2.
fn explain(refused: Failure, libgit: &git2::Error, place: &Path) -> Failure {
    let is_foreign = refused.message.contains("dubious ownership")
        || refused.code == Code::GitMissing && libgit.code() == ErrorCode::Owner;
    if is_foreign {
        let what = format!(
            "the repository at `{}` belongs to another user",
            place.display()
        );
        return Failure::state(Code::ForeignOwner, what).hint(format!(
            "run `git config --global --add safe.directory {}`, if you trust it",
            shell_words::quote(&place.display().to_string())
        ));
    }
    if refused.message.contains("not a git repository") {
        let git = place.join(".git");
        let what = format!("`{}` does not lead to a git repository", git.display());
        return Failure::state(Code::NotARepository, what);
    }
    refused
}

fn real(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().at("find", path)
}
