//! `.kiro/specs/NAME/`: `tasks.md`, with the criteria of `requirements.md` that each task names.

use super::check_list::{Item, items, lines};
use super::marked::split_number;
use super::task::{Task, Tasks};
use cook_protocol::diagnostic::{Failure, Lines, clean};
use std::collections::BTreeMap;

pub(super) fn tasks(path: &str, text: &str, requirements: &str) -> Result<Tasks, Failure> {
    let criteria = criteria(requirements);
    let items = items(path, text)?;
    let tasks = items.iter().map(|item| task(item, &criteria)).collect();
    Ok(Tasks {
        tasks,
        ..Tasks::default()
    })
}

fn task(item: &Item, criteria: &BTreeMap<String, String>) -> Task {
    // `[ ]*` marks one that may be left out.
    let text = item.text.trim_start_matches('*').trim();
    let (id, goal) = split_number(text).map_or((None, text), |(id, goal)| (Some(id), goal));
    let mut task = Task {
        id: id.map(str::to_owned),
        goal: goal.to_owned(),
        ticked: item.ticked,
        line: Some(item.at.line),
        item: item.text.clone(),
        ..Task::default()
    };
    for part in &item.parts {
        let part = part.trim_start_matches('*').trim();
        task.criteria.push(
            split_number(part)
                .map_or(part, |(_, words)| words)
                .to_owned(),
        );
    }
    for detail in &item.details {
        let Some(named) = read_requirements(detail) else {
            task.notes.push(detail.clone());
            continue;
        };
        for number in named {
            if let Some(criterion) = criteria.get(&number) {
                task.criteria.push(criterion.clone());
            }
            if !task.contracts.contains(&number) {
                task.contracts.push(number);
            }
        }
    }
    task
}

/// `_Requirements: 1.1, 2.3_`.
fn read_requirements(detail: &str) -> Option<Vec<String>> {
    let plain = detail.trim_matches(['_', '*', ' ']);
    let list = plain
        .strip_prefix("Requirements:")
        .or_else(|| plain.strip_prefix("Requirement:"))?;
    let numbers = list
        .split([',', ' '])
        .map(|word| word.trim_matches(['_', '*', '.']));
    Some(
        numbers
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

/// The criteria of a requirements file, as `REQUIREMENT.CRITERION`.
fn criteria(text: &str) -> BTreeMap<String, String> {
    let mut criteria = BTreeMap::new();
    let mut requirement = String::new();
    let mut listed = false;
    for (_, line) in lines(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() {
            let heading = heading.trim();
            if let Some(number) = heading.strip_prefix("Requirement ") {
                let digits = number
                    .split(|c: char| !c.is_ascii_digit() && c != '.')
                    .next();
                requirement = digits.unwrap_or_default().trim_end_matches('.').to_owned();
                listed = false;
            } else {
                listed = heading.eq_ignore_ascii_case("Acceptance Criteria");
            }
        } else if listed && let Some((number, words)) = split_number(line.trim()) {
            criteria.insert(format!("{requirement}.{number}"), clean(words, Lines::Fold));
        }
    }
    criteria
}
