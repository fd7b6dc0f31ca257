//! Files in the git dir that decide how git behaves: configuration, hooks, excludes.

use super::super::cleanliness::present;
use super::super::program::fail_git;
use crate::disk::{self, AtPath, Durable, Links, Mode, NewFile, cannot};
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::sha256;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Largest file that is compared, in bytes.
const MAX_FILE: u64 = 1 << 30;

/// Largest steering file that can be restored; a larger one is only compared.
const MAX_KEPT: u64 = 4 << 20;
/// The recorded digest of something that is neither a file nor a symlink.
const NO_FILE: &str = "no file";
/// Most files below `hooks/`.
const MAX_HOOKS: usize = 500;
/// Most files below a directory in `.agent/`.
const MAX_IGNORED: usize = 20_000;

/// Files in the shared git dir. `cook/trust.json` holds what this user trusts; it steers cook rather than git.
const COMMON: [&str; 8] = [
    "config",
    "config.worktree",
    "cook/trust.json",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "objects/info/alternates",
    "shallow",
];
/// Files in the worktree's own git dir, including the links to the shared one and the id of the worktree's branch of
/// cook's log.
const OWN: [&str; 5] = [
    "commondir",
    "config.worktree",
    "cook-id",
    "gitdir",
    "info/sparse-checkout",
];
/// Those of [`OWN`] that decide which repository and which log are found; the worktree's `.git` does so too.
const LEADS: [&str; 3] = ["worktree:commondir", "worktree:cook-id", "worktree:gitdir"];
const LINK: &str = "root:.git";
/// Directories that hold such files: a link or file in the place of one redirects git.
const HOLDERS: [&str; 5] = ["hooks", "info", "modules", "objects/info", "worktree:info"];
/// Files in the git dir of a submodule or a nested repository.
const NESTED: [&str; 6] = [
    "commondir",
    "config",
    "config.worktree",
    "info/attributes",
    "info/exclude",
    "objects/info/alternates",
];
/// Most levels of nested submodules that are followed.
const DEPTH: usize = 8;

/// The state of each steering file, by its name (see [`Dirs::path`]).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Steering(pub(super) BTreeMap<String, Held>);

/// The state of one steering file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Held {
    /// SHA-256 of the content, or of the target of a symlink.
    sha256: String,
    /// Whether it is a symlink, which is compared and restored as such.
    link: bool,
    /// Permission bits, if the system has them.
    mode: u32,
    /// Whether a copy of the content is small enough to be kept.
    kept: bool,
}

/// Ignored files that are compared nevertheless.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ignored {
    /// Everything in `.agent/` except these names; `None` compares nothing there.
    pub agent_dir_but: Option<BTreeSet<String>>,
    /// Paths of files in the worktree.
    pub files: BTreeSet<String>,
}

/// Where the steering files are: the worktree, the shared git dir, the worktree's own one, and nested repositories.
pub(super) struct Dirs<'a> {
    pub(super) root: &'a Path,
    pub(super) common: &'a Path,
    pub(super) own: &'a Path,
    pub(super) nested: BTreeSet<String>,
    pub(super) ignored: &'a Ignored,
}

