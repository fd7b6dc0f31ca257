//! Putting a repository back to its baseline.

use super::super::error::AtPath;
use super::super::index_entries::is_unwatched;
use super::super::program::{Call, path_list};
use super::super::refs::{PIN_REFS, RESCUED_REFS};
use super::super::{Repo, RepoError, path_text};
use super::deviation::Difference;
use super::stand::{Baseline, INDEX, STASH_LOG, WORK_INDEX};
use super::taking::{UNHIDE, aside, stash};
use crate::disk::{self, Durable, Links, NewFile};
use cook_protocol::diagnostic::Failure;
use std::io;
use std::path::{Path, PathBuf};

impl Baseline {
    /// Keeps the commits that the differing refs name now under [`RESCUED_REFS`]`<id>/`, so
    /// that nothing is out of reach when they are put back. The refs that were made.
    ///
    /// # Errors
    /// When a ref cannot be written; nothing was put back then.
    pub fn keep_refs(
        &self,
        repo: &Repo,
        differences: &[Difference],
        id: &str,
    ) -> Result<Vec<String>, Failure> {
        let mut made = Vec::new();
        let mut keep = |name: &str, target: &str| -> Result<(), RepoError> {
            made.push(keep_ref(repo, id, name, target)?);
            Ok(())
        };
        for difference in differences {
            match difference {
                Difference::Ref {
                    name, to: Some(to), ..
                } if !to.starts_with("ref: ") => {
                    keep(name.trim_start_matches("refs/"), to)?;
                }
                Difference::Head { to, .. } if !to.starts_with("ref: ") => keep("HEAD", to)?,
                Difference::Stash => {
                    for (name, id) in entries("stash", &stash(&repo.program)?, &self.stand.stash) {
                        keep(&name, id)?;
                    }
                }
                _ => {}
            }
        }
        Ok(made)
    }

