//! Tasks as a source states them, and the plan that they make.

use crate::prelude::*;
use cook_protocol::machine::{MAX_SLICES, SliceGraph, id_is_valid};
use cook_protocol::model::{Import, Priority, TaskSource};
use std::fmt;

/// Maximum number of characters of a generated id.
const MAX_MADE_ID: usize = 48;
/// Maximum number of words of a generated id.
const MADE_ID_WORDS: usize = 6;

/// A place in a file; both numbers begin at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A task as its source states it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Task {
    /// The id in the source; if `None`, one is generated from the text.
    pub(super) id: Option<String>,
    pub(super) goal: String,
    /// If empty, the goal is the only criterion.
    pub(super) criteria: Vec<String>,
    /// If empty, its own id.
    pub(super) contracts: Vec<String>,
    /// Constraints for the implementer.
    pub(super) notes: Vec<String>,
    /// Ids of tasks that must be done first.
    pub(super) after: Vec<String>,
    /// 1 is the highest; if `None`, its position in the list.
    pub(super) priority: Option<u64>,
    /// Number of ticked checkboxes.
    pub(super) ticks: usize,
    /// The line of the task.
    pub(super) line: Option<usize>,
    /// Identifies the task in its source: its id or its text; for a group, one text per line.
    pub(super) item: String,
    /// The file that states it, if it is not the plan itself.
    pub(super) file: Option<String>,
}

impl Task {
    /// The task's line or, if the source has no lines, its number.
    fn place(&self, tasks: &[Task]) -> String {
        let number = tasks.iter().position(|task| std::ptr::eq(task, self));
        match (self.line, number) {
            (Some(line), _) => format!("line {line}, column 1"),
            (None, Some(number)) => format!("task {}", number + 1),
            (None, None) => "a task".to_owned(),
        }
    }
}

/// A plan as it is taken in.
#[derive(Debug, Clone, PartialEq)]
pub struct TakenPlan {
    /// For the first `Bootstrapped` event.
    pub import: Import,
    /// The mission that stands beside the plan.
    pub mission: String,
    /// Tasks that were left out, with the reason.
    pub findings: Vec<Finding>,
    /// Number of tasks in the source.
    pub tasks: usize,
    /// Number of tasks that the source calls done.
    pub ticked: usize,
}

/// The result of reading a source.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    pub(super) tasks: Vec<Task>,
    pub(super) mission: Option<String>,
    pub(super) findings: Vec<Finding>,
}

/// Format errors of a source with their places, collected to be reported together.
#[derive(Debug)]
pub(super) struct Faults<'a> {
    path: &'a str,
    code: Code,
    found: Vec<Finding>,
}

