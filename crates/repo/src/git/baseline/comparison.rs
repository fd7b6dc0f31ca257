//! Comparing a repository with its baseline.
//!
//! Repairing the list of packed refs if git cannot look refs up in it: a line out of order hides refs, even HEAD's
//! branch, and an invalid line makes every git command fail.
//!
//! Telling changes of a session from later ones by whoever used the repository since, by times of the file system (on
//! Unix the inode's change time, which no program can set). A difference without such a time belongs to the session.

use super::super::program::Call;
use super::super::special::find_common_dir;
use super::super::{Entry, Repo};
use super::stand::{
    Baseline, Difference, NOW_INDEX, Stand, WORK_INDEX, aside, dirs, list_nested, stand, there,
};
use super::steering::{Dirs, Ignored, Steering, differing, is_lead, is_nested};
use crate::disk::{self, AtPath, Durable, Links, NewFile};
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

impl Baseline {
    /// The differences from the baseline. A steering file that differs is copied and restored at once, because git
    /// would obey it.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn differences(&self, repo: &Repo) -> Result<Vec<Difference>, Failure> {
        let mut found = self.put_steering_back(repo)?;
        // Start from the baseline's own index: the stat data in the user's may be forged.
        let from = self.dir.join(WORK_INDEX);
        let was = &self.stand;
        let ignored = was.ignored.clone();
        let now = stand(repo, &self.dir, &from, NOW_INDEX, (ignored, None))?;
        found.extend(self.operation_differences(repo, &self.copies()?)?);
        if was.head != now.head {
            found.push(Difference::Head {
                from: was.head.clone(),
                to: now.head.clone(),
            });
        }
        found.extend(differing(&was.refs, &now.refs).map(|name| Difference::Ref {
            name: name.clone(),
            from: was.refs.get(name).cloned(),
            to: now.refs.get(name).cloned(),
        }));
        if was.stash != now.stash {
            found.push(Difference::Stash);
        }
        if was.index != now.index {
            found.push(Difference::Index);
        }
        for path in now.hidden.difference(&was.hidden) {
            // The files of a sparse checkout are absent, so nothing is hidden.
            if there(&repo.root.join(path))? {
                found.push(Difference::Hidden { path: path.clone() });
            }
        }
        if was.tree != now.tree {
            found.extend(self.file_differences(repo, &now)?);
        }
        found.extend(now.unborn.difference(&was.unborn).map(|path| {
            let path = path.clone().into_bytes();
            let (added, deleted) = (true, false);
            Difference::File {
                path,
                added,
                deleted,
            }
        }));
        found.extend(
            differing(&was.submodules, &now.submodules)
                .map(|path| Difference::Submodule { path: path.clone() }),
        );
        found.extend(
            was.worktrees
                .symmetric_difference(&now.worktrees)
                .map(|path| Difference::Worktree {
                    path: path.clone(),
                    added: now.worktrees.contains(path),
                }),
        );
        found.sort();
        Ok(found)
    }

    /// Restores the files that lead to the repository and to its refs, before anything searches for it: in a git dir
    /// that a session substituted, everything else would look unchanged.
    ///
    /// # Errors
    /// If such a file cannot be read or written.
    pub fn put_leads_back(&self) -> Result<Vec<Difference>, Failure> {
        let dirs = Dirs {
            root: &self.stand.root,
            common: &self.stand.git_dir,
            own: &self.stand.git_dir,
            nested: BTreeSet::new(),
            ignored: &Ignored::default(),
        };
        let copies = self.copies()?;
        let now = dirs.read_leads(&copies)?;
        let leads = self.stand.steering.only(is_lead);
        let mut found = self.put_files_back_to(&dirs, &leads, &now, &copies)?;
        found.extend(self.mend_packed_refs(&copies)?);
        Ok(found)
    }

    /// Restores steering files. Nested repositories come last, once the settings of this one are restored.
    fn put_steering_back(&self, repo: &Repo) -> Result<Vec<Difference>, Failure> {
        let copies = self.copies()?;
        let was = &self.stand.steering;
        let ignored = &self.stand.ignored;
        let dirs = self::dirs(repo, BTreeSet::new(), ignored);
        // Nothing is read or written through a link or file in place of a directory.
        let now = dirs.read_stand_ins(&copies)?;
        let those = was.only(|name| now.0.contains_key(name));
        let mut found = self.put_files_back_to(&dirs, &those, &now, &copies)?;
        let own = was.only(|name| !is_nested(name));
        let now = dirs.read(Some(&copies))?;
        found.extend(self.put_files_back_to(&dirs, &own, &now, &copies)?);
        let mut nested = list_nested(repo, &repo.git_dir.join("index"))?;
        nested.extend(list_nested(repo, &self.dir.join(WORK_INDEX))?);
        // A repository that is gone steers nothing.
        nested.retain(|path| repo.root.join(path).join(".git").symlink_metadata().is_ok());
        if nested.is_empty() {
            return Ok(found);
        }
        let is_there = |name: &str| {
            let below = name.trim_start_matches("root:");
            nested.iter().any(|path| Path::new(below).starts_with(path))
        };
        let was = was.only(|name| is_nested(name) && is_there(name));
        let dirs = self::dirs(repo, nested.clone(), ignored);
        let now = dirs.read(Some(&copies))?.only(is_nested);
        found.extend(self.put_files_back_to(&dirs, &was, &now, &copies)?);
        Ok(found)
    }

    fn copies(&self) -> Result<PathBuf, Failure> {
        let copies = self.dir.join("found");
        std::fs::create_dir_all(&copies).at("make", &copies)?;
        Ok(copies)
    }

    fn put_files_back_to(
        &self,
        dirs: &Dirs,
        was: &Steering,
        now: &Steering,
        copies: &Path,
    ) -> Result<Vec<Difference>, Failure> {
        let kept = self.dir.join("steering");
        let mut found = Vec::new();
        for name in differing(&was.0, &now.0).cloned() {
            let later = self.is_later(&dirs.path(&name));
            if !later {
                // A file that cannot be restored stays, and is reported by each comparison.
                dirs.put_back(&name, was.0.get(&name), &kept)?;
            }
            found.push(Difference::Steering {
                found: now.find_copy(&name, copies),
                name,
                later,
            });
        }
        Ok(found)
    }

    fn file_differences(&self, repo: &Repo, now: &Stand) -> Result<Vec<Difference>, Failure> {
        let call: Call = aside(
            repo,
            &self.dir,
            NOW_INDEX,
            "diff-tree -r -z --no-renames --name-status --ignore-submodules=none",
        );
        let entries = repo
            .program
            .entries(call.arg(&self.stand.tree).arg(&now.tree))?;
        let (pairs, _) = entries.as_chunks::<2>();
        let differences = pairs.iter().map(|[status, path]| Difference::File {
            path: path.clone(),
            added: status.starts_with(b"A"),
            deleted: status.starts_with(b"D"),
        });
        Ok(differences.collect())
    }

    /// Rewrites the list of packed refs if git cannot look refs up in it; copies the found list first. Refs that only
    /// the new list reveals are treated like all other new refs.
    pub(super) fn mend_packed_refs(&self, copies: &Path) -> Result<Option<Difference>, Failure> {
        let path = find_common_dir(&self.stand.git_dir).join("packed-refs");
        let read = disk::read_if_plain(&path, MAX_LIST, Links::Refuse);
        let Some(found) = read.at("read", &path)? else {
            return Ok(None);
        };
        let Some(mended) = mend(&found) else {
            return Ok(None);
        };
        let copy = copies.join(sha256(&found));
        std::fs::write(&copy, &found).at("write", &copy)?;
        let later = self.is_later(&path);
        NewFile::at(&path, Durable::Content)
            .write(&mended)
            .at("put back", &path)?;
        Ok(Some(Difference::Steering {
            name: "packed-refs".to_owned(),
            found: Some(copy),
            later,
        }))
    }

    /// Sets the end of the session: later changes belong to somebody else.
    #[must_use]
    pub fn until(mut self, end: Option<SystemTime>) -> Self {
        self.end = end;
        self
    }

    /// Divides differences into those of the session and later ones. If another branch or commit was checked out later,
    /// the changed index and committed files count as later too.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn divide(
        &self,
        repo: &Repo,
        differences: Vec<Difference>,
    ) -> Result<(Vec<Difference>, Vec<Difference>), Failure> {
        let Some(end) = self.end else {
            return Ok((differences, Vec::new()));
        };
        let looked = Later {
            repo,
            end,
            dirs: self.dirs(repo, &differences)?,
        };
        let moved = differences
            .iter()
            .any(|one| self.moves_the_worktree(one) && looked.came(one));
        let mut own = Vec::new();
        let mut later = Vec::new();
        for one in differences {
            let went_along = moved
                && match &one {
                    Difference::Index => true,
                    Difference::File { path, .. } => self.is_in_a_commit(repo, path)?,
                    // The branch was renamed while it was checked out.
                    Difference::Ref { to: None, .. } => self.moves_the_worktree(&one),
                    _ => false,
                };
            match went_along || looked.came(&one) {
                true => later.push(one),
                false => own.push(one),
            }
        }
        Ok((own, later))
    }

    /// The directories that held files; needed only if there are new files.
    fn dirs(&self, repo: &Repo, differences: &[Difference]) -> Result<BTreeSet<PathBuf>, Failure> {
        let is_new = |one: &Difference| matches!(one, Difference::File { added: true, .. });
        if !differences.iter().any(is_new) {
            return Ok(BTreeSet::new());
        }
        let call = aside(repo, &self.dir, WORK_INDEX, "ls-files -z");
        let listed = repo.program.entries(call)?;
        let paths = listed.iter().filter_map(|path| repo.at(path));
        Ok(paths
            .flat_map(|path| {
                let above = path.ancestors().skip(1).map(Path::to_owned);
                above.collect::<Vec<_>>()
            })
            .collect())
    }

    /// Whether a file was changed after the end of the session.
    pub fn is_later(&self, path: &Path) -> bool {
        self.end.is_some_and(|end| is_after(change_time(path), end))
    }

    fn moves_the_worktree(&self, difference: &Difference) -> bool {
        match difference {
            Difference::Head { .. } => true,
            Difference::Ref { name, .. } => self.stand.head == format!("ref: {name}"),
            _ => false,
        }
    }

    /// Whether the path is in the commit that was checked out then, or in the current HEAD.
    fn is_in_a_commit(&self, repo: &Repo, path: &[u8]) -> Result<bool, Failure> {
        let Ok(path) = std::str::from_utf8(path) else {
            return Ok(false);
        };
        for commit in self
            .stand
            .commit()
            .into_iter()
            .chain(repo.head()?.commit.as_ref())
        {
            if !matches!(repo.entry(commit, path)?, Entry::Nothing) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Largest list of packed refs that is read, in bytes.
const MAX_LIST: u64 = 1 << 30;

/// The list in a form that git can read; `None` if it is in one already. Peeled values of tags are left out: git
/// computes them itself.
fn mend(list: &[u8]) -> Option<Vec<u8>> {
    let mut is_sound = list.is_empty() || list.ends_with(b"\n");
    let mut is_sorted = false;
    let mut last: Option<&[u8]> = None;
    let mut refs: BTreeMap<&[u8], &[u8]> = BTreeMap::new();
    let lines = list.split(|byte| *byte == b'\n');
    for (number, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
        if number == 0 && line.starts_with(b"# ") {
            is_sorted = line
                .split(|byte| *byte == b' ')
                .any(|word| word == b"sorted");
        } else if let Some((id, name)) = read_line(line) {
            is_sound &= !is_sorted || last.is_none_or(|last| last < name);
            last = Some(name);
            refs.entry(name).or_insert(id);
        } else {
            is_sound &= last.is_some() && line.strip_prefix(b"^").is_some_and(is_id);
        }
    }
    if is_sound {
        return None;
    }
    let mut mended = b"# pack-refs with: sorted \n".to_vec();
    for (name, id) in refs {
        for part in [id, b" ", name, b"\n"] {
            mended.extend_from_slice(part);
        }
    }
    Some(mended)
}

fn read_line(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = line.iter().position(|byte| *byte == b' ')?;
    let (id, name) = (&line[..space], &line[space + 1..]);
    let forbidden = |byte: &u8| *byte <= b' ' || *byte == 0x7f || b"~^:?*[\\".contains(byte);
    let is_name = name.starts_with(b"refs/") && !name.iter().any(forbidden);
    (is_id(id) && is_name).then_some((id, name))
}

fn is_id(text: &[u8]) -> bool {
    matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit)
}

/// Bytes that are read from the end of a ref's reflog to get its last line.
const LAST_LINE: u64 = 64 << 10;

/// Tells whether a difference arose after the end of the session.
struct Later<'a> {
    repo: &'a Repo,
    end: SystemTime,
    /// Directories that existed in the baseline.
    dirs: BTreeSet<PathBuf>,
}

