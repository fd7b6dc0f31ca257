//! The history that a room's `.git` holds where the project's end rests on it: what a clone is sent, each
//! object's id made from its bytes.

use crate::RoomError;
use crate::git::plain_git;
use crate::rooms::count_bytes_below;
use crate::shown::{Shown, TakenFrom, complaint};
use cook_os::disk::{self, Links};
use git2::Reference;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of a list of directories of objects, and of grafts.
const MAX_FILE: u64 = 64 << 20;

/// Whoever sends a clone: git with the settings of the repository, which say what is sent and start
/// nothing there. It reaches no remote, and whose the repository is was asked before.
const SENDER: &str =
    "GIT_ALLOW_PROTOCOL= GIT_NO_LAZY_FETCH=1 git -c 'safe.directory=*' upload-pack";

/// Takes the history over; what keeps a clone from being made is named.
pub(crate) fn hold(shown: &Shown) -> Result<(), RoomError> {
    match &shown.from {
        // What is here of it is all that is needed.
        TakenFrom::Submodule { is_cut: true, .. } => copy(shown),
        TakenFrom::Submodule { place: None, .. } => {
            copy(shown)?;
            require_whole(shown)
        }
        TakenFrom::Submodule {
            place: Some(place), ..
        } => receive(shown, place, &list_sent(shown, place)?),
        TakenFrom::Clone(place) => {
            check_refs(shown)?;
            check_indexes(shown)?;
            let sent = list_sent(shown, place)?;
            check_sender(shown, &sent)?;
            receive(shown, place, &sent)
        }
    }
}

/// What the history begins from: the commit, and what is named besides.
fn tips<'s>(shown: &'s Shown, refs: impl Iterator<Item = &'s (String, String)>) -> String {
    let mut ids: Vec<&str> = refs.map(|(_, id)| &**id).collect();
    ids.push(&shown.commit);
    ids.sort_unstable();
    ids.dedup();
    ids.join("\n") + "\n"
}

fn is_tag(name: &str) -> bool {
    name.starts_with("refs/tags/")
}

/// By the same way as to any clone, which takes all branches: what is not sent, or not whole, is told
/// so wherever it stands. It costs a copy of what they hold, once for each room.
fn receive(shown: &Shown, place: &Path, sent: &[(String, String)]) -> Result<(), RoomError> {
    let sender = format!("--upload-pack={SENDER}");
    let mut asked = vec![
        "fetch-pack",
        "--quiet",
        "--keep",
        "--no-progress",
        "--stdin",
    ];
    asked.extend(["--check-self-contained-and-connected", &sender]);
    let mut asked: Vec<&OsStr> = asked.into_iter().map(OsStr::new).collect();
    asked.push(place.as_os_str());
    let captured = shown.ask(false, &asked, tips(shown, sent.iter()))?;
    match captured.success() {
        true => Ok(()),
        false => {
            let said = complaint(&captured);
            Err(shown.not_reproducible(format!(
                "its history, all branches and tags, cannot be cloned: {said}"
            )))
        }
    }
}

/// Those objects of a submodule's that are here: from where a clone gets the others, nobody is asked.
fn copy(shown: &Shown) -> Result<(), RoomError> {
    let failed =
        |said: String| shown.not_reproducible(format!("its history cannot be read: {said}"));
    let asked = [
        "pack-objects",
        "--quiet",
        "--revs",
        "--missing=allow-any",
        "--no-use-bitmap-index",
        "objects/pack/pack",
    ];
    let tags = shown.refs.iter().filter(|(name, _)| is_tag(name));
    let captured = shown.ask(true, &asked.map(OsStr::new), tips(shown, tags))?;
    if !captured.success() {
        return Err(failed(complaint(&captured)));
    }
    let name = String::from_utf8_lossy(&captured.stdout);
    let pack = format!("objects/pack/pack-{}.pack", name.trim());
    // An object's bytes are taken over as they lie there.
    let captured = shown.ask(
        false,
        &["verify-pack", &pack].map(OsStr::new),
        String::new(),
    )?;
    match captured.success() {
        true => Ok(()),
        false => Err(failed(complaint(&captured))),
    }
}

