//! Where the log lives and whether it may be used: paths, safety checks,
//! creation under a temporary name, the worktree's id.
//!
//! Nothing here discovers anything: the paths come from the caller.

use super::error::{During, unreadable, unsafe_path, unwritable};
use super::odb::Log;
use crate::disk::{self, Durable, Links, Mode, NewFile, TemporaryDir};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::GOAL_VIEW;
use git2::ObjectFormat;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Once;

/// The three directories cook works with. `repo` finds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The repository's common git dir; the log lies in it.
    pub common_dir: PathBuf,
    /// This worktree's git dir; equal to `common_dir` in the main worktree.
    pub git_dir: PathBuf,
    /// The worktree's root; `.agent/` lies in it.
    pub worktree: PathBuf,
}

/// The log's configuration, byte for byte. A log with any other is refused: an
/// agent could otherwise bring in hooks, filters or includes.
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

    /// `<git dir>/cook-checkout.json`: what `.agent/` shows.
    pub fn stamp_file(&self) -> PathBuf {
        self.git_dir.join("cook-checkout.json")
    }

    /// `<worktree>/.agent`; of a goal, which writes nothing there, a directory in the git dir.
    pub fn agent_dir(&self) -> PathBuf {
        let of_goal = self.git_dir.join(GOAL_VIEW);
        match disk::is_directory(&of_goal) {
            true => of_goal,
            false => self.worktree.join(".agent"),
        }
    }
}

/// Makes libgit2 sync objects and refs; process-wide, once.
fn durable_writes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Initialises libgit2; git2 keeps that call private.
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

/// The log, which must be there.
pub(super) fn open_known_log(place: &Place) -> Result<Log, Failure> {
    open_log(place)?.ok_or_else(|| unreadable("the log", "it is gone"))
}

/// Opens the log at its exact path after the safety checks. `None` = there is
/// none; every other difficulty is an error.
pub(super) fn open_log(place: &Place) -> Result<Option<Log>, Failure> {
    if !is_safe(place)? {
        return Ok(None);
    }
    durable_writes();
    Log::open(&place.log_dir()).map(Some)
}

/// False when there is no log.
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

/// What stands at a path, and not what a link there leads to.
pub(super) fn look(path: &Path) -> Result<Option<std::fs::Metadata>, Failure> {
    disk::look(path).reading(path.display().to_string())
}

/// True for a real directory, false when absent; a symlink or a file is refused with this code.
pub(super) fn is_directory(path: &Path, code: Code) -> Result<bool, Failure> {
    match look(path)? {
        None => Ok(false),
        Some(found) if found.is_symlink() => Err(unsafe_path(code, path, "is a symlink")),
        Some(found) if found.is_dir() => Ok(true),
        Some(_) => Err(unsafe_path(code, path, "is not a directory")),
    }
}

/// Makes a directory unless it is there; true when it was made.
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

/// Ownership has no portable meaning here.
#[cfg(not(unix))]
fn same_owner(_reference: &Path, _paths: &[&Path]) -> Result<(), Failure> {
    Ok(())
}

/// Makes `<common dir>/cook/log.git` unless it is there. Of two creators one
/// renames its copy into place and the other finds it there.
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
        // Somebody else was faster; their log is looked at like any other.
        Err(error) => match is_safe(place) {
            Ok(true) => Ok(()),
            Ok(false) => Err(failed(error)),
            Err(unsafe_log) => Err(unsafe_log),
        },
    }
}

/// Objects of the log are named as the repository names its own, so that one
/// can be pushed with the other as alternates.
fn object_format(place: &Place) -> ObjectFormat {
    let named = git2::Config::open(&place.common_dir.join("config"))
        .and_then(|config| config.get_string("extensions.objectformat"));
    match named.as_deref() {
        Ok("sha256") => ObjectFormat::Sha256,
        _ => ObjectFormat::Sha1,
    }
}

/// Makes a log for a while: nothing of it is synced.
pub(super) fn fill_passing(place: &Place, like: &Place) -> io::Result<()> {
    let dir = place.log_dir();
    for part in ["objects/info", "objects/pack", "refs/heads"] {
        std::fs::create_dir_all(dir.join(part))?;
    }
    std::fs::write(dir.join("config"), config(object_format(like)))?;
    std::fs::write(dir.join("HEAD"), NO_BRANCH)
}

const NO_BRANCH: &str = "ref: refs/heads/none\n";

fn fill(dir: &Path, format: ObjectFormat) -> io::Result<()> {
    // The directories of kept copies are there from the start, so that making
    // the first ref in one needs no sync of its parent.
    for part in [
        "objects",
        "objects/info",
        "objects/pack",
        "refs",
        "refs/heads",
        "refs/displaced",
        "refs/rescue",
        "refs/sessions",
    ] {
        std::fs::create_dir(dir.join(part))?;
    }
    for (name, text) in [
        ("config", config(format).as_str()),
        ("HEAD", NO_BRANCH),
        (
            "description",
            "cook's log of this repository; see protocol/store.md\n",
        ),
    ] {
        let mut file = std::fs::File::create_new(dir.join(name))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
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

/// The worktree's id: 26 characters, lower case.
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

/// True for what [`create_id`] writes.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 26
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Gives the worktree an id unless it has one; never replaces one.
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

/// A random, time-ordered name in lower case.
pub fn fresh_id() -> String {
    ulid::Ulid::generate().to_string().to_lowercase()
}
