//! The sandbox of an agent's calls: which directories are its own, what of those it may not
//! write, and what it needs to be started.

use super::Preset;
use super::preset::file_failure;
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::Head;
use cook_protocol::model::{SessionNaming, SocketPath};
use cook_repo::disk::{self, Links, TemporaryDir};
use cook_repo::git::Repo;
use cook_repo::process::{is_program, on_path};
use cook_repo::room::{Agent, Authority, Bubblewrap, is_kept};
use cook_repo::session::Action;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Agents of one worktree in the sandbox.
#[derive(Debug, Clone)]
pub struct Sandbox {
    bubblewrap: Bubblewrap,
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    home: Option<PathBuf>,
    nested: Vec<PathBuf>,
    sockets: Vec<PathBuf>,
}

/// An agent's directories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directories {
    /// It may write them.
    pub writes: Vec<PathBuf>,
    /// What steers its later sessions and stands there.
    pub settings: Vec<PathBuf>,
    /// Directories that would, and are not there.
    pub absent: Vec<PathBuf>,
    /// What no sandbox keeps as it is: files that are not there, and links with where they lead.
    pub loose: Vec<(PathBuf, Option<PathBuf>)>,
}

impl Sandbox {
    /// The sandbox of a worktree's agents, who reach these sockets.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn of(
        bubblewrap: Bubblewrap,
        repo: &Repo,
        sockets: &[SocketPath],
    ) -> Result<Self, Failure> {
        let nested = repo.list_nested()?;
        Ok(Self {
            bubblewrap,
            root: repo.root().to_owned(),
            git_dir: repo.git_dir().to_owned(),
            common_dir: repo.common_dir().to_owned(),
            home: home(),
            nested: nested.iter().map(|path| repo.root().join(path)).collect(),
            sockets: sockets.iter().filter_map(find).collect(),
        })
    }

    /// Tries the arguments of an agent that may write, as this user.
    ///
    /// # Errors
    /// What bubblewrap said, and what is behind it where that is known.
    pub fn try_out(&self) -> Result<(), String> {
        let none = Directories::default();
        self.bubblewrap
            .try_agent(&self.agent(Authority::Implementer, &self.root, &none, None, &[]))
    }

    /// What an agent is started by in `dir`, for an action: this, then its own words. In `state` lie
    /// the sessions that cook names.
    pub(super) fn arguments(
        &self,
        preset: &Preset,
        action: Action,
        dir: &Path,
        state: &Path,
        directories: &Directories,
    ) -> Result<Vec<OsString>, Failure> {
        for dir in &directories.writes {
            // One that cannot be made is one that the agent cannot write either.
            let _ = std::fs::create_dir_all(dir);
        }
        let authority = match action {
            Action::Act => Authority::Implementer,
            Action::Ask => Authority::Reader {
                checkout: (dir != self.root).then_some(dir),
            },
        };
        let by_path = preset.session() == SessionNaming::Path;
        let shown = programs(preset.bin(), dir);
        let session = by_path.then_some(state);
        let agent = self.agent(authority, dir, directories, session, &shown);
        self.bubblewrap
            .agent(&agent)
            .map_err(|cause| file_failure("set the sandbox up in", dir, &cause))
    }

    fn agent<'a>(
        &'a self,
        authority: Authority<'a>,
        dir: &'a Path,
        directories: &'a Directories,
        session: Option<&'a Path>,
        shown: &'a [PathBuf],
    ) -> Agent<'a> {
        Agent {
            authority,
            dir,
            root: &self.root,
            git_dir: &self.git_dir,
            common_dir: &self.common_dir,
            home: self.home.as_deref(),
            nested: &self.nested,
            writes: &directories.writes,
            settings: &directories.settings,
            absent: &directories.absent,
            session,
            shown,
            sockets: &self.sockets,
        }
    }
}

impl Directories {
    /// Those of an agent, in this process's environment and with its own variables.
    pub(super) fn of(preset: &Preset) -> Self {
        let home = home();
        let given = &preset.table().env;
        let variable = |name: &str| match given.get(name) {
            Some(value) => Some(OsString::from(value)),
            None => std::env::var_os(name),
        };
        let mut found = Self::default();
        for directory in &preset.table().writes {
            let Some(place) = directory.place(home.as_deref(), variable) else {
                continue;
            };
            let place = place.canonicalize().unwrap_or(place);
            for name in &directory.settings {
                let path = place.join(name.trim_end_matches('/'));
                match path.symlink_metadata() {
                    Ok(_) if is_kept(&path) => found.settings.push(path),
                    Err(_) if name.ends_with('/') => found.absent.push(path),
                    _ => {
                        let target = std::fs::read_link(&path).ok();
                        found.loose.push((path, target));
                    }
                }
            }
            found.writes.push(place);
        }
        found
    }

    /// The first of them in which nothing can be made.
    pub(super) fn find_unwritable(&self) -> Option<&Path> {
        let is_shut = |place: &&PathBuf| {
            let there = place.ancestors().find(|dir| dir.symlink_metadata().is_ok());
            there.is_none_or(|dir| TemporaryDir::make_in(dir).is_err())
        };
        self.writes.iter().find(is_shut).map(PathBuf::as_path)
    }