impl Later<'_> {
    fn came(&self, difference: &Difference) -> bool {
        let repo = self.repo;
        let at = match difference {
            Difference::Head { .. } => change_time(&repo.git_dir.join("HEAD")),
            // A deleted ref has no time, so it is restored: deleting it again is easier than losing it.
            Difference::Ref { to: None, .. } => None,
            Difference::Ref {
                name, to: Some(to), ..
            } => ref_change_time(repo, name, to),
            Difference::Stash => change_time(&repo.common_dir.join("logs/refs/stash")),
            Difference::Index => change_time(&repo.git_dir.join("index")),
            Difference::File { path, added, .. } => repo.at(path).and_then(|at| match added {
                true => self.find_arrival(&at),
                false => change_time(&at),
            }),
            Difference::Steering { later, .. } => return *later,
            Difference::Operation { name, .. } => change_time(&repo.git_dir.join(name)),
            Difference::Worktree { path, added: true } => change_time(Path::new(path)),
            // Making git watch a file again loses nothing; the others are never restored.
            Difference::Hidden { .. }
            | Difference::Submodule { .. }
            | Difference::Worktree { .. } => None,
        };
        is_after(at, self.end)
    }

    /// When a new file arrived: a moved file, or one in a moved directory, keeps its own time.
    fn find_arrival(&self, file: &Path) -> Option<SystemTime> {
        let new = file
            .ancestors()
            .skip(1)
            .take_while(|dir| **dir != self.repo.root && !self.dirs.contains(*dir));
        new.chain([file]).filter_map(change_time).max()
    }
}

