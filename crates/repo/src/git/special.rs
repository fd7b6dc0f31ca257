//! Checks of the files that git reads: a FIFO or a device among them would block git, and libgit2 inside cook, forever.

use crate::disk::{self, Links};
use cook_protocol::diagnostic::{Code, Failure};
use std::collections::VecDeque;
use std::fs::{FileType, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files of a git directory that every git command reads.
const READ: &str = "\
    HEAD config config.worktree commondir gitdir index packed-refs shallow info/exclude \
    info/attributes info/grafts info/sparse-checkout objects/info/alternates refs/stash";

/// Files of a worktree's root that git reads as settings.
const READ_ABOVE: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];

/// Largest file that names another one, and largest settings file.
const MAX_LINK: u64 = 64 << 10;
const MAX_SETTINGS: u64 = 4 << 20;
/// Largest of the other files, of the index and packed refs, and of one ref. git and libgit2 read them whole.
const MAX_READ: u64 = 64 << 20;
const MAX_LIST: u64 = 1 << 30;
const MAX_REF: u64 = 4 << 10;

/// Most files named by settings that are checked.
const MAX_INCLUDED: usize = 100;

/// Time limit of the search for a file that blocks git.
const SEARCH: Duration = Duration::from_secs(3);

const NO_FILE: &str = "is not a file, and git would wait for it";

/// The failure that a file would block git.
fn refuse(path: &Path, what: &str) -> Failure {
    let what = format!("`{}` {what}", path.display());
    Failure::state(Code::GitFailed, what).replace_hints([look_at(path)])
}

/// The hint for such a file.
pub(super) fn look_at(path: &Path) -> String {
    let path = path.display().to_string();
    format!("look at it, then run `rm {}`", shell_words::quote(&path))
}

/// The git directory of a worktree, or the directory itself if it is a git directory.
pub(super) fn find_git_dir(worktree: &Path) -> Option<PathBuf> {
    let git = worktree.join(".git");
    let found = git.metadata().ok();
    match found {
        Some(found) if found.is_dir() => Some(git),
        Some(found) if found.is_file() => {
            let text = disk::read_text(&git, MAX_LINK, Links::Follow).ok()??;
            let path = text.strip_prefix("gitdir:")?.trim();
            Some(worktree.join(path))
        }
        _ => worktree
            .join("HEAD")
            .symlink_metadata()
            .is_ok()
            .then(|| worktree.to_owned()),
    }
}

/// The git directory that all worktrees share.
pub(super) fn find_common_dir(git_dir: &Path) -> PathBuf {
    let read = disk::read_text(&git_dir.join("commondir"), MAX_LINK, Links::Follow);
    match read {
        Ok(Some(text)) => git_dir.join(text.trim_end()),
        _ => git_dir.to_owned(),
    }
}

/// Checks the files that git and libgit2 open for any answer.
pub(super) fn check(worktree: &Path) -> Result<(), Failure> {
    let Some(git_dir) = find_git_dir(worktree) else {
        return Ok(());
    };
    for name in READ_ABOVE {
        // git does not follow a symlink there.
        let there = worktree.join(name);
        if let Ok(found) = there.symlink_metadata() {
            check_found(&there, &found, MAX_READ)?;
        }
    }
    let common = find_common_dir(&git_dir);
    for name in READ.split(' ') {
        let limit = match name {
            "index" | "packed-refs" => MAX_LIST,
            _ => MAX_READ,
        };
        check_in_git_dir(&git_dir, name, limit)?;
        if common != git_dir {
            check_in_git_dir(&common, name, limit)?;
        }
    }
    check_own(&common.join("cook"))?;
    if let Ok(Some(head)) = disk::read_text(&git_dir.join("HEAD"), MAX_LINK, Links::Follow)
        && let Some(name) = head.strip_prefix("ref:")
    {
        check_file(&common.join(name.trim()), MAX_REF)?;
    }
    let mut left = MAX_INCLUDED;
    check_settings(&common.join("config"), &mut left)?;
    check_settings(&git_dir.join("config.worktree"), &mut left)
}

/// Checks every ref that is a file, before git lists all of them.
pub(super) fn check_refs(worktree: &Path) -> Result<(), Failure> {
    let Some(git_dir) = find_git_dir(worktree) else {
        return Ok(());
    };
    for dir in [&git_dir, &find_common_dir(&git_dir)] {
        for file in disk::list_files_below(&dir.join("refs")) {
            check_file(&file, MAX_REF)?;
        }
    }
    Ok(())
}

fn check_file(path: &Path, limit: u64) -> Result<(), Failure> {
    match path.metadata() {
        Ok(found) => check_found(path, &found, limit),
        Err(_) => Ok(()),
    }
}

