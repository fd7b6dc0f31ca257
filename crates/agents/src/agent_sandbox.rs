//! The sandbox of an agent's calls: the agent's own directories, the files in them that it may not write, and the files
//! that it needs to start.

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

/// The sandbox for the agents of one worktree.
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
    /// Directories that it may write.
    pub writes: Vec<PathBuf>,
    /// Existing files and directories that configure its later sessions.
    pub settings: Vec<PathBuf>,
    /// Directories that would configure its later sessions, but do not exist.
    pub absent: Vec<PathBuf>,
    /// Paths of settings that a sandbox cannot protect: missing files, and links with their targets.
    pub loose: Vec<(PathBuf, Option<PathBuf>)>,
}

impl Sandbox {
    /// The sandbox for the agents of a worktree, with access to these sockets.
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

    /// Starts a sandbox with the arguments for an agent that may write.
    ///
    /// # Errors
    /// The message of bubblewrap, with the cause if it is known.
    pub fn try_out(&self) -> Result<(), String> {
        let none = Directories::default();
        self.bubblewrap
            .try_agent(&self.agent(Authority::Implementer, &self.root, &none, None, &[]))
    }

    /// The words that precede an agent's command in `dir`, for an action. `state` holds the sessions whose path cook
    /// chooses.
    pub(super) fn arguments(
        &self,
        preset: &Preset,
        action: Action,
        dir: &Path,
        state: &Path,
        directories: &Directories,
    ) -> Result<Vec<OsString>, Failure> {
        for dir in &directories.writes {
            // If it cannot be created, the agent cannot write it either.
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
    /// The directories of an agent, by this process's environment and the preset's variables.
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

    /// The first writable directory in which no file can be created.
    pub(super) fn find_unwritable(&self) -> Option<&Path> {
        let is_shut = |place: &&PathBuf| {
            let there = place.ancestors().find(|dir| dir.symlink_metadata().is_ok());
            there.is_none_or(|dir| TemporaryDir::make_in(dir).is_err())
        };
        self.writes.iter().find(is_shut).map(PathBuf::as_path)
    }

    /// Moves settings that the session created at unprotected paths to `keep`, and returns their paths. Empty
    /// directories that the sandbox created as mount points are removed.
    ///
    /// # Errors
    /// When a file cannot be moved or a link cannot be restored.
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

/// Moves a file; copies it if it is on another file system.
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

/// The path of a socket from the settings; `None` if its variable is not set or the path is relative.
fn find(path: &SocketPath) -> Option<PathBuf> {
    let place = match path.strip_prefix('$') {
        Some(name) => PathBuf::from(std::env::var_os(name)?),
        None => PathBuf::from(&**path),
    };
    place.is_absolute().then_some(place)
}

/// Directories that must be visible so that a program starts, and cook for its hooks: those on `PATH`, those of the
/// program's files, and the module directories around them.
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

/// The outermost `node_modules` that contains a program's file, otherwise the file's directory.
fn around(file: &Path) -> PathBuf {
    let is_modules = |dir: &&Path| dir.file_name().is_some_and(|name| name == "node_modules");
    let modules = file.ancestors().filter(is_modules).last();
    modules.or(file.parent()).unwrap_or(file).to_owned()
}

// The state of the repository before and after a call: HEAD, all refs, and the worktree.

/// The state of the repository at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    head: Head,
    refs: BTreeMap<String, String>,
    status: String,
    /// A commit of the worktree's content; `None` if git cannot make one.
    tree: Option<String>,
}

impl Surroundings {
    /// The current state of the repository.
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

    /// The commit of HEAD.
    pub fn head(&self) -> Option<&str> {
        self.head.commit.as_deref()
    }

    /// A digest of the worktree, for a later comparison.
    pub fn tree_digest(&self) -> String {
        self.tree.clone().unwrap_or_else(|| self.status.clone())
    }

    /// Everything that changed since: `HEAD`, refs, and paths, including those in new commits.
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

    /// The commits that were added to HEAD, oldest first.
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
