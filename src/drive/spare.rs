//! A second copy of what cook keeps in the git dir, beside it, for as long as agents work: a
//! session that takes `.git/cook` away takes the log, the kept sessions and its own baseline.
//!
//! Files that are written once are linked, the others copied, and only what changed is touched
//! again. Invariant: putting back fills in what is missing and overwrites nothing.

use super::left_in;
use crate::agent::end_left;
use crate::diagnostic::{Code, Failure};
use crate::repo::Repo;
use crate::store::Store;
use crate::walk::{SPARE_DIR, Workspace, place_of};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Directories of a moment: who holds what, which calls are being made.
const MOMENTARY: [&str; 4] = ["leases", "live", "inflight", "lock"];
/// Directories of files that are written once.
const WRITTEN_ONCE: [&str; 5] = ["objects", "outputs", "receipts", "watch", "attempts"];
/// The record that grows line by line.
const APPENDED: &str = "log.jsonl";
/// How deep directories are followed.
const DEPTH: usize = 12;

/// The copy of one driver.
#[derive(Debug)]
pub(super) struct Spare {
    of: PathBuf,
    at: PathBuf,
    /// A session that was begun with it is not settled yet.
    needed: Cell<bool>,
}

impl Spare {
    /// None is made before [`Spare::refresh`].
    pub fn new(workspace: &Workspace) -> Result<Self, Failure> {
        let at = spares(&workspace.repo).join(workspace.store()?.id());
        Ok(Self {
            of: workspace.repo.cook_dir()?,
            // One that a driver left is let go of when its sessions are settled.
            needed: Cell::new(at.exists()),
            at,
        })
    }

    /// Brings the copy up to date.
    ///
    /// # Errors
    /// When it cannot be written: no session is held without it.
    pub fn refresh(&self) -> Result<(), Failure> {
        self.needed.set(true);
        mirror(&self.of, &self.at, 0).map_err(|error| {
            Failure::state(
                Code::WriteFailed,
                format!("cannot keep a copy of the log in `{}`", self.at.display()),
            )
            .caused_by(&error)
        })
    }

    /// The session is settled, and the log is there.
    pub fn settled(&self) {
        self.needed.set(false);
    }

    /// Puts back what is missing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn fill_in(&self) -> Result<(), Failure> {
        fill_in(&self.at, &self.of)
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        if self.needed.get() {
            // A driver that gave up in between may leave the only copy.
            return;
        }
        // One that stays is brought up to date by the next driver.
        let _ = fs::remove_dir_all(&self.at);
        let _ = self.at.parent().map(fs::remove_dir);
    }
}

/// Opens a worktree, after what a run that was killed left at work: it may be taking the log
/// away. Where the log is gone, whole or in part, what is missing is first put back from the
/// copies of drivers that were killed; whether it was.
///
/// # Errors
/// Those of [`Workspace::open`]; a copy that cannot be read or put back.
pub fn open_whole(dir: &Path) -> Result<(Workspace, bool), Failure> {
    let repo = Repo::discover(dir)?;
    let place = place_of(&repo);
    let id = Store::id_of(&place)?;
    let driver = match &id {
        Some(id) => Store::driver_of(&place, id)?,
        None => None,
    };
    if let (Some(id), None) = (&id, &driver) {
        end_left(id);
    }
    let opened = Workspace::open(dir);
    let is_lost = opened.as_ref().map_or(true, Workspace::is_log_lost);
    // A driver that is at work puts it back itself.
    if is_lost && driver.is_none() && put_back_lost(&repo)? {
        return Ok((Workspace::open(dir)?, true));
    }
    opened.map(|workspace| (workspace, false))
}

/// Puts back, from what drivers that were killed left, what is missing of the log; whether
/// there was anything.
fn put_back_lost(repo: &Repo) -> Result<bool, Failure> {
    let left = left_in(&spares(repo))?;
    for path in &left {
        fill_in(path, &repo.cook_dir()?)?;
    }
    Ok(!left.is_empty())
}

fn spares(repo: &Repo) -> PathBuf {
    repo.common_dir().join(SPARE_DIR)
}

