//! A second copy of cook's files in the git directory, kept next to them while agents work: a session that removes
//! `.git/cook` would otherwise destroy the log, the kept sessions and its own baseline.
//!
//! Files that never change in place are hard-linked, others are copied, and only changed files are updated. Invariant:
//! restoring adds missing files and never overwrites one. Sessions that were recorded after the loss are appended to
//! the restored ones.

use super::run_order::was_alive;
use super::session_guard::{Violation, Watch, list_directory, unwritable};
use crate::prelude::*;
use crate::workspace::{MIRROR_DIR, OF_PROCESS, Workspace, find_place};
use cook_agents::{PutBack, end_left};
use cook_repo::git::Difference;
use cook_repo::process::is_alive;
use cook_repo::session::Action;
use cook_repo::store::Place;
use std::cell::Cell;
use std::{fs, io};

/// Maximum size of a ref in bytes.
const MAX_REF: u64 = 4096;
/// Parts that are not copied: hidden files, locks and leases, live status, and calls in progress.
const LEFT_OUT: [&str; 5] = ["hidden", "leases", "live", "lock", "sessions/inflight"];
/// Directories whose files are written once or replaced, but never changed in place, so they can be linked.
const LINKED: [&str; 5] = [
    "log.git/objects",
    "outputs",
    "receipts",
    "sessions/attempts",
    "watch",
];
/// The file in the copy that names the newest event of the sessions.
const RECORD: &str = "log.git/refs/sessions/record";
/// How the loss is reported.
pub(super) const TAKEN: &str = "cook's files in the git directory were removed";
/// Maximum depth of directories.
const DEPTH: usize = 12;

/// The copy of one driver or of one question.
#[derive(Debug)]
pub(super) struct Mirror {
    place: Place,
    of: PathBuf,
    at: PathBuf,
    /// Whether a session that began with this copy is not settled yet.
    needed: Cell<bool>,
}

impl Mirror {
    /// Nothing is copied before [`Mirror::refresh`].
    pub fn new(workspace: &Workspace) -> Result<Self> {
        Self::at(workspace, workspace.store()?.id())
    }

    /// A separate copy for a question or an order, because others may run at the same time. Removes copies of processes
    /// that have ended, unless the log is lost.
    pub fn of_question(workspace: &Workspace) -> Result<Self> {
        let own = format!("{}{OF_PROCESS}", workspace.store_id());
        let left = match workspace.is_log_lost() {
            true => Vec::new(),
            false => list_directory(&mirrors(&workspace.repo))?,
        };
        for left in left {
            let name = left.file_name().and_then(|name| name.to_str());
            let of = name.and_then(|name| name.strip_prefix(&own));
            let pid = of.and_then(|of| of.split_once('-')?.0.parse().ok());
            if pid.is_some_and(|pid| !is_alive(pid)) {
                fs::remove_dir_all(&left).map_err(|error| unwritable(&left, &error))?;
            }
        }
        let (pid, name) = (std::process::id(), cook_repo::store::fresh_id());
        Self::at(workspace, &format!("{own}{pid}-{name}"))
    }

    fn at(workspace: &Workspace, name: &str) -> Result<Self> {
        let of = workspace.repo.cook_dir()?;
        let at = mirrors(&workspace.repo).join(name);
        Ok(Self {
            place: workspace.place(),
            of,
            // A copy that an earlier driver left is removed only after its sessions are settled.
            needed: Cell::new(at.exists()),
            at,
        })
    }

    /// Brings the copy up to date.
    ///
    /// # Errors
    /// The copy cannot be written: no session runs without it.
    pub fn refresh(&self) -> Result<()> {
        self.needed.set(true);
        mirror(&self.of, &self.at, Path::new(""), 0).or_fail(
            Code::WriteFailed,
            format!("cannot keep a copy of the log in `{}`", self.at.display()),
        )
    }

    /// Marks the session as settled, with the log in place.
    pub fn note_settled(&self) {
        self.needed.set(false);
    }

