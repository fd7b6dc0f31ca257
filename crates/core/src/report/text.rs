//! The text form: `Label: value` lines, a value running to the next known label.
//!
//! A line indented by four blanks or more is never a label nor a fence; that is
//! how [`super::render`] writes values that hold such lines.

use super::fence::{Fence, is_indented};
use super::field::Field;
use super::json;
use super::raw::Raw;
use super::table::{DIMENSIONS, Dimension, PROGRESS, fields, has_block, has_rubric};
use super::value::{after_marker, dedent};
use crate::diagnostic::{Code, Finding};
use crate::model::Role;

/// Which of the two forms a report has, with the text that holds it.
pub(super) enum Form {
    /// Lines of fields.
    Fields(String),
    /// One JSON object.
    Json(String),
}

/// Tells the form; none when nothing but blank, progress and fence lines is there.
pub(super) fn form(text: &str) -> Option<Form> {
    let lines: Vec<&str> = text.lines().collect();
    let mut opened = None;
    let start = lines.iter().position(|line| {
        if let Some(fence) = Fence::open(line) {
            opened = Some(fence);
            return false;
        }
        !line.trim().is_empty() && !is_progress(line)
    })?;
    let mut body = &lines[start..];
    if lines[start].trim_start().starts_with('{') {
        return Some(Form::Json(body.join("\n")));
    }
    if let Some(fence) = opened {
        let last = body.iter().rposition(|line| !line.trim().is_empty());
        if let Some(last) = last.filter(|&last| fence.is_closed_by(body[last])) {
            body = &body[..last];
        }
    }
    Some(Form::Fields(body.join("\n")))
}

fn is_progress(line: &str) -> bool {
    split_label(line).is_some_and(|(label, _)| {
        PROGRESS
            .iter()
            .any(|word| word.eq_ignore_ascii_case(&label))
    })
}

/// Label and value of a line, decoration off, the label in lower case with single blanks.
fn split_label(line: &str) -> Option<(String, &str)> {
    const MARKS: [char; 2] = ['*', '`'];
    if is_indented(line) {
        return None;
    }
    let line = line.trim();
    let line = after_marker(line).unwrap_or(line);
    let (head, value) = line.split_once(':')?;
    if head.len() > 200 {
        return None;
    }
    let body = head.trim_start_matches(MARKS);
    let opener = &head[..head.len() - body.len()];
    let label = body.trim_end_matches(MARKS);
    let words: Vec<&str> = label
        .split(|c: char| c.is_whitespace() || c == '?')
        .filter(|word| !word.is_empty())
        .collect();
    let closed = label.len() < body.len();
    let value = value.trim();
    let closer: String = opener.chars().rev().collect();
    let value = match value.strip_prefix(closer.as_str()) {
        _ if opener.is_empty() || closed => value,
        Some(rest) => rest.trim(),
        None => value.strip_suffix(closer.as_str()).unwrap_or(value).trim(),
    };
    Some((words.join(" ").to_lowercase(), value))
}

/// What a line begins.
enum Label {
    Field(&'static Field),
    Rubric,
}

fn label_of(role: Role, line: &str) -> Option<(Label, &str)> {
    let (label, value) = split_label(line)?;
    if has_rubric(role) && label == "rubric" {
        return Some((Label::Rubric, value));
    }
    fields(role)
        .iter()
        .find(|field| field.label.to_lowercase() == label || field.title().to_lowercase() == label)
        .map(|field| (Label::Field(field), value))
}

/// A label's section: its inline value and the lines up to the next label.
struct Section<'a> {
    label: Label,
    inline: &'a str,
    lines: Vec<&'a str>,
}

/// Reads the text form from its first meaningful line on.
pub(super) fn read(role: Role, text: &str) -> Raw {
    let mut raw = Raw::default();
    let lines: Vec<&str> = text.lines().collect();
    let lines = match has_block(role) {
        true => without_block(&lines, &mut raw),
        false => lines,
    };
    let mut sections: Vec<Section> = Vec::new();
    for line in lines {
        match (label_of(role, line), sections.last_mut()) {
            (Some((label, inline)), _) => sections.push(Section {
                label,
                inline,
                lines: Vec::new(),
            }),
            (None, Some(section)) => section.lines.push(line),
            (None, None) => {}
        }
    }
    let first = text.lines().next().and_then(|line| label_of(role, line));
    if !matches!(first, Some((Label::Field(field), _)) if field.key == "mission_anchor") {
        raw.findings.push(Finding::new(
            Code::HeaderMissing,
            "the first line is not `MISSION ANCHOR: …`",
        ));
    }
    for section in &sections {
        match section.label {
            Label::Field(field) => raw.put(field, &value(field, section)),
            Label::Rubric => rubric(&mut raw, section),
        }
    }
    raw
}

fn value(field: &Field, section: &Section) -> String {
    let below = dedent(&section.lines.join("\n"));
    match (section.inline, field.below) {
        ("", true) => below,
        ("", false) => String::new(),
        (inline, _) => format!("{inline}\n{below}"),
    }
}

/// Takes the fenced `json` blocks out of the lines and reads the one that must be there.
fn without_block<'a>(lines: &[&'a str], raw: &mut Raw) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut blocks: Vec<String> = Vec::new();
    let mut rest = lines.iter();
    while let Some(line) = rest.next() {
        let Some(fence) = Fence::open(line).filter(Fence::is_json) else {
            kept.push(*line);
            continue;
        };
        let block: Vec<&str> = rest
            .by_ref()
            .take_while(|line| !fence.is_closed_by(line))
            .copied()
            .collect();
        blocks.push(block.join("\n"));
    }
    match blocks.as_slice() {
        [] => {}
        [block] => match json::block(block) {
            Ok(block) => raw.block = Some(block),
            Err(finding) => raw.findings.push(finding),
        },
        many => raw.findings.push(Finding::new(
            Code::ReportBlockAmbiguous,
            format!("there are {} fenced `json` blocks, not one", many.len()),
        )),
    }
    kept
}

fn rubric(raw: &mut Raw, section: &Section) {
    if raw.has_rubric {
        raw.findings
            .push(Finding::new(Code::RubricDuplicated, "`Rubric:` is given twice").at("rubric"));
        return;
    }
    raw.has_rubric = true;
    let mut rated: Vec<(&Dimension, String)> = Vec::new();
    let inline = Some(section.inline).filter(|inline| !inline.is_empty());
    for line in inline.into_iter().chain(section.lines.iter().copied()) {
        if line.trim().is_empty() {
            continue;
        }
        match (dimension(line), rated.last_mut()) {
            (Some((dimension, text)), _) => rated.push((dimension, text)),
            (None, Some((_, text))) => {
                text.push(' ');
                text.push_str(line.trim());
            }
            (None, None) => raw.findings.push(
                Finding::new(
                    Code::RubricInvalid,
                    "the rubric does not begin with one of its four dimensions",
                )
                .at("rubric"),
            ),
        }
    }
    for (dimension, text) in rated {
        raw.rate(dimension.key, dimension.label, &text, None);
    }
}

fn dimension(line: &str) -> Option<(&'static Dimension, String)> {
    // Under `- Rubric:` a nested list may stand four blanks in.
    let (label, value) = split_label(line.trim())?;
    DIMENSIONS
        .iter()
        .find(|dimension| dimension.label.to_lowercase() == label)
        .map(|dimension| (dimension, value.to_owned()))
}
