//! Markdown check lists: items with a box, what is nested below each, and the heading they stand under.

use super::task::{At, Task, Tasks, refuse_form};
use cook_protocol::diagnostic::{Failure, Lines, clean};
use std::collections::BTreeMap;

/// One item of the outermost level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) at: At,
    pub(super) ticked: bool,
    /// Where the sign in its box stands in the text, in bytes.
    pub(super) mark: usize,
    /// What stands behind the box, on one line.
    pub(super) text: String,
    /// Items with a box below it.
    pub(super) parts: Vec<String>,
    /// Lines below it that are no items.
    pub(super) details: Vec<String>,
    /// The heading it stands under.
    pub(super) section: String,
}

/// A line that is an item with a box.
struct Box<'a> {
    /// Columns before the bullet; a tab counts as four.
    indent: usize,
    ticked: bool,
    /// Bytes before the mark in the box.
    mark: usize,
    text: &'a str,
}

/// The items of a text, in order. Code, comments and what stands in neither list are passed over.
pub(super) fn items(path: &str, whole: &str) -> Result<Vec<Item>, Failure> {
    let mut items: Vec<Item> = Vec::new();
    let mut section = String::new();
    let mut outermost: Option<usize> = None;
    for (at, line) in lines(whole) {
        if let Some(heading) = heading(line) {
            section = heading;
            outermost = None;
            continue;
        }
        let Some(found) = parse_box(path, at, line)? else {
            let indent = measure_indent(line);
            match (outermost, items.last_mut()) {
                (Some(outer), Some(item)) if indent > outer && !line.trim().is_empty() => {
                    item.details.push(detail(line));
                }
                (Some(outer), _) if indent <= outer && !line.trim().is_empty() => outermost = None,
                _ => {}
            }
            continue;
        };
        let text = clean(&without_comments(found.text), Lines::Fold);
        if text.is_empty() {
            return Err(refuse_form(path, at, "an item with a box has no text"));
        }
        match (outermost, items.last_mut()) {
            (Some(outer), Some(item)) if found.indent > outer => item.parts.push(text),
            _ => {
                outermost = Some(found.indent);
                items.push(Item {
                    at: At {
                        line: at.line,
                        column: found.indent + 1,
                    },
                    ticked: found.ticked,
                    // Both are slices of one text.
                    mark: line.as_ptr() as usize - whole.as_ptr() as usize + found.mark,
                    text,
                    parts: Vec::new(),
                    details: Vec::new(),
                    section: section.clone(),
                });
            }
        }
    }
    Ok(items)
}

/// The lines that are neither code nor comment, with their numbers.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (At, &str)> {
    let mut fence: Option<(char, usize)> = None;
    let mut in_comment = false;
    let numbered = text.lines().zip(1..);
    numbered.filter_map(move |(line, number)| {
        let trimmed = line.trim_start();
        match (fence, find_fence(trimmed)) {
            (None, Some(opens)) if !in_comment => {
                fence = Some(opens);
                return None;
            }
            // It ends at as many of its marks, with nothing behind them.
            (Some((mark, count)), found) => {
                let is_end = found.is_some_and(|(with, length)| with == mark && length >= count)
                    && trimmed.trim_end().chars().all(|c| c == mark);
                if is_end {
                    fence = None;
                }
                return None;
            }
            (None, _) => {}
        }
        let was_in_comment = in_comment;
        let last_open = line.rfind("<!--");
        let last_close = line.rfind("-->");
        in_comment = match (last_open, last_close) {
            (Some(open), Some(close)) => open > close,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => in_comment,
        };
        let is_comment = was_in_comment || trimmed.starts_with("<!--");
        (!is_comment).then_some((
            At {
                line: number,
                column: 1,
            },
            line,
        ))
    })
}

/// The mark of a fence and how many there are.
fn find_fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = line.chars().take_while(|c| *c == mark).count();
    (count >= 3).then_some((mark, count))
}