/// Where a clone gets all of it, the history is not cut off here.
fn require_whole(shown: &Shown) -> Result<(), RoomError> {
    let Some(cut) = &shown.shallow else {
        return Ok(());
    };
    let asked = ["rev-list", &shown.commit].map(OsStr::new);
    let captured = shown.ask(false, &asked, String::new())?;
    let listed = String::from_utf8_lossy(&captured.stdout).into_owned();
    let is_cut = |commit: &str| cut.lines().any(|line| line.trim() == commit);
    match captured.success() && !listed.lines().any(is_cut) {
        true => Ok(()),
        false => Err(shown.not_reproducible(
            "the history of this submodule is cut off here, and a clone has all of it: `git fetch --unshallow` in it brings the rest".to_owned(),
        )),
    }
}

/// Each branch, tag and stash is there whole: a clone is sent all of them.
fn check_refs(shown: &Shown) -> Result<(), RoomError> {
    let ids: Vec<&str> = shown.refs.iter().map(|(_, id)| id.as_str()).collect();
    let Err(said) = walk(shown, &ids)? else {
        return Ok(());
    };
    // The first of them with which it fails; each look halves what it may be.
    let (mut whole, mut broken) = (0, ids.len());
    while whole + 1 < broken {
        let middle = whole.midpoint(broken);
        match walk(shown, &ids[..middle])? {
            Ok(()) => whole = middle,
            Err(_) => broken = middle,
        }
    }
    let name = &shown.refs[broken - 1].0;
    Err(shown.not_reproducible(format!(
        "`{name}` is not whole, and no clone can be made: {said}"
    )))
}

/// Whether git finds everything that these lead to and HEAD does not; else what it says.
fn walk(shown: &Shown, ids: &[&str]) -> Result<Result<(), String>, RoomError> {
    if ids.is_empty() {
        return Ok(Ok(()));
    }
    let lines = format!("{}\n^{}", ids.join("\n"), shown.commit);
    let asked = ["rev-list", "--objects", "--stdin", "--quiet"].map(OsStr::new);
    let captured = shown.ask(true, &asked, lines)?;
    Ok(match captured.success() {
        true => Ok(()),
        false => Err(complaint(&captured)),
    })
}

/// What git keeps beside the objects tells the truth of them: whoever sends a clone asks it.
fn check_indexes(shown: &Shown) -> Result<(), RoomError> {
    let dirs = object_dirs(&shown.here);
    let grafts = shown.here.with_file_name("info").join("grafts");
    let text = disk::read_text(&grafts, MAX_FILE, Links::Follow).unwrap_or_default();
    let is_graft = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
    if text.unwrap_or_default().lines().any(is_graft) {
        let how = "it gives commits other parents, and no clone can be made";
        return Err(shown.not_reproducible(lies(&grafts, how)));
    }
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
            let asked = [program, "verify", "--no-progress"].map(OsStr::new);
            let captured = shown.ask(true, &[&asked[..], &[&of]].concat(), String::new())?;
            if !captured.success() {
                return Err(shown.not_reproducible(lies(&place, &complaint(&captured))));
            }
        }
    }
    // Whoever sends a clone asks a bitmap what belongs to it.
    match dirs.iter().find_map(|dir| find_bitmap(dir)) {
        Some(place) if reachable(shown, true)? != reachable(shown, false)? => {
            let how = "it leads to other objects than the history";
            Err(shown.not_reproducible(lies(&place, how)))
        }
        _ => Ok(()),
    }
}

fn lies(place: &Path, how: &str) -> String {
    let place = place.display();
    format!("`{place}` does not tell the truth, remove it: {how}")
}

/// Names and ids of the refs that a clone is shown and takes, none of which keeps it from being made.
fn list_sent(shown: &Shown, place: &Path) -> Result<Vec<(String, String)>, RoomError> {
    let sender = format!("--upload-pack={SENDER}");
    let asked = ["ls-remote", "--quiet", &sender].map(OsStr::new);
    let asked = [&asked[..], &[place.as_os_str()]].concat();
    let captured = shown.ask(false, &asked, String::new())?;
    if !captured.success() {
        let said = complaint(&captured);
        return Err(shown.not_reproducible(format!("no clone can be made: {said}")));
    }
    let text = String::from_utf8_lossy(&captured.stdout);
    let listed = text.lines().filter_map(|line| line.split_once('\t'));
    // A clone passes over names that git itself would not give.
    let is_taken = |name: &str| {
        name == "HEAD"
            || (is_tag(name) || name.starts_with("refs/heads/")) && Reference::is_valid_name(name)
    };
    let sent: Vec<(String, String)> = listed
        .filter(|(_, name)| is_taken(name))
        .map(|(id, name)| (name.to_owned(), id.to_owned()))
        .collect();
    let is_null = |id: &str| id.bytes().all(|byte| byte == b'0');
    if let Some((name, _)) = sent.iter().find(|(_, id)| is_null(id)) {
        return Err(shown.not_reproducible(format!(
            "`{name}` names no object, and no clone can be made: remove it"
        )));
    }
    if let Some((above, name)) = find_in_the_way(&sent) {
        return Err(shown.not_reproducible(format!(
            "`{above}` and `{name}` exclude each other, and no clone can be made: remove one of them"
        )));
    }
    Ok(sent)
}

