//! Plans that are JSON: a PRD of Ralph, issues of GitHub, the export of beads, the file of task-master.

use super::check_list::items;
use super::task::{At, Task, Tasks, note_left_out, refuse_form};
use cook_protocol::diagnostic::{Code, Failure, Lines, Refusal, clean, count_noun};
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;
use std::fmt;

/// The value of a whole file.
pub(super) fn parse<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| refuse(path, &error, 0))
}

/// The values of a file of one value a line, with the line of each.
pub(super) fn parse_lines<T: DeserializeOwned>(
    path: &str,
    text: &str,
) -> Result<Vec<(usize, T)>, Failure> {
    let mut values = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if !line.trim().is_empty() {
            let value = serde_json::from_str(line).map_err(|error| refuse(path, &error, number))?;
            values.push((number + 1, value));
        }
    }
    Ok(values)
}

fn refuse(path: &str, error: &serde_json::Error, lines_before: usize) -> Failure {
    let at = At {
        line: lines_before + error.line().max(1),
        column: error.column(),
    };
    let text = error.to_string();
    // The place stands before it already.
    let what = text.split(" at line ").next().unwrap_or(&text);
    refuse_form(path, at, &clean(what, Lines::Fold))
}

/// An id that is a number or a text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "neither a number nor a text")]
pub(super) enum Id {
    Number(u64),
    Text(String),
}

impl Id {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.trim().to_owned(),
        }
    }
}

/// A text on one line, harmless; null is empty.
pub(super) fn line<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    let text = Option::<String>::deserialize(value)?;
    Ok(clean(&text.unwrap_or_default(), Lines::Fold))
}

/// A list that may be null.
pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    value: D,
) -> Result<Vec<T>, D::Error> {
    Ok(Option::<Vec<T>>::deserialize(value)?.unwrap_or_default())
}

// `prd.json` of Ralph loops: user stories with acceptance criteria, and whether each passes.

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prd {
    #[serde(default, deserialize_with = "line")]
    project: String,
    #[serde(default, deserialize_with = "line")]
    description: String,
    user_stories: Vec<Story>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Story {
    id: Id,
    #[serde(deserialize_with = "line")]
    title: String,
    #[serde(default, deserialize_with = "line")]
    description: String,
    #[serde(default, deserialize_with = "list")]
    acceptance_criteria: Vec<String>,
    #[serde(default)]
    priority: Option<u64>,
    #[serde(default)]
    passes: bool,
    #[serde(default, deserialize_with = "line")]
    notes: String,
}

pub(super) fn read_prd(path: &str, text: &str) -> Result<Tasks, Failure> {
    let prd: Prd = parse(path, text)?;
    let mission = [prd.project, prd.description];
    let mission: Vec<String> = mission
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect();
    let tasks = prd.user_stories.into_iter().map(|story| Task {
        item: story.id.text(),
        id: Some(story.id.text()),
        goal: match story.title.is_empty() {
            true => story.description.clone(),
            false => story.title,
        },
        criteria: story
            .acceptance_criteria
            .iter()
            .map(|text| clean(text, Lines::Fold))
            .collect(),
        notes: [story.description, story.notes]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect(),
        priority: story.priority,
        ticked: story.passes,
        ..Task::default()
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
    #[serde(deserialize_with = "line")]
    title: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default, deserialize_with = "line")]
    state: String,
    #[serde(default, deserialize_with = "line")]
    state_reason: String,
}

/// The boxes of an issue are its criteria; without any, its title is.
pub(super) fn read_issues(path: &str, text: &str) -> Result<Tasks, Failure> {
    let mut issues: Vec<Issue> = parse(path, text)?;
    issues.sort_by_key(|issue| issue.number);
    let mut read = Tasks::default();
    for issue in issues {
        if issue.state_reason.eq_ignore_ascii_case("not_planned") {
            let what = format!(
                "issue {} was closed as not planned, and is not taken in",
                issue.number
            );
            read.findings.push(note_left_out(path, &what));
            continue;
        }
        let body = issue.body.unwrap_or_default();
        // What a person wrote there need not be a list; one that cannot be read says no criteria.
        let boxes = items(path, &body).unwrap_or_default();
        let criteria = boxes
            .into_iter()
            .flat_map(|item| std::iter::once(item.text).chain(item.parts));
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
            goal: issue.title,
            ticked: issue.state.eq_ignore_ascii_case("closed"),
            ..Task::default()
        });
    }
    Ok(read)
}

// `.beads/issues.jsonl`: one issue a line.

#[derive(Deserialize)]
struct Bead {
    #[serde(deserialize_with = "line")]
    id: String,
    #[serde(deserialize_with = "line")]
    title: String,
    #[serde(default, deserialize_with = "line")]
    description: String,
    #[serde(default)]
    acceptance_criteria: Option<String>,
    #[serde(default, deserialize_with = "line")]
    design: String,
    #[serde(default, deserialize_with = "line")]
    status: String,
    #[serde(default)]
    priority: Option<u64>,
    #[serde(default, deserialize_with = "line")]
    issue_type: String,
    #[serde(default, deserialize_with = "list")]
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    #[serde(deserialize_with = "line")]
    depends_on_id: String,
    #[serde(rename = "type", default, deserialize_with = "line")]
    kind: String,
}

