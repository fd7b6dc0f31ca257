//! What is asked of a commit, and what was found.

use cook_protocol::change::code_of;
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::GateSpec;
use cook_protocol::trials::{Side, TrialLine, Weight};
use cook_repo::git::Repo;
use serde::Serialize;

/// Paths or tests in a line.
pub(super) const NAMED: usize = 5;

/// The commit to compare with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Base {
    /// The commit that it was compared with.
    #[serde(rename = "base")]
    pub commit: String,
    /// Why with that one.
    #[serde(rename = "base_is")]
    pub why: String,
}

/// The base that is named; else where the branch left its upstream, or the remote's default branch;
/// else the commit before. Where HEAD is already there, that one is no base.
///
/// # Errors
/// `commit_unknown`, a repository that cannot be read.
pub(crate) fn find_base(repo: &Repo, head: &str, named: Option<&str>) -> Result<Base, Failure> {
    let base = |commit: String, why: String| Ok(Base { commit, why });
    if let Some(name) = named {
        let Some(commit) = repo.commit_named(name)? else {
            let what = format!("`{name}` names no commit here");
            let hint = "name a branch, a tag or a commit, as in `--base main`";
            return Err(Failure::unknown(Code::CommitUnknown, what).replace_hints([hint]));
        };
        return match repo.merge_base(&commit, head)? {
            Some(merge) if merge != commit => base(merge, format!("the merge base with {name}")),
            _ => base(commit, name.to_owned()),
        };
    }
    let remote = repo
        .refs()?
        .into_keys()
        .filter(|name| name.starts_with("refs/remotes/") && name.ends_with("/HEAD"))
        .min_by_key(|name| name != "refs/remotes/origin/HEAD");
    for name in [repo.upstream()?, remote].into_iter().flatten() {
        let Some(commit) = repo.commit_named(&name)? else {
            continue;
        };
        if let Some(merge) = repo
            .merge_base(&commit, head)?
            .filter(|merge| merge != head)
        {
            let name = name.trim_start_matches("refs/remotes/");
            return base(merge, format!("the merge base with {name}"));
        }
    }
    match repo.commit_named(&format!("{head}~1"))? {
        Some(commit) => base(commit, "the commit before".to_owned()),
        None => base(
            head.to_owned(),
            "itself: there is no commit before".to_owned(),
        ),
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ask<'a> {
    /// The commit to compare with, as the user names it; none = it is looked for.
    pub base: Option<&'a str>,
    /// The commit to check, by its full id; none = HEAD, and what the worktree has beside it.
    pub commit: Option<&'a str>,
    /// The gates to run, by name; none = all.
    pub gates: &'a [String],
    /// What is run.
    pub runs: Runs,
}

/// What a check runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Runs {
    /// The gates at the head, and the trials.
    #[default]
    All,
    /// The gates at the head alone: nothing is compared with the base.
    Head,
    /// Nothing: what needs no gate is looked at.
    Nothing,
}

/// Whether what was claimed is true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    /// Nothing says otherwise.
    True,
    /// Something is not so.
    False,
    /// Something could not be asked.
    #[default]
    NotKnown,
}

/// A path that differs, and the side of a trial that it stands on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct ChangedPath {
    /// Relative to the root; where it is gone as it was.
    pub path: String,
    /// `code`, `test` or `both`.
    #[schemars(with = "String")]
    pub side: Side,
}

/// What was looked at and found.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Checked {
    /// The answer.
    pub answer: Truth,
    /// The commit that was checked.
    pub head: String,
    #[serde(flatten)]
    pub base: Base,
    /// What was found, worst first.
    pub lines: Vec<Line>,
    /// The paths that differ, and on which side of a trial each stands.
    pub changed: Vec<ChangedPath>,
    /// What was looked at, one line each.
    pub checked: Vec<String>,
}

/// What a person at a terminal sees while it takes time.
pub(crate) type Tell<'a> = &'a dyn Fn(&str);

impl Checked {
    /// One more thing that was found.
    pub fn find(
        &mut self,
        code: Code,
        weight: Weight,
        message: impl Into<String>,
        show: impl Into<String>,
    ) {
        self.lines.push(Line::new(code, weight, message, show));
    }

    /// Worst first, and the answer: false where a line refuses, else not known where a line says so.
    pub fn settle(mut self) -> Self {
        self.lines.sort_by_key(Line::rank);
        self.lines.dedup();
        self.answer = match self.lines.iter().map(|line| line.weight).min() {
            Some(Weight::Refuses) => Truth::False,
            Some(Weight::NotKnown) => Truth::NotKnown,
            Some(Weight::Shown) | None => Truth::True,
        };
        self
    }
}

/// One thing that was found, with the command that shows more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Line {
    pub code: Code,
    /// `refuses`: it is not true of this commit; `not_known`: it could not be asked; `shown`: it is worth a
    /// look.
    #[schemars(with = "String")]
    pub weight: Weight,
    /// The test, file or gate that it is about, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub message: String,
    /// The command that shows more, or that mends it.
    pub show: String,
    /// The line of a commit's message that answers for it; `WHY` stands for the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declare: Option<String>,
    /// The reason that a commit's message gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
    /// The file that it is about.
    #[serde(skip)]
    pub file: Option<FilePlace>,
}

/// A file of the commit, and a line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    pub path: String,
    /// From 1.
    pub line: Option<usize>,
}

impl Line {
    pub fn new(
        code: Code,
        weight: Weight,
        message: impl Into<String>,
        show: impl Into<String>,
    ) -> Self {
        Self {
            code,
            weight,
            name: None,
            message: message.into(),
            show: show.into(),
            declare: None,
            declared: None,
            file: None,
        }
    }

    /// About that gate.
    pub(super) fn of_gate(self, gate: &GateSpec) -> Self {
        Self {
            name: Some(gate.name.clone()),
            ..self
        }
    }

    /// Worst first.
    fn rank(&self) -> (Weight, usize) {
        const FIRST: [Code; 3] = [Code::GateNeedsUncommitted, Code::GateRed, Code::PassToFail];
        let place = FIRST.iter().position(|code| *code == self.code);
        (self.weight, place.unwrap_or(FIRST.len()))
    }
}

impl From<TrialLine> for Line {
    fn from(line: TrialLine) -> Self {
        let declare = line.declaration();
        let message = match &line.declared {
            Some(why) => format!("{}; declared: {why}", line.what),
            None => line.what,
        };
        Self {
            code: code_of(line.word),
            weight: line.weight,
            name: Some(line.name),
            message,
            show: line.show,
            declare,
            declared: line.declared,
            file: line.file.map(|path| FilePlace { path, line: None }),
        }
    }
}

/// The first of them, and how many more there are.
pub(super) fn some(paths: &[String]) -> String {
    let shown = paths[..paths.len().min(NAMED)].join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown}, {more} more"),
    }
}
