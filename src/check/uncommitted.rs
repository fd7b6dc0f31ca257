//! What no commit has.

use super::found::Checked;
use super::line::Line;
use cook_core::diagnostic::{Code, Failure, count_noun};
use cook_git::Repo;
use cook_trials::Weight;

/// Paths in a line.
const NAMED: usize = 5;

pub(super) fn look(repo: &Repo, checked: &mut Checked) -> Result<(), Failure> {
    let status = repo.status()?;
    let (mut edited, mut untracked) = (Vec::new(), Vec::new());
    for path in &status.worktree.dirty {
        let known = status.tracked && repo.tree_entry(&checked.head, path)?.is_some();
        match known {
            true => edited.push(path.as_str()),
            false => untracked.push(path.as_str()),
        }
    }
    let all = edited.len() + untracked.len() + status.worktree.more as usize;
    if !edited.is_empty() {
        let what = format!(
            "{} not committed: {}",
            count_noun(edited.len() as u64, "edited file"),
            some(&edited)
        );
        checked.lines.push(Line::new(
            Code::DirtyWorktree,
            Weight::Refuses,
            what,
            "git diff HEAD",
        ));
    }
    if !untracked.is_empty() {
        let what = format!(
            "{} that HEAD does not have: {}",
            count_noun(untracked.len() as u64, "file"),
            some(&untracked)
        );
        checked.lines.push(Line::new(
            Code::DirtyWorktree,
            Weight::Shown,
            what,
            "git status --short",
        ));
    }
    let unwatched = repo.list_unwatched()?;
    if !unwatched.is_empty() {
        let paths: Vec<&str> = unwatched.iter().map(String::as_str).collect();
        let what = format!(
            "git was told not to look at {} that HEAD has otherwise: {}",
            count_noun(paths.len() as u64, "file"),
            some(&paths)
        );
        let line = Line::new(
            Code::UnwatchedEdits,
            Weight::Refuses,
            what,
            "git ls-files -v",
        );
        checked.lines.push(line);
    }
    if all == 0 && unwatched.is_empty() {
        checked.checked.push("everything is committed".to_owned());
    }
    Ok(())
}

pub(super) fn some(paths: &[&str]) -> String {
    let mut shown: Vec<String> = paths
        .iter()
        .take(NAMED)
        .map(|path| (*path).to_owned())
        .collect();
    if paths.len() > NAMED {
        shown.push(format!("{} more", paths.len() - NAMED));
    }
    shown.join(", ")
}
