//! What an answer says of a report: in lines and in JSON objects, anywhere in it. Fences and quotes
//! set nothing apart. The last whole report counts, and whatever else says otherwise refuses it.

use super::block::{self, Block};
use super::draft::Draft;
use super::table::has_block;
use super::value::dedent;
use super::{lines, object};
use crate::diagnostic::{Code, Finding};
use crate::model::Role;
use crate::schema::{find_json, without_thoughts};
use serde_json::{Deserializer, Value};
use std::ops::Range;

/// How deep lists and objects around a report or a block are looked into.
const MAX_DEPTH: usize = 4;

/// Reads the report that an answer holds.
pub(super) fn read(role: Role, text: &str) -> Draft {
    let spoken = without_thoughts(text);
    let mut draft = match spoken.unended {
        Some(_) => tell_missing(role),
        None => read_spoken(role, &unquote(&spoken.text)),
    };
    draft.left_out = match (&spoken.unended, &spoken.ended) {
        (Some((tag, line)), _) => Some(format!(
            "the thoughts that begin on line {line} with `{tag}` never end, so the answer is cut off"
        )),
        (None, Some((tag, line))) => Some(format!(
            "what stands before `{tag}` on line {line} is thought, and no part of the answer"
        )),
        (None, None) => None,
    };
    draft
}

fn tell_missing(role: Role) -> Draft {
    let message = format!("no line `MISSION ANCHOR: …` is there that the fields of {role} follow");
    Draft::unreadable(Finding::new(Code::HeaderMissing, message))
}

/// The text without the indentation that all its lines share, and without the marks of quotes.
fn unquote(text: &str) -> String {
    let text = dedent(text);
    let lines: Vec<&str> = text.lines().map(without_quote).collect();
    lines.join("\n")
}

fn without_quote(line: &str) -> &str {
    let mut rest = line;
    while let Some(inner) = rest.trim_start().strip_prefix('>')
        && !rest.starts_with("    ")
    {
        rest = inner.strip_prefix(' ').unwrap_or(inner);
    }
    rest
}

fn read_spoken(role: Role, text: &str) -> Draft {
    let parts = find_parts(role, text);
    let plain = blank_out(text, &parts);
    let (mut drafts, labels) = lines::read(role, &plain);
    let places = parts.iter().map(|part| part.place.start).chain(labels);
    if stand_in_comments(text, places) {
        let message = "a comment (`<!-- … -->`) holds a part of a report, and nobody sees it there";
        return Draft::unreadable(Finding::new(Code::ReportAmbiguous, message));
    }
    let broken = find_broken(role, &plain);
    let reports = parts.iter().filter(|part| !part.is_block);
    drafts.extend(reports.map(|part| object::read(role, &text[part.place.clone()])));
    let blocks = parts.iter().filter(|part| part.is_block);
    let mut blocks: Vec<_> = blocks
        .map(|part| block::read(role, &text[part.place.clone()]))
        .collect();
    blocks.extend(
        drafts
            .iter_mut()
            .filter_map(|draft| draft.block.take().map(Ok)),
    );
    let mut draft = choose(role, drafts)
        .or_else(|| broken.clone().map(Draft::unreadable))
        .unwrap_or_else(|| tell_missing(role));
    broken.into_iter().for_each(|broken| draft.refuse(broken));
    settle_block(&mut draft, blocks);
    draft
}

/// The last whole report, or else the fullest; what the others say otherwise refuses it.
fn choose(role: Role, mut drafts: Vec<Draft>) -> Option<Draft> {
    let rank = |draft: &Draft| (draft.is_whole(role), draft.unreadable, draft.fields.len());
    let ranked = drafts.iter().enumerate();
    let (place, _) = ranked.max_by_key(|(place, draft)| (rank(draft), *place))?;
    let mut draft = drafts.remove(place);
    for other in &drafts {
        draft.hold_against(role, other);
    }
    Some(draft)
}

/// Equal blocks are one.
fn settle_block(draft: &mut Draft, blocks: Vec<Result<Block, Finding>>) {
    let count = blocks.len();
    let mut read = Vec::new();
    for block in blocks {
        match block {
            Ok(block) => read.push(block),
            Err(finding) => draft.refuse(finding),
        }
    }
    if read.windows(2).any(|pair| pair[0] != pair[1]) {
        let message = format!("there are {count} JSON blocks, not all equal");
        draft.refuse(Finding::new(Code::ReportBlockAmbiguous, message).at("block"));
    } else {
        draft.block = read.pop();
    }
}

/// An object of the answer that says something of a report.
struct Part {
    place: Range<usize>,
    is_block: bool,
}