pub(super) fn read_beads(path: &str, text: &str) -> Result<Tasks, Failure> {
    let beads: Vec<(usize, Bead)> = parse_lines(path, text)?;
    let mut read = Tasks::default();
    let mut gone = BTreeSet::new();
    for (_, bead) in beads.iter().filter(|(_, bead)| is_gone(bead)) {
        gone.insert(bead.id.clone());
        let what = format!(
            "issue `{}` is {}, and is not taken in",
            bead.id,
            describe_gone(bead)
        );
        read.findings.push(note_left_out(path, &what));
    }
    let kept = beads.into_iter().filter(|(_, bead)| !is_gone(bead));
    read.tasks = kept
        .map(|(line, bead)| make_bead(line, bead, &gone))
        .collect();
    Ok(read)
}

/// Deleted, or a heading over others.
fn is_gone(bead: &Bead) -> bool {
    bead.status == "tombstone" || bead.issue_type == "epic"
}

fn describe_gone(bead: &Bead) -> &'static str {
    match bead.issue_type == "epic" {
        true => "an epic, which others are the work of",
        false => "deleted there",
    }
}

fn make_bead(line: usize, bead: Bead, gone: &BTreeSet<String>) -> Task {
    let blocks = bead
        .dependencies
        .into_iter()
        .filter(|one| one.kind == "blocks");
    let after = blocks
        .map(|one| one.depends_on_id)
        .filter(|id| !gone.contains(id));
    let criteria = bead.acceptance_criteria.unwrap_or_default();
    let criteria = criteria.lines().map(|line| {
        let line = clean(line, Lines::Fold);
        let item = line.trim_start_matches(['-', '*', '+']).trim_start();
        let item = item
            .strip_prefix("[ ]")
            .or_else(|| item.strip_prefix("[x]"))
            .unwrap_or(item);
        item.trim().to_owned()
    });
    Task {
        item: bead.id.clone(),
        id: Some(bead.id),
        goal: bead.title,
        criteria: criteria.collect(),
        notes: [bead.description, bead.design]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect(),
        after: after.collect(),
        // 0 is the most urgent there.
        priority: bead.priority.map(|priority| priority.saturating_add(1)),
        ticked: bead.status == "closed",
        line: Some(line),
        ..Task::default()
    }
}

// `tasks.json` of task-master: one list, or one for each tag.

/// The lists of a file, by tag; the one without a tag is called `master`, as the tool does.
struct File(Vec<(String, Vec<Entry>)>);

#[derive(Deserialize)]
struct Tag {
    #[serde(default, deserialize_with = "list")]
    tasks: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    id: Id,
    #[serde(deserialize_with = "line")]
    title: String,
    #[serde(default, deserialize_with = "line")]
    description: String,
    #[serde(default, deserialize_with = "line")]
    details: String,
    #[serde(default, deserialize_with = "line")]
    test_strategy: String,
    #[serde(default, deserialize_with = "line")]
    status: String,
    #[serde(default, deserialize_with = "line")]
    priority: String,
    #[serde(default, deserialize_with = "list")]
    dependencies: Vec<Id>,
    #[serde(default, deserialize_with = "list")]
    subtasks: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(deserialize_with = "line")]
    title: String,
    #[serde(default, deserialize_with = "line")]
    status: String,
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
                        _ => lists.push((key, map.next_value::<Tag>()?.tasks)),
                    }
                }
                Ok(File(lists))
            }
        }
        deserializer.deserialize_map(Lists)
    }
}

/// The tasks of that tag; without one, of the only list that holds any.
pub(super) fn read_task_master(
    path: &str,
    text: &str,
    tag: Option<&str>,
) -> Result<Tasks, Failure> {
    let File(mut lists) = parse(path, text)?;
    match tag {
        Some(tag) => lists.retain(|(name, _)| name == tag),
        None => lists.retain(|(_, tasks)| !tasks.is_empty()),
    }
    if lists.len() > 1 {
        let names: Vec<String> = lists
            .iter()
            .map(|(name, tasks)| format!("`{name}` ({})", count_noun(tasks.len() as u64, "task")))
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
    let gone: Vec<String> = entries
        .iter()
        .filter(|task| is_dropped(task))
        .map(|task| task.id.text())
        .collect();
    for entry in entries {
        if is_dropped(&entry) {
            let what = format!(
                "task `{}` is {} there, and is not taken in",
                entry.id.text(),
                entry.status
            );
            read.findings.push(note_left_out(path, &what));
            continue;
        }
        read.tasks.push(make_entry(entry, &gone));
    }
    Ok(read)
}

fn is_dropped(entry: &Entry) -> bool {
    matches!(entry.status.as_str(), "cancelled" | "deferred")
}

fn make_entry(entry: Entry, gone: &[String]) -> Task {
    let mut criteria: Vec<String> = vec![match entry.description.is_empty() {
        true => entry.title.clone(),
        false => entry.description,
    }];
    let parts = entry
        .subtasks
        .into_iter()
        .filter(|part| part.status != "cancelled");
    criteria.extend(parts.map(|part| part.title));
    criteria.push(entry.test_strategy);
    Task {
        item: entry.id.text(),
        id: Some(entry.id.text()),
        goal: entry.title,
        criteria,
        notes: Some(entry.details)
            .filter(|text| !text.is_empty())
            .into_iter()
            .collect(),
        after: entry
            .dependencies
            .iter()
            .map(Id::text)
            .filter(|id| !gone.contains(id))
            .collect(),
        priority: match entry.priority.as_str() {
            "critical" | "high" => Some(1),
            "low" => Some(3),
            _ => Some(2),
        },
        ticked: matches!(entry.status.as_str(), "done" | "completed"),
        ..Task::default()
    }
}
