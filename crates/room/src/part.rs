//! One repository's part of a commit: the repository itself, or a submodule.

use crate::RoomError;
use crate::objects::Objects;
use crate::scan::make_path_below;
use crate::shown::{Shown, TakenFrom};
use crate::source::Source;
use crate::submodule::{self, Module};
use cook_os::disk::{self, Links};
use git2::Oid;
use std::path::{Path, PathBuf};

/// Bytes of the list of commits without parents, at most.
const MAX_SHALLOW: u64 = 64 << 20;

/// One repository's part of a commit.
pub(crate) struct Part {
    /// Where its files are.
    pub root: Vec<u8>,
    pub git_dir: PathBuf,
    pub objects: Objects,
    /// Full id.
    commit: String,
    /// Where its git directory is below the room's own; none = it gets none, as git could not be told its
    /// name.
    pub below: Option<PathBuf>,
    /// Names of its submodules that are checked out.
    pub modules: Vec<String>,
    /// Where a clone gets it, where that is on this machine.
    pub place: Option<PathBuf>,
    /// A clone gets its commit without those before it.
    pub is_cut: bool,
}

/// Where the repositories of submodules lie besides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'a> {
    pub worktree: &'a Path,
    /// The worktree's own.
    pub git_dir: &'a Path,
}

impl Part {
    pub fn of_repository(source: &Source, objects: Objects) -> Self {
        Self {
            root: Vec::new(),
            git_dir: source.common.to_owned(),
            objects,
            commit: source.commit.to_owned(),
            below: Some(PathBuf::new()),
            modules: Vec::new(),
            place: None,
            is_cut: false,
        }
    }

    /// The local repository of one of its submodules that has the commit, and the commit's tree: where git
    /// keeps those of the repository and of this worktree, else in the place of the submodule's files.
    pub fn find_submodule(
        &self,
        from: Places,
        module: &Module,
        path: &[u8],
        id: Oid,
    ) -> Result<(Self, Oid), String> {
        let in_place = make_path_below(from.worktree, path).map_err(|cause| cause.to_string())?;
        let mut places = vec![submodule::git_dir(&self.git_dir, &module.name)];
        if self.root.is_empty() && from.git_dir != self.git_dir {
            places.push(submodule::git_dir(from.git_dir, &module.name));
        }
        places.push(in_place.join(".git"));
        let mut why = "it is not here: `git submodule update --init` brings it".to_owned();
        for git_dir in places {
            let dir = git_dir.join("objects");
            if !disk::is_directory(&git_dir) || !disk::is_directory(&dir) {
                continue;
            }
            let opened = Objects::open(&dir, self.objects.format());
            let objects = opened.map_err(|error| error.to_string())?;
            match objects.find_tree(id) {
                Ok(tree) => {
                    let part = Self {
                        below: self.find_place(module, path),
                        root: path.to_vec(),
                        git_dir,
                        objects,
                        commit: id.to_string(),
                        modules: Vec::new(),
                        place: None,
                        is_cut: false,
                    };
                    return Ok((part, tree));
                }
                Err(said) => why = said,
            }
        }
        Err(why)
    }

    fn find_place(&self, module: &Module, path: &[u8]) -> Option<PathBuf> {
        let path = std::str::from_utf8(path).ok()?;
        let is_plain = |text: &str| !text.contains(char::is_control);
        let above = self.below.as_ref()?;
        (is_plain(path) && is_plain(&module.name)).then(|| submodule::git_dir(above, &module.name))
    }

    /// Its `.git`; none where it gets none.
    pub fn show<'s>(
        &self,
        number: usize,
        top: &Path,
        source: &Source<'s>,
        caches: &'s [String],
    ) -> Result<Option<Shown<'s>>, RoomError> {
        let Some(below) = &self.below else {
            return Ok(None);
        };
        let is_own = number == 0;
        let from = match is_own {
            true => TakenFrom::Clone(source.git_dir),
            false => TakenFrom::Submodule {
                files: self.describe_way_to_files(below),
                place: self.place.clone(),
                is_cut: self.is_cut,
            },
        };
        let here = self.git_dir.join("objects");
        // Where all of it comes from there, it is cut off as it is there.
        let there = self.place.as_deref().filter(|_| source.alone);
        let there = there.and_then(submodule::git_dir_at);
        let shallow = there.as_deref().unwrap_or(&self.git_dir).join("shallow");
        Ok(Some(Shown {
            dir: top.join(".git").join(below),
            commit: self.commit.clone(),
            objects: source
                .objects_at
                .map_or_else(|| here.clone(), |at| at(number)),
            here,
            refs: if is_own { source.refs } else { &[] },
            caches: if is_own { caches } else { &[] },
            shallow: match self.is_cut {
                true => Some(format!("{}\n", self.commit)),
                false => disk::read_text(&shallow, MAX_SHALLOW, Links::Refuse)
                    .map_err(|cause| RoomError::io("read", &shallow, cause))?,
            },
            alone: source.alone,
            modules: self.modules.clone(),
            from,
            path: source.path,
        }))
    }

    /// From its git directory to its files.
    fn describe_way_to_files(&self, below: &Path) -> String {
        let up = "../".repeat(1 + below.components().count());
        format!("{up}{}", String::from_utf8_lossy(&self.root))
    }

    /// From its files to its git directory.
    pub fn describe_way_to_git_dir(&self) -> Option<String> {
        let below = self.below.as_ref()?.to_str()?;
        let up = "../".repeat(self.root.split(|byte| *byte == b'/').count());
        Some(format!("{up}.git/{}", below.replace('\\', "/")))
    }
}
