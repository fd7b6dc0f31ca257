//! What the user's package managers have downloaded before: a room's setup finds it in its own home, large files by
//! a link to where they lie. The room writes nothing there: a file that a program may add to is a copy.

use crate::disk;
use std::io;
use std::path::{Path, PathBuf};

/// Files that are taken, at most: what is left out is downloaded.
const MOST: usize = 100_000;
/// Bytes of a file that is copied; indexes, which programs append to, are not larger.
const COPIED: u64 = 16 * 1024;

/// A cache of downloads: the word of a command that asks for it, the variable that moves it, what of it is taken
/// then, and where that is, relative to the home, where none does.
type Downloads = (&'static str, &'static str, &'static str, &'static str);

const PIP: &str = match cfg!(target_os = "macos") {
    true => "Library/Caches/pip",
    false => ".cache/pip",
};
const ALL: [Downloads; 6] = [
    ("npm", "npm_config_cache", "_cacache", ".npm/_cacache"),
    ("pip", "PIP_CACHE_DIR", "", PIP),
    ("uv", "UV_CACHE_DIR", "", ".cache/uv"),
    (
        "cargo",
        "CARGO_HOME",
        "registry/cache",
        ".cargo/registry/cache",
    ),
    (
        "cargo",
        "CARGO_HOME",
        "registry/index",
        ".cargo/registry/index",
    ),
    (
        "go",
        "GOMODCACHE",
        "cache/download",
        "go/pkg/mod/cache/download",
    ),
];

/// Where this user has it, where there is one.
fn find((_, variable, below, place): &Downloads) -> Option<PathBuf> {
    let moved = std::env::var_os(variable).filter(|dir| !dir.is_empty());
    let found = match moved {
        Some(dir) => PathBuf::from(dir).join(below),
        None => std::env::home_dir()?.join(place),
    };
    (found.is_absolute() && found.is_dir()).then_some(found)
}

/// The directories that links lead to: a sandbox shows them.
pub(super) fn list_downloads() -> Vec<PathBuf> {
    ALL.iter().filter_map(find).collect()
}

/// Puts what these commands would download into a room's home, where it is not there yet. What cannot be put
/// there is downloaded.
pub(super) fn lend_downloads(home: &Path, commands: &[&str]) {
    for downloads in &ALL {
        let (program, .., place) = downloads;
        let mut words = commands.iter().flat_map(|run| run.split_whitespace());
        if words.any(|word| word == *program)
            && let Some(from) = find(downloads)
        {
            let _ = lend(&from, &home.join(place), &mut 0);
        }
    }
}

fn lend(from: &Path, to: &Path, taken: &mut usize) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        let found = entry.metadata()?;
        if found.is_dir() {
            lend(&entry.path(), &place, taken)?;
            continue;
        }
        // An empty file is a lock, or holds nothing.
        if found.len() == 0 || place.symlink_metadata().is_ok() {
            continue;
        }
        *taken += 1;
        if *taken > MOST {
            return Ok(());
        }
        match found.is_file() && found.len() <= COPIED {
            true => drop(std::fs::copy(entry.path(), &place)?),
            false => disk::link(&entry.path(), &place)?,
        }
    }
    Ok(())
}
