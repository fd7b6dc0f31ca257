//! The `.git` of a room: that commit as HEAD, its history and tags to read; no branch, remote,
//! identity, hook or setting of anybody's.

use crate::RoomError;
use crate::git::plain_git;
use cook_os::disk::{self, Durable, Links, Mode, NewFile};
use cook_os::process::{Short, capture};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(300);
const LIMIT: usize = 1 << 20;
/// Refs that git is asked for in one call.
const AT_ONCE: usize = 500;
/// Bytes of one of its files.
const MAX_FILE: u64 = 64 << 20;

/// What the `.git` shows.
pub(crate) struct Shown<'a> {
    /// Full id.
    pub commit: &'a str,
    /// Where objects are read from, as what runs in the room finds them.
    pub objects: &'a Path,
    /// Where they are.
    pub here: &'a Path,
    /// Names and ids of refs.
    pub refs: &'a [(String, String)],
    /// Directories that git is told not to look at.
    pub caches: &'a [String],
    /// Commits whose parents a shallow clone does not have, one line each.
    pub shallow: Option<String>,
    /// It holds what a clone would, and reaches no other object.
    pub alone: bool,
    /// Where git is found.
    pub path: &'a OsStr,
}

/// Writes it anew where something of it differs: builds that look at its files' times run again
/// only when the commit changed.
pub(crate) fn write(top: &Path, shown: &Shown) -> Result<(), RoomError> {
    let dir = top.join(".git");
    let files = control_files(shown);
    if is_as_written(&dir, &files) {
        return Ok(());
    }
    remove(top)?;
    for (name, text) in &files {
        let place = dir.join(name);
        let made = place.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| {
            NewFile::at(&place, Durable::Nothing)
                .mode(Mode::Masked(0o644))
                .write(text.as_bytes())
        })
        .map_err(|cause| RoomError::io("write", &place, cause))?;
    }
    for name in ["objects/info", "refs/heads", "refs/tags"] {
        let place = dir.join(name);
        fs::create_dir_all(&place).map_err(|cause| RoomError::io("make", &place, cause))?;
    }
    git(top, shown, true, &["read-tree", shown.commit])?;
    match shown.alone {
        true => hold_history(top, shown),
        false => Ok(()),
    }
}

/// Takes the history over as a clone would: each object's id is made from its bytes, and what
/// another one names must be there. An index that lies, and an object with other bytes, are told
/// so wherever they stand in it.
fn hold_history(top: &Path, shown: &Shown) -> Result<(), RoomError> {
    check_all(top, shown)?;
    git(top, shown, true, &["repack", "-a", "-d", "-q"])?;
    let dir = top.join(".git/objects/pack");
    let entries = fs::read_dir(&dir).map_err(|cause| RoomError::io("read", &dir, cause))?;
    for entry in entries {
        let place = entry
            .map_err(|cause| RoomError::io("read", &dir, cause))?
            .path();
        let pack = place
            .extension()
            .filter(|end| *end == "pack")
            .and(place.to_str());
        let Some(pack) = pack else {
            continue;
        };
        let index = place.with_extension("idx");
        fs::remove_file(&index).map_err(|cause| RoomError::io("remove", &index, cause))?;
        let whole = "--check-self-contained-and-connected";
        git(top, shown, false, &["index-pack", whole, pack]).map_err(|error| {
            RoomError::NotReproducible {
                commit: shown.commit.to_owned(),
                why: format!("its history cannot be cloned: {error}"),
            }
        })?;
    }
    Ok(())
}

/// What a clone is sent besides: each branch, tag and stash is there whole, and git's own indexes of
/// the history, which whoever sends a clone asks, tell the truth.
fn check_all(top: &Path, shown: &Shown) -> Result<(), RoomError> {
    let not_reproducible = |why: String| RoomError::NotReproducible {
        commit: shown.commit.to_owned(),
        why,
    };
    let is_whole = |ids: &[&str]| {
        let asked = ["rev-list", "--objects", "--quiet"].iter().chain(ids);
        let asked: Vec<&str> = asked.copied().chain(["--not", shown.commit]).collect();
        git(top, shown, true, &asked)
    };
    for some in shown.refs.chunks(AT_ONCE) {
        let ids: Vec<&str> = some.iter().map(|(_, id)| id.as_str()).collect();
        let Err(error) = is_whole(&ids) else {
            continue;
        };
        let mut broken = some.iter().filter(|(_, id)| is_whole(&[id]).is_err());
        let name = broken.next().map_or("a ref", |(name, _)| name);
        return Err(not_reproducible(format!(
            "`{name}` is not whole, and no clone can be made: {error}"
        )));
    }
    for (file, program) in [
        ("info/commit-graph", "commit-graph"),
        ("info/commit-graphs/commit-graph-chain", "commit-graph"),
        ("pack/multi-pack-index", "multi-pack-index"),
    ] {
        let place = shown.here.join(file);
        if place.symlink_metadata().is_err() {
            continue;
        }
        let mut of = OsString::from("--object-dir=");
        of.push(shown.here);
        let of = of.to_string_lossy();
        git(top, shown, true, &[program, "verify", "--no-progress", &of]).map_err(|error| {
            let place = place.display();
            not_reproducible(format!(
                "`{place}` does not tell the truth, remove it: {error}"
            ))
        })?;
    }
    Ok(())
}

/// Takes it away, whatever stands there.
pub(crate) fn remove(top: &Path) -> Result<(), RoomError> {
    let dir = top.join(".git");
    disk::remove_tree(&dir)
        .or_else(|_| fs::remove_file(&dir))
        .map_err(|cause| RoomError::io("remove", &dir, cause))
}

fn control_files(shown: &Shown) -> Vec<(&'static str, String)> {
    let format = match shown.commit.len() {
        64 => "sha256",
        _ => "sha1",
    };
    let config = format!(
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tlogallrefupdates = false\n\tcommitGraph = false\n\tmultiPackIndex = false\n[extensions]\n\tobjectformat = {format}\n[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n"
    );
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

/// Nothing but git's index and objects came to it since it was written.
fn is_as_written(dir: &Path, files: &[(&str, String)]) -> bool {
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

/// git in the room; `elsewhere` = with the objects of where the commit comes from.
fn git(top: &Path, shown: &Shown, elsewhere: bool, arguments: &[&str]) -> Result<(), RoomError> {
    let argv = ["git"].iter().chain(arguments).map(OsString::from);
    let mut env = plain_git(shown.path);
    if elsewhere {
        env.push(("GIT_ALTERNATE_OBJECT_DIRECTORIES", shown.here.into()));
    }
    let captured = capture(&Short {
        argv: argv.collect(),
        dir: top,
        env,
        stdin: Vec::new(),
        deadline: DEADLINE,
        limit: LIMIT,
        group: false,
    });
    let captured = captured.map_err(|error| RoomError::Git(error.to_string()))?;
    match captured.success() {
        true => Ok(()),
        false => Err(RoomError::Git(captured.stderr.trim().to_owned())),
    }
}
