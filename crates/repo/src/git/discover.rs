//! Finding the repository: from a directory upwards to the first worktree, on one
//! file system, whatever the environment says.

use super::error::AtPath;
use super::libgit::Libgit;
use super::memo::Known;
use super::program::{Call, Program};
use super::{Repo, RepoError, special};
use cook_protocol::diagnostic::Failure;
use git2::{ErrorCode, ObjectFormat, Repository, RepositoryOpenFlags};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

impl Repo {
    /// Opens the repository whose worktree holds `dir`.
    ///
    /// # Errors
    /// `not_a_repository`, `bare_repository`, `foreign_owner`, or what git says.
    pub fn discover(dir: &Path) -> Result<Self, Failure> {
        Ok(discover(dir)?)
    }
}

fn discover(dir: &Path) -> Result<Repo, RepoError> {
    let start = dir
        .canonicalize()
        .map_err(|_| RepoError::NotARepository(dir.to_owned()))?;
    let place = nearest(&start).ok_or(RepoError::NotARepository(start))?;
    // Whoever tracks files may track a git directory among them, with settings of theirs: only
    // what no commit can hold, an entry named `.git`, leads to one.
    if !holds_git(&place) {
        return Err(RepoError::Bare(place));
    }
    special::check(&place)?;
    let none: [&OsStr; 0] = [];
    let opened = match Repository::open_ext(&place, RepositoryOpenFlags::NO_SEARCH, none) {
        Ok(repository) => by_libgit(repository, &place)?,
        Err(error) => by_program(&place).map_err(|refused| explain(refused, &error, &place))?,
    };
    is_led_astray(&opened)?;
    if opened.git_dir == real(&place)? {
        return Err(RepoError::Bare(place));
    }
    // A setting of a repository's own does not make another directory its worktree.
    if opened.root != real(&place)? {
        return Err(RepoError::Elsewhere(place.join(".git"), opened.root));
    }
    Ok(opened)
}

/// Only a linked worktree's git dir, below the one it shares, says where that is: in any other
/// the file makes git, and cook, look at another repository.
fn is_led_astray(repo: &Repo) -> Result<(), RepoError> {
    let file = repo.git_dir.join("commondir");
    let is_linked = repo.git_dir.parent() == Some(&repo.common_dir.join("worktrees"));
    match is_linked || file.symlink_metadata().is_err() {
        true => Ok(()),
        false => Err(RepoError::Astray(file)),
    }
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

fn by_libgit(repository: Repository, place: &Path) -> Result<Repo, RepoError> {
    let root = repository
        .workdir()
        .ok_or_else(|| RepoError::Bare(place.to_owned()))?;
    Ok(Repo {
        root: real(root)?,
        git_dir: real(repository.path())?,
        common_dir: real(repository.commondir())?,
        program: Program::at(&real(root)?),
        objects: Libgit::new(repository),
        known: Known::default(),
    })
}

fn by_program(place: &Path) -> Result<Repo, RepoError> {
    let git = Program::at(place);
    let ask = |what: &str| {
        let call = Call::new("rev-parse --path-format=absolute").arg(what);
        let answer = git.answer(call)?;
        let answer = answer.strip_suffix(b"\n").unwrap_or(&answer).to_owned();
        Ok::<_, RepoError>(answer)
    };
    if ask("--is-bare-repository")? == b"true" {
        return Err(RepoError::Bare(place.to_owned()));
    }
    let root = real(&bytes_path(ask("--show-toplevel")?))?;
    let common_dir = real(&bytes_path(ask("--git-common-dir")?))?;
    let format = git.text(Call::new("rev-parse --show-object-format"))?;
    let format = match &*format {
        "sha256" => ObjectFormat::Sha256,
        _ => ObjectFormat::Sha1,
    };
    Ok(Repo {
        git_dir: real(&bytes_path(ask("--git-dir")?))?,
        objects: Libgit::of_objects(&common_dir.join("objects"), format)?,
        common_dir,
        program: Program::at(&root),
        root,
        known: Known::default(),
    })
}

/// Which of the two refusals says what is wrong.
fn explain(refused: RepoError, libgit: &git2::Error, place: &Path) -> RepoError {
    match refused {
        RepoError::Git { said, .. } if said.contains("dubious ownership") => {
            RepoError::ForeignOwner(place.to_owned())
        }
        RepoError::Git { said, .. } if said.contains("not a git repository") => {
            RepoError::Broken(place.join(".git"))
        }
        RepoError::GitMissing if libgit.code() == ErrorCode::Owner => {
            RepoError::ForeignOwner(place.to_owned())
        }
        other => other,
    }
}

fn real(path: &Path) -> Result<PathBuf, RepoError> {
    path.canonicalize().at("find", path)
}

#[cfg(unix)]
fn bytes_path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn bytes_path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}
