//! A report's block: JSON that stands beside its fields, however it is wrapped. What could be one
//! is read or refused; none is passed over.

use super::block::keys;
use super::fence::Fence;
use super::json;
use super::offer;
use super::passage::{Part, Passage, Wrapping};
use super::raw::Raw;
use super::table::fields;
use super::text::{self, Section};
use crate::diagnostic::{Code, Finding};
use crate::model::Role;
use crate::schema::find_json;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;

/// How deep fences and quotes are looked into.
const MAX_DEPTH: usize = 4;
/// So many fields of a role are a report, though a broken one.
const ATTEMPT: usize = 3;
/// A line above a block that names it is at most so long.
const MAX_TITLE: usize = 60;

/// Blocks, and the lines that they stand on.
#[derive(Default)]
pub(super) struct Blocks {
    pub texts: Vec<String>,
    pub lines: BTreeSet<usize>,
}

impl Blocks {
    fn add(&mut self, passage: &Passage, text: String, lines: Range<usize>) {
        self.texts.push(text);
        self.lines.extend(widen(passage, lines));
    }
}

/// The blocks of a report's lines: fences that are marked as JSON; else, from `end` on, fences
/// without a mark; else objects without a fence. What else there could be one counts beside them.
pub(super) fn find(passage: &Passage, range: Range<usize>, end: usize) -> Blocks {
    let mut blocks = find_marked(passage, range.clone(), end);
    let mut loose = Blocks::default();
    collect(
        Role::Regrounder,
        passage,
        range.clone(),
        &blocks.lines,
        MAX_DEPTH,
        &mut loose,
    );
    if blocks.texts.is_empty() && loose.texts.is_empty() {
        find_wrapped(passage, end..range.end, MAX_DEPTH, &mut loose);
    }
    blocks.texts.append(&mut loose.texts);
    blocks.lines.append(&mut loose.lines);
    blocks
}

/// What an implementer's report offers as proof.
pub(super) fn find_offers(passage: &Passage, range: Range<usize>) -> Blocks {
    let mut blocks = Blocks::default();
    collect(
        Role::Implementer,
        passage,
        range,
        &BTreeSet::new(),
        MAX_DEPTH,
        &mut blocks,
    );
    blocks
}

/// What stands where a block is looked for first.
pub(super) fn find_marked(passage: &Passage, range: Range<usize>, end: usize) -> Blocks {
    let from = passage
        .parts
        .partition_point(|part| part.start < range.start);
    let within = |part: &&Part| part.start < range.end;
    let parts = || passage.parts[from..].iter().take_while(within);
    let text = |part: &Part| passage.inside(part).join("\n");
    let fence = |part: &Part, is: fn(&Fence) -> bool| part.fence().is_some_and(is);
    let marked: Vec<&Part> = parts().filter(|part| fence(part, Fence::is_json)).collect();
    let is_object = |part: &&Part| {
        let bare = part.start >= end && fence(part, Fence::is_bare);
        bare && text(part).trim_start().starts_with('{')
    };
    let found = match marked.is_empty() {
        true => parts().filter(is_object).collect(),
        false => marked,
    };
    let mut blocks = Blocks::default();
    for part in &found {
        blocks.add(passage, text(part), part.start..part.end);
    }
    if found.is_empty() {
        let own = Own::of(passage, end..range.end, &BTreeSet::new());
        let objects = find_json(&own.text).into_iter();
        let objects = objects.filter(|text| text.starts_with('{') && !own.is_hidden(text));
        blocks.texts = objects.map(str::to_owned).collect();
    }
    blocks
}

/// Objects in fences and quotes of any kind, for where nothing else could be the block.
fn find_wrapped(passage: &Passage, range: Range<usize>, depth: usize, blocks: &mut Blocks) {
    for part in parts_in(passage, &range) {
        let lines = passage.inside(part);
        let text = lines.join("\n");
        if text.trim_start().starts_with('{') {
            blocks.add(passage, text, part.start..part.end);
        } else if depth > 0 {
            let inside = Passage::new(lines, None);
            let mut within = Blocks::default();
            find_wrapped(&inside, 0..inside.lines.len(), depth - 1, &mut within);
            for text in within.texts {
                blocks.add(passage, text, part.start..part.end);
            }
        }
    }
}

