//! Where the log is and whether it may be used: paths, safety checks, creation under a temporary name, the worktree's
//! id. Nothing is searched for: the paths come from the caller.
//!
//! Locks: the operating system's locks on files beside the log (the writer lock, and the lease of a workflow's only
//! driver), which end with the process that holds them; and git's lock files, which do not. A lease counts as held if
//! the OS lock is; the text of its file only names the holder.
//!
//! Packs of the log: `git gc` under the writer lock once there are many loose objects, and packs of objects from
//! elsewhere.

use super::error::{During, lock_held, stale, unreadable, unsafe_path, unwritable};
use super::odb::Log;
use crate::clock::value_for_tests;
use crate::disk::{self, Durable, Links, Mode, NewFile, TemporaryDir};
use crate::git::{LENT_VARIABLE, join_lent};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::GOAL_VIEW;
use git2::{ObjectFormat, Oid};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant, SystemTime};

/// The three directories that cook works with; `repo` finds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The repository's common git dir, which contains the log.
    pub common_dir: PathBuf,
    /// This worktree's git dir; equal to `common_dir` in the main worktree.
    pub git_dir: PathBuf,
    /// The worktree's root, which contains `.agent/`.
    pub worktree: PathBuf,
}

/// The log's configuration, byte for byte. A log with any other is refused, because an agent could add hooks, filters
/// or includes to it.
fn config(format: ObjectFormat) -> String {
    let (version, extensions) = match format {
        ObjectFormat::Sha256 => (1, "[extensions]\n\tobjectformat = sha256\n"),
        _ => (0, ""),
    };
    format!(
        "[core]\n\
         \trepositoryformatversion = {version}\n\
         \tfilemode = true\n\
         \tbare = true\n\
         \tlogallrefupdates = false\n\
         \thookspath = /dev/null\n\
         \tfsync = all\n\
         {extensions}\
         [gc]\n\
         \tauto = 0\n\
         \tpackrefs = false\n\
         [maintenance]\n\
         \tauto = false\n"
    )
}

impl Place {
    /// `<common dir>/cook`.
    pub fn cook_dir(&self) -> PathBuf {
        self.common_dir.join("cook")
    }

    /// `<common dir>/cook/log.git`.
    pub fn log_dir(&self) -> PathBuf {
        self.cook_dir().join("log.git")
    }

    /// `<git dir>/cook-id`.
    pub fn id_file(&self) -> PathBuf {
        self.git_dir.join("cook-id")
    }

    /// `<git dir>/cook-checkout.json`: records what `.agent/` shows.
    pub fn stamp_file(&self) -> PathBuf {
        self.git_dir.join("cook-checkout.json")
    }

    /// `<worktree>/.agent`; for a goal, which writes nothing there, a directory in the git dir.
    pub fn agent_dir(&self) -> PathBuf {
        let of_goal = self.git_dir.join(GOAL_VIEW);
        match disk::is_directory(&of_goal) {
            true => of_goal,
            false => self.worktree.join(".agent"),
        }
    }
}

/// Makes libgit2 sync objects and refs, for the whole process.
fn durable_writes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Initializes libgit2; git2 does not export a function for that.
        let _ = git2::Version::get();
        // SAFETY: the option takes one int, and sets one flag of the initialised library.
        unsafe {
            libgit2_sys::init();
            libgit2_sys::git_libgit2_opts(
                libgit2_sys::GIT_OPT_ENABLE_FSYNC_GITDIR as std::ffi::c_int,
                1 as std::ffi::c_int,
            );
        }
    });
}

/// Opens the log, which must exist.
pub(super) fn open_known_log(place: &Place) -> Result<Log, Failure> {
    open_log(place)?.ok_or_else(|| unreadable("the log", "it is gone"))
}

/// Opens the log at its exact path after the safety checks. `None` if there is none; every other problem is an error.
pub(super) fn open_log(place: &Place) -> Result<Option<Log>, Failure> {
    if !is_safe(place)? {
        return Ok(None);
    }
    durable_writes();
    Log::open(&place.log_dir()).map(Some)
}

