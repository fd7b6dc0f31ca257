//! JSON plans: the PRD of Ralph, GitHub issues, the export of beads, and the file of task-master.

use super::check_list::items;
use super::task::{At, Faults, Task, Tasks, note_left_out};
use crate::prelude::*;
use serde::Deserializer;
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// Parses a whole file.
fn parse<T: DeserializeOwned>(path: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        let mut faults = Faults::new(path);
        note_fault(&mut faults, &error, 0);
        faults.into_failure()
    })
}

/// Parses a file with one value per line, and returns each with its line number.
fn parse_lines<T: DeserializeOwned>(path: &str, text: &str) -> Result<Vec<(usize, T)>> {
    let mut values = Vec::new();
    let mut faults = Faults::new(path);
    for (number, line) in text.lines().enumerate() {
        if !line.trim().is_empty() {
            match serde_json::from_str(line) {
                Ok(value) => values.push((number + 1, value)),
                Err(error) => note_fault(&mut faults, &error, number),
            }
        }
    }
    faults.end(values)
}

fn note_fault(faults: &mut Faults, error: &serde_json::Error, lines_before: usize) {
    let at = At {
        line: lines_before + error.line().max(1),
        column: error.column(),
    };
    let text = error.to_string();
    // The message already begins with the place.
    let what = text.split(" at line ").next().unwrap_or(&text);
    faults.add(at, &clean(what, Lines::Fold));
}

/// An id that is a number or a text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "neither a number nor a text")]
enum Id {
    Number(u64),
    Text(String),
}

impl Id {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.trim().to_owned(),
        }
    }
}

/// The text on one line, without control characters; empty for `None`.
fn line(text: Option<String>) -> String {
    clean(&text.unwrap_or_default(), Lines::Fold)
}