/// Fences and quotes of these lines; a comment is neither.
fn parts_in<'a>(passage: &'a Passage, range: &Range<usize>) -> impl Iterator<Item = &'a Part> {
    let place = |line: usize| passage.parts.partition_point(|part| part.start < line);
    let (from, to) = (place(range.start), place(range.end));
    let parts = passage.parts[from..to.max(from)].iter();
    parts.filter(|part| part.wrapping != Wrapping::Comment)
}

/// Takes up every object of these lines that names what only a block does, but for `taken` ones.
fn collect(
    role: Role,
    passage: &Passage,
    range: Range<usize>,
    taken: &BTreeSet<usize>,
    depth: usize,
    blocks: &mut Blocks,
) {
    let own = Own::of(passage, range.clone(), taken);
    for object in objects_of(role, &own.text) {
        if !own.is_hidden(object) {
            blocks.add(passage, object.to_owned(), own.lines_of(object));
        }
    }
    let parts = parts_in(passage, &range);
    for part in parts.filter(|part| depth > 0 && !taken.contains(&part.start)) {
        for text in find_outside_reports(role, passage.inside(part), depth - 1) {
            blocks.add(passage, text, part.start..part.end);
        }
    }
}

/// The blocks that no report of these lines has.
fn find_outside_reports(role: Role, lines: Vec<&str>, depth: usize) -> Vec<String> {
    let passage = Passage::new(lines, None);
    let mut sections = text::sections(role, &passage);
    let mut end = passage.lines.len();
    for report in sections.chunk_by_mut(|_, next| !next.is_anchor()) {
        let labels: BTreeSet<&str> = report.iter().map(Section::key).collect();
        if report[0].is_anchor() && labels.len() >= ATTEMPT {
            end = report[0].start;
            break;
        }
    }
    let mut blocks = Blocks::default();
    collect(role, &passage, 0..end, &BTreeSet::new(), depth, &mut blocks);
    blocks.texts
}

/// The blocks that stand in comments.
fn find_in_comments(role: Role, lines: Vec<&str>, depth: usize) -> Vec<String> {
    let passage = Passage::new(lines, None);
    let own = Own::of(&passage, 0..passage.lines.len(), &BTreeSet::new());
    let objects = objects_of(role, &own.text).into_iter();
    let hidden = objects.filter(|object| own.is_hidden(object));
    let mut texts: Vec<String> = hidden.map(str::to_owned).collect();
    for part in passage.parts.iter().filter(|_| depth > 0) {
        let lines = passage.inside(part);
        texts.extend(match part.wrapping {
            Wrapping::Comment => find_outside_reports(role, lines, depth - 1),
            _ => find_in_comments(role, lines, depth - 1),
        });
    }
    texts
}

/// Gives a report the block that stands outside of it, and refuses it for one that says something
/// else.
pub(super) fn settle(role: Role, lines: &[&str], raw: &mut Raw) {
    let is_lost = |finding: &Finding| {
        matches!(
            finding.code,
            Code::ReportBlockInvalid | Code::ReportBlockAmbiguous
        )
    };
    let has_one = matches!(role, Role::Regrounder | Role::Implementer);
    if !has_one || raw.unreadable || raw.findings.iter().any(is_lost) {
        return;
    }
    let outside = find_outside_reports(role, lines.to_vec(), MAX_DEPTH);
    let mut one = raw.clone();
    put(role, &mut one, &outside);
    let is_bare = raw.block.is_none() && raw.offered.is_empty();
    if is_bare {
        *raw = one;
    } else if !outside.is_empty() && !is_equal(&one, raw) {
        let message = "a JSON block stands once more outside the report, and says something else";
        raw.findings
            .push(Finding::new(Code::ReportBlockAmbiguous, message).at("block"));
        return;
    }
    let hidden = find_in_comments(role, lines.to_vec(), MAX_DEPTH);
    let mut one = raw.clone();
    put(role, &mut one, &hidden);
    if !hidden.is_empty() && !is_equal(&one, raw) {
        let (code, message) = match raw.block.is_none() && raw.offered.is_empty() {
            true => (
                Code::ReportBlockMissing,
                "the JSON block stands in a comment (`<!-- … -->`), which says nothing",
            ),
            false => (
                Code::ReportBlockAmbiguous,
                "a comment (`<!-- … -->`) holds another JSON block",
            ),
        };
        raw.findings.push(Finding::new(code, message).at("block"));
    }
}

