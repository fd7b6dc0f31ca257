//! A second copy of what cook keeps in the git dir, beside it for as long as agents work: a
//! session that takes `.git/cook` away takes the log, the kept sessions and its own baseline.
//!
//! Files that never change in place are linked, the others copied, and only what changed is
//! touched again. Invariant: putting back fills in what is missing and overwrites nothing; what
//! was kept of sessions since then follows what was kept before.

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

/// Bytes of a ref, at most.
const MAX_REF: u64 = 4096;
/// What is not part of the copy: what nobody sees, who holds what, which calls are being made.
const LEFT_OUT: [&str; 5] = ["hidden", "leases", "live", "lock", "sessions/inflight"];
/// Directories whose files are written once or replaced, never changed: they can be linked.
const LINKED: [&str; 5] = [
    "log.git/objects",
    "outputs",
    "receipts",
    "sessions/attempts",
    "watch",
];
/// Where the copy says which event of the sessions was the newest.
const RECORD: &str = "log.git/refs/sessions/record";
/// How its loss is told.
pub(super) const TAKEN: &str = "cook's files in the git directory were removed";
/// How deep directories are followed.
const DEPTH: usize = 12;

/// The copy of one driver, or of one question.
#[derive(Debug)]
pub(super) struct Mirror {
    place: Place,
    of: PathBuf,
    at: PathBuf,
    /// A session that was begun with it is not settled yet.
    needed: Cell<bool>,
}

impl Mirror {
    /// None is made before [`Mirror::refresh`].
    pub fn new(workspace: &Workspace) -> Result<Self> {
        Self::at(workspace, workspace.store()?.id())
    }

    /// One of its own for a question or an order: others may be at work beside it. Those of
    /// processes that are gone are let go of, because the log is there.
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
            // One that a driver left is let go of when its sessions are settled.
            needed: Cell::new(at.exists()),
            at,
        })
    }

    /// Brings the copy up to date.
    ///
    /// # Errors
    /// When it cannot be written: no session is held without it.
    pub fn refresh(&self) -> Result<()> {
        self.needed.set(true);
        mirror(&self.of, &self.at, Path::new(""), 0).or_fail(
            Code::WriteFailed,
            format!("cannot keep a copy of the log in `{}`", self.at.display()),
        )
    }

    /// The session is settled, and the log is there.
    pub fn note_settled(&self) {
        self.needed.set(false);
    }

    /// Puts back what leads to the log, and what is missing of it where it cannot be read any
    /// more; whether that was so.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn put_back(&self, watch: &Watch) -> Result<(Vec<Difference>, bool)> {
        let leads = watch.put_leads_back()?;
        Ok((leads, self.put_log_back(watch.tip())?))
    }

    /// As [`Mirror::put_back`], without what leads to it. `tip` is what the log stood at when the
    /// session began.
    ///
    /// # Errors
    /// When it cannot be read or written.
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

    /// Forgets the watch of a session that is settled: one that came back would settle it
    /// again. Comes before the watch itself ends.
    ///
    /// # Errors
    /// When it cannot be removed.
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
        // A driver that gave up in between may leave the only copy.
        if !self.needed.get() {
            // One that cannot be removed is brought up to date by the next driver.
            let _ = fs::remove_dir_all(&self.at);
            let _ = self.at.parent().map(fs::remove_dir);
        }
    }
}

/// Opens a worktree, after what a run that was killed left at work: it may be taking the log
/// away. Where the log is gone, whole or in part, what is missing is first put back from the
/// copies of drivers that were killed; whether it was.
///
/// # Errors
/// Those of [`Workspace::open`]; a copy that cannot be read or put back.
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
        // It puts back what is missing itself.
        return opened.map(|workspace| (workspace, false));
    }
    let is_lost = opened.as_ref().map_or(true, Workspace::is_log_lost);
    // The copy of a driver that was ended may hold what a session took away beside the log.
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

/// Whether anything was missing.
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

/// Makes `to` hold what `from` holds; `path` is where that lies below `.git/cook`.
fn mirror(from: &Path, to: &Path, path: &Path, depth: usize) -> io::Result<()> {
    if !from.exists() {
        // It was let go of meanwhile.
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

/// What lies in a directory, last name first: refs before the objects that they lead to, so
/// that no copied ref leads to what came later.
fn entries(dir: &Path) -> io::Result<Vec<fs::DirEntry>> {
    let mut entries: Vec<_> = match fs::read_dir(dir) {
        Ok(entries) => entries.collect::<io::Result<_>>()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
    Ok(entries)
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
    let opened = disk::open_regular(source, Links::Refuse)?;
    let mut from = opened.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    io::copy(&mut from, &mut file)?;
    file.as_file().set_permissions(found.permissions())?;
    let times = fs::FileTimes::new().set_modified(found.modified()?);
    file.as_file().set_times(times)?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
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
            copy(&source, &target, is_linked(path))?;
            lacked = true;
        }
    }
    Ok(lacked)
}

// A question of the user's own, held to reading as a reader's session is.

/// Where the baselines of questions lie: beside those of runs, which settle what they find.
const QUESTIONS: &str = "questions";
/// No question takes longer.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Begins to watch a question or an order; the call that this gives puts back what it changed. An
/// order may change the worktree: of what it did only the loss of the log is put back. Nothing is
/// put back while somebody drives: the changes may be a session's that has the right to them.
///
/// # Errors
/// When the repository cannot be read, or the baseline not be written.
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

/// Removes what a killed cook left of its questions.
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

/// What was changed, that it is put back, and where the changed files are now.
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
        // Written in place: the copy does not follow until it is brought up to date.
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
        // The index of receipts is written anew under the names it has.
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
        // A driver that was ended in between leaves it: the next one needs it.
        std::mem::forget(mirror);
        drop(begin());
        assert!(at.exists());
    }
}
