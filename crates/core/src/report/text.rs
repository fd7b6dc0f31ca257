//! The text form: `Label: value` lines, a value running to the next known label.
//!
//! A line indented by four blanks or more is never a label nor a fence; that is
//! how [`super::render`] writes values that hold such lines.

use super::asks::is_parting;
use super::fence::{Fence, is_indented};
use super::field::Field;
use super::passage::Passage;
use super::raw::{Raw, VERDICTS, describe_rating, show_held};
use super::table::{DIMENSIONS, Dimension, fields, has_rubric};
use super::value::{after_marker, dedent, leading_word};
use crate::diagnostic::{Code, Finding};
use crate::model::Role;
use std::collections::BTreeSet;

/// Label and value of a line, decoration off, the label in lower case with single blanks.
fn split_label(line: &str) -> Option<(String, &str)> {
    const MARKS: [char; 3] = ['*', '`', '_'];
    // Models set them for looks.
    const HYPHENS: [char; 4] = ['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}'];
    if is_indented(line) {
        return None;
    }
    let line = line.trim();
    let heading = after_hashes(line);
    let line = heading.unwrap_or(line);
    let line = after_marker(line).unwrap_or(line);
    let is_title = heading.is_some() || (line.starts_with("**") && line.ends_with("**"));
    let (head, value) = match line.split_once([':', '：']) {
        Some(pair) => pair,
        None if is_title => (line, ""),
        None => return None,
    };
    if head.len() > 200 {
        return None;
    }
    let body = head.trim_start_matches(MARKS);
    let opener = &head[..head.len() - body.len()];
    let label = body.trim_end_matches(MARKS);
    let label = label.replace(HYPHENS, "-");
    let words: Vec<&str> = label
        .split(|c: char| c.is_whitespace() || c == '?')
        .filter(|word| !word.is_empty())
        .collect();
    let closed = body.ends_with(MARKS);
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

fn find_label(role: Role, line: &str) -> Option<(Label, &str)> {
    let (label, value) = split_label(line)?;
    if has_rubric(role) && label == "rubric" {
        return Some((Label::Rubric, value));
    }
    fields(role)
        .iter()
        .find(|field| is_label_of(field, &label))
        .map(|field| (Label::Field(field), value))
}

/// `Acceptable as-is`, with its words behind it or without: no text is made for it, for each line
/// of a report is held against each field.
fn is_label_of(field: &Field, label: &str) -> bool {
    let length = field.label.len();
    let head = label.get(..length);
    head.is_some_and(|head| head.eq_ignore_ascii_case(field.label))
        && (label.len() == length || label.eq_ignore_ascii_case(&field.title()))
}

/// A heading's text.
fn after_hashes(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    (rest.len() < line.len() && rest.starts_with(' ')).then(|| rest.trim())
}

/// A label's section: where it stands, its inline value, and the lines up to the next label.
pub(super) struct Section<'a> {
    label: Label,
    inline: &'a str,
    pub start: usize,
    pub end: usize,
}

impl Section<'_> {
    /// The key of its field, or `rubric`.
    pub fn key(&self) -> &'static str {
        match self.label {
            Label::Field(field) => field.key,
            Label::Rubric => "rubric",
        }
    }

    /// A report begins here.
    pub fn is_anchor(&self) -> bool {
        self.key() == fields(Role::Reviewer)[0].key
    }
}

/// The sections of what a passage itself says.
pub(super) fn sections<'a>(role: Role, passage: &Passage<'a>) -> Vec<Section<'a>> {
    let mut sections: Vec<Section> = Vec::new();
    for (place, line) in passage.lines.iter().enumerate() {
        let Some((label, inline)) = find_label(role, line).filter(|_| !passage.inner[place]) else {
            continue;
        };
        if let Some(before) = sections.last_mut() {
            before.end = place;
        }
        sections.push(Section {
            label,
            inline,
            start: place,
            end: passage.lines.len(),
        });
    }
    sections
}

/// Where the value of a report's last field ends: at the first empty line after it that neither
/// a list item nor an indented line follows, or at a line that only Markdown or a tag can mean.
pub(super) fn find_end_of_value(passage: &Passage, section: &Section) -> usize {
    let mut has_begun = !section.inline.is_empty();
    let mut place = section.start + 1;
    while place < section.end {
        let line = passage.lines[place];
        let is_own = !passage.inner[place];
        if is_own && is_end(line) {
            break;
        }
        if !is_own || !line.trim().is_empty() {
            has_begun = true;
            place += 1;
            continue;
        }
        let rest = passage.lines[place..section.end].iter();
        let blank = rest.take_while(|line| line.trim().is_empty()).count();
        let next = place + blank;
        let is_rating = matches!(section.label, Label::Rubric)
            && next < section.end
            && rating(passage.lines[next]).is_some();
        let goes_on = next < section.end
            && !passage.inner[next]
            && (is_rating
                || passage.lines[next].starts_with(' ')
                || after_marker(passage.lines[next]).is_some());
        if has_begun && !goes_on {
            break;
        }
        place = next;
    }
    place
}

