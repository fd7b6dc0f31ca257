//! Recognizes the tool that a plan belongs to, and reads the plan.

use super::MAX_PLAN_BYTES;
use super::check_list::{Item, items, lines, measure_bullet, read_item, read_list, read_numbered};
use super::json_plans::{read_beads, read_issues, read_prd, read_task_master};
use super::spec_documents::{
    drop_title, name_mission, read_capability, read_feature, read_kiro, read_spec_kit, read_why,
};
use super::task::{TakenPlan, Task, Tasks, take};
use crate::init::contract_files::opening;
use crate::init::text_files::Tree;
use crate::init::{read_text_file, write_text_file};
use crate::prelude::*;
use cook_protocol::model::{PlanSource, mission_anchor};
use std::fs;
use std::path::Component;

/// The supported formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `specs/NAME/tasks.md` with a `spec.md` next to it.
    SpecKit,
    /// `openspec/changes/NAME/tasks.md`.
    OpenSpec,
    /// `.kiro/specs/NAME/tasks.md`.
    Kiro,
    /// `.taskmaster/tasks/tasks.json`.
    TaskMaster,
    /// `prd.json`.
    Prd,
    /// `PLAN.md`, `TODO.md` and similar files.
    CheckList,
    /// The output of `gh issue list --json`.
    GithubIssues,
    /// `.beads/issues.jsonl`.
    Beads,
}

const KINDS: [(Kind, &str); 8] = [
    (Kind::SpecKit, "spec-kit"),
    (Kind::OpenSpec, "openspec"),
    (Kind::Kiro, "kiro"),
    (Kind::TaskMaster, "task-master"),
    (Kind::Prd, "prd"),
    (Kind::CheckList, "check-list"),
    (Kind::GithubIssues, "github-issues"),
    (Kind::Beads, "beads"),
];

impl Kind {
    /// The name in documents.
    pub fn id(self) -> &'static str {
        let mut all = KINDS.iter();
        all.find(|(kind, _)| *kind == self).map_or("", |(_, id)| id)
    }

    fn of_id(id: &str) -> Option<Self> {
        let mut all = KINDS.iter();
        all.find(|(_, known)| *known == id).map(|(kind, _)| *kind)
    }

    /// Whether its source is a Markdown list of items with checkboxes.
    pub(super) fn is_list(self) -> bool {
        matches!(
            self,
            Self::SpecKit | Self::OpenSpec | Self::Kiro | Self::CheckList
        )
    }

    /// The kind of a file by its path; for JSON, by its content.
    pub(super) fn of(root: &Path, path: &str, text: &str) -> Option<Self> {
        let path = Path::new(path);
        let name = path.file_name()?.to_str()?;
        let holds = |part: &str| path.iter().any(|found| found == part);
        let has_spec = || {
            Tree::new(root)
                .has_file(&beside(path, "spec.md"))
                .unwrap_or_default()
        };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("jsonl") => Some(Self::Beads),
            Some("json") => Some(Self::of_json(text)),
            Some("md" | "markdown" | "txt") if name == "tasks.md" && holds(".kiro") => {
                Some(Self::Kiro)
            }
            Some("md") if name == "tasks.md" && holds("openspec") => Some(Self::OpenSpec),
            Some("md") if name == "tasks.md" && has_spec() => Some(Self::SpecKit),
            Some("md" | "markdown" | "txt") => Some(Self::CheckList),
            _ => None,
        }
    }

    /// Unrecognized JSON is read as task-master's, whose error explains the problem.
    fn of_json(text: &str) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(_)) => Self::GithubIssues,
            Ok(value) if value.get("userStories").is_some() => Self::Prd,
            _ => Self::TaskMaster,
        }
    }
}

/// The path of another file in the same directory.
pub(super) fn beside(path: &Path, name: &str) -> String {
    path.with_file_name(name).to_string_lossy().into_owned()
}

/// The plans at the usual places of their tools, each with its path.
pub fn list_plans(root: &Path) -> Vec<(String, TakenPlan)> {
    let read = |path: String| read(root, &path).ok().map(|plan| (path, plan));
    candidates(root).into_iter().filter_map(read).collect()
}

