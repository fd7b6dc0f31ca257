//! What installing, or removing, makes of one file.

use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_os::disk::{self, Durable, Links, Mode, NewFile};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a file stands to what belongs into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing of cook's is in it.
    Missing,
    /// Something else than this version writes.
    Stale,
    /// As it should be.
    Current,
}

/// One file, with what it is and what it would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where it is.
    pub path: PathBuf,
    /// How it stands.
    pub standing: Standing,
    /// What it holds; none = there is no file.
    pub before: Option<String>,
    /// What it would hold; none = no file.
    pub after: Option<String>,
    /// A word for the user.
    pub remark: Option<String>,
}

impl Change {
    /// Something would be written.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }
}

/// Largest settings file that is changed.
const MAX_FILE: u64 = 4 << 20;
/// How long a file is waited for that another cook is writing.
const WAIT: Duration = Duration::from_secs(5);

pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    let failed = |why: String| {
        Failure::state(
            Code::HooksFile,
            format!("`{}` cannot be read: {why}", path.display()),
        )
    };
    disk::read_text(path, MAX_FILE, Links::Follow).map_err(|error| failed(error.to_string()))
}

/// Writes what changed.
///
/// # Errors
/// A place that cannot be written.
pub fn write(changes: &[Change]) -> Result<(), Failure> {
    write_as(changes, Mode::Kept(0o644))
}

/// The same for a file that is run.
///
/// # Errors
/// As [`write`].
pub fn write_program(change: &Change) -> Result<(), Failure> {
    write_as(std::slice::from_ref(change), Mode::Masked(0o777))
}

fn write_as(changes: &[Change], mode: Mode) -> Result<(), Failure> {
    for change in changes.iter().filter(|change| change.changes()) {
        may_be_changed(&change.path)?;
    }
    for change in changes.iter().filter(|change| change.changes()) {
        let path = &change.path;
        let _held = hold(path)?;
        let found = read(path)?;
        if found == change.after {
            continue;
        }
        if found != change.before {
            let what = format!(
                "`{}` was changed by another program just now",
                path.display()
            );
            return Err(
                Failure::state(Code::HooksFile, what).replace_hints(["run the command again"])
            );
        }
        put(path, change.after.as_deref(), mode).map_err(|error| {
            Failure::state(
                Code::NotWritable,
                format!("`{}` cannot be written", path.display()),
            )
            .with_cause(&error)
        })?;
    }
    Ok(())
}

/// Keeps other calls of cook from the file's directory, so that none undoes what another wrote. One
/// that is not there yet, or that cannot be held, shows when the file is written.
fn hold(path: &Path) -> Result<Option<disk::Held>, Failure> {
    let held = path.parent().map(|dir| disk::hold_directory(dir, WAIT));
    match held {
        Some(Ok(None)) => {
            let what = format!("another cook is writing `{}`", path.display());
            Err(Failure::state(Code::HooksFile, what).replace_hints(["run the command again"]))
        }
        Some(Ok(held)) => Ok(held),
        Some(Err(_)) | None => Ok(None),
    }
}

/// A file is replaced, which needs no right to write it: whoever closed it, or another user, is asked.
fn may_be_changed(path: &Path) -> Result<(), Failure> {
    let Ok(found) = std::fs::metadata(path) else {
        return Ok(());
    };
    let closed = |why: &str, way: String| {
        let what = format!("`{}` {why}", path.display());
        Err(Failure::state(Code::HooksFile, what).replace_hints([way]))
    };
    if found.permissions().readonly() {
        let way = format!(
            "let it be written (`chmod u+w {}`), then run the command again",
            path.display()
        );
        return closed("is read-only", way);
    }
    if !disk::is_own(&found) {
        let way =
            "add the hooks as its owner: `cook hooks install AGENT --print` shows them".to_owned();
        return closed("belongs to another user", way);
    }
    Ok(())
}

fn put(path: &Path, text: Option<&str>, mode: Mode) -> std::io::Result<()> {
    let Some(text) = text else {
        return std::fs::remove_file(path);
    };
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    NewFile::at(path, Durable::Content)
        .mode(mode)
        .write(text.as_bytes())
}

/// What stands before a line of cook's in the list of files that git ignores here.
const HIDDEN: &str = "# cook: hooks of one's own, until `cook hooks remove`";

/// Keeps a personal file inside the worktree out of `git status`, so that it never
/// makes the tree dirty.
///
/// # Errors
/// When the list cannot be written.
pub fn keep_out_of_status(workspace: &Workspace, changes: &[Change]) -> Result<(), Failure> {
    edit_exclude(workspace, changes, |held, line| {
        if held.lines().any(|known| known == line) {
            return None;
        }
        let gap = if held.is_empty() || held.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        Some(format!("{held}{gap}{HIDDEN}\n{line}\n"))
    })
}

/// Shows such files again, where it was cook that hid them.
///
/// # Errors
/// When the list cannot be written.
pub fn show_in_status(workspace: &Workspace, changes: &[Change]) -> Result<(), Failure> {
    edit_exclude(workspace, changes, |held, line| {
        let own = format!("{HIDDEN}\n{line}\n");
        held.contains(&own).then(|| held.replacen(&own, "", 1))
    })
}

/// Gives the list of files that git ignores here another text, for each file of the worktree.
fn edit_exclude(
    workspace: &Workspace,
    changes: &[Change],
    edit: impl Fn(&str, &str) -> Option<String>,
) -> Result<(), Failure> {
    let root = workspace.repo.root();
    let info = workspace.repo.common_dir().join("info");
    if info.exists() && !disk::is_directory(&info) {
        let what = format!("`{}` leads elsewhere", info.display());
        return Err(Failure::state(Code::NotWritable, what));
    }
    let exclude = info.join("exclude");
    for change in changes {
        let Ok(relative) = change.path.strip_prefix(root) else {
            continue;
        };
        let held = read(&exclude)?.unwrap_or_default();
        let Some(text) = edit(&held, &format!("/{}", relative.display())) else {
            continue;
        };
        put(&exclude, Some(&text), Mode::Kept(0o644)).map_err(|error| {
            Failure::state(Code::NotWritable, "`info/exclude` cannot be written").with_cause(&error)
        })?;
    }
    Ok(())
}