/// The box of a line, if it is an item that has one.
fn parse_box<'a>(path: &str, at: At, line: &'a str) -> Result<Option<Box<'a>>, Failure> {
    let body = line.trim_start();
    let Some(after) = bullet(body).and_then(|bullet| body.get(bullet..)) else {
        return refuse_unparted(path, at, line).map(|()| None);
    };
    let inner = after.trim_start();
    let Some(inner_text) = inner.strip_prefix('[') else {
        return Ok(None);
    };
    let start = line.len() - inner_text.len();
    let Some((inside, text)) = inner_text.split_once(']') else {
        let is_open = ["x ", "X ", " "]
            .iter()
            .any(|mark| inner_text.starts_with(mark));
        return match is_open {
            true => {
                let what = "the box of an item is not closed; write `[ ]` or `[x]`";
                Err(refuse_form(path, place_in(line, start, at), what))
            }
            false => Ok(None),
        };
    };
    let mut marks = inside.chars();
    let (mark, more) = (marks.next(), marks.next());
    // A link, or a footnote.
    if text.starts_with(['(', '[', ':']) {
        return Ok(None);
    }
    let place = place_in(line, start, at);
    if more.is_some() {
        return match inside.trim() {
            "" | "x" | "X" => {
                let what = "the box of an item holds more than one sign; write `[ ]` or `[x]`";
                Err(refuse_form(path, place, what))
            }
            // A word in brackets.
            _ => Ok(None),
        };
    }
    let ticked = match mark {
        Some(' ' | '-' | '~' | '/' | '>') => false,
        Some('x' | 'X' | '✓' | '✔') => true,
        None => {
            let what = "the box of an item is empty; write `[ ]` or `[x]`";
            return Err(refuse_form(path, place, what));
        }
        // A legend: `[P]` for what may be done beside others.
        Some(label) if label.is_uppercase() => return Ok(None),
        Some(_) => {
            let what = "the box of an item holds neither a blank nor `x`";
            return Err(refuse_form(path, place, what));
        }
    };
    Ok(Some(Box {
        indent: measure_indent(line),
        ticked,
        mark: start,
        text,
    }))
}

/// A bullet right before a box makes no item of it, and whoever wrote it meant one.
fn refuse_unparted(path: &str, at: At, line: &str) -> Result<(), Failure> {
    let body = line.trim_start();
    let rest = body.strip_prefix(['-', '*', '+']).unwrap_or_default();
    let is_box = ["[ ]", "[x]", "[X]"].iter().any(|form| {
        let after = rest.strip_prefix(form);
        after.is_some_and(|after| !after.starts_with(['(', '[', ':']))
    });
    if !is_box {
        return Ok(());
    }
    let what = "no blank stands between the bullet and the box; write `- [ ]`";
    Err(refuse_form(
        path,
        place_in(line, line.len() - rest.len(), at),
        what,
    ))
}

/// Where a byte of a line stands.
fn place_in(line: &str, byte: usize, at: At) -> At {
    let before = line.get(..byte).unwrap_or_default();
    At {
        column: before.chars().count() + 1,
        ..at
    }
}

/// Bytes of the bullet of a list item.
fn bullet(body: &str) -> Option<usize> {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let rest = body.get(digits..)?;
    let is_bullet = match digits {
        0 => rest.starts_with(['-', '*', '+']),
        _ => rest.starts_with(['.', ')']),
    };
    let is_item = rest.get(1..)?.starts_with([' ', '\t']);
    (is_bullet && is_item).then_some(digits + 1)
}

fn measure_indent(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blanks.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn heading(line: &str) -> Option<String> {
    let rest = line.trim_start_matches('#');
    (rest.len() < line.len() && rest.starts_with(' ')).then(|| {
        clean(
            without_comments(rest).trim_end_matches([' ', '#']),
            Lines::Fold,
        )
    })
}

/// The text without its comments; one that is not closed goes on in the next line.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// A line below an item, without its bullet.
fn detail(line: &str) -> String {
    let body = line.trim();
    let bullet = bullet(body).unwrap_or_default();
    clean(
        &without_comments(body.get(bullet..).unwrap_or(body)),
        Lines::Fold,
    )
}

// Tasks of a check list: spec-kit, OpenSpec, and lists that follow no tool.

/// The tasks of a list, each with the id that its text begins with where the tool gives one.
pub(super) fn read_marked(path: &str, text: &str, stated: Stated) -> Result<Tasks, Failure> {
    let items = items(path, text)?;
    let mut tasks: Vec<Task> = items.iter().map(|item| make_marked(item, stated)).collect();
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

fn make_marked(item: &Item, stated: Stated) -> Task {
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

// `.kiro/specs/NAME/`: `tasks.md`, with the criteria of `requirements.md` that each task names.

pub(super) fn read_kiro(path: &str, text: &str, requirements: &str) -> Result<Tasks, Failure> {
    let criteria = criteria(requirements);
    let items = items(path, text)?;
    let tasks = items
        .iter()
        .map(|item| make_kiro(item, &criteria))
        .collect();
    Ok(Tasks {
        tasks,
        ..Tasks::default()
    })
}

fn make_kiro(item: &Item, criteria: &BTreeMap<String, String>) -> Task {
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