// `prd.json` of Ralph loops: user stories with acceptance criteria, and whether each passes.

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prd {
    project: Option<String>,
    description: Option<String>,
    user_stories: Vec<Story>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Story {
    id: Id,
    title: String,
    description: Option<String>,
    acceptance_criteria: Option<Vec<String>>,
    priority: Option<u64>,
    passes: Option<bool>,
    notes: Option<String>,
}

pub(super) fn read_prd(path: &str, text: &str) -> Result<Tasks> {
    let prd: Prd = parse(path, text)?;
    let mut mission = [prd.project, prd.description].map(line).to_vec();
    mission.retain(|text| !text.is_empty());
    let tasks = prd.user_stories.into_iter().map(|story| {
        let (title, description) = (line(Some(story.title)), line(story.description));
        let criteria = story.acceptance_criteria.unwrap_or_default();
        Task {
            item: story.id.text(),
            id: Some(story.id.text()),
            goal: match title.is_empty() {
                true => description.clone(),
                false => title,
            },
            criteria: criteria.into_iter().map(|it| line(Some(it))).collect(),
            notes: vec![description, line(story.notes)],
            priority: story.priority,
            ticks: story.passes.unwrap_or_default().into(),
            ..Task::default()
        }
    });
    Ok(Tasks {
        tasks: tasks.collect(),
        mission: (!mission.is_empty()).then(|| mission.join("\n\n")),
        ..Tasks::default()
    })
}

// GitHub issues, as `gh issue list --json number,title,body,state,labels` prints them.

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Issue {
    number: u64,
    title: String,
    body: Option<String>,
    state: Option<String>,
    state_reason: Option<String>,
}

/// The checkboxes of an issue are its criteria; without any, its title is the only one.
pub(super) fn read_issues(path: &str, text: &str) -> Result<Tasks> {
    let mut issues: Vec<Issue> = parse(path, text)?;
    issues.sort_by_key(|issue| issue.number);
    let mut read = Tasks::default();
    for issue in issues {
        let is = |said: &Option<String>, word: &str| {
            said.as_ref()
                .is_some_and(|said| said.trim().eq_ignore_ascii_case(word))
        };
        if is(&issue.state_reason, "not_planned") {
            let what = format!(
                "issue {} was closed as not planned, and is not taken in",
                issue.number
            );
            read.findings.push(note_left_out(path, &what));
            continue;
        }
        let body = issue.body.unwrap_or_default();
        // An issue's body need not be a list; if it cannot be read as one, the issue has no criteria.
        let boxes = items(path, &body).unwrap_or_default();
        let criteria = boxes.into_iter().flat_map(|item| {
            std::iter::once(item.text.clone()).chain(item.part_texts().collect::<Vec<_>>())
        });
        let first = body
            .split("\n\n")
            .map(|part| clean(part, Lines::Fold))
            .find(|part| !part.is_empty());
        read.tasks.push(Task {
            id: Some(format!("issue-{}", issue.number)),
            item: issue.number.to_string(),
            criteria: criteria.collect(),
            notes: first
                .filter(|part| !part.contains("[ ]") && !part.contains("[x]"))
                .into_iter()
                .collect(),
            ticks: is(&issue.state, "closed").into(),
            goal: line(Some(issue.title)),
            ..Task::default()
        });
    }
    Ok(read)
}

// `.beads/issues.jsonl`: one issue a line.

#[derive(Deserialize)]
struct Bead {
    id: String,
    title: String,
    description: Option<String>,
    acceptance_criteria: Option<String>,
    design: Option<String>,
    status: Option<String>,
    priority: Option<u64>,
    issue_type: Option<String>,
    dependencies: Option<Vec<Dependency>>,
}

#[derive(Deserialize)]
struct Dependency {
    depends_on_id: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

pub(super) fn read_beads(path: &str, text: &str) -> Result<Tasks> {
    let mut beads: Vec<(usize, Bead)> = parse_lines(path, text)?;
    for (_, bead) in &mut beads {
        bead.id = clean(&bead.id, Lines::Fold);
    }
    let (gone, kept): (Vec<_>, Vec<_>) = beads
        .into_iter()
        .partition(|(_, it)| find_end(it).is_some());
    let mut read = Tasks::default();
    for (_, bead) in &gone {
        let (id, end) = (&bead.id, find_end(bead).unwrap_or_default());
        let what = format!("issue `{id}` is {end}, and is not taken in");
        read.findings.push(note_left_out(path, &what));
    }
    let gone = gone.into_iter().map(|(_, bead)| bead.id).collect();
    let kept = kept.into_iter();
    read.tasks = kept
        .map(|(line, bead)| make_bead(line, bead, &gone))
        .collect();
    Ok(read)
}

/// How a deleted issue or an epic is described; `None` for other issues.
fn find_end(bead: &Bead) -> Option<&'static str> {
    match (bead.issue_type.as_deref(), bead.status.as_deref()) {
        (Some("epic"), _) => Some("an epic, which others are the work of"),
        (_, Some("tombstone")) => Some("deleted there"),
        _ => None,
    }
}

fn make_bead(at: usize, bead: Bead, gone: &BTreeSet<String>) -> Task {
    let links = bead.dependencies.unwrap_or_default().into_iter();
    let blocks = links.filter(|one| one.kind.as_deref() == Some("blocks"));
    let after = blocks.map(|one| line(Some(one.depends_on_id)));
    let criteria = bead.acceptance_criteria.unwrap_or_default();
    let criteria = criteria.lines().map(|line| {
        let line = clean(line, Lines::Fold);
        let item = line.trim_start_matches(['-', '*', '+']).trim_start();
        let bare = item
            .strip_prefix("[ ]")
            .or_else(|| item.strip_prefix("[x]"));
        bare.unwrap_or(item).trim().to_owned()
    });
    Task {
        item: bead.id.clone(),
        id: Some(bead.id),
        goal: line(Some(bead.title)),
        criteria: criteria.collect(),
        notes: vec![line(bead.description), line(bead.design)],
        after: after.filter(|id| !gone.contains(id)).collect(),
        // In beads 0 is the most urgent.
        priority: bead.priority.map(|priority| priority.saturating_add(1)),
        ticks: (bead.status.as_deref() == Some("closed")).into(),
        line: Some(at),
        ..Task::default()
    }
}

// `tasks.json` of task-master: one list, or one for each tag.

/// The lists of a file by tag. The list without a tag is called `master`, as in the tool.
struct File(Vec<(String, Vec<Entry>)>);

#[derive(Deserialize)]
struct Tag {
    tasks: Option<Vec<Entry>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    id: Id,
    title: String,
    description: Option<String>,
    details: Option<String>,
    test_strategy: Option<String>,
    status: Option<String>,
    priority: Option<String>,
    dependencies: Option<Vec<Id>>,
    subtasks: Option<Vec<Part>>,
}

#[derive(Deserialize)]
struct Part {
    title: String,
    status: Option<String>,
}

impl<'de> Deserialize<'de> for File {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lists;
        impl<'de> Visitor<'de> for Lists {
            type Value = File;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object with `tasks`, or with a list of tasks for each tag")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<File, A::Error> {
                let mut lists = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "tasks" => lists.push(("master".to_owned(), map.next_value()?)),
                        "metadata" | "meta" => {
                            map.next_value::<IgnoredAny>()?;
                        }
                        _ => lists.push((key, map.next_value::<Tag>()?.tasks.unwrap_or_default())),
                    }
                }
                Ok(File(lists))
            }
        }
        deserializer.deserialize_map(Lists)
    }
}

