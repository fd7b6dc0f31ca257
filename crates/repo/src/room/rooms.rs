//! All rooms of a user: where they are, and which of them go.

use crate::disk::{self, Durable, Links, NewFile};
use crate::room::RoomError;
use cook_protocol::model::CleanRoom;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

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
pub fn rooms_dir(settings: &CleanRoom) -> Result<PathBuf, RoomError> {
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
        (_, Some(named)) => Err(RoomError::NotWhole(named.to_string())),
        _ => Err(RoomError::NoPlace),
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
pub(crate) fn take(dir: &Path, wait: Duration) -> Result<Option<File>, RoomError> {
    let path = dir.with_extension(LOCK);
    let failed = |cause| RoomError::io("lock", &path, cause);
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
    let mut total = 0;
    let mut due = vec![dir.to_owned()];
    while let Some(dir) = due.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => due.push(entry.path()),
                Ok(found) => total += found.len(),
                Err(_) => {}
            }
        }
    }
    total
}
