//! `tasks.json` of task-master: one list, or one for each tag.

use super::json::{self, Id};
use super::task::{Task, Tasks, note_left_out};
use cook_protocol::diagnostic::{Code, Failure, Refusal, count_noun};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// The lists of a file, by tag; the one without a tag is called `master`, as the tool does.
struct File(Vec<(String, Vec<Entry>)>);

#[derive(Deserialize)]
struct Tag {
    #[serde(default, deserialize_with = "json::list")]
    tasks: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    id: Id,
    #[serde(deserialize_with = "json::line")]
    title: String,
    #[serde(default, deserialize_with = "json::line")]
    description: String,
    #[serde(default, deserialize_with = "json::line")]
    details: String,
    #[serde(default, deserialize_with = "json::line")]
    test_strategy: String,
    #[serde(default, deserialize_with = "json::line")]
    status: String,
    #[serde(default, deserialize_with = "json::line")]
    priority: String,
    #[serde(default, deserialize_with = "json::list")]
    dependencies: Vec<Id>,
    #[serde(default, deserialize_with = "json::list")]
    subtasks: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(deserialize_with = "json::line")]
    title: String,
    #[serde(default, deserialize_with = "json::line")]
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
pub(super) fn tasks(path: &str, text: &str, tag: Option<&str>) -> Result<Tasks, Failure> {
    let File(mut lists) = json::parse(path, text)?;
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
        .filter(|task| is_gone(task))
        .map(|task| task.id.text())
        .collect();
    for entry in entries {
        if is_gone(&entry) {
            let what = format!(
                "task `{}` is {} there, and is not taken in",
                entry.id.text(),
                entry.status
            );
            read.findings.push(note_left_out(path, &what));
            continue;
        }
        read.tasks.push(task(entry, &gone));
    }
    Ok(read)
}

fn is_gone(entry: &Entry) -> bool {
    matches!(entry.status.as_str(), "cancelled" | "deferred")
}

fn task(entry: Entry, gone: &[String]) -> Task {
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
