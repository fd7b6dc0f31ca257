//! The text form: `Label: value` lines, a value running to the next known label.
//!
//! A line indented by four blanks or more is never a label nor a fence; that is
//! how [`super::render`] writes values that hold such lines.

use super::draft::{Draft, VERDICTS, describe_rating};
use super::table::{ANCHOR, DIMENSIONS, Dimension, Field, fields, has_block, has_rubric};
use super::value::{after_marker, dedent, show_held, word};
use crate::diagnostic::{Code, Finding};
use crate::model::Role;
use std::collections::BTreeSet;
use std::ops::Range;

/// What a line begins.
#[derive(Clone, Copy)]
enum Label {
    Field(&'static Field),
    Rating(&'static Dimension),
    /// A title above the ratings, or above the JSON block.
    Title,
}

/// A label's section: its inline value, and the lines below it up to the next label.
struct Section<'a> {
    label: Label,
    line: &'a str,
    inline: &'a str,
    below: Range<usize>,
}

impl Section<'_> {
    fn is_anchor(&self) -> bool {
        matches!(self.label, Label::Field(field) if field.key == ANCHOR)
    }
}

/// What the lines of an answer say of a report, and where each label of it stands: one draft for
/// each line with the mission anchor, and one for what stands before the first.
pub(super) fn read(role: Role, text: &str) -> (Vec<Draft>, Vec<usize>) {
    let lines: Vec<&str> = text.lines().collect();
    let fenced = find_fenced(&lines);
    let mut sections = list_sections(role, &lines);
    let offset = |section: &Section| section.line.as_ptr() as usize - text.as_ptr() as usize;
    let places = sections.iter().map(offset).collect();
    let runs = sections.chunk_by_mut(|_, next| !next.is_anchor());
    (
        runs.map(|run| read_run(role, &lines, &fenced, run))
            .collect(),
        places,
    )
}

fn list_sections<'a>(role: Role, lines: &[&'a str]) -> Vec<Section<'a>> {
    let mut sections: Vec<Section> = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        // Below `- Rubric:` a nested list may stand four blanks in.
        let in_rubric = matches!(
            sections.last().map(|section| section.label),
            Some(Label::Rating(_) | Label::Title)
        );
        let Some((label, inline)) = find_label(role, line, in_rubric) else {
            continue;
        };
        if let Some(before) = sections.last_mut() {
            before.below.end = place;
        }
        sections.push(Section {
            label,
            line,
            inline,
            below: place + 1..lines.len(),
        });
    }
    sections
}

/// By line: it stands in a fence that began above it.
fn find_fenced(lines: &[&str]) -> Vec<bool> {
    let mut is_open = false;
    let fenced = lines.iter().map(|line| {
        let was_open = is_open;
        is_open ^= is_fence(line);
        was_open
    });
    fenced.collect()
}

fn read_run(role: Role, lines: &[&str], fenced: &[bool], run: &mut [Section]) -> Draft {
    let mut draft = Draft::default();
    let required = fields(role).iter().filter(|field| field.required);
    let mut missing: BTreeSet<&str> = required.map(|field| field.key).collect();
    let last = run.len().saturating_sub(1);
    for (place, section) in run.iter_mut().enumerate() {
        if let Label::Field(field) = section.label {
            missing.remove(field.key);
        }
        // Once every field is there, what follows a value need not belong to it.
        if place == last || missing.is_empty() {
            section.below.end = find_end(lines, fenced, section);
        }
        let below: Vec<&str> = lines[section.below.clone()].to_vec();
        match section.label {
            Label::Field(field) => {
                let kept: Vec<&str> = below.into_iter().filter(|line| !is_fence(line)).collect();
                let below = dedent(&kept.join("\n"));
                draft.put(field, &format!("{}\n{below}", section.inline));
            }
            Label::Rating(dimension) => rate(&mut draft, dimension, section, &below),
            Label::Title => refuse_words(&mut draft, role, section, &below),
        }
    }
    draft
}

/// Where the value ends that the next label does not: at the first empty line after it that neither
/// a list item nor an indented line follows, at a line that only Markdown or a tag can mean, or at the
/// end of a fence that began above it. A fence of its own with words in it belongs to it, but for JSON.
fn find_end(lines: &[&str], fenced: &[bool], section: &Section) -> usize {
    let mut has_begun = !section.inline.is_empty();
    let Range { start, end } = section.below;
    let is_outer = fenced[start.saturating_sub(1)];
    let mut place = start;
    while place < end {
        let is_own = fenced[place] != is_outer;
        let is_bare = lines
            .get(place + 1)
            .is_none_or(|next| next.trim().is_empty());
        let is_other = is_outer || is_bare || lines[place].contains("json");
        let ends = is_fence(lines[place]) && !is_own && is_other;
        if ends || !is_own && is_end(lines[place]) {
            break;
        }
        if is_own || !lines[place].trim().is_empty() {
            has_begun = true;
            place += 1;
            continue;
        }
        let rest = lines[place..end].iter();
        let next = place + rest.take_while(|line| line.trim().is_empty()).count();
        let goes_on = lines[next..end]
            .first()
            .is_some_and(|line| line.starts_with(' ') || after_marker(line).is_some());
        if has_begun && !goes_on {
            break;
        }
        place = next;
    }
    place
}