impl Dirs<'_> {
    pub(super) fn path(&self, name: &str) -> PathBuf {
        match name.split_once(':') {
            Some(("worktree", own)) => self.own.join(own),
            Some(("root" | "ignored", below)) => self.root.join(below),
            _ => self.common.join(name),
        }
    }

    fn names(&self) -> Result<Vec<String>, Failure> {
        let mut names: Vec<String> = COMMON.iter().map(|name| (*name).to_owned()).collect();
        let own = OWN.iter().filter(|name| {
            // In the main worktree both are the same directory.
            self.own != self.common || !COMMON.contains(name)
        });
        names.extend(own.map(|name| format!("worktree:{name}")));
        if self
            .root
            .join(".git")
            .symlink_metadata()
            .is_ok_and(|found| !found.is_dir())
        {
            names.push(LINK.to_owned());
        }
        names.extend(self.stand_ins().map(str::to_owned));
        self.list_files_below("hooks", MAX_HOOKS, &mut names)?;
        self.modules("modules", DEPTH, &mut names)?;
        for path in &self.nested {
            let git = format!("root:{path}/.git");
            match self.path(&git).symlink_metadata() {
                Ok(found) if found.is_dir() => self.repository(&git, &mut names)?,
                // The `.git` file that is or was there.
                _ => names.push(git),
            }
        }
        names.extend(
            self.ignored
                .files
                .iter()
                .map(|path| format!("ignored:{path}")),
        );
        if let Some(but) = &self.ignored.agent_dir_but {
            let dir = "ignored:.agent";
            for (name, is_dir) in self.entries(dir)? {
                match is_dir {
                    _ if but.contains(&name[dir.len() + 1..]) => {}
                    true => self.list_files_below(&name, MAX_IGNORED, &mut names)?,
                    false => names.push(name),
                }
            }
        }
        Ok(names)
    }

    /// Those of [`HOLDERS`] that exist and are not directories.
    fn stand_ins(&self) -> impl Iterator<Item = &'static str> {
        let holders = HOLDERS.into_iter().filter(|name| {
            // In the main worktree both are the same directory.
            self.own != self.common || !name.starts_with("worktree:")
        });
        holders.filter(|name| {
            let found = self.path(name).symlink_metadata();
            found.is_ok_and(|found| !found.is_dir())
        })
    }

    /// The state of the links and files in place of these directories, with copies of their content.
    pub(super) fn read_stand_ins(&self, keep: &Path) -> Result<Steering, Failure> {
        let names = self.stand_ins().map(str::to_owned).collect();
        self.read_named(names, Some(keep))
    }

    /// Lists the files of a directory and its subdirectories.
    pub(super) fn list_files_below(
        &self,
        dir: &str,
        at_most: usize,
        names: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let most = names.len() + at_most;
        let mut waiting = vec![dir.to_owned()];
        while let Some(dir) = waiting.pop() {
            for (name, is_dir) in self.entries(&dir)? {
                match is_dir {
                    true => waiting.push(name),
                    false => names.push(name),
                }
                if names.len() > most {
                    return Err(fail_git(format!(
                        "`{}` holds more than {at_most} files",
                        self.path(&dir).display()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Lists the files in the git dirs of submodules, whose names may have several components.
    fn modules(&self, dir: &str, depth: usize, names: &mut Vec<String>) -> Result<(), Failure> {
        if depth == 0 {
            return Ok(());
        }
        for (name, _) in self.entries(dir)?.into_iter().filter(|(_, is_dir)| *is_dir) {
            if self.path(&name).join("HEAD").symlink_metadata().is_err() {
                self.modules(&name, depth - 1, names)?;
                continue;
            }
            self.repository(&name, names)?;
            self.modules(&format!("{name}/modules"), depth - 1, names)?;
        }
        Ok(())
    }

    fn repository(&self, dir: &str, names: &mut Vec<String>) -> Result<(), Failure> {
        names.extend(NESTED.iter().map(|name| format!("{dir}/{name}")));
        self.list_files_below(&format!("{dir}/hooks"), MAX_HOOKS, names)
    }

    /// The entries of a directory, and whether each is a directory itself; none if `dir` is not a directory. git reads
    /// no file whose name is not UTF-8.
    fn entries(&self, dir: &str) -> Result<Vec<(String, bool)>, Failure> {
        let path = self.path(dir);
        let names = disk::list_names(&path).at("read", &path)?.into_iter();
        let found = names.map(|name| {
            let is_dir = disk::is_directory(&path.join(&name));
            (format!("{dir}/{name}"), is_dir)
        });
        Ok(found.collect())
    }

    /// The current state of the files that lead to the repository.
    pub(super) fn read_leads(&self, keep: &Path) -> Result<Steering, Failure> {
        let names = LEADS.into_iter().chain([LINK]).map(str::to_owned);
        let mut found = self.read_named(names.collect(), Some(keep))?;
        // What is neither a file nor a symlink leads nowhere.
        found.0.retain(|_, held| held.sha256 != NO_FILE);
        Ok(found)
    }

    /// The current state of all steering files; with `keep`, their content is copied there by digest.
    pub(super) fn read(&self, keep: Option<&Path>) -> Result<Steering, Failure> {
        self.read_named(self.names()?, keep)
    }

    pub(super) fn read_named(
        &self,
        names: Vec<String>,
        keep: Option<&Path>,
    ) -> Result<Steering, Failure> {
        let held = |name: String| {
            let held = self.hold(&name, keep).transpose()?;
            Some(held.map(|held| (name, held)))
        };
        let found = names.into_iter().filter_map(held);
        Ok(Steering(found.collect::<Result<_, _>>()?))
    }

    fn hold(&self, name: &str, keep: Option<&Path>) -> Result<Option<Held>, Failure> {
        let path = self.path(name);
        let failed = |error| cannot("read", &path, error);
        let Some(found) = present(&path).map_err(failed)? else {
            return Ok(None);
        };
        if !found.is_symlink() && !found.is_file() {
            return Ok(Some(Held {
                sha256: NO_FILE.to_owned(),
                link: false,
                mode: 0,
                kept: false,
            }));
        }
        let bytes = if found.is_symlink() {
            let target = std::fs::read_link(&path).map_err(failed)?;
            target.as_os_str().as_encoded_bytes().to_vec()
        } else {
            disk::read_present(&path, MAX_FILE, Links::Refuse).map_err(failed)?
        };
        let sha256 = sha256(&bytes);
        let kept = bytes.len() as u64 <= MAX_KEPT;
        if let Some(dir) = keep.filter(|_| kept) {
            let copy = dir.join(&sha256);
            std::fs::write(&copy, &bytes).at("write", &copy)?;
        }
        Ok(Some(Held {
            sha256,
            link: found.is_symlink(),
            mode: disk::permission_bits(&found) & 0o7777,
            kept,
        }))
    }

    /// Restores one file, if its content was kept.
    pub(super) fn put_back(
        &self,
        name: &str,
        held: Option<&Held>,
        keep: &Path,
    ) -> Result<(), Failure> {
        let path = self.path(name);
        let failed = |error| cannot("put back", &path, error);
        // A write through a symlink would end up elsewhere.
        let mut above = path.ancestors().skip(1).take_while(|dir| *dir != self.root);
        if name.starts_with("ignored:") && above.any(Path::is_symlink) {
            return Ok(());
        }
        let Some(held) = held else {
            disk::remove_file(&path).map_err(failed)?;
            return match HOLDERS.contains(&name) {
                true => std::fs::create_dir_all(&path).map_err(failed),
                false => Ok(()),
            };
        };
        if !held.kept {
            return Ok(());
        }
        let copy = keep.join(&held.sha256);
        let bytes = disk::read_present(&copy, MAX_FILE, Links::Refuse).at("read", &copy)?;
        let dir = path.parent().unwrap_or(self.common);
        std::fs::create_dir_all(dir).map_err(failed)?;
        if disk::is_directory(&path) {
            disk::remove_tree(&path).map_err(failed)?;
        }
        match held.link {
            true => put_link(&path, &bytes).map_err(failed),
            false => NewFile::at(&path, Durable::Content)
                .mode(Mode::Exact(held.mode))
                .write(&bytes)
                .map_err(failed),
        }
    }
}

impl Steering {
    /// The files whose names are wanted.
    pub(super) fn only(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let mut only = self.clone();
        only.0.retain(|name, _| wanted(name));
        only
    }

    /// The copy of a file's content that [`Dirs::read`] made.
    pub(super) fn find_copy(&self, name: &str, copies: &Path) -> Option<PathBuf> {
        let held = self.0.get(name).filter(|held| held.kept)?;
        Some(copies.join(&held.sha256))
    }
}

/// Whether the file leads to the repository.
pub(super) fn is_lead(name: &str) -> bool {
    LEADS.contains(&name) || name == LINK
}

/// Whether the file belongs to a nested repository of the worktree.
pub(super) fn is_nested(name: &str) -> bool {
    name.starts_with("root:") && name != LINK
}

/// The names whose values differ between two maps, sorted.
pub(super) fn differing<'m, T: PartialEq>(
    one: &'m BTreeMap<String, T>,
    two: &'m BTreeMap<String, T>,
) -> impl Iterator<Item = &'m String> {
    let names: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
    names
        .into_iter()
        .filter(|name| one.get(*name) != two.get(*name))
}

/// Restores a symlink; does nothing on systems without them.
fn put_link(path: &Path, target: &[u8]) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    disk::remove_file(path)?;
    disk::link(&disk::native_path(target).unwrap_or_default(), path)
}
