//! Which tracker this worktree has: its workspace directory and its program.

use super::interface::TrackerError;
use cook_protocol::model::TrackerKind;
use cook_repo::disk::is_directory;
use cook_repo::process::{Short, capture, on_path};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The directory in which `br` and `bd` keep a worktree's issues.
pub const WORKSPACE: &str = ".beads";
/// What only `bd` keeps there.
const OF_BD: [&str; 2] = ["dolt", "embeddeddolt"];

/// A tracker's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// `br` or `bd`.
    pub name: &'static str,
    /// Where it is.
    pub program: PathBuf,
}

/// Looks for the tracker that the settings name. None: cook's own plan.
///
/// # Errors
/// `Absent` when the settings name a program and its workspace or itself is not there.
pub fn find(
    kind: TrackerKind,
    root: &Path,
    path: Option<&OsStr>,
) -> Result<Option<Found>, TrackerError> {
    let names: &[&'static str] = match kind {
        TrackerKind::None => return Ok(None),
        // First, so that a worktree without a workspace costs one look.
        TrackerKind::Auto if !has_workspace(root) => return Ok(None),
        TrackerKind::Br => &["br"],
        TrackerKind::Bd => &["bd"],
        TrackerKind::Auto
            if OF_BD
                .iter()
                .any(|name| is_directory(&root.join(WORKSPACE).join(name))) =>
        {
            &["bd"]
        }
        TrackerKind::Auto => &["br", "bd"],
    };
    let found = names.iter().find_map(|name| {
        let program = on_path(name, path?)?;
        Some(Found { name, program })
    });
    let why = match (has_workspace(root), found) {
        (true, Some(found)) => return Ok(Some(found)),
        _ if kind == TrackerKind::Auto => return Ok(None),
        (false, _) => format!("`{WORKSPACE}` is not a directory of this worktree"),
        (true, None) => format!("`{}` is not on PATH", names[0]),
    };
    Err(TrackerError::Absent {
        tracker: names[0],
        why,
    })
}

/// A path, relative to the worktree, that belongs to a tracker and not to the work.
pub fn is_own_file(path: &str) -> bool {
    path.strip_prefix(WORKSPACE)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A real directory: a link would lead out of the worktree.
fn has_workspace(root: &Path) -> bool {
    is_directory(&root.join(WORKSPACE))
}

/// Variables that name the actor, the first that is set counts.
const NAMED_BY: [&str; 3] = ["BR_ACTOR", "BD_ACTOR", "BEADS_ACTOR"];
/// How long git may take to say a name.
const DEADLINE: Duration = Duration::from_secs(2);

/// A name, and the other names the same person goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// What claims are made under.
    pub name: String,
    /// Names under which the tracker may know the same person.
    pub also: Vec<String>,
}

impl Actor {
    /// The variable that a tracker's own programs read, and then nobody else; else
    /// git's `user.name`, with the login and the mail address beside it.
    pub fn of(root: &Path) -> Self {
        let variable = |name: &&str| std::env::var(name).ok().filter(|value| usable(value));
        if let Some(name) = NAMED_BY.iter().find_map(variable) {
            return Self {
                name,
                also: Vec::new(),
            };
        }
        let login = ["USER", "LOGNAME"].iter().find_map(variable);
        let mut names: Vec<String> = [
            setting(root, "user.name"),
            login,
            setting(root, "user.email"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if names.is_empty() {
            names.push("cook".to_owned());
        }
        Self {
            name: names.remove(0),
            also: names,
        }
    }

    /// Whether a name is this actor's.
    pub fn is(&self, name: &str) -> bool {
        name == self.name || self.also.iter().any(|also| also == name)
    }
}

/// A name that can stand in an argument.
fn usable(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= 200 && !name.chars().any(char::is_control)
}

/// A git setting; git that does not answer leaves the name to the next source.
fn setting(root: &Path, name: &str) -> Option<String> {
    let captured = capture(&Short {
        argv: ["git", "config", "--get", name].map(Into::into).to_vec(),
        dir: root,
        env: Vec::new(),
        stdin: Vec::new(),
        deadline: DEADLINE,
        limit: 4096,
        group: false,
    })
    .ok()?;
    let value = String::from_utf8(captured.stdout).ok()?;
    let value = value.trim();
    usable(value).then(|| value.to_owned())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(directory: &Path, name: &str) {
        std::fs::create_dir_all(directory).unwrap();
        let path = directory.join(name);
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn auto_needs_a_workspace_and_a_program() {
        let temp = tempfile::tempdir().unwrap();
        let (root, bin) = (temp.path().join("work"), temp.path().join("bin"));
        std::fs::create_dir_all(&root).unwrap();
        program(&bin, "bd");
        let path = Some(bin.as_os_str());
        let auto = || {
            find(TrackerKind::Auto, &root, path)
                .unwrap()
                .map(|found| found.name)
        };
        assert_eq!(auto(), None);
        std::os::unix::fs::symlink(&bin, root.join(WORKSPACE)).unwrap();
        assert_eq!(auto(), None, "a link is not a workspace");
        std::fs::remove_file(root.join(WORKSPACE)).unwrap();
        std::fs::create_dir(root.join(WORKSPACE)).unwrap();
        assert_eq!(auto(), Some("bd"));
        program(&bin, "br");
        assert_eq!(auto(), Some("br"));
        std::fs::create_dir(root.join(WORKSPACE).join("dolt")).unwrap();
        assert_eq!(auto(), Some("bd"), "a store of bd");
        assert_eq!(find(TrackerKind::None, &root, path).unwrap(), None);
    }

    #[test]
    fn a_named_tracker_that_is_not_there_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("work");
        std::fs::create_dir_all(&root).unwrap();
        let error = |path| find(TrackerKind::Br, &root, path).unwrap_err().to_string();
        assert!(error(None).contains("not a directory of this worktree"));
        std::fs::create_dir(root.join(WORKSPACE)).unwrap();
        assert!(error(Some(OsStr::new("bin:.::"))).contains("not on PATH"));
    }

    #[test]
    fn own_files_are_those_of_the_workspace() {
        assert!(is_own_file(".beads") && is_own_file(".beads/issues.jsonl"));
        assert!(!is_own_file(".beadsx") && !is_own_file("src/.beads/x"));
    }
}
