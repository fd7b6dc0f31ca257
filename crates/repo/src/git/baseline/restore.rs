//! Restoring a repository to its baseline.
//!
//! This includes unfinished operations of git: a merge, a rebase, a series of picks, a bisection. One that is left
//! behind decides what the next commit is, or what the next `git rebase --continue` runs.

use super::super::cleanliness::is_unwatched;
use super::super::program::{Call, fail_git, path_list, refuse_path};
use super::super::{PIN_REFS, RESCUED_REFS, Repo, path_text};
use super::stand::{
    Baseline, Difference, INDEX, STASH_LOG, UNHIDE, WORK_INDEX, aside, dirs, stash,
};
use super::steering::{Dirs, Steering, differing};
use crate::disk::{self, AtPath, Durable, Links, NewFile, cannot, native_path};
use cook_protocol::diagnostic::Failure;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

impl Baseline {
    /// Keeps the commits that the differing refs now name, under [`RESCUED_REFS`]`<id>/`, so that they stay reachable
    /// after the refs are restored. Returns the new refs.
    ///
    /// # Errors
    /// If a ref cannot be written; nothing was restored then.
    pub fn keep_refs(
        &self,
        repo: &Repo,
        differences: &[Difference],
        id: &str,
    ) -> Result<Vec<String>, Failure> {
        let mut found = Vec::new();
        for difference in differences {
            if let Some((name, _, Some(to))) = sides(difference) {
                found.push((name.to_owned(), to.to_owned()));
            } else if *difference == Difference::Stash {
                let now = stash(&repo.program)?;
                found.extend(entries("stash", &now, &self.stand.stash));
            }
        }
        let made = found.iter().map(|(name, target)| {
            let kept = keep_ref(repo, id, name, target)?;
            kept.ok_or_else(|| fail_git(format!("git does not keep {target}")))
        });
        made.collect()
    }