/// The tasks with that tag; without a tag, those of the only list that is not empty.
pub(super) fn read_task_master(path: &str, text: &str, tag: Option<&str>) -> Result<Tasks> {
    let File(mut lists) = parse(path, text)?;
    match tag {
        Some(tag) => lists.retain(|(name, _)| name == tag),
        None => lists.retain(|(_, tasks)| !tasks.is_empty()),
    }
    if lists.len() > 1 {
        let names: Vec<String> = lists
            .iter()
            .map(|(name, tasks)| format!("`{name}` ({})", count_noun(tasks.len(), "task")))
            .collect();
        let first = lists.first().map_or("master", |(name, _)| name);
        return Err(Refusal::new(
            Code::PlanAmbiguous,
            format!("`{path}` holds several lists: {}", names.join(", ")),
        )
        .replace_hints([format!("name one: `cook init --from '{path}#{first}'`")])
        .into());
    }
    let mut read = Tasks::default();
    let entries = lists.pop().map(|(_, tasks)| tasks).unwrap_or_default();
    let (gone, kept): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .partition(|entry| matches!(entry.status.as_deref(), Some("cancelled" | "deferred")));
    for entry in &gone {
        let (id, status) = (entry.id.text(), line(entry.status.clone()));
        let what = format!("task `{id}` is {status} there, and is not taken in");
        read.findings.push(note_left_out(path, &what));
    }
    let gone: Vec<String> = gone.iter().map(|entry| entry.id.text()).collect();
    let kept = kept.into_iter();
    read.tasks = kept.map(|entry| make_entry(entry, &gone)).collect();
    Ok(read)
}

fn make_entry(entry: Entry, gone: &[String]) -> Task {
    let (title, description) = (line(Some(entry.title)), line(entry.description));
    let parts = entry.subtasks.unwrap_or_default().into_iter();
    let parts = parts.filter(|part| part.status.as_deref() != Some("cancelled"));
    let mut criteria = vec![match description.is_empty() {
        true => title.clone(),
        false => description,
    }];
    criteria.extend(parts.map(|part| line(Some(part.title))));
    criteria.push(line(entry.test_strategy));
    let after = entry.dependencies.unwrap_or_default();
    let after = after.iter().map(Id::text);
    Task {
        item: entry.id.text(),
        id: Some(entry.id.text()),
        goal: title,
        criteria,
        notes: vec![line(entry.details)],
        after: after.filter(|id| !gone.contains(id)).collect(),
        priority: match entry.priority.as_deref() {
            Some("critical" | "high") => Some(1),
            Some("low") => Some(3),
            _ => Some(2),
        },
        ticks: matches!(entry.status.as_deref(), Some("done" | "completed")).into(),
        ..Task::default()
    }
}