/// Reads the plan at that path of the worktree: a file, a directory that holds one, or `FILE#TAG` for a file with
/// several lists.
///
/// # Errors
/// No plan or several plans at the path; a plan that breaks its format (with line and column), or whose tasks share an
/// id or depend on each other in a cycle.
pub fn read(root: &Path, path: &str) -> Result<TakenPlan> {
    let (path, tag) = match path.split_once('#') {
        Some((file, tag)) => (file, Some(tag)),
        None => (path, None),
    };
    let path = &read_file_at(root, path)?;
    let unknown = || {
        Failure::from(Refusal::new(
            Code::PlanUnknown,
            format!("`{path}` is not a plan that cook reads"),
        ))
    };
    let text = Tree::new(root)
        .text(path, MAX_PLAN_BYTES)?
        .ok_or_else(unknown)?;
    let text = text.trim_start_matches('\u{feff}');
    let kind = Kind::of(root, path, text).ok_or_else(unknown)?;
    if let Some(tag) = tag.filter(|_| kind != Kind::TaskMaster) {
        let what = format!("`{path}` has no lists with names, so no `{tag}`");
        return Err(Refusal::new(Code::PlanUnknown, what).into());
    }
    let near = |name: &str| -> Result<String> {
        let path = beside(Path::new(path), name);
        Ok(Tree::new(root)
            .text(&path, MAX_PLAN_BYTES)?
            .unwrap_or_default())
    };
    let listed = |tasks: Vec<Task>| Tasks {
        tasks,
        ..Tasks::default()
    };
    let mut read: Tasks = match kind {
        Kind::SpecKit => listed(read_spec_kit(path, text, &near("spec.md")?)?),
        Kind::OpenSpec => {
            let mut tasks = read_numbered(path, text)?;
            for (name, file) in list_capabilities(root, &beside(Path::new(path), "specs")) {
                let text = Tree::new(root).text(&file, MAX_PLAN_BYTES)?;
                tasks.extend(read_capability(&file, &name, &text.unwrap_or_default()));
            }
            listed(tasks)
        }
        Kind::CheckList => listed(read_list(path, text)?),
        Kind::Kiro => listed(read_kiro(path, text, &near("requirements.md")?)?),
        Kind::TaskMaster => read_task_master(path, text, tag)?,
        Kind::Prd => read_prd(path, text)?,
        Kind::GithubIssues => read_issues(path, text)?,
        Kind::Beads => read_beads(path, text)?,
    };
    let directory = Path::new(path).parent().and_then(Path::file_name);
    let name = directory.unwrap_or_default().to_string_lossy();
    let named = |words: String| name_mission(&name, &words);
    let stated = match kind {
        Kind::SpecKit => {
            let spec = near("spec.md")?;
            let (title, words) = read_feature(&spec).unwrap_or_default();
            let words = words.or_else(|| opening(&spec));
            words.map(|words| name_mission(&title, &words))
        }
        Kind::OpenSpec => {
            let proposal = near("proposal.md")?;
            read_why(&proposal)
                .or_else(|| opening(&proposal))
                .map(named)
        }
        Kind::Kiro => opening(&near("requirements.md")?).map(named),
        Kind::TaskMaster => {
            let words = Tree::new(root).text(PRODUCT, MAX_PLAN_BYTES)?;
            let words = opening(&words.unwrap_or_default());
            words.map(|words| drop_title(&words).to_owned())
        }
        _ => None,
    };
    read.mission = read.mission.or(stated);
    take(path, kind.id(), read)
}