/// A ref whose name is a directory of another's: a list of packed refs can hold both, no clone can.
fn find_in_the_way(refs: &[(String, String)]) -> Option<(&str, &str)> {
    let names: BTreeSet<&str> = refs.iter().map(|(name, _)| &**name).collect();
    names.iter().find_map(|name| {
        let mut above = name.match_indices('/').map(|(at, _)| &name[..at]);
        Some((above.find(|above| names.contains(above))?, *name))
    })
}

/// A clone is shown the tags that the room shows, and HEAD.
fn check_sender(shown: &Shown, sent: &[(String, String)]) -> Result<(), RoomError> {
    let tags = shown
        .refs
        .iter()
        .map(|(name, _)| &**name)
        .filter(|name| is_tag(name));
    let hidden = ["HEAD"].into_iter().chain(tags);
    let mut hidden = hidden.filter(|name| !sent.iter().any(|(other, _)| other == name));
    match hidden.next() {
        None => Ok(()),
        Some(name) => Err(shown.not_reproducible(format!(
            "a clone is not shown `{name}`: the repository's settings hide it (`transfer.hideRefs`, `uploadpack.hideRefs`)"
        ))),
    }
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
            dirs.extend(named.map(|line| dir.join(unquote(line))));
        }
        last = last.end..dirs.len();
    }
    dirs
}

/// A line as git reads it: one in quotes is written as in C.
fn unquote(line: &str) -> String {
    let quoted = line
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let Some(quoted) = quoted else {
        return line.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let mut number = None;
        for _ in 0..3 {
            let digit = rest.next_if(|byte| matches!(byte, b'0'..=b'7'));
            number = match (number, digit) {
                (number, None) => number,
                (before, Some(digit)) => Some(
                    before
                        .unwrap_or(0_u8)
                        .wrapping_mul(8)
                        .wrapping_add(digit - b'0'),
                ),
            };
        }
        bytes.extend(number.or_else(|| {
            Some(match rest.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                other => other,
            })
        }));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn find_bitmap(dir: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(dir.join("pack")).ok()?;
    let mut places = entries.flatten().map(|entry| entry.path());
    places.find(|place| place.extension().is_some_and(|end| end == "bitmap"))
}

/// A digest of everything that HEAD and the refs lead to: as a bitmap says it, or by the objects.
fn reachable(shown: &Shown, by_bitmap: bool) -> Result<String, RoomError> {
    let mut asked = vec!["rev-list", "--objects", "--stdin", "--no-object-names"];
    if by_bitmap {
        asked.push("--use-bitmap-index");
    }
    let asked: Vec<&OsStr> = asked.into_iter().map(OsStr::new).collect();
    let ids = shown.refs.iter().map(|(_, id)| &id[..]);
    let ids: Vec<&str> = ids.chain([&*shown.commit]).collect();
    let mut env = plain_git(shown.path);
    env.push(("GIT_OBJECT_DIRECTORY", shown.here.clone().into()));
    // The index of many packs may bear the bitmap; that it tells the truth was found before.
    let core_multi_pack_index = "GIT_CONFIG_VALUE_1";
    env.push((core_multi_pack_index, "true".into()));
    let captured = shown.ask_with(env, &asked, ids.join("\n"))?;
    if !captured.success() {
        return Err(shown.not_reproducible(complaint(&captured)));
    }
    let lines = captured.stdout.split(|byte| *byte == b'\n');
    let mut listed: Vec<&[u8]> = lines.map(<[u8]>::trim_ascii).collect();
    listed.sort_unstable();
    listed.dedup();
    Ok(cook_core::digest::sha256(listed.concat()))
}

/// Bytes that a copy of the history may take.
pub(crate) fn history_bytes(here: &Path) -> u64 {
    object_dirs(here)
        .iter()
        .map(|dir| count_bytes_below(dir))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::unquote;

    #[test]
    fn a_quoted_line_is_read_as_git_does() {
        assert_eq!(unquote("/a \"b\""), "/a \"b\"");
        assert_eq!(unquote(r#""/a\"b\\c\040d\te""#), "/a\"b\\c d\te");
    }
}
