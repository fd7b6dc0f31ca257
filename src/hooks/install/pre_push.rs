//! git's `pre-push` hook: what is pushed is checked first.
//!
//! Invariants: a hook of the user's own is never changed; a file is deleted only when it holds exactly
//! what is written here.

use super::{Change, Standing, read};
use crate::service::Workspace;
use cook_agents::hooks::layout::Purpose;
use cook_protocol::diagnostic::{Code, Failure};
use std::path::{Path, PathBuf};

/// What a user's own hook needs to do the same.
const LINE: &str = "cook check --pushed || exit 1";

/// git hands the refs over on standard input; where cook is missing, a push is as it always was.
fn text() -> String {
    format!(
        "#!/bin/sh\n# {}: written by `cook hooks install git --check`, taken out by `cook hooks remove git --check`\ncommand -v cook >/dev/null 2>&1 || exit 0\nfound=$(cook check --pushed) && exit 0\nprintf '%s\\n' \"$found\" >&2\nexit 1\n",
        Purpose::Check.mark()
    )
}

/// What installing, or removing, would do to the hook.
///
/// # Errors
/// `hooks_file` where the hook is the user's own, or would be other repositories' too.
pub fn change(workspace: &Workspace, install: bool) -> Result<Change, Failure> {
    let path = place(workspace, install)?;
    let before = read(&path)?;
    let text = text();
    let (standing, after) = match &before {
        None => (Standing::Missing, install.then_some(text)),
        Some(found) if *found == text => (Standing::Current, install.then_some(text)),
        Some(found) => {
            let is_ours = found.contains(Purpose::Check.any_mark());
            if install || is_ours {
                let what = format!("`{}` is there and is not what cook writes", path.display());
                return Err(theirs(what));
            }
            (Standing::Missing, before.clone())
        }
    };
    Ok(Change {
        path,
        standing,
        before,
        after,
        remark: None,
    })
}

fn theirs(what: String) -> Failure {
    let hint = format!(
        "add to it, before anything reads its standard input: `{LINE}` (to take cook's part out, delete that line)"
    );
    Failure::state(Code::HooksFile, what).replace_hints([hint])
}

/// Where git looks for the hook, by `core.hooksPath` too.
fn place(workspace: &Workspace, install: bool) -> Result<PathBuf, Failure> {
    let repo = &workspace.repo;
    let dir = repo.hooks_dir()?;
    let own = [repo.root(), repo.git_dir(), repo.common_dir()];
    // A directory that does not exist yet is judged by what holds it.
    let real = dir.ancestors().find_map(|at| {
        let rest = dir.strip_prefix(at).ok()?.to_owned();
        Some(at.canonicalize().ok()?.join(rest))
    });
    let real = real.unwrap_or_else(|| dir.clone());
    let path = real.join("pre-push");
    if install && !own.iter().any(|own: &&Path| real.starts_with(own)) {
        let what = format!(
            "`core.hooksPath` leads to `{}`, which is not this repository's alone",
            dir.display()
        );
        let hint = format!("add to `{}` yourself: `{LINE}`", path.display());
        return Err(Failure::state(Code::HooksFile, what).replace_hints([hint]));
    }
    if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
        let what = format!("`{}` is a symbolic link", path.display());
        return Err(theirs(what));
    }
    Ok(path)
}