    /// Keeps the earlier targets of refs and stashes that are not restored, if no other ref leads to them. Returns the
    /// new refs; objects that no longer exist cannot be kept.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn keep_before(
        &self,
        repo: &Repo,
        left: &[Difference],
        id: &str,
    ) -> Result<Vec<String>, Failure> {
        let mut made = Vec::new();
        for difference in left {
            let lost = match sides(difference) {
                Some((name, Some(from), _)) if !is_in_reach(repo, name, from)? => {
                    vec![(name.to_owned(), from.to_owned())]
                }
                None if *difference == Difference::Stash => {
                    entries("stash", &self.stand.stash, &stash(&repo.program)?)
                }
                _ => Vec::new(),
            };
            for (name, target) in lost {
                made.extend(keep_ref(repo, id, &format!("before/{name}"), &target)?);
            }
        }
        Ok(made)
    }

    /// Writes, into the baseline's directory, the earlier version of those of these files that were not in the commit.
    /// Returns each path with that of its copy.
    ///
    /// # Errors
    /// When git or the file system refuses.
    pub fn restore_uncommitted(
        &self,
        repo: &Repo,
        paths: &[&[u8]],
    ) -> Result<Vec<(Vec<u8>, PathBuf)>, Failure> {
        let Some(commit) = self.stand.commit().filter(|_| !paths.is_empty()) else {
            return Ok(Vec::new());
        };
        let arguments = "diff-tree -r -z --no-renames --name-only --diff-filter=d";
        let call = aside(repo, &self.dir, WORK_INDEX, arguments);
        let differed = repo
            .program
            .entries(call.arg(commit).arg(&self.stand.tree))?;
        let mut wanted = paths.to_vec();
        wanted.retain(|path| differed.iter().any(|differed| differed == path));
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let to = self.dir.join("before");
        let mut prefix = std::ffi::OsString::from("--prefix=");
        prefix.push(to.join(""));
        let list = path_list(wanted.iter().copied());
        let arguments = "checkout-index --force -z --stdin";
        let call = aside(repo, &self.dir, WORK_INDEX, arguments);
        repo.program.answer(call.arg(prefix).stdin(list))?;
        let placed = wanted.into_iter().filter_map(|path| {
            let at = to.join(native_path(path)?);
            Some((path.to_owned(), at))
        });
        Ok(placed.collect())
    }

    /// Restores the given differences. Submodules, nested repositories and linked worktrees stay as they are: changes
    /// there cannot be told from the user's own work. Steering files were restored when they were compared.
    ///
    /// # Errors
    /// If git or the file system refuses; everything restored until then stays so.
    pub fn put_back(&self, repo: &Repo, differences: &[Difference]) -> Result<(), Failure> {
        // New refs are removed first: one may be where another ref was, or below it.
        let is_new = |one: &&Difference| matches!(one, Difference::Ref { from: None, .. });
        let (new, others): (Vec<&Difference>, Vec<&Difference>) =
            differences.iter().partition(is_new);
        for difference in new.into_iter().chain(others) {
            match difference {
                Difference::Ref { name, from, .. } => {
                    put_ref(repo, name, from.as_deref())?;
                }
                Difference::Head { from, .. } => {
                    put_ref(repo, "HEAD", Some(from))?;
                }
                _ => {}
            }
        }
        if differences.contains(&Difference::Stash) {
            self.put_stash_back(repo)?;
        }
        let files: Vec<(&[u8], bool)> = differences
            .iter()
            .filter_map(|difference| match difference {
                Difference::File { path, added, .. } => Some((path.as_slice(), *added)),
                _ => None,
            })
            .collect();
        self.put_files_back(repo, &files)?;
        let operation = differences
            .iter()
            .filter_map(|difference| match difference {
                Difference::Operation { name, .. } => Some(name),
                _ => None,
            });
        self.put_operation_back(repo, operation)?;
        let is_hidden = |one: &Difference| matches!(one, Difference::Hidden { .. });
        if differences.contains(&Difference::Index) {
            self.put_index_back(repo)?;
        } else if differences.iter().any(is_hidden) {
            self.show_again(repo)?;
        }
        Ok(())
    }

    /// Makes git watch the files again that it has been told not to watch since.
    fn show_again(&self, repo: &Repo) -> Result<(), Failure> {
        let listed = repo.program.entries(Call::new("ls-files -v -z"))?;
        let unwatched = listed.iter().filter_map(|entry| is_unwatched(entry));
        let paths =
            path_list(unwatched.filter(|path| !self.stand.hidden.contains(&path_text(path))));
        for bit in UNHIDE {
            let call = Call::new("update-index").arg(bit).arg("-z").arg("--stdin");
            repo.program.answer(call.stdin(paths.clone()))?;
        }
        Ok(())
    }

    fn put_stash_back(&self, repo: &Repo) -> Result<(), Failure> {
        let Some(newest) = self.stand.stash.first() else {
            return put_ref(repo, "refs/stash", None).map(drop);
        };
        for id in &self.stand.stash {
            let there = Call::new("cat-file -e").arg(format!("{id}^{{commit}}"));
            if !repo.program.ask(there)?.success() {
                return Ok(());
            }
        }
        match put_ref(repo, "refs/stash", Some(newest))? {
            true => replace(
                &self.dir.join(STASH_LOG),
                &repo.common_dir.join("logs/refs/stash"),
            ),
            false => Ok(()),
        }
    }

    fn put_index_back(&self, repo: &Repo) -> Result<(), Failure> {
        let index = repo.git_dir.join("index");
        let kept = self.dir.join(INDEX);
        match kept.is_file() {
            true => replace(&kept, &index),
            false => disk::remove_file(&index).at("remove", &index),
        }
    }

    /// New files are removed first: one may be where a directory was, or the reverse.
    fn put_files_back(&self, repo: &Repo, files: &[(&[u8], bool)]) -> Result<(), Failure> {
        for (path, _) in files.iter().filter(|(_, added)| *added) {
            remove_file(&repo.root, path)?;
        }
        let mut wanted = Vec::new();
        for (path, _) in files.iter().filter(|(_, added)| !*added) {
            // git would remove a directory at this path with all its content, and any file or link in place of a parent
            // directory.
            let is_taken = |at: PathBuf| {
                at.symlink_metadata().is_ok_and(|found| found.is_dir())
                    || at
                        .ancestors()
                        .skip(1)
                        .take_while(|above| *above != repo.root)
                        .any(|above| above.symlink_metadata().is_ok_and(|found| !found.is_dir()))
            };
            if repo.at(path).is_none_or(is_taken) {
                continue;
            }
            wanted.push(*path);
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let arguments = "checkout-index --force -z --stdin";
        let call = aside(repo, &self.dir, WORK_INDEX, arguments);
        repo.program
            .answer(call.stdin(path_list(wanted)))
            .map(|_| ())
    }

    /// The differences of unfinished operations, with copies of the files found.
    pub(super) fn operation_differences(
        &self,
        repo: &Repo,
        copies: &Path,
    ) -> Result<Vec<Difference>, Failure> {
        let now = dirs(repo, BTreeSet::new(), &self.stand.ignored).read_operation(Some(copies))?;
        let found = differing(&self.stand.operation.0, &now.0).map(|name| Difference::Operation {
            name: name.trim_start_matches("worktree:").to_owned(),
            found: now.find_copy(name, copies),
        });
        Ok(found.collect())
    }

    /// Restores the named files, those in a directory before the directory itself.
    pub(super) fn put_operation_back<'n>(
        &self,
        repo: &Repo,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<(), Failure> {
        let dirs = dirs(repo, BTreeSet::new(), &self.stand.ignored);
        let kept = self.dir.join("steering");
        let names: BTreeSet<&String> = names.collect();
        for name in names.into_iter().rev() {
            let path = repo.git_dir.join(name);
            let was = self.stand.operation.0.get(&own(name));
            match was {
                // A directory that is not empty stays, and is reported by the next comparison.
                None if path.is_dir() && !path.is_symlink() => {
                    let _ = std::fs::remove_dir(&path);
                }
                Some(_) if DIRECTORIES.contains(&name.as_str()) => {
                    std::fs::create_dir_all(&path).at("make", &path)?
                }
                was => dirs.put_back(&own(name), was, &kept)?,
            }
        }
        Ok(())
    }

    /// The copy of the earlier content of an operation's file or a steering file, if it was kept.
    pub fn find_before(&self, difference: &Difference) -> Option<PathBuf> {
        let kept = self.dir.join("steering");
        let at = match difference {
            Difference::Operation { name, .. } => {
                self.stand.operation.find_copy(&own(name), &kept)?
            }
            Difference::Steering { name, .. } => self.stand.steering.find_copy(name, &kept)?,
            _ => return None,
        };
        at.is_file().then_some(at)
    }
}

