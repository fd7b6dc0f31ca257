//! Tasks of a check list: spec-kit, OpenSpec, and lists that follow no tool.

use super::check_list::{Item, items};
use super::task::{Task, Tasks};
use cook_protocol::diagnostic::Failure;
use std::collections::BTreeMap;

/// The tasks of a list, each with the id that its text begins with where the tool gives one.
pub(super) fn tasks(path: &str, text: &str, stated: Stated) -> Result<Tasks, Failure> {
    let items = items(path, text)?;
    let mut tasks: Vec<Task> = items.iter().map(|item| task(item, stated)).collect();
    if stated == Stated::Numbered {
        tell_apart(&mut tasks);
    }
    Ok(Tasks {
        tasks,
        ..Tasks::default()
    })
}

/// A number says where an item stands, and a list may count wrongly: the second of a number gets another id.
fn tell_apart(tasks: &mut [Task]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for id in tasks.iter_mut().filter_map(|task| task.id.as_mut()) {
        let times = seen.entry(id.clone()).or_default();
        *times += 1;
        if *times > 1 {
            *id = format!("{id}-{times}");
        }
    }
}

/// How the words of an item name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stated {
    /// `T012 [P] [US1] words`.
    SpecKit,
    /// `1.2 words`.
    Numbered,
    /// Not at all.
    Never,
}

fn task(item: &Item, stated: Stated) -> Task {
    let mut task = Task {
        goal: item.text.clone(),
        criteria: item.parts.clone(),
        notes: item.details.clone(),
        ticked: item.ticked,
        line: Some(item.at.line),
        item: item.text.clone(),
        ..Task::default()
    };
    match stated {
        Stated::SpecKit => spec_kit(&mut task),
        Stated::Numbered => {
            if let Some((number, words)) = split_number(&item.text) {
                task.id = Some(number.to_owned());
                task.goal = words.to_owned();
            }
        }
        Stated::Never => {}
    }
    task
}

/// `T012 [P] [US1] words`: the story is the contract that it serves.
fn spec_kit(task: &mut Task) {
    let text = task.goal.clone();
    let Some((id, mut rest)) = text.split_once(' ').filter(|(id, _)| is_spec_kit_id(id)) else {
        return;
    };
    while let Some((label, after)) = rest
        .trim_start()
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        if label.starts_with("US") {
            task.contracts.push(label.to_owned());
        }
        rest = after;
    }
    if rest.trim().is_empty() {
        return;
    }
    task.id = Some(id.to_owned());
    task.goal = rest.trim().to_owned();
}

fn is_spec_kit_id(word: &str) -> bool {
    let digits = word.strip_prefix('T').unwrap_or_default();
    let digits = digits.trim_end_matches(|c: char| c.is_ascii_lowercase());
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// `1.2 words`, `3. words`: the number and the words.
pub(super) fn split_number(text: &str) -> Option<(&str, &str)> {
    let (number, words) = text.split_once(' ')?;
    let number = number.trim_end_matches(['.', ')', ':']);
    let mut parts = number.split('.');
    let is_number =
        parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    (is_number && !words.trim().is_empty()).then_some((number, words.trim()))
}
