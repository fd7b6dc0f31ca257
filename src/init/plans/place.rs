//! Where plans lie.

use crate::init::files::Tree;
use cook_protocol::diagnostic::{Code, Failure, Refusal};
use std::fs;
use std::path::{Component, Path};

/// Names of a directory that are looked at.
const MAX_NAMES: usize = 200;

/// Files that hold a plan, where a tool or a habit puts them.
const FILES: [&str; 13] = [
    ".taskmaster/tasks/tasks.json",
    "tasks/tasks.json",
    "prd.json",
    ".ralph/prd.json",
    "scripts/ralph/prd.json",
    ".beads/issues.jsonl",
    "PLAN.md",
    "plan.md",
    "IMPLEMENTATION_PLAN.md",
    "TODO.md",
    "todo.md",
    "TASKS.md",
    "tasks.md",
];

/// Directories of which each that holds a `tasks.md` is a plan.
const DIRECTORIES: [&str; 3] = ["specs", "openspec/changes", ".kiro/specs"];

/// The files of a worktree that may hold a plan.
pub(super) fn candidates(root: &Path) -> Vec<String> {
    let tree = Tree::new(root);
    let mut paths: Vec<String> = Vec::new();
    for directory in DIRECTORIES {
        paths.extend(below(root, directory));
    }
    for file in FILES {
        // A file system that folds case has one file under two names.
        let is_there = tree.has_file(file).unwrap_or_default();
        let is_seen = paths.iter().any(|path| path.eq_ignore_ascii_case(file));
        if is_there && !is_seen {
            paths.push(file.to_owned());
        }
    }
    paths
}

/// `tasks.md` of each directory below this one.
fn below(root: &Path, directory: &str) -> Vec<String> {
    let tree = Tree::new(root);
    if !tree.has_directory(directory).unwrap_or_default() {
        return Vec::new();
    }
    let entries = fs::read_dir(root.join(directory))
        .into_iter()
        .flatten()
        .flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        // What is finished.
        .filter(|name| name != "archive")
        .take(MAX_NAMES)
        .collect();
    names.sort();
    let paths = names
        .into_iter()
        .map(|name| format!("{directory}/{name}/tasks.md"));
    paths
        .filter(|path| tree.has_file(path).unwrap_or_default())
        .collect()
}

/// The file that a path of the worktree means: itself, or the only plan in that directory.
pub(super) fn read_file_at(root: &Path, path: &str) -> Result<String, Failure> {
    let refuse = |code, what: String| Failure::from(Refusal::new(code, what));
    let shown = path.trim_start_matches("./").trim_end_matches('/');
    let shown = if shown == "." { "" } else { shown };
    let is_inside = Path::new(shown)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !is_inside {
        let what = format!("`{path}` does not lie in the worktree");
        return Err(refuse(Code::PlanUnknown, what)
            .hint("copy it into the worktree, and name it from there"));
    }
    let mut above = Path::new(shown).ancestors().skip(1);
    let is_link =
        |path: &Path| fs::symlink_metadata(root.join(path)).is_ok_and(|found| found.is_symlink());
    if above.any(|path| !path.as_os_str().is_empty() && is_link(path)) {
        let what = format!("`{path}` leads through a symbolic link");
        return Err(refuse(Code::PlanUnknown, what));
    }
    let tree = Tree::new(root);
    let is_directory = shown.is_empty()
        || fs::symlink_metadata(root.join(shown)).is_ok_and(|found| found.is_dir());
    if !is_directory {
        return match tree.has_file(shown)? {
            true => Ok(shown.to_owned()),
            false => Err(refuse(Code::PlanUnknown, format!("there is no `{path}`"))),
        };
    }
    let own = format!("{shown}/tasks.md");
    let mut inside: Vec<String> = candidates(root)
        .into_iter()
        .filter(|found| shown.is_empty() || found.starts_with(&format!("{shown}/")))
        .collect();
    if !inside.contains(&own) && !shown.is_empty() && tree.has_file(&own)? {
        inside.push(own);
    }
    match inside.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(refuse(
            Code::PlanUnknown,
            format!("`{path}` holds no plan that cook reads"),
        )),
        [first, ..] => Err(refuse(
            Code::PlanAmbiguous,
            format!("`{path}` holds several plans: {}", inside.join(", ")),
        )
        .hint(format!("name one: `cook init --from {first}`"))),
    }
}