fn find_parts(role: Role, text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let values = find_json(text);
    for value in &values {
        collect(role, text, value, MAX_DEPTH, &mut parts);
    }
    // What stands alone where a block must be is one, whatever it names.
    if has_block(role) && !parts.iter().any(|part| part.is_block) {
        let is_taken = |at: &Range<usize>| parts.iter().any(|part| at.contains(&part.place.start));
        let objects = values.iter().filter(|value| value.starts_with('{'));
        let alone = objects.filter(|object| stands_alone(text, object));
        let mut places = alone.map(|object| place_in(text, object));
        let place = places.rfind(|place| !is_taken(place));
        parts.extend(place.map(|place| Part {
            place,
            is_block: true,
        }));
    }
    parts
}

/// Adds an object, or what it holds within, where that names what a report or a block does.
fn collect(role: Role, text: &str, value: &str, depth: usize, parts: &mut Vec<Part>) {
    let place = place_in(text, value);
    let read = serde_json::from_str(value).unwrap_or_default();
    let names = |known: fn(Role, &str) -> bool| match &read {
        Value::Object(map) => map.keys().any(|key| known(role, key)),
        _ => false,
    };
    let is_block = match role {
        Role::Implementer => read.get("evidence").is_some_and(Value::is_array),
        _ => names(block::has_key) || has_block(role) && value == "{}" && stands_alone(text, value),
    };
    if names(object::has_key) || is_block {
        let is_block = !names(object::has_key);
        parts.push(Part { place, is_block });
    } else if depth > 0 {
        for inner in find_json(&value[1..]) {
            collect(role, text, inner, depth - 1, parts);
        }
    }
}

/// Where a piece of a text stands in it.
fn place_in(text: &str, piece: &str) -> Range<usize> {
    let start = piece.as_ptr() as usize - text.as_ptr() as usize;
    start..start + piece.len()
}

/// Nothing else stands on its lines, and they are not set in by four blanks, which quotes.
fn stands_alone(text: &str, piece: &str) -> bool {
    let Range { start, end } = place_in(text, piece);
    let before = text[..start].rsplit('\n').next();
    let after = text[end..].split('\n').next();
    let is_blank = |text: Option<&str>| text.is_none_or(|text| text.trim().is_empty());
    is_blank(before) && is_blank(after) && before.is_none_or(|blanks| blanks.len() < 4)
}

/// The text with blanks where its parts stand: every other word keeps its place.
fn blank_out(text: &str, parts: &[Part]) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts: Vec<&Range<usize>> = parts.iter().map(|part| &part.place).collect();
    parts.sort_by_key(|place| place.start);
    let mut at = 0;
    for place in parts {
        plain.push_str(&text[at..place.start]);
        let blank = text[place.clone()].bytes();
        plain.extend(blank.map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        at = place.end;
    }
    plain.push_str(&text[at..]);
    plain
}

/// One of these places is within a comment.
fn stand_in_comments(text: &str, mut places: impl Iterator<Item = usize>) -> bool {
    let mut comments: Vec<Range<usize>> = Vec::new();
    for (start, _) in text.match_indices("<!--") {
        let line = text[..start].rsplit('\n').next().unwrap_or_default();
        let is_code = line.matches('`').count() % 2 == 1;
        if is_code || comments.last().is_some_and(|last| last.end > start) {
            continue;
        }
        let end = text[start..].find("-->").map(|end| start + end);
        let end = end.or_else(|| line.trim().is_empty().then_some(text.len()));
        comments.extend(end.map(|end| start..end));
    }
    let is_within = |place: usize| {
        let after = comments.partition_point(|comment| comment.start <= place);
        after > 0 && comments[after - 1].contains(&place)
    };
    places.any(is_within)
}

/// What is wrong with JSON that begins like a report or a block, with a brace at the beginning of a
/// line and a name behind it: none is passed over.
fn find_broken(role: Role, text: &str) -> Option<Finding> {
    const QUOTES: [char; 7] = ['"', '\'', '“', '”', '‘', '’', '`'];
    for (start, _) in text.match_indices('{') {
        let before = text[..start].trim_end_matches(' ');
        let after = text[start + 1..].trim_start().trim_start_matches(QUOTES);
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (key, rest) = after.split_at(end.unwrap_or(after.len()));
        let rest = rest.trim_start_matches(QUOTES).trim_start();
        let is_report = object::has_key(role, key);
        let is_named = is_report || block::has_key(role, key);
        let indent = start - before.len();
        let begins = indent < 4 && (before.is_empty() || before.ends_with('\n'));
        let begins = begins && rest.starts_with(':');
        if !begins || !is_named {
            continue;
        }
        let mut values = Deserializer::from_str(&text[start..]).into_iter::<Value>();
        if values.next().is_none_or(|value| value.is_err()) {
            let broken = text[start..].trim_end();
            return match is_report {
                true => object::read(role, broken).findings.pop(),
                false => block::read(role, broken).err(),
            };
        }
    }
    None
}