/// Checks that the log is safe to open; false if there is no log.
fn is_safe(place: &Place) -> Result<bool, Failure> {
    let cook = place.cook_dir();
    let log = place.log_dir();
    let is_directory = |path: &Path| is_directory(path, Code::LogUnsafe);
    if !is_directory(&cook)? || !is_directory(&log)? {
        return Ok(false);
    }
    for part in ["objects", "refs"] {
        let path = log.join(part);
        if !is_directory(&path)? {
            return Err(unsafe_path(Code::LogUnsafe, &path, "is missing"));
        }
    }
    for extra in [
        "objects/info/alternates",
        "objects/info/http-alternates",
        "commondir",
        "config.worktree",
        "shallow",
        "info/grafts",
    ] {
        let path = log.join(extra);
        if look(&path)?.is_some() {
            return Err(unsafe_path(
                Code::LogUnsafe,
                &path,
                "is nothing that cook writes",
            ));
        }
    }
    check_config(&log.join("config"))?;
    same_owner(&place.common_dir, &[&cook, &log, &log.join("config")])?;
    Ok(true)
}

fn check_config(path: &Path) -> Result<(), Failure> {
    let bytes = disk::read(path, 1 << 16, Links::Refuse)
        .reading("the log's config")?
        .ok_or_else(|| unsafe_path(Code::LogUnsafe, path, "is missing"))?;
    let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
    if formats
        .iter()
        .any(|format| config(*format).as_bytes() == bytes)
    {
        Ok(())
    } else {
        Err(unsafe_path(
            Code::LogUnsafe,
            path,
            "is not the config cook writes",
        ))
    }
}

/// The metadata of a path itself, not of a symlink's target.
pub(super) fn look(path: &Path) -> Result<Option<std::fs::Metadata>, Failure> {
    disk::look(path).reading(path.display().to_string())
}

/// Whether a path is a real directory; false if absent. A symlink or a file is refused with this code.
pub(super) fn is_directory(path: &Path, code: Code) -> Result<bool, Failure> {
    match look(path)? {
        None => Ok(false),
        Some(found) if found.is_symlink() => Err(unsafe_path(code, path, "is a symlink")),
        Some(found) if found.is_dir() => Ok(true),
        Some(_) => Err(unsafe_path(code, path, "is not a directory")),
    }
}

/// Creates a directory unless it exists; true if it was created.
pub(super) fn make_directory(path: &Path, code: Code) -> Result<bool, Failure> {
    if is_directory(path, code)? {
        return Ok(false);
    }
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            is_directory(path, code).map(|_| false)
        }
        made => made.map(|()| true).writing(path.display().to_string()),
    }
}

#[cfg(unix)]
fn same_owner(reference: &Path, paths: &[&Path]) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::metadata(reference)
        .reading(reference.display().to_string())?
        .uid();
    for path in paths {
        if look(path)?.is_some_and(|found| found.uid() != owner) {
            return Err(unsafe_path(
                Code::ForeignOwner,
                path,
                "belongs to another user than the repository",
            ));
        }
    }
    Ok(())
}

/// File ownership is not checked on this system.
#[cfg(not(unix))]
fn same_owner(_reference: &Path, _paths: &[&Path]) -> Result<(), Failure> {
    Ok(())
}

/// Creates `<common dir>/cook/log.git` unless it exists. Of two concurrent creators one renames its copy into place,
/// and the other uses that one.
pub(super) fn create_log(place: &Place) -> Result<(), Failure> {
    let cook = place.cook_dir();
    let failed = |error: io::Error| unwritable("the log's directory", error);
    if make_directory(&cook, Code::LogUnsafe)? {
        disk::sync_dir(&place.common_dir).map_err(failed)?;
    }
    if is_safe(place)? {
        return Ok(());
    }
    let temporary = TemporaryDir::make_in(&cook).map_err(failed)?;
    let fresh = temporary.path().join("log.git");
    std::fs::create_dir(&fresh).map_err(failed)?;
    fill(&fresh, object_format(place)).map_err(failed)?;
    match std::fs::rename(&fresh, place.log_dir()) {
        Ok(()) => disk::sync_dir(&cook).map_err(failed),
        // Another process was faster; its log is checked like any other.
        Err(error) => match is_safe(place) {
            Ok(true) => Ok(()),
            Ok(false) => Err(failed(error)),
            Err(unsafe_log) => Err(unsafe_log),
        },
    }
}

