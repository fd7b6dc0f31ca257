//! Plans with one file that lists tasks and others that state requirements: Kiro, spec-kit, OpenSpec.

use super::check_list::{Item, detail, heading, items, lines, make_task, split_number};
use super::task::Task;
use crate::prelude::*;

/// The lines under a heading, up to the next heading.
struct Section<'a> {
    level: usize,
    heading: String,
    lines: Vec<&'a str>,
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    for (_, line) in lines(text) {
        match (heading(line), sections.last_mut()) {
            (Some((level, heading)), _) => sections.push(Section {
                level,
                heading,
                lines: Vec::new(),
            }),
            (None, Some(Section { lines, .. })) => lines.push(line),
            (None, None) => {}
        }
    }
    sections
}

/// A line without its bullet and bold marks.
fn plain(line: &str) -> String {
    detail(line).replace("**", "")
}

/// A mission with its own title, which replaces the generic heading that every such document has.
pub(super) fn name_mission(name: &str, words: &str) -> String {
    format!("# {}\n\n{}", clean(name, Lines::Fold), drop_title(words))
}

/// The text below a title.
pub(super) fn drop_title(words: &str) -> &str {
    match words.split_once('\n') {
        Some((title, rest)) if title.starts_with("# ") => rest.trim(),
        _ => words.trim(),
    }
}

// OpenSpec: `proposal.md` gives the reason, and `specs/CAPABILITY/spec.md` the requirements.

/// The reason for a change.
pub(super) fn read_why(proposal: &str) -> Option<String> {
    let mut sections = sections(proposal).into_iter();
    let why = sections.find(|section| section.heading.eq_ignore_ascii_case("why"))?;
    let why = clean(&why.lines.join("\n"), Lines::Keep);
    Some(why.trim().to_owned()).filter(|why| !why.is_empty())
}

/// A task to show that a capability meets its requirements; its criteria are their scenarios.
pub(super) fn read_capability(path: &str, name: &str, text: &str) -> Option<Task> {
    let mut task = Task {
        id: Some(name.to_owned()),
        goal: format!("Show that each requirement of `{name}` holds"),
        item: name.to_owned(),
        file: Some(path.to_owned()),
        ..Task::default()
    };
    let (mut requirement, mut is_removed) = (String::new(), false);
    for section in sections(text) {
        let words: Vec<String> = section.lines.iter().map(|line| plain(line)).collect();
        let words = clean(&words.join(" "), Lines::Fold);
        let named = |kind: &str| {
            let (found, name) = section.heading.split_once(':')?;
            found
                .eq_ignore_ascii_case(kind)
                .then(|| name.trim().to_owned())
        };
        match section.level {
            2 => is_removed = section.heading.to_ascii_uppercase().starts_with("REMOVED "),
            3 => {
                requirement = named("Requirement").unwrap_or_default();
                match (is_removed, requirement.is_empty()) {
                    (_, true) => {}
                    (true, _) => task.criteria.push(format!("{requirement}: no longer")),
                    (false, _) => task.notes.push(format!("{requirement}: {words}")),
                }
            }
            4 if !is_removed && !requirement.is_empty() => {
                let scenario = named("Scenario");
                let scenario = scenario.map(|name| format!("{requirement}: {name}: {words}"));
                task.criteria.extend(scenario);
            }
            _ => {}
        }
    }
    (!task.criteria.is_empty()).then_some(task)
}

// spec-kit: `spec.md` tells stories, and tasks are the steps of a story.

/// The title of a feature, and the user's request.
pub(super) fn read_feature(spec: &str) -> Option<(String, Option<String>)> {
    let first = sections(spec).into_iter().next()?;
    let (_, title) = first
        .heading
        .split_once(": ")
        .unwrap_or(("", &first.heading));
    let text = first.lines.join("\n");
    let (_, input) = text.split_once("**Input**:").unwrap_or_default();
    let input = input.split("\n\n").next().unwrap_or_default().trim();
    let words = clean(
        input.strip_prefix("User description:").unwrap_or(input),
        Lines::Fold,
    );
    let words = words.trim().trim_matches('"').to_owned();
    let is_said = !words.is_empty() && !words.starts_with("$ARGUMENTS");
    Some((title.to_owned(), is_said.then_some(words)))
}

/// The stories of a specification, by id: `US1` is `User Story 1 - TITLE`.
fn read_stories(spec: &str) -> BTreeMap<String, Task> {
    let mut stories = BTreeMap::new();
    for section in sections(spec) {
        let Some(heading) = section.heading.strip_prefix("User Story ") else {
            continue;
        };
        let (number, title) = heading.split_once([' ', ':']).unwrap_or((heading, heading));
        let title = title.split(" (Priority").next().unwrap_or(title);
        let mut story = Task {
            goal: title.trim_start_matches(['-', '–', ' ']).to_owned(),
            ..Task::default()
        };
        let mut is_scenario = false;
        for line in section.lines {
            let words = plain(line);
            let is_numbered = split_number(line.trim()).is_some();
            let goes_on = is_scenario && line.starts_with([' ', '\t']) && !is_numbered;
            match story.criteria.last_mut().filter(|_| goes_on) {
                Some(scenario) => *scenario = format!("{scenario} {words}"),
                None if is_numbered => story.criteria.push(words),
                None if words.is_empty() || words.starts_with("Acceptance Scenarios") => continue,
                None if words.chars().all(|c| c == '-') => continue,
                None => story.notes.push(words),
            }
            is_scenario = is_numbered || goes_on;
        }
        stories.insert(format!("US{number}"), story);
    }
    stories
}

