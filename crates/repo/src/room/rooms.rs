//! Clean rooms on disk: their location, locks and filling, and when they are removed.

use crate::disk::{self, AtPath, Durable, Links, NewFile, cannot};
use crate::room::contents::{Filled, Source};
use crate::room::filling::{CachePaths, Filling};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::{Caches, CleanRoom};
use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The maximum number of rooms of one worktree.
const ROOMS: usize = 64;

/// How long to wait for a room that is in use. A child that is just being started briefly holds its parent's lock, and
/// another room would need a full build.
const WAIT: Duration = Duration::from_millis(100);

/// A room, locked as long as this value lives. A room that was opened empty is removed when it is dropped.
#[derive(Debug)]
pub struct Room {
    dir: PathBuf,
    top: PathBuf,
    caches: Caches,
    /// The commit whose history was verified to be cloneable, although the room does not show it.
    held: RefCell<String>,
    _lock: File,
}

impl Room {
    /// Opens the first room of a worktree that is not in use; an empty one is taken from the end, so that kept caches
    /// are not lost. The first room always has the same path, because build outputs may contain it. Sandboxed commands
    /// see the room at another path, so they have rooms of their own. `name` is the last component of the path, which
    /// tools take for the project's name.
    ///
    /// # Errors
    /// When a room cannot be created, or all are in use.
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

    /// Whether caches of earlier runs were kept when the room was opened.
    pub fn caches(&self) -> Caches {
        self.caches
    }

    /// The path of a file of the room that is outside the directories that commands see.
    pub fn note(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The directory of the commit's files.
    pub fn path(&self) -> &Path {
        &self.top
    }

    /// The home directory of commands in the room; kept between runs.
    pub fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    /// The directory for temporary files.
    pub fn scratch(&self) -> PathBuf {
        self.dir.join("tmp")
    }

    /// Makes the room hold the commit's files and the named caches, and nothing else.
    ///
    /// # Errors
    /// When the commit cannot be checked out completely. The room must not be used then; it is removed if the disk is
    /// full.
    pub fn fill(&self, source: &Source, caches: &[String]) -> Result<Filled, Failure> {
        // A clone does not ignore the caches; if some were kept, git must ignore them because they are not part of the
        // commit.
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
            // A partial commit is useless, and its space is needed.
            if error.code == Code::NoSpace {
                let _ = self.remove();
            }
        })?;
        if source.alone {
            *self.held.borrow_mut() = source.commit.to_owned();
        }
        Ok(filled)
    }

    /// A file of the commit that was changed since the room was filled.
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
            // If this fails, the rest is removed when the room is opened again.
            let _ = self.remove();
        }
    }
}

/// The part of a room's name that identifies its worktree.
fn make_key(worktree: &Path, sandboxed: bool) -> String {
    let path = worktree.as_os_str().as_encoded_bytes();
    let digest = cook_protocol::digest::sha256([path, &[0, sandboxed.into()]].concat());
    digest[..KEY].to_owned()
}

/// The name with every character replaced that tools may not handle.
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

/// The file in a room that names its worktree.
pub(crate) const OWNER: &str = "worktree";
/// The directory of all rooms. Its name does not contain `cook`, so that paths do not reveal the program.
const DIRECTORY: &str = "clean-rooms";
/// The length of [`make_key`]'s result.
pub(crate) const KEY: usize = 16;
/// The extension of a room's lock file, which is beside the room.
const LOCK: &str = "lock";
const MAX_PATH: u64 = 1 << 16;
const BETWEEN_LOOKS: Duration = Duration::from_secs(24 * 60 * 60);

/// The directory of all rooms: from the settings, otherwise in the user's cache directory.
///
/// # Errors
/// When the result is not an absolute path.
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

/// Removes rooms whose worktree is gone, and locks without a room. Rooms in use are kept.
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

/// Removes the rooms of one worktree. Rooms in use are kept.
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

/// Limits the total size of all rooms to `max` bytes, at most once a day. The least recently used rooms are removed
/// first.
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

/// Takes the lock of a room; `None` if it is in use.
pub(crate) fn take(dir: &Path, wait: Duration) -> Result<Option<File>, Failure> {
    let path = dir.with_extension(LOCK);
    let failed = |cause| cannot("lock", &path, cause);
    loop {
        let lock = disk::open_lock(&path).map_err(failed)?;
        if !disk::take_lock(&lock, wait).map_err(failed)? {
            return Ok(None);
        }
        // The lock file may have been removed with its room while this call waited for it.
        if disk::is_at(&lock, &path) {
            return Ok(Some(lock));
        }
    }
}

/// Whether a file name is one that [`take`] creates. A directory chosen by the user may hold other files.
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

/// Removes a room that is not in use. Returns whether it is gone.
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

/// The total size of the files below a directory; links are not followed.
fn count_bytes_below(dir: &Path) -> u64 {
    let files = disk::list_files_below(dir).into_iter();
    let found = files.filter_map(|file| fs::symlink_metadata(file).ok());
    found.map(|found| found.len()).sum()
}
