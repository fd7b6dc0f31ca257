//! Which tool a plan is of, and reading it.

use super::marked::{self, Stated};
use super::place::{candidates, read_file_at};
use super::task::{TakenPlan, Tasks, take};
use super::{MAX_PLAN_BYTES, beads, issues, kiro, prd, task_master};
use crate::init::files::Tree;
use crate::init::mission::opening;
use cook_protocol::diagnostic::{Code, Failure, Refusal};
use serde_json::Value;
use std::path::Path;

/// The formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `specs/NAME/tasks.md` beside a `spec.md`.
    SpecKit,
    /// `openspec/changes/NAME/tasks.md`.
    OpenSpec,
    /// `.kiro/specs/NAME/tasks.md`.
    Kiro,
    /// `.taskmaster/tasks/tasks.json`.
    TaskMaster,
    /// `prd.json`.
    Prd,
    /// `PLAN.md`, `TODO.md` and their like.
    CheckList,
    /// What `gh issue list --json` prints.
    GithubIssues,
    /// `.beads/issues.jsonl`.
    Beads,
}

impl Kind {
    /// The word in documents.
    pub fn id(self) -> &'static str {
        match self {
            Self::SpecKit => "spec-kit",
            Self::OpenSpec => "openspec",
            Self::Kiro => "kiro",
            Self::TaskMaster => "task-master",
            Self::Prd => "prd",
            Self::CheckList => "check-list",
            Self::GithubIssues => "github-issues",
            Self::Beads => "beads",
        }
    }

    /// The kind of that word.
    pub(super) fn of_id(id: &str) -> Option<Self> {
        let all = [
            Self::SpecKit,
            Self::OpenSpec,
            Self::Kiro,
            Self::TaskMaster,
            Self::Prd,
            Self::CheckList,
            Self::GithubIssues,
            Self::Beads,
        ];
        all.into_iter().find(|kind| kind.id() == id)
    }

    /// Its source is a Markdown list of items with boxes.
    pub(super) fn is_list(self) -> bool {
        matches!(
            self,
            Self::SpecKit | Self::OpenSpec | Self::Kiro | Self::CheckList
        )
    }

    /// The kind of a file by its path; JSON is told by what it holds.
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

    /// JSON that nothing tells is read as task-master's, whose refusal says what is wrong with it.
    fn of_json(text: &str) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(_)) => Self::GithubIssues,
            Ok(value) if value.get("userStories").is_some() => Self::Prd,
            _ => Self::TaskMaster,
        }
    }
}

/// A file beside another.
pub(super) fn beside(path: &Path, name: &str) -> String {
    path.with_file_name(name).to_string_lossy().into_owned()
}

/// The plans that lie where their tools keep them, each with its path.
pub fn list_plans(root: &Path) -> Vec<(String, TakenPlan)> {
    let read = |path: String| read(root, &path).ok().map(|plan| (path, plan));
    candidates(root).into_iter().filter_map(read).collect()
}

/// Reads the plan at that path of the worktree: a file, a directory that holds one, or
/// `FILE#TAG` of a file with several lists.
///
/// # Errors
/// No plan is there, several are, one breaks its format (with line and column), its tasks wait in a
/// circle or share an id.
pub fn read(root: &Path, path: &str) -> Result<TakenPlan, Failure> {
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
    let near = |name: &str| -> Result<String, Failure> {
        let path = beside(Path::new(path), name);
        Ok(Tree::new(root)
            .text(&path, MAX_PLAN_BYTES)?
            .unwrap_or_default())
    };
    let mut read: Tasks = match kind {
        Kind::SpecKit => marked::tasks(path, text, Stated::SpecKit)?,
        Kind::OpenSpec => marked::tasks(path, text, Stated::Numbered)?,
        Kind::CheckList => marked::tasks(path, text, Stated::Never)?,
        Kind::Kiro => kiro::tasks(path, text, &near("requirements.md")?)?,
        Kind::TaskMaster => task_master::tasks(path, text, tag)?,
        Kind::Prd => prd::tasks(path, text)?,
        Kind::GithubIssues => issues::tasks(path, text)?,
        Kind::Beads => beads::tasks(path, text)?,
    };
    let stated = match kind {
        Kind::SpecKit => opening(&near("spec.md")?),
        Kind::OpenSpec => opening(&near("proposal.md")?),
        Kind::Kiro => opening(&near("requirements.md")?),
        _ => None,
    };
    read.mission = read.mission.or(stated);
    take(path, kind.id(), read)
}
