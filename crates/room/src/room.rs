//! A room: who has it, what it is filled from, and what it holds then.

use crate::RoomError;
use crate::error::AtPath;
use crate::fill::Filling;
use crate::index::Stat;
use crate::repository::{Repository, TakenFrom};
use crate::rooms;
use crate::scan::CachePaths;
use cook_core::model::Caches;
use cook_os::disk::{self, Durable, NewFile};
use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Rooms that one worktree may have at once.
const ROOMS: usize = 64;

/// How long a room is waited for that is in use: a child that is just being started holds what its
/// parent held for a moment, and another room would have to be built in anew.
const WAIT: Duration = Duration::from_millis(100);

/// Where a commit comes from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The common git directory.
    pub common: &'a Path,
    /// The worktree's own git directory: whoever clones the worktree is sent what this shows.
    pub git_dir: &'a Path,
    /// The worktree; a submodule's repository may lie in it.
    pub worktree: &'a Path,
    /// Full id of the commit.
    pub commit: &'a str,
    /// Names and ids of the repository's refs. Tags are shown; where it is `alone`, what the others
    /// lead to must be there too: a clone asks for all of it.
    pub refs: &'a [(String, String)],
    /// Where what runs in the room finds the objects of the repository, which is 0, and of each submodule
    /// that it holds; none = where they are.
    pub objects_at: Option<fn(usize) -> PathBuf>,
    /// A `.git` shows the commit and its history.
    pub history: bool,
    /// That `.git` holds what a clone would, and reaches no other object. Where it is not shown, a clone
    /// can be made nonetheless.
    pub alone: bool,
    /// Where git is found.
    pub path: &'a OsStr,
}

impl<'a> Source<'a> {
    /// The repository itself.
    pub(crate) fn repository(&self, caches: &'a [String]) -> Result<Repository<'a>, RoomError> {
        if self.common.to_str().is_none() {
            return Err(RoomError::NotUtf8(self.common.to_owned()));
        }
        let read = Repository::read(self.common, self.commit, self);
        let read = read.map_err(|why| RoomError::NotReproducible {
            commit: self.commit.to_owned(),
            why,
        })?;
        Ok(Repository {
            objects_at: self.objects_at.map(|at| at(0)),
            refs: self.refs,
            caches,
            from: TakenFrom::Clone(self.git_dir.to_owned()),
            ..read
        })
    }
}

/// What filling a room brought.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Filled {
    /// The commit's tree.
    pub tree: String,
    /// Files of the commit, those of submodules among them.
    pub files: usize,
    /// Files that were written.
    pub written: usize,
    /// Files and directories that were removed.
    pub removed: usize,
    /// What the commit names and nobody who has its objects alone can have.
    pub lacking: Vec<Lacking>,
    /// Links that lead out of the commit, by path, with where they end.
    pub leading_out: Vec<(String, PathBuf)>,
    /// What is here and may be otherwise in a clone.
    pub remarks: Vec<String>,
    /// Directories of objects of the submodules in it, in the order of their numbers.
    pub submodules: Vec<PathBuf>,
    /// The files as they were left, and the directories that hold them.
    pub(crate) stats: Vec<(PathBuf, Stat)>,
    pub(crate) dirs: Vec<PathBuf>,
}

/// Something that the commit names and that is not here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    /// The path.
    pub path: String,
    /// What is missing.
    pub why: String,
}

/// A room, locked for as long as this value lives. One without anything of runs before is removed
/// with it.
#[derive(Debug)]
pub struct Room {
    dir: PathBuf,
    top: PathBuf,
    caches: Caches,
    /// The commit whose history can be cloned, where it is not shown.
    held: RefCell<String>,
    _lock: File,
}

