//! A second copy of what cook keeps in the git dir, beside it for as long as agents work: a
//! session that takes `.git/cook` away takes the log, the kept sessions and its own baseline.
//! Between runs it rests in `.git/cook/spare` and goes where that goes.
//!
//! Files that are written once are linked, the others copied, and only what changed is touched
//! again. Invariant: putting back fills in what is missing and overwrites nothing.

use super::left_in;
use super::live;
use crate::walk::{SPARE_DIR, Workspace, place_of};
use cook_agents::end_left;
use cook_core::diagnostic::{Code, Failure};
use cook_git::Repo;
use cook_store::store::Store;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What is not part of the copy: who holds what, which calls are being made, copies at rest.
const LEFT_OUT: [&str; 5] = ["leases", "live", "lock", "sessions/inflight", RESTS];
/// Where copies rest, below `.git/cook`.
const RESTS: &str = "spare";
/// Directories whose files are written once: a name says what is in it.
const WRITTEN_ONCE: [&str; 6] = [
    "outputs",
    "sessions/attempts",
    "sessions/naming",
    "sessions/objects",
    "sessions/refs",
    "sessions/sealed",
];
/// Directories whose files are replaced, never changed: they can be linked too.
const REPLACED: [&str; 3] = ["log.git/objects", "receipts", "watch"];
/// The record that grows line by line.
const APPENDED: &str = "log.jsonl";
/// How deep directories are followed.
const DEPTH: usize = 12;
/// A directory that changed so lately may change again within one tick of its clock.
const YOUNG: Duration = Duration::from_secs(2);

/// The copy of one driver.
#[derive(Debug)]
pub(super) struct Spare {
    of: PathBuf,
    at: PathBuf,
    rests: PathBuf,
    /// A session that was begun with it is not settled yet.
    needed: Cell<bool>,
}