/// The mission itself as a plan of one slice. Its list items are the criteria, or else its first line is the only one.
/// `path` is the file of the mission.
///
/// # Errors
/// An empty mission.
pub fn read_mission(path: &str, mission: &str) -> Result<TakenPlan> {
    let goal = mission_anchor(mission).unwrap_or_default();
    let listed = lines(mission).filter(|(_, line)| measure_bullet(line.trim_start()).is_some());
    let task = Task {
        criteria: listed.map(|(_, line)| read_item(line)).collect(),
        item: goal.clone(),
        goal,
        ..Task::default()
    };
    let read = Tasks {
        tasks: vec![task],
        mission: Some(mission.to_owned()),
        ..Tasks::default()
    };
    take(path, "mission", read)
}

/// The product description from which task-master creates its tasks.
const PRODUCT: &str = ".taskmaster/docs/prd.txt";

/// The capabilities below a directory of specifications, nested ones too, each with its file.
fn list_capabilities(root: &Path, directory: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(parent) = left.pop().filter(|_| found.len() < MAX_NAMES) {
        for name in names(root, &parent).into_iter().rev() {
            left.push(format!("{parent}/{name}"));
        }
        let file = format!("{parent}/spec.md");
        let name = parent.get(directory.len() + 1..);
        if let Some(name) = name.filter(|_| Tree::new(root).has_file(&file).unwrap_or_default()) {
            found.push((name.to_owned(), file));
        }
    }
    found
}

// Usual places of plans.

/// Maximum number of names that are read from a directory.
const MAX_NAMES: usize = 200;

/// Files that hold a plan, by the convention of a tool or by habit.
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

/// Directories in which each subdirectory with a `tasks.md` is a plan.
const DIRECTORIES: [&str; 3] = ["specs", "openspec/changes", ".kiro/specs"];

/// The files of a worktree that may hold a plan.
pub(super) fn candidates(root: &Path) -> Vec<String> {
    let tree = Tree::new(root);
    let mut paths: Vec<String> = Vec::new();
    for directory in DIRECTORIES {
        paths.extend(below(root, directory));
    }
    for file in FILES {
        // A case-insensitive file system shows one file under two names.
        let is_there = tree.has_file(file).unwrap_or_default();
        let is_seen = paths.iter().any(|path| path.eq_ignore_ascii_case(file));
        if is_there && !is_seen {
            paths.push(file.to_owned());
        }
    }
    paths
}

/// The `tasks.md` of each subdirectory.
fn below(root: &Path, directory: &str) -> Vec<String> {
    let paths = names(root, directory).into_iter();
    // `archive` holds finished plans.
    let open = paths.filter(|name| name != "archive");
    let paths = open.map(|name| format!("{directory}/{name}/tasks.md"));
    paths
        .filter(|path| Tree::new(root).has_file(path).unwrap_or_default())
        .collect()
}

/// The names in a directory of the worktree; empty if it is not a directory.
fn names(root: &Path, directory: &str) -> Vec<String> {
    let is_there = Tree::new(root).has_directory(directory).unwrap_or_default();
    let entries = is_there.then(|| fs::read_dir(root.join(directory)));
    let entries = entries.into_iter().flatten().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .take(MAX_NAMES)
        .collect();
    names.sort();
    names
}

/// The file for a path of the worktree: the path itself, or the only plan in that directory.
pub(super) fn read_file_at(root: &Path, path: &str) -> Result<String> {
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

// Writing ticks back into the source of a plan: for slices that cook found done, according to whether their proof holds
// now.

/// The present state of a task's proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Worth {
    /// It was accepted or shown to be there, and its proof holds.
    Holds,
    /// It was done, and its proof does not hold any more; the reason.
    Lost(String),
    /// It was done, but whether its proof holds is unknown; the reason.
    Untold(String),
    /// It was never shown to be done.
    Never,
}

/// The result of writing ticks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ticked {
    /// The source file.
    pub path: String,
    /// Items that are newly ticked.
    pub items: Vec<String>,
    /// Items whose tick was removed, each with the reason.
    pub taken_back: Vec<(String, String)>,
    /// Items that were left as they are, each with the reason.
    pub left: Vec<(String, String)>,
    /// Items that are no longer in the file, or more than once.
    pub untold: Vec<String>,
}