    /// Restores the files that lead to the repository and, if the log cannot be read any more, its missing files. The
    /// bool tells whether the log was lost.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn put_back(&self, watch: &Watch) -> Result<(Vec<Difference>, bool)> {
        let leads = watch.put_leads_back()?;
        Ok((leads, self.put_log_back(watch.tip())?))
    }

    /// As [`Mirror::put_back`], without the files that lead to the repository. `tip` is the log's tip when the session
    /// began.
    ///
    /// # Errors
    /// Files that cannot be read or written.
    pub fn put_log_back(&self, tip: Option<&str>) -> Result<bool> {
        let log = |dir: &Path| dir.join("log.git").exists();
        let now = || {
            let workspace = Workspace::open(&self.place.worktree).ok()?;
            Some(workspace.current().ok()?.0.is_some())
        };
        let is_lost = log(&self.at) && !log(&self.of) || tip.is_some() && now() != Some(true);
        if is_lost {
            fill_in(&self.at, &self.place)?;
        }
        Ok(is_lost)
    }

    /// Removes the copy of a settled session's watch: if it were restored, the session would be settled again. Must run
    /// before the watch itself ends.
    ///
    /// # Errors
    /// A copy that cannot be removed.
    pub fn forget(&self, watch: &Path) -> Result<()> {
        let Ok(below) = watch.strip_prefix(&self.of) else {
            return Ok(());
        };
        let copy = self.at.join(below);
        match fs::remove_dir_all(&copy) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritable(&copy, &error)),
            _ => Ok(()),
        }
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        // A driver that failed before settling may leave the only copy.
        if !self.needed.get() {
            // If removal fails, the next driver updates the copy.
            let _ = fs::remove_dir_all(&self.at);
            let _ = self.at.parent().map(fs::remove_dir);
        }
    }
}

/// Opens a worktree. First ends processes that a killed run left, because they may be deleting the log. If the log is
/// lost, entirely or in part, missing files are first restored from the copies of killed drivers. The bool tells
/// whether anything was restored.
///
/// # Errors
/// As [`Workspace::open`]; a copy that cannot be read or restored.
pub fn open_whole(dir: &Path) -> Result<(Workspace, bool)> {
    let repo = Repo::discover(dir)?;
    let place = find_place(&repo);
    let id = Store::find_id(&place)?;
    let driver = match &id {
        Some(id) => Store::find_driver(&place, id)?,
        None => None,
    };
    let ended = id
        .as_ref()
        .filter(|id| driver.is_none() && end_left(id, &place.cook_dir()))
        .cloned();
    let opened = Workspace::open(dir);
    if driver.is_some() {
        // The running driver restores missing files itself.
        return opened.map(|workspace| (workspace, false));
    }
    let is_lost = opened.as_ref().map_or(true, Workspace::is_log_lost);
    // The copy of a driver that was killed may hold other files that a session removed, even if the log is intact.
    let own = id.map(|id| mirrors(&repo).join(id));
    let mut back = false;
    for mirror in list_directory(&mirrors(&repo))? {
        if is_lost || own.as_ref() == Some(&mirror) {
            back |= fill_in(&mirror, &place)?;
        }
    }
    if let Some(id) = ended {
        was_alive(&repo, &id)?;
    }
    match back {
        true => Ok((Workspace::open(dir)?, true)),
        false => opened.map(|workspace| (workspace, false)),
    }
}

fn mirrors(repo: &Repo) -> PathBuf {
    repo.common_dir().join(MIRROR_DIR)
}

/// Restores missing files from a copy. Returns whether any were missing.
fn fill_in(from: &Path, place: &Place) -> Result<bool> {
    let to = place.cook_dir();
    let failed = |error: io::Error| {
        let (to, from) = (to.display(), from.display());
        let what = format!("cannot put `{to}` back from `{from}`");
        Failure::state(Code::WriteFailed, what).with_cause(&error)
    };
    let lacked = restore(from, &to, Path::new(""), 0).map_err(failed)?;
    let newest = disk::read_text(&from.join(RECORD), MAX_REF, Links::Refuse).map_err(failed)?;
    let Some(newest) = newest else {
        return Ok(lacked);
    };
    let joined = GitStore::open(place.clone())?.join(newest.trim())?;
    Ok(lacked || joined)
}