/// Makes a rescue ref and returns it; `None` if git refuses because the object no longer exists.
fn keep_ref(repo: &Repo, id: &str, name: &str, target: &str) -> Result<Option<String>, Failure> {
    let kept = format!("{RESCUED_REFS}{id}/{name}");
    let call = Call::new("update-ref --no-deref").arg(&kept).arg(target);
    Ok(repo.program.ask(call)?.success().then_some(kept))
}

/// The name of a differing ref or HEAD, and the commits it named before and names now. Symbolic values are left out.
fn sides(difference: &Difference) -> Option<(&str, Option<&str>, Option<&str>)> {
    fn own(to: &str) -> Option<&str> {
        Some(to).filter(|to| !to.starts_with("ref: "))
    }
    match difference {
        Difference::Ref { name, from, to } => Some((
            name.trim_start_matches("refs/"),
            from.as_deref().and_then(own),
            to.as_deref().and_then(own),
        )),
        Difference::Head { from, to } => Some(("HEAD", own(from), own(to))),
        _ => None,
    }
}

/// The stashes that are in one list and not in the other, with names for their rescue refs.
fn entries(name: &str, list: &[String], other: &[String]) -> Vec<(String, String)> {
    let missing = list.iter().filter(|id| !other.contains(id)).enumerate();
    let named = missing.map(|(number, id)| match number {
        0 => (name.to_owned(), id.clone()),
        number => (format!("{name}-{number}"), id.clone()),
    });
    named.collect()
}

