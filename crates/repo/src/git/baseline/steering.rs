//! Files in the git dir that decide what git does: configuration, hooks, excludes.

use super::super::cleanliness::present;
use super::super::program::fail_git;
use crate::disk::{self, AtPath, Durable, Links, Mode, NewFile, cannot};
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::sha256;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of one file that is looked at.
const MAX_FILE: u64 = 1 << 30;

/// Largest steering file that can be put back; a larger one is only compared.
const MAX_KEPT: u64 = 4 << 20;
/// What stands for the content of what is no file.
const NO_FILE: &str = "no file";
/// Files below `hooks/`.
const MAX_HOOKS: usize = 500;
/// Files below a directory in `.agent/`.
const MAX_IGNORED: usize = 20_000;

/// In the shared git dir; what this user trusts is none of git's and steers cook.
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
/// In the worktree's own git dir: what leads to the shared one among it, and which branch of
/// cook's log is this worktree's.
const OWN: [&str; 5] = [
    "commondir",
    "config.worktree",
    "cook-id",
    "gitdir",
    "info/sparse-checkout",
];
/// Of those, what decides which repository is found at all, and which log; with the worktree's
/// `.git`.
const LEADS: [&str; 3] = ["worktree:commondir", "worktree:cook-id", "worktree:gitdir"];
const LINK: &str = "root:.git";
/// Directories that hold such files: what stands in the place of one leads git elsewhere.
const HOLDERS: [&str; 5] = ["hooks", "info", "modules", "objects/info", "worktree:info"];
/// In the git dir of a submodule or a repository of its own.
const NESTED: [&str; 6] = [
    "commondir",
    "config",
    "config.worktree",
    "info/attributes",
    "info/exclude",
    "objects/info/alternates",
];
/// How deep submodules of submodules are followed.
const DEPTH: usize = 8;

/// What each steering file held, by its path below the git dir.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Steering(pub(super) BTreeMap<String, Held>);

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Held {
    /// SHA-256 of the bytes, of the target for a symlink.
    sha256: String,
    /// A symlink, which is compared and put back as one.
    link: bool,
    /// Permission bits where the system has them.
    mode: u32,
    /// The bytes were kept.
    kept: bool,
}

/// Ignored files that are compared all the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ignored {
    /// Of `.agent/` everything but these names in it; none = nothing.
    pub agent_dir_but: Option<BTreeSet<String>>,
    /// Files of the worktree, by path.
    pub files: BTreeSet<String>,
}

/// Where the files lie: the worktree, the shared git dir and its own, and the repositories in it.
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
            // Of the first worktree both are one directory.
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
                // Its file, where it was or is one.
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

    /// Of [`HOLDERS`] those that are no directory: links, and files.
    fn stand_ins(&self) -> impl Iterator<Item = &'static str> {
        let holders = HOLDERS.into_iter().filter(|name| {
            // Of the first worktree both are one directory.
            self.own != self.common || !name.starts_with("worktree:")
        });
        holders.filter(|name| {
            let found = self.path(name).symlink_metadata();
            found.is_ok_and(|found| !found.is_dir())
        })
    }

    /// What stands in the place of directories, with its bytes kept.
    pub(super) fn read_stand_ins(&self, keep: &Path) -> Result<Steering, Failure> {
        let names = self.stand_ins().map(str::to_owned).collect();
        self.read_named(names, Some(keep))
    }

    /// Files of a directory and of those in it.
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

    /// Git dirs of submodules, whose names may have directories.
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

    /// What lies in a directory, and whether that is one; nothing where it is none. Names that
    /// are not text are none that git reads.
    fn entries(&self, dir: &str) -> Result<Vec<(String, bool)>, Failure> {
        let path = self.path(dir);
        let names = disk::list_names(&path).at("read", &path)?.into_iter();
        let found = names.map(|name| {
            let is_dir = disk::is_directory(&path.join(&name));
            (format!("{dir}/{name}"), is_dir)
        });
        Ok(found.collect())
    }

    /// What leads to the repository, as it is now.
    pub(super) fn read_leads(&self, keep: &Path) -> Result<Steering, Failure> {
        let names = LEADS.into_iter().chain([LINK]).map(str::to_owned);
        let mut found = self.read_named(names.collect(), Some(keep))?;
        // Neither a file nor a link leads anywhere.
        found.0.retain(|_, held| held.sha256 != NO_FILE);
        Ok(found)
    }

    /// What the files hold now; with `keep`, their bytes are copied there by digest.
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

    /// Writes one file as it was, where its bytes were kept.
    pub(super) fn put_back(
        &self,
        name: &str,
        held: Option<&Held>,
        keep: &Path,
    ) -> Result<(), Failure> {
        let path = self.path(name);
        let failed = |error| cannot("put back", &path, error);
        // Through a link it would be written somewhere else.
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
    /// Those of these files.
    pub(super) fn only(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let mut only = self.clone();
        only.0.retain(|name, _| wanted(name));
        only
    }

    /// Where [`Dirs::read`] left the bytes of a file.
    pub(super) fn find_copy(&self, name: &str, copies: &Path) -> Option<PathBuf> {
        let held = self.0.get(name).filter(|held| held.kept)?;
        Some(copies.join(&held.sha256))
    }
}

/// It leads to the repository.
pub(super) fn is_lead(name: &str) -> bool {
    LEADS.contains(&name) || name == LINK
}

/// It lies in a repository of its own in the worktree.
pub(super) fn is_nested(name: &str) -> bool {
    name.starts_with("root:") && name != LINK
}

/// The names under which two maps do not hold the same, sorted.
pub(super) fn differing<'m, T: PartialEq>(
    one: &'m BTreeMap<String, T>,
    two: &'m BTreeMap<String, T>,
) -> impl Iterator<Item = &'m String> {
    let names: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
    names
        .into_iter()
        .filter(|name| one.get(*name) != two.get(*name))
}

/// Nothing where the system has no such links.
fn put_link(path: &Path, target: &[u8]) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    disk::remove_file(path)?;
    disk::link(&disk::native_path(target).unwrap_or_default(), path)
}
