//! What sessions of a run that is gone left: found, and settled.

use super::authority::Watch;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_core::model::Role;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Whose sessions a cook that is gone left unfinished; none while somebody drives.
///
/// # Errors
/// When the lease or what is left cannot be read.
pub fn list_unfinished(workspace: &Workspace) -> Result<Vec<Role>, Failure> {
    if workspace.store()?.lease_holder()?.is_some() {
        return Ok(Vec::new());
    }
    let mut roles = Vec::new();
    for path in list_directory(&watches(workspace)?)? {
        roles.extend(Watch::open_left_behind(&path, None)?.map(|watch| watch.role()));
    }
    Ok(roles)
}

/// Names of the baselines of all worktrees.
pub(super) fn all_watches(workspace: &Workspace) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    for of_one in list_directory(&workspace.repo.cook_dir()?.join("watch"))? {
        let all = list_directory(&of_one)?;
        names.extend(
            all.iter()
                .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())),
        );
    }
    Ok(names)
}

pub(super) fn watches(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let dir = workspace.repo.cook_dir()?.join("watch");
    Ok(dir.join(workspace.store()?.id()))
}

/// What lies in a directory; nothing when it is not there.
pub(super) fn list_directory(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let found = match std::fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    found.map_err(|error: std::io::Error| unreadable(dir, &error))
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::state(
        Code::InputUnreadable,
        format!("cannot read `{}`", path.display()),
    )
    .with_cause(error)
}