/// A slice for each story, and for each heading over tasks without a story: tasks are not slices of their own, because
/// a test that must fail first is never green alone. If a story states no criteria, its tasks are the criteria.
pub(super) fn read_spec_kit(path: &str, text: &str, spec: &str) -> Result<Vec<Task>> {
    let mut stories = read_stories(spec);
    let mut groups: Vec<(String, Task, Vec<Item>)> = Vec::new();
    for item in items(path, text)? {
        let (id, story) = split_spec_kit(&item.text);
        let key = story.or(Some(&*item.section).filter(|it| !it.is_empty()));
        let key = key.or(id).unwrap_or(&item.text).to_owned();
        let known = |(it, _, steps): &&mut (String, Task, Vec<Item>)| {
            *it == key && !steps[0].section.is_empty()
        };
        if let Some((_, _, steps)) = groups.iter_mut().find(known) {
            steps.push(item);
            continue;
        }
        let group = Task {
            id: story.or(id.filter(|id| *id == key)).map(str::to_owned),
            ..stories.remove(&key).unwrap_or_default()
        };
        groups.push((key, group, vec![item]));
    }
    let tasks = groups.into_iter();
    Ok(tasks
        .map(|(key, group, steps)| make_group(&key, group, &steps))
        .collect())
}

fn make_group(key: &str, group: Task, steps: &[Item]) -> Task {
    let words = |step: &Item| {
        let labels = step.text.split_whitespace();
        let labels = labels.take_while(|word| is_spec_kit_id(word) || word.starts_with('['));
        let skipped: usize = labels.map(|word| word.len() + 1).sum();
        step.text.get(skipped..).unwrap_or(&step.text).to_owned()
    };
    let mut group = Task {
        ticks: steps.iter().filter(|step| step.ticked).count(),
        line: steps.first().map(|step| step.at.line),
        item: steps
            .iter()
            .map(|step| step.text.as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        ..group
    };
    if group.goal.is_empty() {
        let heading = steps.first().map_or(key, |step| &step.section);
        let (phase, rest) = heading.split_once(": ").unwrap_or(("", heading));
        let goal = if phase.starts_with("Phase ") {
            rest
        } else {
            heading
        };
        group.goal = if goal.is_empty() {
            words(&steps[0])
        } else {
            goal.to_owned()
        };
    }
    let is_told = !group.criteria.is_empty();
    for step in steps {
        match (is_told, step.parts.is_empty()) {
            (true, _) => {
                let ticked = if step.ticked {
                    " (ticked, which proves nothing)"
                } else {
                    ""
                };
                group.notes.push(format!("step: {}{ticked}", step.text));
            }
            (false, true) => group.criteria.push(words(step)),
            (false, false) => group.notes.push(words(step)),
        }
        match is_told {
            true => group.notes.extend(step.part_texts()),
            false => group.criteria.extend(step.part_texts()),
        }
        group.notes.extend(step.details.iter().cloned());
    }
    group
}

/// The id and the story of `T012 [P] [US1] words`.
fn split_spec_kit(text: &str) -> (Option<&str>, Option<&str>) {
    let mut words = text.split_whitespace();
    let Some(id) = words.next().filter(|id| is_spec_kit_id(id)) else {
        return (None, None);
    };
    let mut labels = words.map_while(|word| word.strip_prefix('[')?.strip_suffix(']'));
    (Some(id), labels.find(|label| label.starts_with("US")))
}

fn is_spec_kit_id(word: &str) -> bool {
    let digits = word.strip_prefix('T').unwrap_or_default();
    let digits = digits.trim_end_matches(|c: char| c.is_ascii_lowercase());
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

// Kiro: `.kiro/specs/NAME/tasks.md`, with the criteria of `requirements.md` that each task names.

pub(super) fn read_kiro(path: &str, text: &str, requirements: &str) -> Result<Vec<Task>> {
    let criteria = read_kiro_criteria(requirements);
    let items = items(path, text)?;
    Ok(items.iter().map(|it| make_kiro(it, &criteria)).collect())
}

fn make_kiro(item: &Item, criteria: &BTreeMap<String, String>) -> Task {
    // `[ ]*` marks an optional task.
    let text = item.text.trim_start_matches('*').trim();
    let (id, goal) = split_number(text).map_or((None, text), |(id, goal)| (Some(id), goal));
    let mut task = Task {
        id: id.map(str::to_owned),
        goal: goal.to_owned(),
        criteria: Vec::new(),
        notes: Vec::new(),
        ..make_task(item)
    };
    for part in &item.parts {
        let part = part.text.trim_start_matches('*').trim();
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

/// The numbers in `_Requirements: 1.1, 2.3_`.
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

/// The criteria of a requirements file, by `REQUIREMENT.CRITERION`.
fn read_kiro_criteria(text: &str) -> BTreeMap<String, String> {
    let mut criteria = BTreeMap::new();
    let mut requirement = String::new();
    for section in sections(text) {
        if let Some(number) = section.heading.strip_prefix("Requirement ") {
            let mut digits = number.split(|c: char| !c.is_ascii_digit() && c != '.');
            let digits = digits.next().unwrap_or_default();
            requirement = digits.trim_end_matches('.').to_owned();
        } else if section.heading.eq_ignore_ascii_case("Acceptance Criteria") {
            for line in section.lines {
                if let Some((number, words)) = split_number(line.trim()) {
                    criteria.insert(format!("{requirement}.{number}"), clean(words, Lines::Fold));
                }
            }
        }
    }
    criteria
}