/// Makes `to` a copy of `from`; `path` is the path of `from` below `.git/cook`.
fn mirror(from: &Path, to: &Path, path: &Path, depth: usize) -> io::Result<()> {
    if !from.exists() {
        // It was removed meanwhile.
        return Ok(());
    }
    fs::create_dir_all(to)?;
    let mut gone: BTreeSet<OsString> = fs::read_dir(to)?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<io::Result<_>>()?;
    for entry in entries(from)? {
        let name = entry.file_name();
        let (source, target, path) = (entry.path(), to.join(&name), path.join(&name));
        if LEFT_OUT.iter().any(|left| path == Path::new(left)) {
            continue;
        }
        let kind = entry.file_type()?;
        gone.remove(&name);
        if kind.is_dir() && depth < DEPTH {
            mirror(&source, &target, &path, depth + 1)?;
        } else if kind.is_file() {
            copy(&source, &target, is_linked(&path))?;
        }
    }
    for name in gone {
        let target = to.join(name);
        match fs::symlink_metadata(&target)?.is_dir() {
            true => fs::remove_dir_all(target)?,
            false => fs::remove_file(target)?,
        }
    }
    Ok(())
}

fn is_linked(path: &Path) -> bool {
    LINKED.iter().any(|dir| path.starts_with(dir))
}

/// The entries of a directory, sorted by name in descending order: refs come before the objects that they lead to, so
/// that no copied ref leads to an object that was added later.
fn entries(dir: &Path) -> io::Result<Vec<fs::DirEntry>> {
    let mut entries: Vec<_> = match fs::read_dir(dir) {
        Ok(entries) => entries.collect::<io::Result<_>>()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
    Ok(entries)
}

/// Links the file if allowed and possible, else copies it. Does nothing if the target is up to date.
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
    // Written atomically: a partial file would pass for a complete one.
    let dir = target.parent().unwrap_or(target);
    let mut file = tempfile::Builder::new()
        .prefix(".cook-")
        .suffix(".tmp")
        .tempfile_in(dir)?;
    let opened = disk::open_regular(source, Links::Refuse)?;
    let mut from = opened.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    io::copy(&mut from, &mut file)?;
    file.as_file().set_permissions(found.permissions())?;
    let times = fs::FileTimes::new().set_modified(found.modified()?);
    file.as_file().set_times(times)?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

/// Adds the files of `from` that `to` lacks. Returns whether there were any.
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
            copy(&source, &target, is_linked(path))?;
            lacked = true;
        }
    }
    Ok(lacked)
}

// A question of the user, restricted to reading like a reader's session.

/// Directory of the baselines of questions. It is separate from those of runs, because a run settles the baselines that
/// it finds.
const QUESTIONS: &str = "questions";
/// Baselines of questions older than this are abandoned: no question takes longer.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Begins to watch a question or an order. The returned function restores what it changed. An order may change the
/// worktree, so only a loss of the log is restored. Nothing is restored while a driver runs: the changes may be those
/// of a session that is allowed to make them.
///
/// # Errors
/// A repository that cannot be read, or a baseline that cannot be written.
pub fn guard(workspace: &Workspace, action: Action) -> Result<PutBack<'_>> {
    let is_driven = match &workspace.store {
        Some(store) => store.lease_holder()?.is_some(),
        None => false,
    };
    if is_driven {
        return Ok(Box::new(|| Ok(None)));
    }
    let mirror = Mirror::of_question(workspace)?;
    if action == Action::Act {
        let tip = workspace.current()?.0.map(|tip| tip.commit);
        mirror.refresh()?;
        return Ok(Box::new(move || {
            let lost = mirror.put_log_back(tip.as_deref())?;
            mirror.note_settled();
            let told = format!("{TAKEN}, and are restored");
            Ok(Some(lost.then_some(told).into_iter().collect()))
        }));
    }
    let questions = workspace.repo.cook_dir()?.join("watch").join(QUESTIONS);
    forget_old(workspace, &questions)?;
    let dir = questions.join(cook_repo::store::fresh_id());
    let watch = Watch::of_question(workspace, &dir)?;
    mirror.refresh()?;
    Ok(Box::new(move || {
        let (leads, lost) = mirror.put_back(&watch)?;
        // The session may have changed the settings.
        let now = Workspace::open(workspace.repo.root())?;
        watch.unlock(&now)?;
        let mut breach = watch.settle(&now, leads)?;
        mirror.note_settled();
        if lost {
            breach.what.insert(0, TAKEN.to_owned());
        }
        watch.end(&now.repo)?;
        Ok(Some(name_changes(&breach)))
    }))
}