/// The log uses the hash algorithm of the repository, so that a push can use the other's objects as alternates.
fn object_format(place: &Place) -> ObjectFormat {
    let named = git2::Config::open(&place.common_dir.join("config"))
        .and_then(|config| config.get_string("extensions.objectformat"));
    match named.as_deref() {
        Ok("sha256") => ObjectFormat::Sha256,
        _ => ObjectFormat::Sha1,
    }
}

const NO_BRANCH: &str = "ref: refs/heads/none\n";

/// Creates a temporary log; nothing in it is synced.
pub(super) fn fill_passing(place: &Place, like: &Place) -> io::Result<()> {
    lay_out(&place.log_dir(), object_format(like))
}

fn fill(dir: &Path, format: ObjectFormat) -> io::Result<()> {
    lay_out(dir, format)?;
    for name in ["config", "HEAD", "description"] {
        File::options()
            .write(true)
            .open(dir.join(name))?
            .sync_all()?;
    }
    for part in ["objects", "refs", ""] {
        disk::sync_dir(&dir.join(part))?;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn lay_out(dir: &Path, format: ObjectFormat) -> io::Result<()> {
    for part in ["objects/info", "objects/pack"] {
        std::fs::create_dir_all(dir.join(part))?;
    }
    // The directories of kept copies exist from the start, so that the first ref in one needs no sync of its parent.
    for part in ["heads", "displaced", "rescue", "sessions"] {
        std::fs::create_dir_all(dir.join("refs").join(part))?;
    }
    let about = "cook's log of this repository; see protocol/store.md\n";
    std::fs::write(dir.join("config"), config(format))?;
    std::fs::write(dir.join("HEAD"), NO_BRANCH)?;
    std::fs::write(dir.join("description"), about)
}

/// The worktree's id: 26 lower-case letters and digits.
pub(super) fn read_id(place: &Place) -> Result<Option<String>, Failure> {
    let path = place.id_file();
    let Some(bytes) = disk::read(&path, 4096, Links::Refuse).reading("the worktree's id")? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&bytes);
    let id = text.trim_end();
    if is_id(id) {
        Ok(Some(id.to_owned()))
    } else {
        Err(unsafe_path(Code::LogUnsafe, &path, "holds no worktree id"))
    }
}

/// Whether a text has the form that [`create_id`] writes.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 26
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Gives the worktree an id unless it has one; never replaces an id.
pub(super) fn create_id(place: &Place) -> Result<String, Failure> {
    let failed = |error: io::Error| unwritable("the worktree's id", error);
    if let Some(id) = read_id(place)? {
        return Ok(id);
    }
    let id = fresh_id();
    let path = place.id_file();
    let new = NewFile::at(&path, Durable::ContentAndName).mode(Mode::Masked(0o644));
    match new.over_nothing().write(format!("{id}\n").as_bytes()) {
        Ok(()) => Ok(id),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read_id(place)?
            .ok_or_else(|| failed(io::Error::other("the id was taken away while it was made"))),
        Err(error) => Err(failed(error)),
    }
}

/// A random name in lower case that sorts by time.
pub fn fresh_id() -> String {
    ulid::Ulid::generate().to_string().to_lowercase()
}

/// A ref's lock file that has not changed for this long belongs to a dead writer.
const DEAD_LOCK: Duration = Duration::from_secs(2);

/// Takes the lock on a file within `wait`, creating the file if necessary, never through a symlink. The lock is held
/// until the file is closed.
pub(super) fn take_lock(path: &Path, wait: Duration) -> Result<File, Failure> {
    let file = disk::open_lock(path).writing(path.display().to_string())?;
    match disk::take_lock(&file, wait).writing("the lock")? {
        true => Ok(file),
        false => Err(lock_held()),
    }
}

/// Removes a ref's lock file if its writer is dead. We hold the writer lock, so a living writer can only be another git
/// process, which is waited for. A lock file is dead if it is older than two seconds, or did not change while we
/// watched it for two seconds (its clock may be ahead of ours).
pub(super) fn clear_ref_lock(reference: &Path) -> Result<(), Failure> {
    let mut name = reference.as_os_str().to_owned();
    name.push(".lock");
    let path = Path::new(&name);
    let failed = |error: std::io::Error| unwritable("the log's branch", error);
    let started = Instant::now();
    let mut seen = None;
    while let Some(found) = disk::look(path).map_err(failed)? {
        let modified = found.modified().map_err(failed)?;
        let age = SystemTime::now()
            .duration_since(modified)
            .unwrap_or_default();
        let (first, since) = *seen.get_or_insert((modified, started));
        if first != modified {
            seen = Some((modified, Instant::now()));
        }
        if age > DEAD_LOCK || (first == modified && since.elapsed() > DEAD_LOCK) {
            return disk::remove_file(path).map_err(failed);
        }
        if started.elapsed() > DEAD_LOCK * 5 {
            return Err(lock_held());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// The writer lock, and the log opened after it was taken, because another process may have packed the log before. Both
/// are held until this is dropped.
pub(crate) struct LockedLog {
    pub(crate) log: Log,
    place: Place,
    lock: File,
}

impl LockedLog {
    /// Waits for the writer lock. Creates the log if there is none.
    pub(crate) fn take(place: &Place, wait: Duration) -> Result<Self, Failure> {
        create_log(place)?;
        Self::take_known(place, wait)
    }

    /// Like [`LockedLog::take`], for a log that must exist.
    pub(super) fn take_known(place: &Place, wait: Duration) -> Result<Self, Failure> {
        let lock = take_lock(&place.cook_dir().join("lock"), wait)?;
        Ok(Self {
            log: open_known_log(place)?,
            place: place.clone(),
            lock,
        })
    }

    /// Moves a ref from `from` to `to`, after removing a dead writer's lock file; durable on return. If the update
    /// reports an error, the ref is read again and decides: this returns an error only if it did not move.
    pub(crate) fn advance(&self, name: &str, from: Option<Oid>, to: Oid) -> Result<(), Failure> {
        self.log.sync_fan_out()?;
        clear_ref_lock(&self.place.log_dir().join(name))?;
        let moved = match from {
            Some(from) => self.log.move_ref(name, from, to),
            None => self.log.create_ref(name, to),
        };
        let Err(error) = moved else {
            return Ok(());
        };
        match self.log.find_ref(name) {
            Ok(Some(tip)) if tip == to => Ok(()),
            Ok(tip) if tip != from => Err(stale("the log moved while it was written")),
            _ => Err(unwritable("a ref of the log", error)),
        }
    }

    /// Packs the log if that is due; returns whether it did. A failure changes nothing.
    pub(crate) fn pack_when_due(&self, number: u64) -> bool {
        let for_tests = value_for_tests(ABOVE_VARIABLE).and_then(|value| value.parse().ok());
        let (every, above) = for_tests.map_or((EVERY, MAX_LOOSE), |above| (1, above));
        let is_due = number.is_multiple_of(every) && loose_objects(&self.place) > above;
        is_due && run(&self.place, &self.lock, &[]).is_ok()
    }

    /// Packs the log and removes unreachable objects that are no longer new. A failure changes nothing.
    pub(crate) fn sweep(&self) {
        // A reader may still use objects that were written recently.
        let _ = run(&self.place, &self.lock, &["--prune=1.hour.ago"]);
    }
}

/// Moves a damaged file to a directory, over nothing; returns its new path, `None` if it is absent.
pub(crate) fn set_aside(file: &Path, dir: &Path, name: &str) -> Result<Option<PathBuf>, Failure> {
    if disk::look(file).writing("a damaged file's copy")?.is_none() {
        return Ok(None);
    }
    std::fs::create_dir_all(dir).writing("a damaged file's copy")?;
    let mut to = dir.join(format!("{name}.damaged"));
    let mut number = 1;
    while disk::look(&to).writing("a damaged file's copy")?.is_some() {
        to = dir.join(format!("{name}.{number}.damaged"));
        number += 1;
    }
    std::fs::rename(file, &to).writing("a damaged file's copy")?;
    Ok(Some(to))
}

/// Most loose objects that are not packed yet.
const MAX_LOOSE: usize = 2_000;

/// Loose objects are counted at each transition whose number is a multiple of this.
const EVERY: u64 = 32;

/// Time limit of packing; if it is exceeded, git is killed and the log stays as it was.
const DEADLINE: Duration = Duration::from_secs(300);

/// A lower limit for tests, checked at every transition. Effective only if `COOK_TEST=1` is set too.
const ABOVE_VARIABLE: &str = "COOK_PACK_ABOVE";

/// The number of loose objects of the log. Unreadable directories count as empty: packing is an optimization, and
/// readers of those objects will report the problem.
fn loose_objects(place: &Place) -> usize {
    let objects = place.log_dir().join("objects");
    (0..=0xff_u8)
        .filter_map(|byte| std::fs::read_dir(objects.join(format!("{byte:02x}"))).ok())
        .map(Iterator::count)
        .sum()
}

fn run(place: &Place, lock: &File, how: &[&str]) -> Result<(), String> {
    // git inherits the lock's file descriptor: if cook dies, the lock is held until git has ended too, and nobody else
    // writes meanwhile.
    let shared = lock
        .try_clone()
        .map_err(|error| format!("cannot share the lock: {error}"))?;
    let mut git = log_git(place);
    git.args(["gc", "--quiet"])
        .args(how)
        .stdin(shared)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = git.spawn();
    let child = child.map_err(|error| format!("cannot run git: {error}"))?;
    wait(child, "git gc")
}

/// Writes a pack of these objects, which are read from other directories; durable on return.
pub(super) fn write(place: &Place, from: &[PathBuf], objects: &[Oid]) -> Result<(), Failure> {
    let failed = |why: String| unwritable("a pack of the log", why);
    let packs = place.log_dir().join("objects").join("pack");
    let mut git = log_git(place);
    git.args(["-c", "core.fsync=all", "-c", "pack.threads=1"])
        .args(["pack-objects", "--quiet", "--delta-base-offset"])
        .arg(packs.join("pack"))
        .env(LENT_VARIABLE, join_lent(from))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = git.spawn();
    let mut child = child.map_err(|error| failed(format!("cannot run git: {error}")))?;
    if let Some(stdin) = child.stdin.take() {
        let mut stdin = std::io::BufWriter::new(stdin);
        // If git ends early, its exit status says so.
        let _ = objects.iter().try_for_each(|id| writeln!(stdin, "{id}"));
        let _ = stdin.flush();
    }
    wait(child, "git pack-objects").map_err(failed)?;
    disk::sync_dir(&packs).map_err(|error| failed(error.to_string()))
}

/// A git command on the log, with no settings but the log's own.
fn log_git(place: &Place) -> Command {
    let mut git = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            git.env_remove(name);
        }
    }
    git.env("GIT_CONFIG_NOSYSTEM", "1")
        .env(
            "GIT_CONFIG_GLOBAL",
            if cfg!(windows) { "NUL" } else { "/dev/null" },
        )
        .env("LC_ALL", "C")
        .arg("--git-dir")
        .arg(place.log_dir())
        .args(["-c", "core.hooksPath=/dev/null"])
        .current_dir(place.cook_dir());
    git
}

fn wait(mut child: Child, what: &str) -> Result<(), String> {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("{what} ended with {status}")),
            Ok(None) if started.elapsed() < DEADLINE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{what} took longer than {} s", DEADLINE.as_secs()));
            }
            Err(error) => return Err(format!("cannot wait for git: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_ref_lock_is_removed_and_a_young_one_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let reference = dir.path().join("branch");
        let lock = dir.path().join("branch.lock");
        std::fs::write(&lock, "").unwrap();
        let file = File::options().write(true).open(&lock).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3))
            .unwrap();
        clear_ref_lock(&reference).unwrap();
        assert!(!lock.exists());

        std::fs::write(&lock, "").unwrap();
        let other = {
            let lock = lock.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(200));
                std::fs::remove_file(lock)
            })
        };
        let started = Instant::now();
        clear_ref_lock(&reference).unwrap();
        assert!(started.elapsed() >= Duration::from_millis(150));
        other.join().unwrap().unwrap();
    }

    #[test]
    fn a_ref_lock_from_the_future_does_not_stick() {
        let dir = tempfile::tempdir().unwrap();
        let lock = dir.path().join("branch.lock");
        std::fs::write(&lock, "").unwrap();
        let file = File::options().write(true).open(&lock).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(3600))
            .unwrap();
        clear_ref_lock(&dir.path().join("branch")).unwrap();
        assert!(!lock.exists());
    }
}
