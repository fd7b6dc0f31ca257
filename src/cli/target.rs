//! Where a command may write what it was asked for.

use cook_core::diagnostic::Failure;
use cook_git::Repo;
use std::path::Path;

/// What a command is told to write is no file of git's own.
pub(super) fn require_outside_git(dir: &Path, target: &Path) -> Result<(), Failure> {
    let parent = target.parent().filter(|parent| *parent != Path::new(""));
    let Ok(parent) = parent.unwrap_or(Path::new(".")).canonicalize() else {
        // What is not there is said where it is written.
        return Ok(());
    };
    let repo = Repo::discover(dir).ok();
    let own = repo
        .iter()
        .flat_map(|repo| [repo.git_dir(), repo.common_dir()]);
    let is_in = own
        .filter_map(|own| own.canonicalize().ok())
        .any(|own| parent.starts_with(own));
    if is_in || parent.components().any(|part| part.as_os_str() == ".git") {
        let what = format!("`{}` lies in git's own directory", target.display());
        return Err(Failure::usage(what).hint("name a file elsewhere"));
    }
    Ok(())
}