/// Removes old baselines that a killed `cook` left of its questions.
fn forget_old(workspace: &Workspace, dir: &Path) -> Result<()> {
    for left in list_directory(dir)? {
        let made = left.metadata().and_then(|found| found.modified());
        let age = made.ok().and_then(|made| made.elapsed().ok());
        if age.is_some_and(|age| age > LONGEST)
            && let Some(watch) = Watch::open_left_behind(&left, None)?
        {
            watch.end(&workspace.repo)?;
        }
    }
    Ok(())
}

/// Describes the changes, whether they are restored, and where the changed files are kept.
fn name_changes(breach: &Violation) -> Vec<String> {
    if breach.what.is_empty() {
        return Vec::new();
    }
    let mut lines = breach.what.clone();
    lines.push(match breach.left.as_slice() {
        [] => "everything is restored".to_owned(),
        left => format!("restored, except for {}", left.join(", ")),
    });
    let copies = breach
        .copies
        .iter()
        .map(|id| format!("`cook doctor rescue show {id}`"));
    let refs = breach.refs.iter().map(|name| format!("`{name}`"));
    let moved = breach
        .moved
        .iter()
        .map(|path| format!("`{}`", path.display()));
    let kept: Vec<String> = copies.chain(refs).chain(moved).collect();
    if !kept.is_empty() {
        lines.push(format!("the earlier content is kept: {}", kept.join(", ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use cook_repo::session::seed;

    #[test]
    fn what_is_missing_comes_back_and_nothing_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place {
            common_dir: dir.path().to_owned(),
            git_dir: dir.path().to_owned(),
            worktree: dir.path().to_owned(),
        };
        let (of, at) = (place.cook_dir(), dir.path().join("mirror/x"));
        let write = |name: &str, text: &str| {
            let path = of.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let sessions = || GitStore::open(place.clone()).unwrap();
        let keep = || seed(&sessions(), "about", "text", "2026-01-02T03:04:05Z").unwrap();
        let first = keep();
        write("trust.json", "one");
        write("leases/x", "held");
        write("sessions/attempts/ex_1/out", "ex_1");
        let begin = || Mirror {
            place: place.clone(),
            of: of.clone(),
            at: at.clone(),
            needed: Cell::new(at.exists()),
        };
        let mirror = begin();
        mirror.refresh().unwrap();
        // Written in place: the copy stays as it was until it is refreshed.
        write("trust.json", "");
        let copied = || fs::read_to_string(at.join("trust.json")).unwrap();
        assert_eq!(copied(), "one");
        write("trust.json", "two");
        write("outputs/1", "1");
        let second = keep();
        mirror.refresh().unwrap();
        assert_eq!(copied(), "two");
        fs::remove_file(of.join("outputs/1")).unwrap();
        mirror.refresh().unwrap();
        assert!(!at.join("outputs/1").exists());
        fs::remove_dir_all(&of).unwrap();
        let since = keep();
        write("lock", "newer");
        fill_in(&mirror.at, &mirror.place).unwrap();
        fill_in(&mirror.at, &mirror.place).unwrap();
        let read = |name: &str| fs::read_to_string(of.join(name)).unwrap();
        for name in [first, second, since] {
            assert!(sessions().entry(name).unwrap().is_some(), "{name}");
        }
        assert_eq!(read("trust.json"), "two");
        assert_eq!(read("lock"), "newer");
        assert!(!of.join("leases").exists());
        assert_eq!(read("sessions/attempts/ex_1/out"), "ex_1");
        mirror.note_settled();
        drop(mirror);
        assert!(!dir.path().join("mirror").exists());

        let third = keep();
        let mirror = begin();
        mirror.refresh().unwrap();
        fs::remove_dir_all(&of).unwrap();
        fill_in(&mirror.at, &mirror.place).unwrap();
        assert!(sessions().entry(third).unwrap().is_some());
        // The index of receipts is rewritten under its existing names.
        write("receipts/index/gate", "1");
        mirror.refresh().unwrap();
        write("receipts/index/new", "2");
        fs::rename(
            of.join("receipts/index/new"),
            of.join("receipts/index/gate"),
        )
        .unwrap();
        fs::remove_file(of.join("sessions/attempts/ex_1/out")).unwrap();
        mirror.refresh().unwrap();
        assert_eq!(
            fs::read_to_string(at.join("receipts/index/gate")).unwrap(),
            "2"
        );
        assert!(!at.join("sessions/attempts/ex_1/out").exists());
        // A driver that was killed before settling leaves the copy, and the next one needs it.
        std::mem::forget(mirror);
        drop(begin());
        assert!(at.exists());
    }
}