/// The change time of a ref's own file, or of a packed ref by its reflog, or of `packed-refs`.
fn ref_change_time(repo: &Repo, name: &str, to: &str) -> Option<SystemTime> {
    let dir = &repo.common_dir;
    change_time(&dir.join(name))
        .or_else(|| find_time_in_record(&dir.join("logs").join(name), to))
        .or_else(|| change_time(&dir.join("packed-refs")))
}

/// When a ref moved to its current commit, by the last line of its reflog.
fn find_time_in_record(log: &Path, to: &str) -> Option<SystemTime> {
    let mut log = disk::open_regular(log, Links::Refuse).ok()??;
    let text = disk::read_tail(&mut log, LAST_LINE).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next_back()?;
    let (_, rest) = line.split_once(' ')?;
    let who_and_when = rest.strip_prefix(to)?.split('\t').next()?;
    let seconds: u64 = who_and_when.rsplit(' ').nth(1)?.parse().ok()?;
    // The move happened within that second, so its end is the latest possible time.
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.checked_add(1)?))
}

fn is_after(at: Option<SystemTime>, end: SystemTime) -> bool {
    at.is_some_and(|at| at > end)
}

#[cfg(unix)]
fn change_time(path: &Path) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let found = path.symlink_metadata().ok()?;
    let (seconds, nanos) = (found.ctime(), found.ctime_nsec());
    let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

