//! A room: where it is, who has it, how it is filled.

use crate::disk::{self, Durable, NewFile};
use crate::room::RoomError;
use crate::room::error::AtPath;
use crate::room::filling::Filling;
use crate::room::room_contents::{Filled, Source};
use crate::room::rooms;
use crate::room::scan::CachePaths;
use cook_protocol::model::Caches;
use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Rooms that one worktree may have at once.
const ROOMS: usize = 64;

/// How long a room is waited for that is in use: a child that is just being started holds what its
/// parent held for a moment, and another room would have to be built in anew.
const WAIT: Duration = Duration::from_millis(100);

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
    /// When the commit cannot be had whole; the room is then not to be used, and is gone where it did not fit.
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
        let filled = filling.fill(passed_over).inspect_err(|error| {
            // A part of a commit is of no use, and who needs the space is not to look for it here.
            if error.is_full() {
                let _ = self.remove();
            }
        })?;
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
    let digest = cook_protocol::digest::sha256([path, &[0, sandboxed.into()]].concat());
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
