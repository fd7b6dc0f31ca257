//! What installing, or removing, makes of one file.

use crate::service::Workspace;
use cook_protocol::diagnostic::{Code, Failure};
use cook_repo::disk::{self, Durable, Links, Mode, NewFile};
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
pub fn write(changes: &[Change], is_program: bool) -> Result<(), Failure> {
    let mode = match is_program {
        true => Mode::Masked(0o777),
        false => Mode::Kept(0o644),
    };
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
fn hold(path: &Path) -> Result<Option<std::fs::File>, Failure> {
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
    let (why, way) = if found.permissions().readonly() {
        let write = format!("let it be written (`chmod u+w {}`)", path.display());
        (
            "is read-only",
            format!("{write}, then run the command again"),
        )
    } else if !disk::is_own(&found) {
        let way = "add the hooks as its owner: `cook hooks install AGENT --print` shows them";
        ("belongs to another user", way.to_owned())
    } else {
        return Ok(());
    };
    let what = format!("`{}` {why}", path.display());
    Err(Failure::state(Code::HooksFile, what).replace_hints([way]))
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

/// Keeps personal files inside the worktree out of `git status`, so that they never make the tree
/// dirty; or shows such files again, where it was cook that hid them.
///
/// # Errors
/// When the list cannot be written.
pub fn hide_from_status(
    workspace: &Workspace,
    changes: &[Change],
    hides: bool,
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
        let line = format!("/{}", relative.display());
        let own = format!("{HIDDEN}\n{line}\n");
        let gap = match held.is_empty() || held.ends_with('\n') {
            true => "",
            false => "\n",
        };
        let text = match hides {
            true if !held.lines().any(|known| known == line) => format!("{held}{gap}{own}"),
            false if held.contains(&own) => held.replacen(&own, "", 1),
            _ => continue,
        };
        put(&exclude, Some(&text), Mode::Kept(0o644)).map_err(|error| {
            Failure::state(Code::NotWritable, "`info/exclude` cannot be written").with_cause(&error)
        })?;
    }
    Ok(())
}