#[cfg(not(unix))]
fn change_time(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_that_git_cannot_read_is_written_anew() {
        let [one, two] = ["1", "2"].map(|digit| digit.repeat(40));
        let sound = [
            String::new(),
            format!(
                "# pack-refs with: peeled fully-peeled sorted \n{one} refs/heads/a\n{two} refs/tags/t\n^{one}\n"
            ),
            format!("# pack-refs with: peeled \n{one} refs/heads/b\n{two} refs/heads/a\n"),
        ];
        for list in sound {
            assert_eq!(mend(list.as_bytes()), None, "{list}");
        }
        let expected =
            format!("# pack-refs with: sorted \n{one} refs/heads/a\n{two} refs/heads/b\n");
        for list in [
            format!("# pack-refs with: sorted \n{two} refs/heads/b\n{one} refs/heads/a\n"),
            format!(
                "# pack-refs with: sorted \n{one} refs/heads/a\n{two} refs/heads/b\n{two} refs/heads/b\n"
            ),
            format!("# pack-refs with: sorted \nrubbish\n{one} refs/heads/a\n{two} refs/heads/b\n"),
            format!("{one} refs/heads/a\n{two} refs/heads/b\n{one} refs/heads/a b\n"),
            format!("{one} refs/heads/a\n{two} refs/heads/b"),
        ] {
            let mended = mend(list.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(mended).unwrap(), expected, "{list}");
        }
    }
}