/// Checks a file that may be a symlink. git quotes lines that it cannot parse, so a symlink would expose its target.
/// Symlinks into another git directory are allowed, because shared repositories consist of them.
fn check_in_git_dir(dir: &Path, name: &str, limit: u64) -> Result<(), Failure> {
    let path = dir.join(name);
    let Ok(found) = path.symlink_metadata() else {
        return Ok(());
    };
    if !found.is_symlink() {
        return check_found(&path, &found, limit);
    }
    let of = path.canonicalize().ok().and_then(|target| {
        let parts = Path::new(name).components().count();
        target.ancestors().nth(parts).map(Path::to_owned)
    });
    let leads_out = of.is_some_and(|of| !of.join("HEAD").exists() || !of.join("objects").is_dir());
    match leads_out {
        true => Err(refuse(&path, NO_FILE)),
        false => check_file(&path, limit),
    }
}

/// Checks that no entry of cook's own directory is a symlink: it would lead cook's writes out of the repository.
fn check_own(cook: &Path) -> Result<(), Failure> {
    for entry in std::fs::read_dir(cook).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            return Err(refuse(&entry.path(), NO_FILE));
        }
    }
    Ok(())
}

/// Checks that reading the file cannot block, and that it is not too large.
fn check_found(path: &Path, found: &Metadata, limit: u64) -> Result<(), Failure> {
    if blocks(found.file_type()) {
        return Err(refuse(path, NO_FILE));
    }
    if found.is_file() && found.len() > limit {
        return Err(refuse(path, &format!("is larger than {limit} bytes")));
    }
    Ok(())
}

/// Checks a settings file and the files it includes. It does not apply git's own rules: every `path` counts as an
/// include.
fn check_settings(path: &Path, left: &mut usize) -> Result<(), Failure> {
    check_file(path, MAX_SETTINGS)?;
    let read = disk::read(path, MAX_SETTINGS, Links::Follow);
    let bytes = match read {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(error) => return Err(disk::cannot("read", path, error)),
    };
    let text = String::from_utf8_lossy(&bytes);
    if !text.to_ascii_lowercase().contains("include") {
        return Ok(());
    }
    for line in text.lines() {
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let key = key.rsplit(']').next().unwrap_or(key).trim();
        let names = ["path", "attributesfile", "excludesfile"];
        if !names.iter().any(|name| key.eq_ignore_ascii_case(name)) || *left == 0 {
            continue;
        }
        *left -= 1;
        let value = value.trim().trim_matches('"');
        let named = match (value.strip_prefix("~/"), std::env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => path.parent().unwrap_or(path).join(value),
        };
        check_file(&named, MAX_READ)?;
        if key.eq_ignore_ascii_case("path") && named.is_file() && named != path {
            check_settings(&named, left)?;
        }
    }
    Ok(())
}

/// Whether opening it may block, or reading it never end.
#[cfg(unix)]
fn blocks(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn blocks(_: FileType) -> bool {
    false
}

/// Searches a worktree, nearest directories first, for a file that may block git or keep it reading for long.
pub(super) fn find(worktree: &Path) -> Option<Failure> {
    let started = Instant::now();
    let git_dir = find_git_dir(worktree);
    let common = git_dir.as_deref().map(find_common_dir);
    let inside = [git_dir, common].into_iter().flatten();
    let mut places: VecDeque<(PathBuf, bool)> = inside.map(|dir| (dir, true)).collect();
    places.push_back((worktree.to_owned(), false));
    while let Some((dir, is_git)) = places.pop_front() {
        if started.elapsed() > SEARCH {
            return None;
        }
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries.flatten() {
            let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else {
                continue;
            };
            if kind.is_dir() {
                places.push_back((entry.path(), is_git || name == ".git"));
            } else if is_git {
                if entry
                    .path()
                    .metadata()
                    .is_ok_and(|found| blocks(found.file_type()))
                {
                    return Some(refuse(&entry.path(), NO_FILE));
                }
            } else if READ_ABOVE.iter().any(|read| name == *read)
                && let Ok(found) = entry.metadata()
                && let Err(error) = check_found(&entry.path(), &found, MAX_READ)
            {
                return Some(error);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// git reads the file whole: at the root when it opens the repository, further down when it visits the directory.
    #[test]
    fn an_ignore_file_that_is_too_large_is_named() {
        let dir = disk::TemporaryDir::make().unwrap();
        let is_named = |failure: Failure, path: &Path| {
            assert_eq!(failure.code, Code::GitFailed);
            let path = path.display().to_string();
            assert!(failure.message.contains(&path), "{failure:?}");
        };
        std::fs::create_dir_all(dir.path().join(".git")).unwrap();
        for (at, is_top) in [("deep/down", false), ("", true)] {
            let place = dir.path().join(at).join(".gitignore");
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            assert!(find(dir.path()).is_none());
            let file = std::fs::File::create(&place).unwrap();
            file.set_len(10 << 30).unwrap();
            is_named(find(dir.path()).unwrap(), &place);
            assert_eq!(check(dir.path()).is_err(), is_top);
            if is_top {
                is_named(check(dir.path()).unwrap_err(), &place);
            }
            std::fs::remove_file(&place).unwrap();
        }
    }
}
