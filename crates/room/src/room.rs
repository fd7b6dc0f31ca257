//! Where rooms are, who has one, and how one is filled.

use crate::RoomError;
use crate::fill::{Filled, Filling};
use crate::git_dir::{self, Shown};
use crate::objects::Objects;
use cook_os::disk;
use git2::ObjectFormat;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Rooms that one worktree may have at once.
const ROOMS: usize = 64;

/// How long a room is waited for that is in use: a child that is just being started holds what its
/// parent held for a moment, and another room would have to be built in anew.
const WAIT: Duration = Duration::from_millis(100);

/// Whether what earlier runs built is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caches {
    /// What the commit before left is used.
    Kept,
    /// Nothing of any run before is there.
    Empty,
}

/// Where a commit comes from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The common git directory.
    pub common: &'a Path,
    /// Full id of the commit.
    pub commit: &'a str,
    /// `<id> <ref>` of the tags that are shown, one line each.
    pub tags: &'a str,
    /// Where what runs in the room finds the objects; none = where they are.
    pub objects_at: Option<&'a Path>,
}

/// A room, locked for as long as this value lives.
#[derive(Debug)]
pub struct Room {
    dir: PathBuf,
    top: PathBuf,
    _lock: File,
}

impl Room {
    /// The first room of a worktree that nobody is in. Its path is the same each time, because what
    /// is built there may hold it. `name` is the last part of that path; tools take it for the
    /// project's name.
    ///
    /// # Errors
    /// When no room can be made.
    pub fn open(
        rooms: &Path,
        worktree: &Path,
        name: &str,
        caches: Caches,
    ) -> Result<Self, RoomError> {
        let key = cook_core::digest::sha256(worktree.as_os_str().as_encoded_bytes());
        fs::create_dir_all(rooms).map_err(|cause| RoomError::io("make", rooms, cause))?;
        for number in 0..ROOMS {
            let dir = rooms.join(format!("{}-{number}", &key[..16]));
            let lock_path = rooms.join(format!("{}-{number}.lock", &key[..16]));
            let failed = |cause| RoomError::io("lock", &lock_path, cause);
            let lock = disk::open_lock(&lock_path).map_err(failed)?;
            if !disk::take_lock(&lock, WAIT).map_err(failed)? {
                continue;
            }
            let room = Self {
                top: dir.join("src").join(plain(name)),
                dir,
                _lock: lock,
            };
            if caches == Caches::Empty {
                room.empty()?;
            }
            room.make()?;
            return Ok(room);
        }
        let cause = std::io::Error::other(format!("{ROOMS} of them are in use"));
        Err(RoomError::io("find a room in", rooms, cause))
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
        let format = match source.commit.len() {
            64 => ObjectFormat::Sha256,
            _ => ObjectFormat::Sha1,
        };
        let place = source.common.join("objects");
        let objects = Objects::open(&place, format)?;
        let filling = Filling::of(&self.dir, &self.top, source.common, objects, source.commit)?;
        let filled = filling.fill(caches)?;
        git_dir::write(
            &self.top,
            &Shown {
                commit: source.commit,
                here: &place,
                objects: source.objects_at.unwrap_or(&place),
                tags: source.tags,
                caches,
            },
        )?;
        Ok(filled)
    }

    fn empty(&self) -> Result<(), RoomError> {
        disk::remove_tree(&self.dir).map_err(|cause| RoomError::io("remove", &self.dir, cause))
    }

    fn make(&self) -> Result<(), RoomError> {
        let scratch = self.scratch();
        disk::remove_tree(&scratch).map_err(|cause| RoomError::io("remove", &scratch, cause))?;
        for dir in [&self.top, &self.home(), &scratch] {
            fs::create_dir_all(dir).map_err(|cause| RoomError::io("make", dir, cause))?;
        }
        Ok(())
    }
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
