//! The `.git` of a room: that commit as HEAD, its history and tags to read; no branch, remote,
//! identity, hook or setting of anybody's.

use crate::RoomError;
use crate::git::plain_git;
use crate::rooms::bytes_below;
use cook_os::disk::{self, Durable, Links, Mode, NewFile};
use cook_os::process::{Captured, LENT_VARIABLE, Short, capture, lent};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For one walk of the whole history, or a copy of it: a minute may pass over a million objects.
const DEADLINE: Duration = Duration::from_secs(60 * 60);
const LIMIT: usize = 1 << 20;
/// Bytes of a list of objects.
const MAX_LIST: usize = 1 << 30;
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

/// Writes it anew.
pub(crate) fn write(top: &Path, shown: &Shown, index: &[u8]) -> Result<(), RoomError> {
    let dir = top.join(".git");
    let files = control_files(shown);
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
    write_index(top, index)?;
    match shown.alone {
        true => hold_history(top, shown),
        false => Ok(()),
    }
}

/// Writes the index alone: files of the commit were written.
pub(crate) fn write_index(top: &Path, index: &[u8]) -> Result<(), RoomError> {
    let place = top.join(".git/index");
    NewFile::at(&place, Durable::Nothing)
        .mode(Mode::Masked(0o644))
        .write(index)
        .map_err(|cause| RoomError::io("write", &place, cause))
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
    let ids: Vec<&str> = shown.refs.iter().map(|(_, id)| id.as_str()).collect();
    if !ids.is_empty()
        && let Err(said) = walk(top, shown, &ids)?
    {
        // The first of them with which it fails; each look halves what it may be.
        let (mut whole, mut broken) = (0, ids.len());
        while whole + 1 < broken {
            let middle = whole.midpoint(broken);
            match walk(top, shown, &ids[..middle])? {
                Ok(()) => whole = middle,
                Err(_) => broken = middle,
            }
        }
        let name = &shown.refs[broken - 1].0;
        return Err(not_reproducible(format!(
            "`{name}` is not whole, and no clone can be made: {said}"
        )));
    }
    let dirs = object_dirs(shown.here);
    for dir in &dirs {
        for (file, program) in [
            ("info/commit-graph", "commit-graph"),
            ("info/commit-graphs/commit-graph-chain", "commit-graph"),
            ("pack/multi-pack-index", "multi-pack-index"),
        ] {
            let place = dir.join(file);
            if place.symlink_metadata().is_err() {
                continue;
            }
            let mut of = OsString::from("--object-dir=");
            of.push(dir);
            let of = of.to_string_lossy();
            git(top, shown, true, &[program, "verify", "--no-progress", &of])
                .map_err(|error| not_reproducible(lies(&place, &error.to_string())))?;
        }
    }
    // Whoever sends a clone asks a bitmap what belongs to it.
    match dirs.iter().find_map(|dir| bitmap_in(dir)) {
        Some(place) if reachable(top, shown, true)? != reachable(top, shown, false)? => Err(
            not_reproducible(lies(&place, "it leads to other objects than the history")),
        ),
        _ => Ok(()),
    }
}

/// Whether git finds everything that these lead to and HEAD does not; else what it says.
fn walk(top: &Path, shown: &Shown, ids: &[&str]) -> Result<Result<(), String>, RoomError> {
    let mut env = plain_git(shown.path);
    env.push((LENT_VARIABLE, lent(&[shown.here])));
    let not = format!("^{}", shown.commit);
    let captured = list(top, env, &["--quiet"], [ids, &[&not]].concat().join("\n"))?;
    Ok(match captured.success() {
        true => Ok(()),
        false => Err(captured.stderr.trim().to_owned()),
    })
}

/// Walks the history from the ids of `stdin` on.
fn list(
    top: &Path,
    env: Vec<(&'static str, OsString)>,
    options: &[&str],
    stdin: String,
) -> Result<Captured, RoomError> {
    let asked = ["git", "rev-list", "--objects", "--stdin"];
    let asked = asked.iter().chain(options);
    let captured = capture(&Short {
        argv: asked.map(OsString::from).collect(),
        dir: top,
        env,
        stdin: stdin.into_bytes(),
        deadline: DEADLINE,
        limit: MAX_LIST,
        group: false,
    });
    captured.map_err(|error| RoomError::Git(format!("walking the history: {error}")))
}

fn lies(place: &Path, how: &str) -> String {
    let place = place.display();
    format!("`{place}` does not tell the truth, remove it: {how}")
}

/// Directories of objects: this one, and those that it names, as deep as git follows them.
fn object_dirs(here: &Path) -> Vec<PathBuf> {
    const DEPTH: usize = 5;
    let mut dirs = vec![here.to_owned()];
    let mut last = 0..1;
    for _ in 0..DEPTH {
        for number in last.clone() {
            let dir = dirs[number].clone();
            let named = disk::read_text(&dir.join("info/alternates"), MAX_FILE, Links::Follow);
            let named = named.ok().flatten().unwrap_or_default();
            let named = named.lines().filter(|line| !line.starts_with('#'));
            dirs.extend(named.map(|line| dir.join(line)));
        }
        last = last.end..dirs.len();
    }
    dirs
}

fn bitmap_in(dir: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(dir.join("pack")).ok()?;
    let mut places = entries.flatten().map(|entry| entry.path());
    places.find(|place| place.extension().is_some_and(|end| end == "bitmap"))
}

/// A digest of everything that HEAD and the refs lead to: as a bitmap says it, or by the objects.
fn reachable(top: &Path, shown: &Shown, by_bitmap: bool) -> Result<String, RoomError> {
    let mut options = vec!["--no-object-names"];
    if by_bitmap {
        options.push("--use-bitmap-index");
    }
    let ids = shown.refs.iter().map(|(_, id)| &id[..]);
    let ids: Vec<&str> = ids.chain([shown.commit]).collect();
    let mut env = plain_git(shown.path);
    env.push(("GIT_OBJECT_DIRECTORY", shown.here.into()));
    // The index of many packs may bear the bitmap; that it tells the truth was found before.
    let core_multi_pack_index = "GIT_CONFIG_VALUE_1";
    env.push((core_multi_pack_index, "true".into()));
    let captured = list(top, env, &options, ids.join("\n"))?;
    if !captured.success() {
        return Err(RoomError::Git(captured.stderr.trim().to_owned()));
    }
    let lines = captured.stdout.split(|byte| *byte == b'\n');
    let mut listed: Vec<&[u8]> = lines.map(<[u8]>::trim_ascii).collect();
    listed.sort_unstable();
    listed.dedup();
    Ok(cook_core::digest::sha256(listed.concat()))
}

/// Bytes that a copy of the history may take.
pub(crate) fn history_bytes(here: &Path) -> u64 {
    object_dirs(here).iter().map(|dir| bytes_below(dir)).sum()
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

/// It shows that, and nothing but git's index and objects came to it since it was written. Builds
/// that look at its files' times run again only when the commit changed.
pub(crate) fn is_as_written(top: &Path, shown: &Shown) -> bool {
    let dir = &top.join(".git");
    let files = control_files(shown);
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
        env.push((LENT_VARIABLE, lent(&[shown.here])));
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
