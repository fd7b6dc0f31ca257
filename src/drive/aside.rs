//! What a session changed without a right to: which ignored files count, how changes are named, and
//! where what was there goes before it is put back.

use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure};
use cook_core::model::{BriefSync, CONTRACT_FILES, SETTINGS_FILES};
use cook_git::{Difference, Ignored, Repo};
use cook_store::store::{MAX_KEPT, Store};
use std::path::{Component, Path, PathBuf};

/// Differences that are named one by one.
const NAMED: usize = 12;
/// In `.agent/`: what any session leaves.
const SCRATCH: [&str; 2] = ["inbox", "tmp"];
/// Beside `cook/` in the git dir: files that were too large for a copy.
const MOVED_DIR: &str = "cook-rescued";

/// Ignored files that a session that only reads leaves as they are: all in `.agent/` that neither
/// the tree holds nor cook shows or takes in, the brief's file where cook does not write it itself, and
/// beside tracked files each `.gitignore` that may ignore itself.
pub(super) fn list_ignored(workspace: &Workspace) -> Result<Ignored, Failure> {
    let contract = CONTRACT_FILES.iter().chain(&SETTINGS_FILES);
    let contract = contract.filter_map(|path| path.strip_prefix(".agent/"));
    let own = contract.chain(Store::list_shown_files()).chain(SCRATCH);
    let brief = workspace.config().ok().map(|config| &config.brief);
    let brief = brief.filter(|brief| {
        let mut parts = Path::new(&brief.path).components();
        brief.sync == BriefSync::Manual && parts.all(|part| matches!(part, Component::Normal(_)))
    });
    let mut files = workspace.repo.list_untracked_gitignores()?;
    files.extend(brief.map(|brief| brief.path.clone()));
    Ok(Ignored {
        agent_dir_but: Some(own.map(str::to_owned).collect()),
        files,
    })
}

pub(super) fn list_differences(differences: &[Difference]) -> Vec<String> {
    let mut lines: Vec<String> = differences
        .iter()
        .take(NAMED)
        .map(ToString::to_string)
        .collect();
    if differences.len() > NAMED {
        lines.push(format!("{} more", differences.len() - NAMED));
    }
    lines
}

/// The path that a copy of a steering file gets.
pub(super) fn rescue_name(name: &str) -> Vec<u8> {
    if let Some(path) = name.strip_prefix("ignored:") {
        return path.as_bytes().to_vec();
    }
    let name = name
        .trim_start_matches("worktree:")
        .trim_start_matches("root:");
    format!("git-dir/{name}").into_bytes()
}

/// A file, and the path it gets where it is kept.
type Placed = (Vec<u8>, PathBuf);

/// The files of differences; apart from those that are too large for a copy.
pub(super) fn files(repo: &Repo, differences: &[Difference]) -> (Vec<Placed>, Vec<Placed>) {
    let placed = differences.iter().filter_map(|one| match one {
        Difference::File {
            path,
            deleted: false,
            ..
        } => Some((path.clone(), repo.at(path)?)),
        Difference::Steering {
            name,
            found: Some(found),
            ..
        }
        | Difference::Operation {
            name,
            found: Some(found),
        } => Some((rescue_name(name), found.clone())),
        _ => None,
    });
    placed.partition(|(_, at)| {
        let found = at.symlink_metadata();
        !found.is_ok_and(|found| found.is_file() && found.len() > MAX_KEPT)
    })
}

/// Moves files out of the worktree, to the git dir: no copy holds them.
pub(super) fn move_away(repo: &Repo, id: &str, files: &[Placed]) -> Result<Vec<PathBuf>, Failure> {
    let mut moved = Vec::new();
    for (_, at) in files {
        let to = find_free_place(repo, id, at);
        rename(at, &to).map_err(|error| unwritable(&to, &error))?;
        moved.push(to);
    }
    Ok(moved)
}

/// Moves the git dirs of repositories that came into the worktree; one that cannot be moved stays,
/// and is named.
pub(super) fn move_repositories(repo: &Repo, id: &str, left: &[Difference]) -> Vec<PathBuf> {
    let new = left.iter().filter_map(|one| match one {
        Difference::File {
            path, added: true, ..
        } => Some(repo.at(path)?.join(".git")),
        _ => None,
    });
    // A link to a git dir elsewhere is another worktree's, or a submodule's.
    let new = new.filter(|git| git.symlink_metadata().is_ok_and(|found| found.is_dir()));
    new.filter_map(|git| {
        let to = find_free_place(repo, id, &git);
        rename(&git, &to).ok().map(|()| to)
    })
    .collect()
}

/// A place in the git dir that is free.
fn find_free_place(repo: &Repo, id: &str, from: &Path) -> PathBuf {
    let dir = repo.common_dir().join(MOVED_DIR).join(id);
    let name = from.file_name().unwrap_or_default();
    let mut places = (0..).map(|number: u64| dir.join(number.to_string()).join(name));
    let free = places.find(|place| place.parent().is_none_or(|parent| !parent.exists()));
    free.unwrap_or(dir)
}

fn rename(from: &Path, to: &Path) -> std::io::Result<()> {
    to.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::rename(from, to)
}

pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::state(
        Code::WriteFailed,
        format!("cannot write `{}`", path.display()),
    )
    .with_cause(error)
}
