//! A room: where it is, who has it, how it is filled.
//!
//! All rooms of a user: where they are, and which of them go.

use crate::disk::{self, AtPath, Durable, Links, NewFile, cannot};
use crate::room::contents::{Filled, Source};
use crate::room::filling::{CachePaths, Filling};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::{Caches, CleanRoom};
use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

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
    ) -> Result<Self, Failure> {
        fs::create_dir_all(rooms).at("make", rooms)?;
        for number in 0..ROOMS {
            let number = match caches {
                Caches::Kept => number,
                Caches::Empty => ROOMS - 1 - number,
            };
            let dir = rooms.join(format!("{}-{number}", make_key(worktree, sandboxed)));
            let Some(lock) = take(&dir, WAIT)? else {
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
                remove_abandoned(rooms);
            }
            return Ok(room);
        }
        let cause = std::io::Error::other(format!("{ROOMS} of them are in use"));
        Err(cannot("find a room in", rooms, cause))
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
    pub fn fill(&self, source: &Source, caches: &[String]) -> Result<Filled, Failure> {
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
            if error.code == Code::NoSpace {
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

    fn remove(&self) -> Result<(), Failure> {
        disk::remove_tree(&self.dir).at("remove", &self.dir)
    }

    fn make(&self, worktree: &Path) -> Result<(), Failure> {
        let scratch = self.scratch();
        disk::remove_tree(&scratch).at("remove", &scratch)?;
        for dir in [&self.top, &self.home(), &scratch] {
            fs::create_dir_all(dir).at("make", dir)?;
        }
        let place = self.note(OWNER);
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
    digest[..KEY].to_owned()
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

/// A room's file that names the worktree it is for.
pub(crate) const OWNER: &str = "worktree";
/// The directory of all of them; nothing in it names the program that made it.
const DIRECTORY: &str = "clean-rooms";
/// How long the part of a room's name is that stands for its worktree.
pub(crate) const KEY: usize = 16;
/// What the name of a room's lock ends in; it stands beside the room.
const LOCK: &str = "lock";
const MAX_PATH: u64 = 1 << 16;
const BETWEEN_LOOKS: Duration = Duration::from_secs(24 * 60 * 60);

/// Where rooms are: as the settings say, else in the user's cache directory.
///
/// # Errors
/// When neither names a whole path.
pub fn rooms_dir(settings: &CleanRoom) -> Result<PathBuf, Failure> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let dir = match &settings.dir {
        Some(dir) => match (dir.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => Some(home.join(rest)),
            _ => Some(PathBuf::from(dir)),
        },
        None => cache_dir(home.as_deref()).map(|dir| dir.join(DIRECTORY)),
    };
    match (dir, &settings.dir) {
        (Some(dir), _) if dir.is_absolute() => Ok(dir),
        (_, named) => {
            let what = match named {
                Some(named) => format!(
                    "`[clean_room] dir` is `{named}`, but it must be an absolute path or begin with `~/`"
                ),
                None => "no directory for clean rooms: this user has no home or cache directory"
                    .to_owned(),
            };
            let hint = "name one: `[clean_room] dir = \"/…\"` in `.agent/cook.toml`";
            Err(Failure::state(Code::NotWritable, what).replace_hints([hint]))
        }
    }
}

fn cache_dir(home: Option<&Path>) -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    if cfg!(windows) {
        return named("LOCALAPPDATA");
    }
    if cfg!(target_os = "macos") {
        return Some(home?.join("Library/Caches"));
    }
    named("XDG_CACHE_HOME")
        .filter(|dir| dir.is_absolute())
        .or_else(|| Some(home?.join(".cache")))
}

/// Removes rooms whose worktree is gone, and locks of no room; one that is in use stays.
pub(crate) fn remove_abandoned(rooms: &Path) {
    for room in list(rooms) {
        let owner = disk::read_text(&room.dir.join(OWNER), MAX_PATH, Links::Refuse);
        let is_gone = matches!(owner, Ok(Some(owner)) if !Path::new(&owner).exists());
        if is_gone {
            remove(&room);
        }
    }
    let entries = fs::read_dir(rooms).into_iter().flatten().flatten();
    for lock in entries.map(|entry| entry.path()).filter(|it| is_lock(it)) {
        let dir = lock.with_extension("");
        let is_alone = || fs::symlink_metadata(&dir).is_err();
        if is_alone()
            && let Ok(Some(_held)) = take(&dir, Duration::ZERO)
            && is_alone()
        {
            disk::remove_lock(&lock);
        }
    }
}

/// Removes the rooms of one worktree; one that is in use stays.
pub fn remove_rooms_of(rooms: &Path, worktree: &Path) {
    let keys = [true, false].map(|sandboxed| make_key(worktree, sandboxed));
    let is_its = |room: &Found| {
        let name = room.dir.file_name().unwrap_or_default().to_string_lossy();
        keys.iter().any(|key| name.starts_with(key.as_str()))
    };
    list(rooms)
        .iter()
        .filter(|room| is_its(room))
        .for_each(|room| {
            remove(room);
        });
}

/// Looks once a day that all rooms take at most so many bytes: the one used longest ago goes first.
pub fn keep_within(rooms: &Path, max: u64) {
    let note = rooms.join("looked-at");
    let looked = fs::symlink_metadata(&note).and_then(|found| found.modified());
    let is_new = looked.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < BETWEEN_LOOKS));
    if !is_new && NewFile::at(&note, Durable::Nothing).write(b"").is_ok() {
        trim(rooms, max);
    }
}