/// Whether some ref leads to the object that a ref named. For tags never, because a tag may be an object of its own.
fn is_in_reach(repo: &Repo, name: &str, object: &str) -> Result<bool, Failure> {
    if name.starts_with("tags/") {
        return Ok(false);
    }
    let call = Call::new("for-each-ref --format=%(refname) --contains");
    let answer = repo.program.ask(call.arg(object))?;
    let listed = String::from_utf8_lossy(&answer.stdout);
    Ok(answer.code == Some(0) && listed.lines().any(|name| !name.starts_with(PIN_REFS)))
}

/// Returns whether git moved the ref. A ref that git refuses to move stays, and is reported by the next comparison.
fn put_ref(repo: &Repo, name: &str, to: Option<&str>) -> Result<bool, Failure> {
    let call = match to {
        None => Call::new("update-ref --no-deref -d").arg(name),
        Some(to) => match to.strip_prefix("ref: ") {
            Some(target) => Call::new("symbolic-ref").arg(name).arg(target),
            None => Call::new("update-ref --no-deref").arg(name).arg(to),
        },
    };
    Ok(repo.program.ask(call)?.success())
}

/// Removes a file below the root, and the directories that this leaves empty. Refuses to work through a symlink.
fn remove_file(root: &Path, path: &[u8]) -> Result<(), Failure> {
    let outside = || refuse_path(&path_text(path));
    let relative = native_path(path).ok_or_else(outside)?;
    let target = root.join(&relative);
    let mut above: Vec<&Path> = target
        .ancestors()
        .skip(1)
        .take_while(|dir| *dir != root)
        .collect();
    let is_plain = |part: Component| matches!(part, Component::Normal(_));
    if !relative.components().all(is_plain) || above.iter().any(|dir| dir.is_symlink()) {
        return Err(outside());
    }
    match disk::look(&target).at("look at", &target)? {
        Some(found) if found.is_dir() => return Ok(()),
        Some(_) => std::fs::remove_file(&target).at("remove", &target)?,
        None => {}
    }
    above.retain(|dir| dir.is_dir());
    for dir in above {
        if std::fs::remove_dir(dir).is_err() {
            break;
        }
    }
    Ok(())
}

/// Replaces a file with a copy of another one, by rename.
fn replace(from: &Path, to: &Path) -> Result<(), Failure> {
    let dir = to.parent().unwrap_or(to);
    std::fs::create_dir_all(dir).at("make", dir)?;
    let opened = disk::open_regular(from, Links::Refuse).at("read", from)?;
    let mut source = opened.ok_or_else(|| cannot("read", from, ErrorKind::NotFound.into()))?;
    let mut copy = || {
        let mut draft = NewFile::at(to, Durable::Content).begin()?;
        io::copy(&mut source, draft.file())?;
        draft.finish().map(drop)
    };
    copy().at("put back", to)
}

/// Files in the worktree's own git dir.
const FILES: &str = "\
    BISECT_ANCESTORS_OK BISECT_EXPECTED_REV BISECT_HEAD BISECT_LOG BISECT_NAMES BISECT_START \
    BISECT_TERMS CHERRY_PICK_HEAD MERGE_AUTOSTASH MERGE_HEAD MERGE_MODE MERGE_MSG \
    REVERT_HEAD SQUASH_MSG";
/// Directories there; they are significant even if empty.
const DIRECTORIES: [&str; 3] = ["rebase-apply", "rebase-merge", "sequencer"];
/// Most files in one of these directories.
const MAX_FILES: usize = 20_000;

impl Dirs<'_> {
    /// The state of unfinished operations; with `keep`, the content is copied there by digest.
    pub(super) fn read_operation(&self, keep: Option<&Path>) -> Result<Steering, Failure> {
        let mut names: Vec<String> = FILES.split(' ').chain(DIRECTORIES).map(own).collect();
        for dir in DIRECTORIES {
            self.list_files_below(&own(dir), MAX_FILES, &mut names)?;
        }
        self.read_named(names, keep)
    }
}

fn own(name: &str) -> String {
    format!("worktree:{name}")
}
