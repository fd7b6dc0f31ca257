//! GitHub issues, as `gh issue list --json number,title,body,state,labels` prints them.

use super::check_list::items;
use super::json;
use super::task::{Task, Tasks, note_left_out};
use cook_protocol::diagnostic::{Failure, Lines, clean};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Issue {
    number: u64,
    #[serde(deserialize_with = "json::line")]
    title: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default, deserialize_with = "json::line")]
    state: String,
    #[serde(default, deserialize_with = "json::line")]
    state_reason: String,
}

/// The boxes of an issue are its criteria; without any, its title is.
pub(super) fn tasks(path: &str, text: &str) -> Result<Tasks, Failure> {
    let mut issues: Vec<Issue> = json::parse(path, text)?;
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