    /// Moves settings to `keep` that the session made where nothing could be kept as it was; which.
    /// Directories that were made to stand in for absent ones go when they are empty.
    ///
    /// # Errors
    /// When one cannot be moved away.
    pub(super) fn put_back(&self, keep: &Path) -> Result<Vec<PathBuf>, Failure> {
        for dir in &self.absent {
            let _ = std::fs::remove_dir(dir);
        }
        let mut found = Vec::new();
        for (number, (path, target)) in self.loose.iter().enumerate() {
            let is_there = path.symlink_metadata().is_ok();
            let is_same = match target {
                Some(target) => std::fs::read_link(path).is_ok_and(|now| now == *target),
                None => !is_there,
            };
            if is_same {
                continue;
            }
            let failed = |cause| file_failure("put back", path, &cause);
            if is_there {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let to = keep.join(format!("settings-{number}-{name}"));
                move_file(path, &to).map_err(failed)?;
            }
            if let Some(target) = target {
                link(target, path).map_err(failed)?;
            }
            found.push(path.clone());
        }
        Ok(found)
    }
}

fn home() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    home.filter(|home| home.is_absolute())
}

/// Between file systems it is copied.
fn move_file(from: &Path, to: &Path) -> std::io::Result<()> {
    if std::fs::rename(from, to).is_ok() {
        return Ok(());
    }
    if let Ok(Some(mut file)) = disk::open_regular(from, Links::Refuse) {
        std::io::copy(&mut file, &mut std::fs::File::create_new(to)?)?;
    }
    match std::fs::symlink_metadata(from)?.is_dir() {
        true => disk::remove_tree(from),
        false => std::fs::remove_file(from),
    }
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Where a socket is that the settings give back; none where the variable is not set.
fn find(path: &SocketPath) -> Option<PathBuf> {
    let place = match path.strip_prefix('$') {
        Some(name) => PathBuf::from(std::env::var_os(name)?),
        None => PathBuf::from(&**path),
    };
    place.is_absolute().then_some(place)
}

/// What must be seen inside so that a program starts, and cook for its hooks: directories on
/// `PATH`, those of its files, and the modules around them.
fn programs(bin: &str, dir: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_its_way: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .collect();
    let program = match bin.contains('/') {
        true => Some(dir.join(bin)).filter(|path| is_program(path)),
        false => on_path(bin, &path),
    };
    let own = std::env::current_exe().ok();
    let mut shown = on_its_way;
    for file in [program, own].into_iter().flatten() {
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        shown.extend(file.parent().map(Path::to_owned));
        shown.push(around(&real));
    }
    shown.retain(|place| place.is_dir());
    shown.sort();
    shown.dedup();
    shown
}

/// The outermost directory of modules that a program's file lies in, else its own.
fn around(file: &Path) -> PathBuf {
    let is_modules = |dir: &&Path| dir.file_name().is_some_and(|name| name == "node_modules");
    let modules = file.ancestors().filter(is_modules).last();
    modules.or(file.parent()).unwrap_or(file).to_owned()
}

// What a call could change in the repository, before and after it: HEAD, all refs, and what stands
// in the worktree.

/// The repository at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    head: Head,
    refs: BTreeMap<String, String>,
    status: String,
    /// A commit of what stands in the worktree; none where git cannot make one.
    tree: Option<String>,
}

impl Surroundings {
    /// The repository now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(repo: &Repo) -> Result<Self, Failure> {
        let head = repo.head()?;
        let commit = head.commit.as_deref();
        Ok(Self {
            refs: repo.refs()?,
            status: repo.status()?.worktree.digest,
            tree: commit.and_then(|commit| repo.make_snapshot(commit).ok()),
            head,
        })
    }

    /// The commit that is checked out.
    pub fn head(&self) -> Option<&str> {
        self.head.commit.as_deref()
    }

    /// What tells the worktree from others, for a comparison much later.
    pub fn tree_digest(&self) -> String {
        self.tree.clone().unwrap_or_else(|| self.status.clone())
    }

    /// What is another now: `HEAD`, refs, and paths, those of new commits among them.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn list_changes(&self, repo: &Repo, now: &Self) -> Result<Vec<String>, Failure> {
        let mut changed = BTreeSet::new();
        if self.head != now.head {
            changed.insert("HEAD".to_owned());
        }
        let names = self.refs.keys().chain(now.refs.keys());
        let moved = names.filter(|name| self.refs.get(*name) != now.refs.get(*name));
        changed.extend(moved.cloned());
        let pairs = [
            (self.head(), now.head()),
            (self.tree.as_deref(), now.tree.as_deref()),
        ];
        for pair in pairs {
            if let (Some(before), Some(after)) = pair
                && before != after
            {
                let paths = repo.changes(Some(before), after)?.into_iter();
                changed.extend(paths.map(|change| change.path));
            }
        }
        if changed.is_empty() && self.status != now.status {
            changed.insert("the worktree".to_owned());
        }
        Ok(changed.into_iter().collect())
    }

    /// Commits that came on HEAD, oldest first.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn commits(&self, repo: &Repo, now: &Self) -> Result<Vec<String>, Failure> {
        let Some(before) = self.head() else {
            return Ok(now.head().map(str::to_owned).into_iter().collect());
        };
        let range = repo.range(&now.head, before, false)?;
        Ok(range.commits.into_iter().map(|commit| commit.id).collect())
    }
}
