//! The `.git` of a room, and that of each submodule in it: that commit as HEAD, its history and tags to
//! read; no branch, remote, identity, hook or setting of anybody's.

use crate::RoomError;
use crate::history;
use crate::shown::{Shown, TakenFrom};
use cook_os::disk::{self, Durable, Links, Mode, NewFile};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Bytes of one of its files.
const MAX_FILE: u64 = 64 << 20;

/// Where a submodule's lies below it, as in a clone.
const MODULES: &str = "modules";

/// Writes it anew, with those of submodules after the room's own.
pub(crate) fn write(top: &Path, all: &[Shown], indexes: &[Vec<u8>]) -> Result<(), RoomError> {
    remove(&top.join(".git"))?;
    for (shown, index) in all.iter().zip(indexes) {
        for (name, text) in control_files(shown) {
            write_file(&shown.dir.join(name), text.as_bytes())?;
        }
        for name in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
            let place = shown.dir.join(name);
            fs::create_dir_all(&place).map_err(|cause| RoomError::io("make", &place, cause))?;
        }
        write_file(&shown.dir.join("index"), index)?;
        if shown.alone {
            history::hold(shown)?;
        }
    }
    Ok(())
}

/// Writes the indexes alone: files of the commit were written.
pub(crate) fn write_indexes(all: &[Shown], indexes: &[Vec<u8>]) -> Result<(), RoomError> {
    let mut both = all.iter().zip(indexes);
    both.try_for_each(|(shown, index)| write_file(&shown.dir.join("index"), index))
}

/// Leads git from a submodule's files to its git directory.
pub(crate) fn write_link(place: &Path, leads_to: &str) -> Result<(), RoomError> {
    let text = format!("gitdir: {leads_to}\n");
    let there = disk::read(place, MAX_FILE, Links::Refuse);
    match there.is_ok_and(|there| there.as_deref() == Some(text.as_bytes())) {
        true => Ok(()),
        false => {
            remove(place)?;
            write_file(place, text.as_bytes())
        }
    }
}

fn write_file(place: &Path, bytes: &[u8]) -> Result<(), RoomError> {
    let made = place.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| {
        NewFile::at(place, Durable::Nothing)
            .mode(Mode::Masked(0o644))
            .write(bytes)
    })
    .map_err(|cause| RoomError::io("write", place, cause))
}

/// Takes a `.git` away, whatever stands there.
pub(crate) fn remove(place: &Path) -> Result<(), RoomError> {
    disk::remove_tree(place)
        .or_else(|_| fs::remove_file(place))
        .map_err(|cause| RoomError::io("remove", place, cause))
}

fn control_files(shown: &Shown) -> Vec<(&'static str, String)> {
    let format = match shown.commit.len() {
        64 => "sha256",
        _ => "sha1",
    };
    let mut config = format!(
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tlogallrefupdates = false\n\tcommitGraph = false\n\tmultiPackIndex = false\n[extensions]\n\tobjectformat = {format}\n[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n"
    );
    if let TakenFrom::Submodule { files, .. } = &shown.from {
        config.push_str(&format!("[core]\n\tworktree = \"{}\"\n", escape(files)));
    }
    for name in &shown.modules {
        config.push_str(&format!(
            "[submodule \"{}\"]\n\tactive = true\n",
            escape(name)
        ));
    }
    let mut exclude = String::new();
    for cache in shown.caches {
        exclude.push_str(&format!("{}/\n", cache.trim_end_matches('/')));
    }
    let tags = shown.refs.iter();
    let tags = tags.filter(|(name, _)| name.starts_with("refs/tags/"));
    let tags = tags.map(|(name, id)| format!("{id} {name}\n")).collect();
    let mut files = vec![
        ("HEAD", format!("{}\n", shown.commit)),
        ("config", config),
        ("info/exclude", exclude),
        ("packed-refs", tags),
    ];
    if !shown.alone {
        let objects = format!("{}\n", shown.objects.display());
        files.push(("objects/info/alternates", objects));
    }
    files.extend(shown.shallow.iter().map(|text| ("shallow", text.clone())));
    files
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// They show that, and nothing but git's index and objects came to them since they were written. Builds
/// that look at its files' times run again only when the commit changed.
pub(crate) fn are_as_written(top: &Path, all: &[Shown]) -> bool {
    let modules = top.join(".git").join(MODULES);
    let dirs: BTreeSet<&Path> = all.iter().map(|shown| &*shown.dir).collect();
    let leads_to_one = |place: &Path| {
        dirs.range(place..)
            .next()
            .is_some_and(|dir| dir.starts_with(place))
    };
    let mut due = vec![modules];
    while let Some(dir) = due.pop() {
        if dir.is_symlink() {
            return false;
        }
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let place = entry.path();
            if !leads_to_one(&place) || !disk::is_directory(&place) {
                return false;
            }
            due.push(match dirs.contains(&*place) {
                true => place.join(MODULES),
                false => place,
            });
        }
    }
    all.iter().all(is_as_written)
}

fn is_as_written(shown: &Shown) -> bool {
    let dir = &shown.dir;
    let files = control_files(shown);
    const NAMES: [&str; 10] = [
        "HEAD",
        "config",
        "index",
        "info",
        "logs",
        MODULES,
        "objects",
        "packed-refs",
        "refs",
        "shallow",
    ];
    let Ok(entries) = fs::read_dir(dir) else {
        return false;
    };
    let names: Option<BTreeSet<String>> = entries
        .map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let known = names.is_some_and(|names| names.iter().all(|name| NAMES.contains(&name.as_str())));
    let no_refs = ["refs/heads", "refs/tags"]
        .iter()
        .all(|name| fs::read_dir(dir.join(name)).is_ok_and(|mut entries| entries.next().is_none()));
    known
        && no_refs
        && disk::is_directory(dir)
        && files.iter().all(|(name, text)| {
            disk::read(&dir.join(name), MAX_FILE, Links::Refuse)
                .is_ok_and(|bytes| bytes.as_deref() == Some(text.as_bytes()))
        })
}
