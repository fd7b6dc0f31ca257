//! `prd.json` of Ralph loops: user stories with acceptance criteria, and whether each passes.

use super::json::{self, Id};
use super::task::{Task, Tasks};
use cook_protocol::diagnostic::{Failure, Lines, clean};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prd {
    #[serde(default, deserialize_with = "json::line")]
    project: String,
    #[serde(default, deserialize_with = "json::line")]
    description: String,
    user_stories: Vec<Story>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Story {
    id: Id,
    #[serde(deserialize_with = "json::line")]
    title: String,
    #[serde(default, deserialize_with = "json::line")]
    description: String,
    #[serde(default, deserialize_with = "json::list")]
    acceptance_criteria: Vec<String>,
    #[serde(default)]
    priority: Option<u64>,
    #[serde(default)]
    passes: bool,
    #[serde(default, deserialize_with = "json::line")]
    notes: String,
}

pub(super) fn tasks(path: &str, text: &str) -> Result<Tasks, Failure> {
    let prd: Prd = json::parse(path, text)?;
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