fn trim(rooms: &Path, max: u64) {
    let mut all: Vec<(Found, u64)> = list(rooms)
        .into_iter()
        .map(|room| {
            let bytes = count_bytes_below(&room.dir);
            (room, bytes)
        })
        .collect();
    all.sort_by_key(|(room, _)| room.used);
    let mut total: u64 = all.iter().map(|(_, bytes)| bytes).sum();
    for (room, bytes) in all {
        if total <= max {
            return;
        }
        if remove(&room) {
            total -= bytes;
        }
    }
}

/// The lock of a room; none while somebody is in it.
pub(crate) fn take(dir: &Path, wait: Duration) -> Result<Option<File>, Failure> {
    let path = dir.with_extension(LOCK);
    let failed = |cause| cannot("lock", &path, cause);
    loop {
        let lock = disk::open_lock(&path).map_err(failed)?;
        if !disk::take_lock(&lock, wait).map_err(failed)? {
            return Ok(None);
        }
        // Whoever removed the room took its lock away, maybe while this waited for it.
        if disk::is_at(&lock, &path) {
            return Ok(Some(lock));
        }
    }
}

/// A name that [`take`] gives; a directory that the user named may hold other files.
fn is_lock(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let parts = stem.and_then(|stem| stem.split_once('-'));
    let is_rooms = parts.is_some_and(|(key, number)| {
        key.len() == KEY
            && key.bytes().all(|b| b.is_ascii_hexdigit())
            && number.parse::<u8>().is_ok()
    });
    is_rooms && path.extension().is_some_and(|extension| extension == LOCK)
}

struct Found {
    dir: PathBuf,
    used: SystemTime,
}

fn list(rooms: &Path) -> Vec<Found> {
    let Ok(entries) = fs::read_dir(rooms) else {
        return Vec::new();
    };
    let found = entries.flatten().filter_map(|entry| {
        let dir = entry.path();
        if is_lock(&dir) {
            return None;
        }
        let used = fs::symlink_metadata(dir.join(OWNER))
            .ok()?
            .modified()
            .ok()?;
        disk::is_directory(&dir).then_some(Found { dir, used })
    });
    found.collect()
}

/// Whether it is gone; nobody is put out of a room.
fn remove(room: &Found) -> bool {
    let Ok(Some(_held)) = take(&room.dir, Duration::ZERO) else {
        return false;
    };
    let is_gone = disk::remove_tree(&room.dir).is_ok();
    if is_gone {
        disk::remove_lock(&room.dir.with_extension(LOCK));
    }
    is_gone
}

/// What the files below a directory hold; links are not followed.
fn count_bytes_below(dir: &Path) -> u64 {
    let files = disk::list_files_below(dir).into_iter();
    let found = files.filter_map(|file| fs::symlink_metadata(file).ok());
    found.map(|found| found.len()).sum()
}