fn is_equal(one: &Raw, other: &Raw) -> bool {
    one.block == other.block && one.offered == other.offered && one.findings == other.findings
}

/// Reads the one block of several equal ones.
pub(super) fn put(role: Role, raw: &mut Raw, texts: &[String]) {
    match role {
        Role::Implementer => {
            raw.offered = read_one(texts, offer::read, &mut raw.findings).unwrap_or_default();
        }
        _ => raw.block = read_one(texts, json::block, &mut raw.findings),
    }
}

fn read_one<T: PartialEq>(
    texts: &[String],
    read: impl Fn(&str) -> Result<T, Finding>,
    findings: &mut Vec<Finding>,
) -> Option<T> {
    let mut read: Vec<Result<T, Finding>> = texts.iter().map(|text| read(text)).collect();
    let (first, rest) = read.split_first()?;
    if rest.iter().any(|other| other != first) {
        let message = format!("there are {} JSON blocks, not all equal", read.len());
        findings.push(Finding::new(Code::ReportBlockAmbiguous, message).at("block"));
        return None;
    }
    match read.swap_remove(0) {
        Ok(block) => Some(block),
        Err(finding) => {
            findings.push(finding);
            None
        }
    }
}

/// The words that a passage says itself on some lines.
struct Own {
    text: String,
    /// Where each line begins in the text, and which it is.
    starts: Vec<(usize, usize)>,
    /// Its comments.
    hidden: Vec<Range<usize>>,
}

impl Own {
    fn of(passage: &Passage, range: Range<usize>, taken: &BTreeSet<usize>) -> Self {
        let mut own = Self {
            text: String::new(),
            starts: Vec::new(),
            hidden: Vec::new(),
        };
        for place in range {
            if !passage.inner[place] && !taken.contains(&place) {
                own.starts.push((own.text.len(), place));
                own.text.push_str(passage.lines[place]);
                own.text.push('\n');
            }
        }
        own.hidden = find_comments(&own.text);
        own
    }

    fn offset(&self, object: &str) -> usize {
        (object.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    /// It stands in a comment.
    fn is_hidden(&self, object: &str) -> bool {
        let start = self.offset(object);
        let before = self.hidden.partition_point(|hidden| hidden.start <= start);
        before > 0 && self.hidden[before - 1].contains(&start)
    }

    /// The lines that hold nothing but the object; none where words stand beside it.
    fn lines_of(&self, object: &str) -> Range<usize> {
        let (start, end) = (self.offset(object), self.offset(object) + object.len());
        let line = |offset: usize| {
            let after = self.starts.partition_point(|(start, _)| *start <= offset);
            self.starts[after.saturating_sub(1)]
        };
        let (begin, first) = line(start);
        let (_, last) = line(end.saturating_sub(1));
        let after = self.text[end..].split('\n').next().unwrap_or_default();
        let is_alone = self.text[begin..start].trim().is_empty() && after.trim().is_empty();
        match is_alone {
            true => first..last + 1,
            false => first..first,
        }
    }
}

/// Comments within lines of a text; one without an end goes on to the end of its line.
fn find_comments(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("<!--").map(|place| at + place) {
        let line = &text[start..];
        let line = &line[..line.find('\n').unwrap_or(line.len())];
        at = start + line.find("-->").unwrap_or(line.len());
        found.push(start..at);
    }
    found
}

/// The objects of a text that name what only a block does, and those that begin so and are broken.
fn objects_of(role: Role, text: &str) -> Vec<&str> {
    let values = find_json(text);
    let names = names_of(role);
    let mut found = Vec::new();
    let mut at = 0;
    for value in values {
        let start = value.as_ptr() as usize - text.as_ptr() as usize;
        if let Some(broken) = find_broken(role, &names, text, at..start) {
            found.push(broken);
            return found;
        }
        found.extend(blocks_of(role, &names, value, MAX_DEPTH));
        at = start + value.len();
    }
    found.extend(find_broken(role, &names, text, at..text.len()));
    found
}

fn blocks_of<'a>(role: Role, names: &[&str], value: &'a str, depth: usize) -> Vec<&'a str> {
    let read = serde_json::from_str(value).unwrap_or_default();
    let goes_on = match &read {
        Value::Object(map) if map.contains_key(fields(role)[0].key) => return Vec::new(),
        Value::Object(_) if is_block(role, names, &read) => return vec![value],
        Value::Object(map) => map.get("block").is_some_and(Value::is_object),
        Value::Array(_) => true,
        _ => false,
    };
    match goes_on && depth > 0 {
        true => find_json(&value[1..])
            .into_iter()
            .flat_map(|inner| blocks_of(role, names, inner, depth - 1))
            .collect(),
        false => Vec::new(),
    }
}