fn is_indented(line: &str) -> bool {
    line.starts_with("    ")
}

fn is_fence(line: &str) -> bool {
    let text = line.trim_start();
    !is_indented(line) && (text.starts_with("```") || text.starts_with("~~~"))
}

/// A rule, a heading or the end of a tag.
fn is_end(line: &str) -> bool {
    let text = line.trim();
    let is_rule = text.len() >= 3
        && ["-", "*", "_"]
            .iter()
            .any(|mark| text.replace(mark, "").is_empty());
    let is_mark = is_rule || after_hashes(text).is_some() || text.starts_with("</");
    !is_indented(line) && is_mark
}

/// A rating goes on below its line; what stands beside it there must not be a fifth.
fn rate(draft: &mut Draft, dimension: &'static Dimension, section: &Section, below: &[&str]) {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(section.line);
    let mut text = section.inline.to_owned();
    for line in below {
        let is_item = after_marker(line.trim_start()).is_some() && indent(line) <= own;
        let rates = split_label(line.trim()).is_some_and(|(_, value)| is_rating(value));
        match is_item || rates {
            true => draft.refuse(refuse_line(
                "a line of the rubric is none of the four dimensions",
                line,
            )),
            false if is_fence(line) => {}
            false => {
                text.push(' ');
                text.push_str(line.trim());
            }
        }
    }
    draft.rate(dimension, &text);
}

/// The value begins with a word of the rubric.
fn is_rating(value: &str) -> bool {
    let end = value.find(|c: char| !c.is_alphanumeric() && !"*`_".contains(c));
    word(&value[..end.unwrap_or(value.len())], &VERDICTS).is_some()
}

/// Nothing but ratings stands below `Rubric:`.
fn refuse_words(draft: &mut Draft, role: Role, section: &Section, below: &[&str]) {
    let mut lines = std::iter::once(&section.inline).chain(below);
    let first = lines.find(|line| !line.trim().is_empty() && !is_fence(line));
    if let Some(line) = first.filter(|_| has_rubric(role)) {
        let what = "the rubric does not begin with one of its four dimensions";
        draft.refuse(refuse_line(what, line));
    }
}

fn refuse_line(what: &str, line: &str) -> Finding {
    let labels = DIMENSIONS.map(|dimension| dimension.label).join(", ");
    let message = format!(
        "{what}, which are {labels}; it holds {}; it must hold {}",
        show_held(line),
        describe_rating(DIMENSIONS[0].label)
    );
    Finding::new(Code::RubricInvalid, message).at("rubric")
}

fn find_label(role: Role, line: &str, in_rubric: bool) -> Option<(Label, &str)> {
    if is_indented(line) && !in_rubric {
        return None;
    }
    let (label, value) = split_label(line.trim())?;
    let mut dimensions = DIMENSIONS.iter();
    let rated = dimensions.find(|dimension| dimension.label.eq_ignore_ascii_case(&label));
    match rated {
        Some(dimension) if has_rubric(role) => return Some((Label::Rating(dimension), value)),
        _ if is_indented(line) => return None,
        _ => {}
    }
    let is_title = match label.to_lowercase().as_str() {
        "rubric" => has_rubric(role),
        "block" => has_block(role) && value.is_empty(),
        _ => false,
    };
    if is_title {
        return Some((Label::Title, value));
    }
    let mut known = fields(role).iter();
    let field = known.find(|field| is_label_of(field, &label))?;
    Some((Label::Field(field), value))
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

/// Label and value of a line, their decoration off, the label with single blanks.
fn split_label(line: &str) -> Option<(String, &str)> {
    const MARKS: [char; 3] = ['*', '`', '_'];
    // Models set them for looks.
    const HYPHENS: [char; 4] = ['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}'];
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
    let label = body.trim_end_matches(MARKS).replace(HYPHENS, "-");
    let words = label.split(|c: char| c.is_whitespace() || c == '?');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let value = value.trim();
    // What opens before the label closes in it, behind the colon, or behind the value.
    let closer: String = opener.chars().rev().collect();
    let value = match value.strip_prefix(closer.as_str()) {
        _ if opener.is_empty() || body.ends_with(MARKS) => value,
        Some(rest) => rest.trim(),
        None => value.strip_suffix(closer.as_str()).unwrap_or(value).trim(),
    };
    Some((words.join(" "), value))
}