fn fill_in(from: &Path, to: &Path) -> Result<(), Failure> {
    restore(from, to, 0).map_err(|error| {
        Failure::state(
            Code::WriteFailed,
            format!(
                "cannot put `{}` back from `{}`",
                to.display(),
                from.display()
            ),
        )
        .caused_by(&error)
    })
}

/// Makes `to` hold what `from` holds.
fn mirror(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut known = BTreeSet::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if MOMENTARY.iter().any(|momentary| name == *momentary) {
            continue;
        }
        let (source, target) = (entry.path(), to.join(&name));
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < DEPTH {
            mirror(&source, &target, depth + 1)?;
        } else if kind.is_file() {
            copy(&source, &target)?;
        } else {
            continue;
        }
        known.insert(name);
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if known.contains(&entry.file_name()) {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// A link where the file is written once, else a copy; nothing where it is there already.
fn copy(source: &Path, target: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(source) {
        Ok(found) => found,
        // It was let go of meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if let Ok(there) = fs::symlink_metadata(target) {
        if there.len() == found.len() && there.modified().ok() == found.modified().ok() {
            return Ok(());
        }
        fs::remove_file(target)?;
    }
    let once = source
        .components()
        .any(|part| WRITTEN_ONCE.iter().any(|dir| part.as_os_str() == *dir));
    if once && fs::hard_link(source, target).is_ok() {
        return Ok(());
    }
    fs::copy(source, target)?;
    let times = fs::FileTimes::new().set_modified(found.modified()?);
    fs::File::options()
        .write(true)
        .open(target)?
        .set_times(times)
}

/// Lines that were added to a record that was begun anew go behind those it had.
fn prepend(earlier: &Path, path: &Path) -> io::Result<()> {
    let (mut all, now) = (fs::read(earlier)?, fs::read(path)?);
    if now.starts_with(&all) {
        return Ok(());
    }
    all.extend(now);
    let dir = path.parent().unwrap_or(path);
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(&all)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Fills in what `to` lacks of what `from` holds.
fn restore(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < DEPTH {
            restore(&source, &target, depth + 1)?;
        } else if kind.is_file() && fs::symlink_metadata(&target).is_err() {
            copy(&source, &target)?;
        } else if kind.is_file() && entry.file_name() == APPENDED {
            prepend(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_comes_back_and_nothing_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let (of, at) = (dir.path().join("cook"), dir.path().join("spare/x"));
        let write = |name: &str, text: &str| {
            let path = of.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("log.git/objects/aa/1", "one");
        write("log.git/refs/heads/x", "tip 1");
        write("sessions/log.jsonl", "a\n");
        write("leases/x", "held");
        let spare = Spare {
            of: of.clone(),
            at: at.clone(),
            needed: Cell::new(false),
        };
        spare.refresh().unwrap();
        // Written in place: the copy does not follow until it is brought up to date.
        write("sessions/log.jsonl", "");
        assert_eq!(
            fs::read_to_string(at.join("sessions/log.jsonl")).unwrap(),
            "a\n"
        );
        write("sessions/log.jsonl", "a\nb\n");
        write("log.git/refs/heads/x", "tip 2");
        fs::remove_file(of.join("log.git/objects/aa/1")).unwrap();
        write("log.git/objects/bb/2", "two");
        spare.refresh().unwrap();
        assert!(!at.join("log.git/objects/aa/1").exists());
        fs::remove_dir_all(&of).unwrap();
        write("sessions/log.jsonl", "newer\n");
        write("lock", "newer");
        spare.fill_in().unwrap();
        spare.fill_in().unwrap();
        let read = |name: &str| fs::read_to_string(of.join(name)).unwrap();
        assert_eq!(read("log.git/refs/heads/x"), "tip 2");
        assert_eq!(read("log.git/objects/bb/2"), "two");
        assert_eq!(read("sessions/log.jsonl"), "a\nb\nnewer\n");
        assert_eq!(read("lock"), "newer");
        assert!(!of.join("leases").exists());
        spare.settled();
        drop(spare);
        assert!(!dir.path().join("spare").exists());
    }
}