impl Room {
    /// The first room of a worktree that nobody is in; of those that begin empty the last, so that
    /// what the others keep stays. The path of the first is the same each time, because what is
    /// built there may hold it; so what runs there in a sandbox, which shows it elsewhere, has rooms
    /// of its own. `name` is the last part of that path; tools take it for the project's name.
    ///
    /// # Errors
    /// When no room can be made.
    pub fn open(
        rooms: &Path,
        worktree: &Path,
        name: &str,
        caches: Caches,
        sandboxed: bool,
    ) -> Result<Self, RoomError> {
        fs::create_dir_all(rooms).at("make", rooms)?;
        for number in 0..ROOMS {
            let number = match caches {
                Caches::Kept => number,
                Caches::Empty => ROOMS - 1 - number,
            };
            let dir = rooms.join(format!("{}-{number}", make_key(worktree, sandboxed)));
            let Some(lock) = rooms::take(&dir, WAIT)? else {
                continue;
            };
            let room = Self {
                top: dir.join("src").join(plain(name)),
                dir,
                caches,
                held: RefCell::default(),
                _lock: lock,
            };
            if caches == Caches::Empty {
                room.remove()?;
            }
            let is_new = !room.top.exists();
            room.make(worktree)?;
            if is_new {
                rooms::remove_abandoned(rooms);
            }
            return Ok(room);
        }
        let cause = std::io::Error::other(format!("{ROOMS} of them are in use"));
        Err(RoomError::io("find a room in", rooms, cause))
    }

    /// What was there of runs before when it was opened.
    pub fn caches(&self) -> Caches {
        self.caches
    }

    /// A file of the room's own, outside of what runs there.
    pub fn note(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Where the commit's files are.
    pub fn path(&self) -> &Path {
        &self.top
    }

    /// The home of what runs there; kept from run to run.
    pub fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    /// For files that nobody needs afterwards.
    pub fn scratch(&self) -> PathBuf {
        self.dir.join("tmp")
    }

    /// Makes it hold the commit's files, named caches and nothing else.
    ///
    /// # Errors
    /// When the commit cannot be had whole; the room is then not to be used.
    pub fn fill(&self, source: &Source, caches: &[String]) -> Result<Filled, RoomError> {
        // No clone is told to pass over caches; where some were kept, they are not the commit's doing.
        let passed_over = match self.caches {
            Caches::Kept => caches,
            Caches::Empty => &[],
        };
        let filling = Filling {
            dir: &self.dir,
            top: &self.top,
            source,
            caches: CachePaths::of(caches),
            is_held: *self.held.borrow() == source.commit,
            filled: Filled::default(),
        };
        let filled = filling.fill(passed_over)?;
        if source.alone {
            *self.held.borrow_mut() = source.commit.to_owned();
        }
        Ok(filled)
    }

    /// A file of the commit that somebody changed since the room was filled.
    pub fn find_changed(&self, filled: &Filled) -> Option<String> {
        filled.find_changed(&self.top)
    }

    fn remove(&self) -> Result<(), RoomError> {
        disk::remove_tree(&self.dir).at("remove", &self.dir)
    }

    fn make(&self, worktree: &Path) -> Result<(), RoomError> {
        let scratch = self.scratch();
        disk::remove_tree(&scratch).at("remove", &scratch)?;
        for dir in [&self.top, &self.home(), &scratch] {
            fs::create_dir_all(dir).at("make", dir)?;
        }
        let place = self.note(rooms::OWNER);
        NewFile::at(&place, Durable::Nothing)
            .write(worktree.as_os_str().as_encoded_bytes())
            .at("write", &place)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.caches == Caches::Empty {
            // What is left is removed when the room is taken again.
            let _ = self.remove();
        }
    }
}

/// The part of a room's name that stands for its worktree.
fn make_key(worktree: &Path, sandboxed: bool) -> String {
    let path = worktree.as_os_str().as_encoded_bytes();
    let digest = cook_core::digest::sha256([path, &[0, sandboxed.into()]].concat());
    digest[..rooms::KEY].to_owned()
}

/// A directory's name that no tool stumbles over.
fn plain(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
            _ => '-',
        })
        .collect();
    match plain.trim_matches('.') {
        "" | "git" => "project".to_owned(),
        name => name.to_owned(),
    }
}