fn is_block(role: Role, names: &[&str], object: &Value) -> bool {
    match role {
        Role::Implementer => object.get("evidence").is_some_and(Value::is_array),
        _ => names.iter().any(|key| object.get(*key).is_some()),
    }
}

/// What only a block has.
fn names_of(role: Role) -> Vec<&'static str> {
    match role {
        Role::Implementer => vec!["evidence"],
        _ => keys()
            .into_iter()
            .chain(["plan_basis", "candidate_slices"])
            .collect(),
    }
}

/// A brace at the beginning of a line with such a name behind it, though what follows is no JSON.
fn find_broken<'a>(
    role: Role,
    names: &[&str],
    text: &'a str,
    range: Range<usize>,
) -> Option<&'a str> {
    const QUOTES: [char; 7] = ['"', '\'', '“', '”', '‘', '’', '`'];
    let mut braces = text[range.clone()].match_indices('{');
    let found = braces.find(|(place, _)| {
        let start = range.start + place;
        let before = text[..start].trim_end_matches([' ', '\t']);
        let after = text[start + 1..].trim_start().trim_start_matches(QUOTES);
        let end = after
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(after.len());
        let value = after[end..].trim_start_matches(QUOTES).trim_start();
        let value = value.strip_prefix(':').map(str::trim_start);
        let is_list = role != Role::Implementer || value.is_some_and(|it| it.starts_with('['));
        (before.is_empty() || before.ends_with('\n'))
            && value.is_some()
            && is_list
            && names.contains(&&after[..end])
    });
    found.map(|(place, _)| text[range.start + place..].trim_end())
}

/// The lines of a block with the marks of a fence that is no fence where it stands, and with the
/// line above that names it.
fn widen(passage: &Passage, lines: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = lines;
    if start == end {
        return start..end;
    }
    let is_mark = |line: &str| {
        let line = line.trim();
        line.starts_with("```") || line.starts_with("~~~")
    };
    let is_title = |line: &str| {
        let marks = |c: char| !c.is_alphanumeric();
        let named = line
            .trim_end()
            .trim_end_matches(['*', '_', '`', ' '])
            .ends_with(':')
            || line.trim_start().starts_with(['#', '*', '_']);
        let words = line.trim_matches(marks).to_lowercase();
        let is_one = ["json", "block"]
            .iter()
            .any(|word| words.split(marks).any(|it| it == *word));
        named && is_one && words.len() <= MAX_TITLE
    };
    let above = |start: usize| start.checked_sub(1).map(|line| passage.lines[line]);
    if above(start).is_some_and(is_mark) && passage.lines.get(end).is_some_and(|it| is_mark(it)) {
        (start, end) = (start - 1, end + 1);
    }
    if above(start).is_some_and(is_title) {
        start -= 1;
    }
    start..end
}