impl<'a> Faults<'a> {
    pub(super) fn new(path: &'a str) -> Self {
        Self {
            path,
            code: Code::PlanMalformed,
            found: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, place: impl fmt::Display, what: &str) {
        let what = format!("`{}` {place}: {what}", self.path);
        self.found.push(Finding::new(self.code, what));
    }

    /// Returns the value if there are no faults.
    pub(super) fn end<T>(self, value: T) -> Result<T> {
        match self.found.is_empty() {
            true => Ok(value),
            false => Err(self.into_failure()),
        }
    }

    pub(super) fn into_failure(self) -> Failure {
        let what = match &self.found[..] {
            [one] => one.message.clone(),
            all => format!("`{}` breaks its format in {} places", self.path, all.len()),
        };
        Refusal::new(self.code, what).with(self.found).into()
    }
}

/// A finding for a task that was not taken in.
pub(super) fn note_left_out(path: &str, what: &str) -> Finding {
    Finding::new(Code::ImportDropped, what.to_owned()).at(path.to_owned())
}

/// Makes a plan of the tasks.
pub(super) fn take(path: &str, layout: &str, read: Tasks) -> Result<TakenPlan> {
    let Tasks {
        tasks,
        mission,
        findings,
    } = read;
    if tasks.is_empty() {
        return Err(Refusal::new(Code::PlanEmpty, format!("`{path}` names no task")).into());
    }
    if tasks.len() > MAX_SLICES {
        let what = format!("`{path}` names {} tasks", tasks.len());
        return Err(Refusal::new(Code::PlanTooLarge, what).into());
    }
    let mut faults = Faults::new(path);
    for task in &tasks {
        if task.goal.trim().is_empty() || task.item.trim().is_empty() {
            faults.add(task.place(&tasks), "it has no words");
        }
    }
    let ids = faults.end(ids(path, &tasks)?)?;
    let mut faults = Faults::new(path);
    let ticked = tasks.iter().map(|task| task.ticks).sum();
    let listed = tasks.iter().filter(|task| task.file.is_none());
    let count = listed.flat_map(|task| task.item.lines()).count();
    let mut sources = BTreeMap::new();
    let mut slices = Vec::new();
    for (task, id) in tasks.iter().zip(&ids) {
        let mut blocked_on = Vec::new();
        for before in &task.after {
            let is_it = |other: &Task| other.id.as_deref() == Some(before.as_str());
            match tasks.iter().position(is_it) {
                Some(place) => blocked_on.extend(ids.get(place).cloned()),
                None => {
                    let what =
                        format!("task `{id}` waits for `{before}`, which is not a task there");
                    faults.add(task.place(&tasks), &what);
                }
            }
        }
        sources.insert(
            id.clone(),
            TaskSource {
                item: task.item.clone(),
                at: match (&task.file, task.line) {
                    (Some(file), _) => file.clone(),
                    (None, Some(line)) => format!("{path}:{line}"),
                    (None, None) => path.to_owned(),
                },
                ticked: task.ticks >= task.item.lines().count().max(1),
            },
        );
        slices.push(slice(task, id, blocked_on, slices.len()).into());
    }
    faults.end(())?;
    let plan = Plan {
        schema_version: SchemaVersion,
        mission_anchor: mission.clone().unwrap_or_else(|| path.to_owned()),
        last_reground_at: None,
        plan_basis: format!(
            "{} tasks of `{path}` ({layout}), {ticked} ticked there",
            count
        ),
        candidate_slices: slices,
    };
    if let Some(circle) = SliceGraph::new(&plan).cycle() {
        return Err(Refusal::new(
            Code::DependencyCycle,
            format!(
                "tasks of `{path}` wait for one another in a circle: {}",
                circle.join(" waits before ")
            ),
        )
        .replace_hints([format!("take one of the dependencies out of `{path}`")])
        .into());
    }
    Ok(TakenPlan {
        import: Import {
            layout: layout.to_owned(),
            plan: Some(plan),
            path: Some(path.to_owned()),
            tasks: sources,
            ..Import::default()
        },
        mission: mission.unwrap_or_else(|| format!("Finish what `{path}` lists")),
        findings,
        tasks: count,
        ticked,
    })
}

fn slice(task: &Task, id: &str, blocked_on: Vec<String>, place: usize) -> Slice {
    let mut criteria: Vec<String> = Vec::new();
    let stated = task.criteria.iter().map(|criterion| criterion.trim());
    for criterion in stated.filter(|criterion| !criterion.is_empty()) {
        if !criteria.iter().any(|seen| seen == criterion) {
            criteria.push(criterion.to_owned());
        }
    }
    if criteria.is_empty() {
        criteria.push(task.goal.clone());
    }
    // Blank texts are dropped.
    let worded = |texts: &[String]| -> Vec<String> {
        let texts = texts.iter().filter(|text| !text.trim().is_empty());
        texts.cloned().collect()
    };
    let contracts = Some(worded(&task.contracts)).filter(|contracts| !contracts.is_empty());
    let contracts = contracts.unwrap_or_else(|| vec![id.to_owned()]);
    let place = u64::try_from(place).unwrap_or(u64::MAX).saturating_add(1);
    Slice {
        slice_id: id.to_owned(),
        goal: task.goal.clone(),
        acceptance_criteria: criteria,
        contract_ids: contracts,
        priority: Priority::from(task.priority.unwrap_or(place)),
        status: SliceStatus::Planned,
        blocked_on,
        locked_notes: Some(worded(&task.notes)),
        ..Slice::default()
    }
}

/// An id for each task, in order: the source's, or one generated from its text.
fn ids(path: &str, tasks: &[Task]) -> Result<Vec<String>> {
    let mut stated: BTreeMap<&str, &Task> = BTreeMap::new();
    let mut faults = Faults {
        code: Code::SliceDuplicated,
        ..Faults::new(path)
    };
    for task in tasks {
        let Some(id) = task.id.as_deref() else {
            continue;
        };
        if let Some(first) = stated.insert(id, task) {
            let what = format!("it is called `{id}`, as {} is", first.place(tasks));
            faults.add(task.place(tasks), &what);
        }
    }
    let own = format!("give each task of `{path}` an id of its own");
    faults
        .end(())
        .map_err(|failure| failure.replace_hints([own]))?;
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let ids = tasks.iter().zip(1..).map(|(task, number)| {
        let wanted = task
            .id
            .as_deref()
            .map_or_else(|| make_id(&task.goal), as_id);
        let wanted = if wanted.is_empty() {
            format!("task-{number}")
        } else {
            wanted
        };
        let mut id = wanted.clone();
        let mut again = 2;
        while !taken.insert(id.clone()) {
            id = format!("{wanted}-{again}");
            again += 1;
        }
        id
    });
    Ok(ids.collect())
}

/// The stated id if it is valid, else one generated from it.
fn as_id(stated: &str) -> String {
    if id_is_valid(stated) {
        return stated.to_owned();
    }
    make_id(stated)
}

/// An id from the first words of a text.
fn make_id(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).take(MADE_ID_WORDS);
    let joined = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    joined
        .chars()
        .take(MAX_MADE_ID)
        .collect::<String>()
        .trim_end_matches('-')
        .to_owned()
}