/// A rule, a heading, the end of a tag, or a fence that has no other end.
fn is_end(line: &str) -> bool {
    let text = line.trim();
    let is_rule = text.len() >= 3
        && ["-", "*", "_"]
            .iter()
            .any(|c| text.replace(c, "").is_empty());
    !is_indented(line)
        && (is_rule
            || after_hashes(text).is_some()
            || text.starts_with("</")
            || Fence::open(line).is_some())
}

/// Reads sections; `taken` are the lines of a regrounder's block, which no field holds.
pub(super) fn read(passage: &Passage, sections: &[Section], taken: &BTreeSet<usize>) -> Raw {
    let mut raw = Raw::default();
    if !sections.first().is_some_and(Section::is_anchor) {
        raw.findings.push(Finding::new(
            Code::HeaderMissing,
            "`MISSION ANCHOR: …` does not stand before the other fields",
        ));
    }
    for (place, section) in sections.iter().enumerate() {
        let is_last = place + 1 == sections.len();
        let lines = (section.start + 1..section.end)
            .filter(|place| !taken.contains(place))
            .map(|place| passage.lines[place]);
        match section.label {
            Label::Field(field) => {
                let mut below: Vec<&str> = lines.collect();
                // What is said in parting, right below the last field, is none of it.
                while is_last && below.last().is_some_and(|line| is_parting(line)) {
                    below.pop();
                }
                let below = dedent(&below.join("\n"));
                match section.inline {
                    "" => raw.put(field, &below),
                    inline => raw.put(field, &format!("{inline}\n{below}")),
                }
            }
            Label::Rubric => rubric(&mut raw, section.inline, lines),
        }
    }
    raw
}

fn rubric<'a>(raw: &mut Raw, inline: &'a str, lines: impl Iterator<Item = &'a str>) {
    if raw.has_rubric {
        raw.findings
            .push(Finding::new(Code::RubricDuplicated, "`Rubric:` is given twice").at("rubric"));
        return;
    }
    raw.has_rubric = true;
    let mut rated: Vec<(&Dimension, String)> = Vec::new();
    let mut indent = usize::MAX;
    let mut is_refused = false;
    for line in std::iter::once(inline).chain(lines) {
        if line.trim().is_empty() {
            continue;
        }
        let blanks = line.len() - line.trim_start().len();
        // An item beside the four is a fifth; one further in belongs to the reason above it, unless
        // it fails something.
        let rates = rating(line).map(|(_, value)| leading_word(value, &["fail"]).is_some());
        let is_item = after_marker(line.trim_start()).is_some();
        let is_beside = blanks <= indent && (is_item || rates.is_some());
        match (dimension(line), rated.last_mut()) {
            (Some((dimension, text)), _) => {
                indent = indent.min(blanks);
                rated.push((dimension, text));
            }
            (None, Some(_)) if is_beside || rates == Some(true) => raw.findings.push(
                Finding::new(
                    Code::RubricInvalid,
                    format!(
                        "unknown dimension; it holds {}; the four are {}; it must hold {}",
                        show_held(line),
                        DIMENSIONS.map(|dimension| dimension.label).join(", "),
                        describe_rating(DIMENSIONS[0].label)
                    ),
                )
                .at("rubric"),
            ),
            (None, Some((_, text))) => {
                text.push(' ');
                text.push_str(line.trim());
            }
            (None, None) if is_refused => {}
            (None, None) => {
                is_refused = true;
                let message = format!(
                    "the rubric does not begin with one of its four dimensions; it holds {}; it must hold {}",
                    show_held(line),
                    describe_rating(DIMENSIONS[0].label)
                );
                raw.findings
                    .push(Finding::new(Code::RubricInvalid, message).at("rubric"));
            }
        }
    }
    for (dimension, text) in rated {
        raw.rate(dimension.key, dimension.label, &text, None);
    }
}

/// A line that rates something: its label in lower case, and the verdict with its reason.
pub(super) fn rating(line: &str) -> Option<(String, &str)> {
    let (label, value) = split_label(line.trim())?;
    leading_word(value, &VERDICTS)?;
    Some((label, value))
}

fn dimension(line: &str) -> Option<(&'static Dimension, String)> {
    // Under `- Rubric:` a nested list may stand four blanks in.
    let (label, value) = split_label(line.trim())?;
    DIMENSIONS
        .iter()
        .find(|dimension| dimension.label.to_lowercase() == label)
        .map(|dimension| (dimension, value.to_owned()))
}