    /// Keeps what refs and stashes named that are not put back, where nothing else leads to it.
    /// The refs that were made; what is not there any more cannot be kept.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn keep_before(
        &self,
        repo: &Repo,
        left: &[Difference],
        id: &str,
    ) -> Result<Vec<String>, Failure> {
        let mut lost: Vec<(String, &str)> = Vec::new();
        for difference in left {
            match difference {
                Difference::Ref {
                    name,
                    from: Some(from),
                    ..
                } if !from.starts_with("ref: ") && !is_in_reach(repo, name, from)? => {
                    lost.push((format!("before/{}", name.trim_start_matches("refs/")), from));
                }
                Difference::Head { from, .. }
                    if !from.starts_with("ref: ") && !is_in_reach(repo, "HEAD", from)? =>
                {
                    lost.push(("before/HEAD".to_owned(), from));
                }
                Difference::Stash => {
                    let now = stash(&repo.program)?;
                    lost.extend(entries("before/stash", &self.stand.stash, &now));
                }
                _ => {}
            }
        }
        let mut made = Vec::new();
        for (name, target) in lost {
            match keep_ref(repo, id, &name, target) {
                Err(RepoError::Git { .. }) => {}
                kept => made.push(kept?),
            }
        }
        Ok(made)
    }

    /// Writes files as they were beside the baseline, those that were in no commit: each path
    /// with the place of its copy.
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
            let at = to.join(super::super::native(path)?);
            Some((path.to_owned(), at))
        });
        Ok(placed.collect())
    }

    /// Puts the named differences back. Submodules, repositories of their own and linked
    /// worktrees are left as they are:
    /// what somebody did there cannot be told from the user's own work. Steering files were
    /// put back when they were compared.
    ///
    /// # Errors
    /// When git or the file system refuses; what was put back until then stays so.
    pub fn put_back(&self, repo: &Repo, differences: &[Difference]) -> Result<(), Failure> {
        // New refs go first: one may stand where a ref was, or below it.
        let is_new = |one: &&Difference| matches!(one, Difference::Ref { from: None, .. });
        let (new, others): (Vec<&Difference>, Vec<&Difference>) =
            differences.iter().partition(is_new);
        for difference in new.into_iter().chain(others) {
            match difference {
                Difference::Ref { name, from, .. } => {
                    unless_git_refuses(put_ref(repo, name, from.as_deref()))?;
                }
                Difference::Head { from, .. } => {
                    unless_git_refuses(put_ref(repo, "HEAD", Some(from)))?;
                }
                _ => {}
            }
        }
        if differences.contains(&Difference::Stash) {
            unless_git_refuses(self.put_stash_back(repo))?;
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

    /// Lets git look at what it was told not to look at since.
    fn show_again(&self, repo: &Repo) -> Result<(), RepoError> {
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

    fn put_stash_back(&self, repo: &Repo) -> Result<(), RepoError> {
        let log = repo.common_dir.join("logs/refs/stash");
        match self.stand.stash.first() {
            None => put_ref(repo, "refs/stash", None)?,
            Some(newest) => {
                // A list that names what is not there any more is not a list to git.
                for id in &self.stand.stash {
                    let there = Call::new("cat-file -e");
                    repo.program.answer(there.arg(format!("{id}^{{commit}}")))?;
                }
                put_ref(repo, "refs/stash", Some(newest))?;
                // The list is the ref's own record: one line for each entry.
                replace(&self.dir.join(STASH_LOG), &log)?;
            }
        }
        Ok(())
    }

    fn put_index_back(&self, repo: &Repo) -> Result<(), RepoError> {
        let index = repo.git_dir.join("index");
        let kept = self.dir.join(INDEX);
        if kept.is_file() {
            return replace(&kept, &index);
        }
        match std::fs::remove_file(&index) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(RepoError::io("remove", &index, error))
            }
            _ => Ok(()),
        }
    }

    /// New files go first: one may stand where a directory was, or the other way round.
    fn put_files_back(&self, repo: &Repo, files: &[(&[u8], bool)]) -> Result<(), RepoError> {
        for (path, _) in files.iter().filter(|(_, added)| *added) {
            remove_file(&repo.root, path)?;
        }
        let mut wanted = Vec::new();
        for (path, _) in files.iter().filter(|(_, added)| !*added) {
            // git would remove a directory that stands in its place with all that it holds, and
            // whatever stands where a directory above it was.
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
}

fn keep_ref(repo: &Repo, id: &str, name: &str, target: &str) -> Result<String, RepoError> {
    let kept = format!("{RESCUED_REFS}{id}/{name}");
    repo.program
        .answer(Call::new("update-ref --no-deref").arg(&kept).arg(target))?;
    Ok(kept)
}

/// The stashes of one list that another one does not hold, with names to keep them by.
fn entries<'a>(name: &str, list: &'a [String], other: &[String]) -> Vec<(String, &'a str)> {
    let missing = list.iter().filter(|id| !other.contains(id));
    missing
        .enumerate()
        .map(|(number, id)| match number {
            0 => (name.to_owned(), id.as_str()),
            number => (format!("{name}-{number}"), id.as_str()),
        })
        .collect()
}

/// Whether some ref leads to what one named. A tag may have been an object of its own.
fn is_in_reach(repo: &Repo, name: &str, object: &str) -> Result<bool, RepoError> {
    if name.starts_with("refs/tags/") {
        return Ok(false);
    }
    let call = Call::new("for-each-ref --format=%(refname) --contains");
    let answer = repo.program.ask(call.arg(object))?;
    let listed = String::from_utf8_lossy(&answer.stdout);
    Ok(answer.code == Some(0) && listed.lines().any(|name| !name.starts_with(PIN_REFS)))
}

/// What git refuses to put back stays, and is named at the next look.
fn unless_git_refuses(done: Result<(), RepoError>) -> Result<(), RepoError> {
    match done {
        Err(RepoError::Git { .. }) => Ok(()),
        done => done,
    }
}

fn put_ref(repo: &Repo, name: &str, to: Option<&str>) -> Result<(), RepoError> {
    let git = &repo.program;
    match to {
        None => git.answer(Call::new("update-ref --no-deref -d").arg(name)),
        Some(to) => match to.strip_prefix("ref: ") {
            Some(target) => git.answer(Call::new("symbolic-ref").arg(name).arg(target)),
            None => git.answer(Call::new("update-ref --no-deref").arg(name).arg(to)),
        },
    }
    .map(|_| ())
}

/// Removes a file below the root and the directories that are empty then. Nothing is done
/// through a symlink.
fn remove_file(root: &Path, path: &[u8]) -> Result<(), RepoError> {
    let Some(relative) = super::super::native(path) else {
        return Err(RepoError::PathOutside(path_text(path)));
    };
    let parts: Vec<_> = relative.components().collect();
    if !parts
        .iter()
        .all(|part| matches!(part, std::path::Component::Normal(_)))
    {
        return Err(RepoError::PathOutside(path_text(path)));
    }
    let target = root.join(&relative);
    let mut above: Vec<&Path> = target
        .ancestors()
        .skip(1)
        .take_while(|dir| *dir != root)
        .collect();
    if above.iter().any(|dir| dir.is_symlink()) {
        return Err(RepoError::PathOutside(path_text(path)));
    }
    match target.symlink_metadata() {
        // A repository of its own or a linked worktree: what it holds was kept nowhere.
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => {
            std::fs::remove_file(&target).at("remove", &target)?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(RepoError::io("look at", &target, error)),
    }
    // Nearest first; one that holds something stays, and so do those above it.
    above.retain(|dir| dir.is_dir());
    for dir in above {
        if std::fs::remove_dir(dir).is_err() {
            break;
        }
    }
    Ok(())
}

/// Copies over another file by rename.
fn replace(from: &Path, to: &Path) -> Result<(), RepoError> {
    let dir = to.parent().unwrap_or(to);
    std::fs::create_dir_all(dir).at("make", dir)?;
    let opened = disk::open_regular(from, Links::Refuse)
        .and_then(|file| file.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)));
    let mut source = opened.at("read", from)?;
    let failed = |error| RepoError::io("put back", to, error);
    let new = NewFile::at(to, Durable::Content);
    let mut draft = new.begin().map_err(failed)?;
    io::copy(&mut source, draft.file()).map_err(failed)?;
    draft.finish().map(drop).map_err(failed)
}