impl Spare {
    /// None is made before [`Spare::refresh`].
    pub fn new(workspace: &Workspace) -> Result<Self, Failure> {
        let id = workspace.store()?.id();
        let of = workspace.repo.cook_dir()?;
        let at = spares(&workspace.repo).join(id);
        Ok(Self {
            rests: of.join(RESTS).join(id),
            of,
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
        let bring = || -> io::Result<()> {
            if !self.at.exists() && self.rests.exists() {
                move_dir(&self.rests, &self.at)?;
            }
            mirror(&self.of, &self.at, Path::new(""), 0)
        };
        bring().map_err(|error| {
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
        fill_in(&self.at, &self.of).map(|_| ())
    }

    /// Forgets the watch of a session that is settled: one that came back would settle it
    /// again. Comes before the watch itself ends.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn forget(&self, watch: &Path) -> Result<(), Failure> {
        let Ok(below) = watch.strip_prefix(&self.of) else {
            return Ok(());
        };
        let copy = self.at.join(below);
        match fs::remove_dir_all(&copy) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::state(
                Code::WriteFailed,
                format!("cannot remove `{}`", copy.display()),
            )
            .caused_by(&error)),
            _ => Ok(()),
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        if self.needed.get() {
            // A driver that gave up in between may leave the only copy.
            return;
        }
        if self.at.exists() {
            // One that cannot rest is brought up to date where it is by the next driver.
            let _ = fs::remove_dir_all(&self.rests);
            let _ = move_dir(&self.at, &self.rests);
        }
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
    let ended = id
        .as_ref()
        .filter(|id| driver.is_none() && end_left(id))
        .cloned();
    let opened = Workspace::open(dir);
    if driver.is_some() {
        // It puts back what is missing itself.
        return opened.map(|workspace| (workspace, false));
    }
    let is_lost = opened.as_ref().map_or(true, Workspace::is_log_lost);
    // The copy of a driver that was ended may hold what a session took away beside the log.
    let own = id.map(|id| spares(&repo).join(id));
    let mut back = false;
    for spare in left_in(&spares(&repo))? {
        if is_lost || own.as_ref() == Some(&spare) {
            back |= fill_in(&spare, &repo.cook_dir()?)?;
        }
    }
    if let Some(id) = ended {
        live::was_alive(&repo, &id)?;
    }
    match back {
        true => Ok((Workspace::open(dir)?, true)),
        false => opened.map(|workspace| (workspace, false)),
    }
}

fn spares(repo: &Repo) -> PathBuf {
    repo.common_dir().join(SPARE_DIR)
}

/// Whether anything was missing.
fn fill_in(from: &Path, to: &Path) -> Result<bool, Failure> {
    restore(from, to, Path::new(""), 0).map_err(|error| {
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

/// Lets go of copies at rest: what was let go of elsewhere has room only then.
///
/// # Errors
/// When they cannot be removed.
pub fn drop_spares(repo: &Repo) -> Result<(), Failure> {
    let rests = repo.cook_dir()?.join(RESTS);
    match fs::remove_dir_all(&rests) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::state(
            Code::WriteFailed,
            format!("cannot remove `{}`", rests.display()),
        )
        .caused_by(&error)),
        _ => Ok(()),
    }
}

fn move_dir(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::rename(from, to)
}

/// Makes `to` hold what `from` holds; `path` is where that lies below `.git/cook`.
fn mirror(from: &Path, to: &Path, path: &Path, depth: usize) -> io::Result<()> {
    let once = lies_in(path, &WRITTEN_ONCE);
    let link = once || lies_in(path, &REPLACED);
    let changed = match fs::symlink_metadata(from) {
        Ok(found) => found.modified()?,
        // It was let go of meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if once && fs::symlink_metadata(to).is_ok_and(|there| is_same(&there, changed)) {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    let mut gone: BTreeSet<OsString> = fs::read_dir(to)?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<io::Result<_>>()?;
    let mut is_leaf = true;
    for entry in entries(from)? {
        let name = entry.file_name();
        let (source, target, path) = (entry.path(), to.join(&name), path.join(&name));
        if LEFT_OUT.iter().any(|left| path == Path::new(left)) {
            continue;
        }
        let kind = entry.file_type()?;
        let known = gone.remove(&name);
        if kind.is_dir() && depth < DEPTH {
            is_leaf = false;
            mirror(&source, &target, &path, depth + 1)?;
        } else if kind.is_file() && !(once && known) {
            copy(&source, &target, link)?;
        }
    }
    for name in gone {
        let target = to.join(name);
        match fs::symlink_metadata(&target)?.is_dir() {
            true => fs::remove_dir_all(target)?,
            false => fs::remove_file(target)?,
        }
    }
    let is_old = |changed: SystemTime| changed.elapsed().is_ok_and(|age| age > YOUNG);
    if once && is_leaf && is_old(changed) {
        // Says that nothing below it need be looked at; where it cannot, all is.
        let times = fs::FileTimes::new().set_modified(changed);
        let _ = fs::File::open(to).and_then(|dir| dir.set_times(times));
    }
    Ok(())
}

fn lies_in(path: &Path, dirs: &[&str]) -> bool {
    dirs.iter().any(|dir| path.starts_with(dir))
}

fn is_same(there: &fs::Metadata, changed: SystemTime) -> bool {
    there.modified().is_ok_and(|time| time == changed)
}

fn entries(dir: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// A link where the file can be linked, else a copy; nothing where it is there already.
fn copy(source: &Path, target: &Path, link: bool) -> io::Result<()> {
    let found = match fs::symlink_metadata(source) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if let Ok(there) = fs::symlink_metadata(target) {
        if there.len() == found.len() && there.modified().ok() == found.modified().ok() {
            return Ok(());
        }
        fs::remove_file(target)?;
    }
    if link && fs::hard_link(source, target).is_ok() {
        return Ok(());
    }
    // Whole or not at all: a half file that stays would be taken for one that is there.
    let dir = target.parent().unwrap_or(target);
    let mut file = tempfile::Builder::new()
        .prefix(".cook-")
        .suffix(".tmp")
        .tempfile_in(dir)?;
    io::copy(&mut fs::File::open(source)?, &mut file)?;
    file.as_file().set_permissions(found.permissions())?;
    let times = fs::FileTimes::new().set_modified(found.modified()?);
    file.as_file().set_times(times)?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

/// Lines that were added to a record that was begun anew go behind those it had.
fn prepend(earlier: &Path, path: &Path) -> io::Result<bool> {
    let (mut all, now) = (fs::read(earlier)?, fs::read(path)?);
    if now.starts_with(&all) {
        return Ok(false);
    }
    all.extend(now);
    let dir = path.parent().unwrap_or(path);
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(&all)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(true)
}

/// Fills in what `to` lacks of what `from` holds; whether it lacked anything.
fn restore(from: &Path, to: &Path, path: &Path, depth: usize) -> io::Result<bool> {
    fs::create_dir_all(to)?;
    let mut lacked = false;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < DEPTH {
            lacked |= restore(&source, &target, &path.join(entry.file_name()), depth + 1)?;
        } else if kind.is_file() && fs::symlink_metadata(&target).is_err() {
            let link = lies_in(path, &WRITTEN_ONCE) || lies_in(path, &REPLACED);
            copy(&source, &target, link)?;
            lacked = true;
        } else if kind.is_file() && entry.file_name() == APPENDED {
            lacked |= prepend(&source, &target)?;
        }
    }
    Ok(lacked)
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
        write("sessions/refs/ep_1.json", "ep_1");
        let begin = || Spare {
            of: of.clone(),
            at: at.clone(),
            rests: of.join("spare/x"),
            needed: Cell::new(at.exists()),
        };
        let spare = begin();
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
        assert_eq!(read("sessions/refs/ep_1.json"), "ep_1");
        spare.settled();
        drop(spare);
        assert!(!dir.path().join("spare").exists());

        // It rests, and what changed meanwhile is all that is written when it is needed again.
        let rests = of.join("spare/x");
        let stamp = rests.join("sessions/refs/ep_1.json");
        let known = fs::metadata(&stamp).unwrap().modified().unwrap();
        write("sessions/refs/ep_2.json", "ep_2");
        let spare = begin();
        spare.refresh().unwrap();
        assert!(!rests.exists());
        assert!(!at.join("spare").exists());
        let again = fs::metadata(at.join("sessions/refs/ep_1.json")).unwrap();
        assert_eq!(again.modified().unwrap(), known);
        assert_eq!(
            fs::read_to_string(at.join("sessions/refs/ep_2.json")).unwrap(),
            "ep_2"
        );
        // The index of receipts is written anew under the names it has.
        write("receipts/index/gate", "1");
        spare.refresh().unwrap();
        write("receipts/index/new", "2");
        fs::rename(
            of.join("receipts/index/new"),
            of.join("receipts/index/gate"),
        )
        .unwrap();
        fs::remove_file(of.join("sessions/refs/ep_1.json")).unwrap();
        spare.refresh().unwrap();
        assert_eq!(
            fs::read_to_string(at.join("receipts/index/gate")).unwrap(),
            "2"
        );
        assert!(!at.join("sessions/refs/ep_1.json").exists());
        // A driver that was ended in between leaves it: the next one needs it.
        std::mem::forget(spare);
        drop(begin());
        assert!(at.exists());
    }
}
