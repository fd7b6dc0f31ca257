//! The `.git` of a room, and that of each submodule in it: that commit as HEAD, its history and tags to
//! read; no branch, remote, identity, hook or setting of anybody's.

use crate::disk::{self, Durable, Links, Mode, NewFile};
use crate::room::RoomError;
use crate::room::cloned_history;
use crate::room::error::AtPath;
use crate::room::repository::Repository;
use std::fs;
use std::path::Path;

/// Bytes of one of its files.
const MAX_FILE: u64 = 64 << 20;
/// What stands in it, with what git itself adds.
const NAMES: [&str; 9] = [
    "HEAD",
    "config",
    "index",
    "info",
    "logs",
    "objects",
    "packed-refs",
    "refs",
    "shallow",
];

/// Writes it anew.
pub(crate) fn write(repository: &Repository, dir: &Path) -> Result<(), RoomError> {
    remove(dir)?;
    for (name, text) in control_files(repository)? {
        write_file(&dir.join(name), text.as_bytes())?;
    }
    for name in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
        let place = dir.join(name);
        fs::create_dir_all(&place).at("make", &place)?;
    }
    match repository.alone {
        true => cloned_history::hold(repository, dir),
        false => Ok(()),
    }
}

/// Writes a file there.
pub(crate) fn write_file(place: &Path, bytes: &[u8]) -> Result<(), RoomError> {
    let made = place.parent().map_or(Ok(()), fs::create_dir_all);
    let new = NewFile::at(place, Durable::Nothing).mode(Mode::Masked(0o644));
    let written = made.and_then(|()| new.write(bytes));
    written.at("write", place)
}

/// Takes away what stands at a place, whatever it is.
pub(crate) fn remove(place: &Path) -> Result<(), RoomError> {
    disk::remove_tree(place)
        .or_else(|_| fs::remove_file(place))
        .at("remove", place)
}

fn control_files(repository: &Repository) -> Result<Vec<(&'static str, String)>, RoomError> {
    let format = match repository.commit.len() {
        64 => "sha256",
        _ => "sha1",
    };
    let config = format!(
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tlogallrefupdates = false\n\tcommitGraph = false\n\tmultiPackIndex = false\n[extensions]\n\tobjectformat = {format}\n[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n[submodule]\n\tactive = .\n"
    );
    let caches = repository.caches.iter();
    let caches = caches.map(|cache| format!("{}/\n", cache.trim_end_matches('/')));
    let tags = repository.refs.iter();
    let tags = tags.filter(|(name, _)| name.starts_with("refs/tags/"));
    let tags = tags.map(|(name, id)| format!("{id} {name}\n"));
    let mut files = vec![
        ("HEAD", format!("{}\n", repository.commit)),
        ("config", config),
        ("info/exclude", caches.collect()),
        ("packed-refs", tags.collect()),
    ];
    if !repository.alone {
        let objects = repository.objects_at.clone();
        let objects = objects.unwrap_or_else(|| repository.here());
        files.push((
            "objects/info/alternates",
            format!("{}\n", objects.display()),
        ));
    }
    let shallow = repository.read_shallow()?;
    files.extend(shallow.map(|text| ("shallow", text)));
    Ok(files)
}

/// It shows that, and nothing but git's index and objects came to it since it was written. Builds
/// that look at its files' times run again only when the commit changed.
pub(crate) fn is_as_written(repository: &Repository, dir: &Path) -> Result<bool, RoomError> {
    let Some(names) = fs::read_dir(dir).ok().filter(|_| disk::is_directory(dir)) else {
        return Ok(false);
    };
    let is_known = |entry: fs::DirEntry| NAMES.iter().any(|name| entry.file_name() == *name);
    let is_empty = |name: &str| {
        let entries = fs::read_dir(dir.join(name));
        entries.is_ok_and(|mut entries| entries.next().is_none())
    };
    let is_same = |(name, text): &(&str, String)| {
        let there = disk::read(&dir.join(name), MAX_FILE, Links::Refuse);
        there.is_ok_and(|there| there.as_deref() == Some(text.as_bytes()))
    };
    Ok(names.flatten().all(is_known)
        && is_empty("refs/heads")
        && is_empty("refs/tags")
        && control_files(repository)?.iter().all(is_same))
}
