//! Facts about the user's repository: HEAD, ancestry, commits and their trailers,
//! changed paths, cleanliness.
//!
//! Invariants: the variables that point git elsewhere are never honoured;
//! discovery stops at the worktree it starts in; libgit2 reads objects, and refs where it knows their
//! format, as the `git` program does where it does not; cleanliness always comes from the program. What writes: [`Repo::commit_paths`], the throwaway
//! worktrees under `<git dir>/cook`, copies elsewhere, putting a [`Baseline`] back, parking changes, moving the branch
//! back while its commits and changes are kept, and removing locks whose owner is gone.

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

/// The trailer by which a commit says which slice it belongs to.
pub const SLICE_TRAILER: &str = "Cook-Slice";
/// Where parked changes stand: stashes, one a ref.
pub const PARKED_REFS: &str = "refs/cook/parked/";
/// Where refs are kept that were put back.
pub const RESCUED_REFS: &str = "refs/cook/rescue/";
/// Where copies of the user's files are that a log held which is removed.
const SAVED_REFS: &str = "refs/cook/saved/";
/// Where the refs are that hold what a baseline names.
const PIN_REFS: &str = "refs/cook/watch/";

/// A repository with a worktree.
pub struct Repo {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    objects: Repository,
    /// libgit2 can tell refs too.
    has_refs: bool,
    /// Large directories that were looked into last.
    directories: RefCell<VecDeque<(Oid, Directory)>>,
    /// Commits and directories that are not too large to be read.
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

/// What git said about commits, and about what does not change while a command runs.
#[derive(Default)]
struct Known {
    /// Files, by a commit's full id.
    trees: Memo<BTreeMap<String, TreeEntry>>,
    /// What git says of two commits' differences, by their full ids.
    changes: Memo<Vec<Vec<u8>>>,
    /// The remote of a partial clone.
    promisor: Memo<Option<String>>,
    /// What `git status` said last.
    status: RefCell<Option<Vec<u8>>>,
}

/// Answers that are kept of each question: a commit of 100,000 files takes about 10 MB.
const MOST: usize = 4;

/// Answers by what was asked.
#[derive(Default)]
struct Memo<T>(RefCell<BTreeMap<String, T>>);

impl<T: Clone> Memo<T> {
    /// The answer, asked for where it is not known. An error is asked again.
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

    /// A file by its path as git writes it; none where the system has no such names.
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

    /// True when libgit2 answers for refs as well as objects, false when only the program does.
    pub fn is_open_in_libgit2(&self) -> bool {
        self.has_refs
    }

    /// `<common git dir>/cook`, not made: whoever writes there makes it.
    ///
    /// # Errors
    /// When it is a symlink or no directory, or cannot be looked at.
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

    /// Opens the repository whose worktree holds `dir`: from there upwards to the first one, on one file system,
    /// whatever the environment says.
    ///
    /// # Errors
    /// `not_a_repository`, `bare_repository`, `foreign_owner`, or what git says.
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
        // Whoever tracks files may track a git directory among them, with settings of theirs: only
        // what no commit can hold, an entry named `.git`, leads to one.
        if !holds_git(&place) {
            return Err(refuse_bare(&place));
        }
        special::check(&place)?;
        let from: [&OsStr; 0] = [];
        let opened = match Repository::open_ext(&place, RepositoryOpenFlags::NO_SEARCH, from) {
            Ok(repository) => by_libgit(repository, &place)?,
            Err(error) => by_program(&place).map_err(|refused| explain(refused, &error, &place))?,
        };
        // Only a linked worktree's git dir, below the one it shares, says where that is: in any other
        // the file makes git, and cook, look at another repository.
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
        // A setting of a repository's own does not make another directory its worktree.
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

/// The first directory upwards that holds a `.git`, or that is a git dir of another name.
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

/// As git tells: a directory with a HEAD, objects and refs. Another `.git` directory
/// is passed over, as git does.
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

/// With the objects alone of a repository whose refs libgit2 cannot read.
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

/// Which of the two refusals says what is wrong.
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
