//! Markdown check lists: items with a checkbox, the items and lines nested below them, and their headings.

use super::task::{At, Faults, Task};
use crate::prelude::*;
use std::ops::Range;

/// An item with a checkbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) at: At,
    pub(super) ticked: bool,
    /// The content of its checkbox, as a byte range of the whole text.
    pub(super) mark: Range<usize>,
    /// The text after the checkbox, on one line.
    pub(super) text: String,
    /// Nested items; empty for a nested item itself.
    pub(super) parts: Vec<Item>,
    /// Lines below it that are not items.
    pub(super) details: Vec<String>,
    /// The heading above it.
    pub(super) section: String,
}

impl Item {
    pub(super) fn part_texts(&self) -> impl Iterator<Item = String> {
        self.parts.iter().map(|part| part.text.clone())
    }
}

/// A line that is an item with a checkbox.
struct Box<'a> {
    ticked: bool,
    /// The content of the checkbox.
    inside: &'a str,
    text: &'a str,
}

/// The top-level items of a text, in order. Code, comments and text outside of list items are skipped.
pub(super) fn items(path: &str, whole: &str) -> Result<Vec<Item>> {
    let mut items: Vec<Item> = Vec::new();
    let mut faults = Faults::new(path);
    let mut section = String::new();
    let mut outermost: Option<usize> = None;
    // The offset of `part`, which is a slice of `whole`.
    let place = |part: &str| part.as_ptr() as usize - whole.as_ptr() as usize;
    for (at, line) in lines(whole) {
        if let Some((_, heading)) = heading(line) {
            section = heading;
            outermost = None;
            continue;
        }
        let indent = measure_indent(line);
        let found = parse_box(line).unwrap_or_else(|(part, what)| {
            let before = line.get(..place(part) - place(line)).unwrap_or_default();
            let column = before.chars().count() + 1;
            faults.add(At { column, ..at }, what);
            None
        });
        let Some(found) = found else {
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
            faults.add(at, "an item with a box has no text");
            continue;
        }
        let start = place(found.inside);
        let item = Item {
            at: At {
                column: indent + 1,
                ..at
            },
            ticked: found.ticked,
            mark: start..start + found.inside.len(),
            text,
            parts: Vec::new(),
            details: Vec::new(),
            section: section.clone(),
        };
        match (outermost, items.last_mut()) {
            (Some(outer), Some(above)) if indent > outer => above.parts.push(item),
            _ => {
                outermost = Some(indent);
                items.push(item);
            }
        }
    }
    faults.end(items)
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
            // A fence ends at a line with at least as many of its marks and nothing else.
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

/// The mark of a fence and the number of marks.
fn find_fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = line.chars().take_while(|c| *c == mark).count();
    (count >= 3).then_some((mark, count))
}

/// The checkbox of a line if it is an item that has one; `Err` with the problem and its place if the checkbox is
/// malformed. As in the tools that write such lists, a checkbox may be empty, padded, or follow its bullet without a
/// space.
fn parse_box(line: &str) -> Result<Option<Box<'_>>, (&str, &'static str)> {
    let body = line.trim_start();
    let bullet = measure_bullet(body).and_then(|bullet| body.get(bullet..));
    let Some(inner) = bullet.and_then(|after| after.trim_start().strip_prefix('[')) else {
        return Ok(None);
    };
    let Some((inside, text)) = inner.split_once(']') else {
        let is_open = ["x ", "X ", " "].iter().any(|mark| inner.starts_with(mark));
        return match is_open {
            true => Err((
                inner,
                "the box of an item is not closed; write `[ ]` or `[x]`",
            )),
            false => Ok(None),
        };
    };
    // A link or a footnote.
    if text.starts_with(['(', '[', ':']) {
        return Ok(None);
    }
    let ticked = match inside.trim() {
        "" | "-" | "~" | "/" | ">" => false,
        "x" | "X" | "✓" | "✔" => true,
        // A word in brackets, or a label such as `[P]` for tasks that can be done in parallel.
        more if more.chars().nth(1).is_some() || more.chars().all(char::is_uppercase) => {
            return Ok(None);
        }
        _ => return Err((inner, "the box of an item holds neither a blank nor `x`")),
    };
    Ok(Some(Box {
        ticked,
        inside,
        text,
    }))
}

/// Length in bytes of the bullet of a list item.
pub(super) fn measure_bullet(body: &str) -> Option<usize> {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let rest = body.get(digits..)?;
    let is_bullet = match digits {
        0 => rest.starts_with(['-', '*', '+']),
        _ => rest.starts_with(['.', ')']),
    };
    let is_item = rest.get(1..)?.starts_with([' ', '\t', '[']);
    (is_bullet && is_item).then_some(digits + 1)
}

fn measure_indent(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    blanks.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// The level and the text of a heading.
pub(super) fn heading(line: &str) -> Option<(usize, String)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let words = || {
        without_comments(rest)
            .trim_end_matches([' ', '#'])
            .to_owned()
    };
    (level > 0 && rest.starts_with(' ')).then(|| (level, clean(&words(), Lines::Fold)))
}

/// The text without its comments. A comment that is not closed extends to the end.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// The text of an item, without its checkbox if it has one.
pub(super) fn read_item(line: &str) -> String {
    match parse_box(line) {
        Ok(Some(found)) => detail(found.text),
        _ => detail(line),
    }
}

/// The text of a line below an item, without its bullet.
pub(super) fn detail(line: &str) -> String {
    let body = line.trim();
    let bullet = measure_bullet(body).unwrap_or_default();
    clean(
        &without_comments(body.get(bullet..).unwrap_or(body)),
        Lines::Fold,
    )
}

// The tasks of check lists: of no particular tool, of OpenSpec and of Kiro.

/// A task for each item.
pub(super) fn read_list(path: &str, text: &str) -> Result<Vec<Task>> {
    Ok(items(path, text)?.iter().map(make_task).collect())
}

pub(super) fn make_task(item: &Item) -> Task {
    Task {
        goal: item.text.clone(),
        criteria: item.part_texts().collect(),
        notes: item.details.clone(),
        ticks: item.ticked.into(),
        line: Some(item.at.line),
        item: item.text.clone(),
        ..Task::default()
    }
}

/// Tasks whose id is the number at the beginning of their text. A list may repeat a number: the later tasks with that
/// number get another id.
pub(super) fn read_numbered(path: &str, text: &str) -> Result<Vec<Task>> {
    let mut tasks = read_list(path, text)?;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for task in &mut tasks {
        let Some((number, words)) = split_number(&task.item) else {
            continue;
        };
        let times = seen.entry(number.to_owned()).or_default();
        *times += 1;
        task.id = Some(match times {
            1 => number.to_owned(),
            more => format!("{number}-{more}"),
        });
        task.goal = words.to_owned();
    }
    Ok(tasks)
}

/// Splits `1.2 words` or `3. words` into number and words.
pub(super) fn split_number(text: &str) -> Option<(&str, &str)> {
    let (number, words) = text.split_once(' ')?;
    let number = number.trim_end_matches(['.', ')', ':']);
    let mut parts = number.split('.');
    let is_number =
        parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    (is_number && !words.trim().is_empty()).then_some((number, words.trim()))
}