/// Ticks the items that hold in the file that the plan was taken from, and removes the ticks of those that were lost.
/// No other byte changes.
///
/// # Errors
/// The plan was not taken from a Markdown list, or the file is gone.
pub fn tick(root: &Path, snapshot: &Snapshot, worths: &BTreeMap<String, Worth>) -> Result<Ticked> {
    let refuse = |what: String, hint: &str| {
        Failure::from(Refusal::new(Code::PlanUnknown, what).replace_hints([hint]))
    };
    let Some(PlanSource { kind, path }) = &snapshot.ledger.plan_source else {
        return Err(refuse(
            "the plan was not taken from a file".to_owned(),
            "`cook init --from PATH` takes one where a workflow begins",
        ));
    };
    if !Kind::of_id(kind).is_some_and(Kind::is_list) {
        let held = snapshot.ledger.slices.iter().filter_map(|(id, slice)| {
            let holds = worths.get(id) == Some(&Worth::Holds);
            slice
                .source
                .as_ref()
                .filter(|_| holds)
                .map(|it| it.item.as_str())
        });
        let held = held.collect::<Vec<_>>().join(",");
        let own = format!("task-master set-status --id={held} --status=done");
        let hint = match kind == Kind::TaskMaster.id()
            && held.bytes().all(|b| b.is_ascii_alphanumeric() || b == b',')
        {
            true if !held.is_empty() => &own,
            _ => "mark finished tasks with its own tool; `cook status` lists them",
        };
        let what = format!("`{path}` is not a list with boxes, but {kind}'s");
        return Err(refuse(what, hint));
    }
    let put_back = "put the file back where it was";
    let mut text =
        read_text_file(root, path)?.ok_or_else(|| refuse(format!("`{path}` is gone"), put_back))?;
    let mut ticked = Ticked {
        path: path.clone(),
        ..Ticked::default()
    };
    let mut marks = Vec::new();
    for slice in &snapshot.plan.candidate_slices {
        let known = snapshot.ledger.slices.get(&slice.slice_id);
        let Some(source) = known.and_then(|slice| slice.source.as_ref()) else {
            continue;
        };
        if !source.at.starts_with(&format!("{path}:")) {
            continue;
        }
        let worth = worths.get(&slice.slice_id).unwrap_or(&Worth::Never);
        for words in source.item.lines() {
            let item = words.to_owned();
            let Some(found) = find_place(path, &text, words)? else {
                if *worth != Worth::Never {
                    ticked.untold.push(item);
                }
                continue;
            };
            let boxes = std::iter::once(&found).chain(&found.parts);
            let mut open = boxes.filter(|known| !known.ticked).peekable();
            match (worth, found.ticked) {
                (Worth::Holds, true) if open.peek().is_none() => {}
                (Worth::Never, false) => {}
                // The items below it hold with it.
                (Worth::Holds, _) => {
                    marks.extend(open.map(|known| (known.mark.clone(), "x")));
                    ticked.items.push(item);
                }
                (Worth::Lost(why), true) => {
                    marks.push((found.mark, " "));
                    ticked.taken_back.push((item, why.clone()));
                }
                (Worth::Lost(why) | Worth::Untold(why), _) => ticked.left.push((item, why.clone())),
                (Worth::Never, true) => {
                    let why = "cook never found it done: the tick is whose wrote it".to_owned();
                    ticked.left.push((item, why));
                }
            }
        }
    }
    // From the end, because marks differ in length and would shift later ones.
    marks.sort_by_key(|(mark, _)| std::cmp::Reverse(mark.start));
    for (mark, with) in &marks {
        text.replace_range(mark.clone(), with);
    }
    if !marks.is_empty() {
        write_text_file(root, path, &text)?;
    }
    Ok(ticked)
}

/// The top-level item with these words. `None` if several are equal, because lines move and cannot identify one.
fn find_place(path: &str, text: &str, words: &str) -> Result<Option<Item>> {
    let mut alike = items(path, text)?.into_iter();
    let mut alike = alike.by_ref().filter(|known| known.text == words);
    let only = alike.next();
    Ok(only.filter(|_| alike.next().is_none()))
}
