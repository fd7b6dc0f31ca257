//! Reads the report in an answer, as lines and as JSON objects, anywhere in it, also in fences and quotes. The
//! last whole report counts, and anything in the answer that contradicts it refuses it.

use super::block;
use super::block::{Block, refuse, refuse_text};
use super::draft::{Draft, VERDICTS, describe_rating};
use super::table::{ANCHOR, DIMENSIONS, Dimension, Field, Kind, fields, has_block, has_rubric};
use super::value::{after_marker, dedent, show_held, word};
use crate::prelude::*;
use crate::schema;
use crate::schema::{find_json, without_thoughts};
use serde_json::{Deserializer, Map, Value};
use std::ops::Range;

/// Maximum depth to which lists and objects around a report or a block are searched.
const MAX_DEPTH: usize = 4;

/// Reads the report in an answer.
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
    Draft::unreadable(finding!(
        Code::HeaderMissing,
        "the report has no line `MISSION ANCHOR: …` with the fields of {role} below it"
    ))
}

/// The text without the indentation that all its lines share, and without quote marks.
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
    let (mut drafts, labels) = read_lines(role, &plain);
    let places = parts.iter().map(|part| part.place.start).chain(labels);
    if stand_in_comments(text, places) {
        let message = "a comment (`<!-- … -->`) holds a part of a report, and nobody sees it there";
        return Draft::unreadable(Finding::new(Code::ReportAmbiguous, message));
    }
    let broken = find_broken(role, &plain);
    let reports = parts.iter().filter(|part| !part.is_block);
    drafts.extend(reports.map(|part| read_object(role, &text[part.place.clone()])));
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

/// Returns the last whole report, or else the draft with the most fields. Contradictions by the others refuse it.
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

/// Sets the draft's block. Equal blocks count as one; different ones are refused.
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
        draft.refuse(
            finding!(
                Code::ReportBlockAmbiguous,
                "there are {count} JSON blocks, not all equal"
            )
            .at("block"),
        );
    } else {
        draft.block = read.pop();
    }
}

/// A JSON object in the answer that belongs to a report.
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
    // Where a block is required, an object that stands alone is one, whatever its keys are.
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

/// Adds an object, or objects within it, if they have keys of a report or a block.
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
    if names(has_field) || is_block {
        let is_block = !names(has_field);
        parts.push(Part { place, is_block });
    } else if depth > 0 {
        for inner in find_json(&value[1..]) {
            collect(role, text, inner, depth - 1, parts);
        }
    }
}

/// The position of a piece in its text.
fn place_in(text: &str, piece: &str) -> Range<usize> {
    let start = piece.as_ptr() as usize - text.as_ptr() as usize;
    start..start + piece.len()
}

/// Whether nothing else is on its lines, and these are not indented by four blanks, as quotations are.
fn stands_alone(text: &str, piece: &str) -> bool {
    let Range { start, end } = place_in(text, piece);
    let before = text[..start].rsplit('\n').next();
    let after = text[end..].split('\n').next();
    let is_blank = |text: Option<&str>| text.is_none_or(|text| text.trim().is_empty());
    is_blank(before) && is_blank(after) && before.is_none_or(|blanks| blanks.len() < 4)
}

/// The text with blanks in place of its parts, so that every other word keeps its position.
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

/// Whether one of these places is within a comment. Takes linear time: a report may consist of comment marks
/// alone.
fn stand_in_comments(text: &str, mut places: impl Iterator<Item = usize>) -> bool {
    let mut comments: Vec<Range<usize>> = Vec::new();
    let (mut line, mut counted, mut marks, mut may_end) = (0, 0, 0, true);
    for (start, _) in text.match_indices("<!--") {
        if let Some(end) = text[counted..start].rfind('\n') {
            (line, counted, marks) = (counted + end + 1, counted + end + 1, 0);
        }
        marks += text[counted..start].matches('`').count();
        counted = start;
        let is_code = marks % 2 == 1;
        if is_code || comments.last().is_some_and(|last| last.end > start) {
            continue;
        }
        let end = may_end.then(|| text[start..].find("-->")).flatten();
        may_end = end.is_some();
        let is_alone = || text[line..start].trim().is_empty();
        let end = end.map(|end| start + end);
        let end = end.or_else(|| is_alone().then_some(text.len()));
        comments.extend(end.map(|end| start..end));
    }
    let is_within = |place: usize| {
        let after = comments.partition_point(|comment| comment.start <= place);
        after > 0 && comments[after - 1].contains(&place)
    };
    places.any(is_within)
}

/// Describes the error in JSON that begins like a report or a block, with a brace at the start of a line and a
/// known key after it. Such JSON is never skipped.
fn find_broken(role: Role, text: &str) -> Option<Finding> {
    const QUOTES: [char; 7] = ['"', '\'', '“', '”', '‘', '’', '`'];
    for (start, _) in text.match_indices('{') {
        let before = text[..start].trim_end_matches(' ');
        let after = text[start + 1..].trim_start().trim_start_matches(QUOTES);
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (key, rest) = after.split_at(end.unwrap_or(after.len()));
        let rest = rest.trim_start_matches(QUOTES).trim_start();
        let is_report = has_field(role, key);
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
                true => read_object(role, broken).findings.pop(),
                false => block::read(role, broken).err(),
            };
        }
    }
    None
}

// The text form: `Label: value` lines. A value runs to the next known label.
//
// A line indented by four blanks or more is neither a label nor a fence; [`super::render`] writes values that hold
// such lines in this way.

/// The label of a line.
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

/// Reads the lines of an answer into one draft for each line with the mission anchor, and one for the lines before
/// the first. Also returns the position of each label.
fn read_lines(role: Role, text: &str) -> (Vec<Draft>, Vec<usize>) {
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
        // Below `- Rubric:` a nested list may be indented by four blanks.
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

/// For each line, whether it is in a fence that began above it.
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
        // Once every field is present, text after a value need not belong to it.
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

/// The end of a value that no label follows: the first empty line without a list item or an indented line after
/// it, a line that only Markdown or a tag can mean, or the end of a fence that began above. A fence within the
/// value that holds words belongs to it, unless it holds JSON.
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

/// Whether the line is a horizontal rule, a heading, or the end of a tag.
fn is_end(line: &str) -> bool {
    let text = line.trim();
    let is_rule = text.len() >= 3
        && ["-", "*", "_"]
            .iter()
            .any(|mark| text.replace(mark, "").is_empty());
    let is_mark = is_rule || after_hashes(text).is_some() || text.starts_with("</");
    !is_indented(line) && is_mark
}

/// Keeps a rating, which may continue below its line. Refuses a list item or another rating there.
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

/// Whether the value begins with a verdict of the rubric.
fn is_rating(value: &str) -> bool {
    let end = value.find(|c: char| !c.is_alphanumeric() && !"*`_".contains(c));
    word(&value[..end.unwrap_or(value.len())], &VERDICTS).is_some()
}

/// Refuses anything but ratings below `Rubric:`.
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
    finding!(
        Code::RubricInvalid,
        "{what}, which are {labels}; it holds {}; it must hold {}",
        show_held(line),
        describe_rating(DIMENSIONS[0].label)
    )
    .at("rubric")
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

/// Whether the label is the field's, with or without the words in brackets. Allocates only if the beginning fits,
/// because each line of a report is compared with each field.
fn is_label_of(field: &Field, label: &str) -> bool {
    let length = field.label.len();
    let head = label.get(..length);
    head.is_some_and(|head| head.eq_ignore_ascii_case(field.label))
        && (label.len() == length || label.eq_ignore_ascii_case(&field.title()))
}

/// The text of a heading.
fn after_hashes(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    (rest.len() < line.len() && rest.starts_with(' ')).then(|| rest.trim())
}

/// The label and the value of a line, without decoration; the label has single blanks.
fn split_label(line: &str) -> Option<(String, &str)> {
    const MARKS: [char; 3] = ['*', '`', '_'];
    // Models use these for typography.
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
    // Marks that open before the label close in it, after the colon, or after the value.
    let closer: String = opener.chars().rev().collect();
    let value = match value.strip_prefix(closer.as_str()) {
        _ if opener.is_empty() || body.ends_with(MARKS) => value,
        Some(rest) => rest.trim(),
        None => value.strip_suffix(closer.as_str()).unwrap_or(value).trim(),
    };
    Some((words.join(" "), value))
}

// The JSON form: one object whose keys are the field keys, with `rubric` and `block`.

/// Whether a role's report may have this key. `block` does not count: the object in it is found by itself.
fn has_field(role: Role, key: &str) -> bool {
    has_rubric(role) && key == "rubric" || fields(role).iter().any(|field| field.key == key)
}

/// Reads an object. One without the mission anchor is not a report, and its unknown keys are ignored.
fn read_object(role: Role, text: &str) -> Draft {
    let wanted = describe_wanted(role);
    let map = match schema::value(text.as_bytes()) {
        Ok(Value::Object(map)) => map,
        Ok(value) => {
            return Draft::unreadable(refuse("not an object", &value.to_string(), &wanted));
        }
        Err(error) => return Draft::unreadable(refuse_text(&error, text, &wanted)),
    };
    let is_report = map.contains_key(ANCHOR);
    read_pairs(role, map, is_report).unwrap_or_else(Draft::unreadable)
}

fn read_pairs(role: Role, map: Map<String, Value>, is_report: bool) -> Result<Draft, Finding> {
    let mut draft = Draft::default();
    for (key, value) in map {
        let field = fields(role).iter().find(|field| field.key == key);
        match (field, key.as_str()) {
            (Some(field), _) => draft.put(field, &read_field(field, &value)?),
            (None, "rubric") if has_rubric(role) => rate_object(&mut draft, &value)?,
            (None, "block") if matches!(role, Role::Regrounder | Role::Implementer) => {
                draft.block = Some(block::convert(role, value)?);
            }
            (None, _) if !is_report => {}
            (None, _) => {
                let what = format!("`{key}` is not a field of {role}");
                return Err(refuse(&what, &value.to_string(), &describe_wanted(role)));
            }
        }
    }
    Ok(draft)
}

/// A field's JSON value in its text form.
fn read_field(field: &Field, value: &Value) -> Result<String, Finding> {
    let kind = match field.kind {
        Kind::YesNo => "true, false or a text",
        Kind::Count => "a number",
        Kind::List => "a list of texts or a text",
        Kind::Text | Kind::Choice(_) | Kind::Sha => "a text",
    };
    let text = match (field.kind, value) {
        (_, Value::String(text)) => Some(text.clone()),
        (_, Value::Null) => Some(String::new()),
        (Kind::YesNo, Value::Bool(true)) => Some("yes".to_owned()),
        (Kind::YesNo, Value::Bool(false)) => Some("no".to_owned()),
        (Kind::Count, Value::Number(number)) => Some(match number.as_f64() {
            // JSON Schema treats 3.0 as an integer.
            Some(value) if value.fract() == 0.0 && (0.0..=9.0e15).contains(&value) => {
                format!("{value:.0}")
            }
            _ => number.to_string(),
        }),
        (Kind::List, Value::Array(items)) if items.is_empty() => Some("none".to_owned()),
        (Kind::List, Value::Array(items)) => {
            let lines = items.iter().map(|item| {
                let text = clean(item.as_str()?, Lines::Fold);
                Some(format!("- {text}"))
            });
            let lines: Option<Vec<String>> = lines.collect();
            lines.map(|lines| lines.join("\n"))
        }
        _ => None,
    };
    let what = format!("at `{0}`: `{0}` is not {kind}", field.key);
    text.ok_or_else(|| refuse(&what, &value.to_string(), &field.wants("")))
}

fn rate_object(draft: &mut Draft, value: &Value) -> Result<(), Finding> {
    let wanted = format!(
        "a verdict and a reason for each dimension; for example `\"rubric\": {{\"{}\": {{\"verdict\": \"concern\", \"why\": \"no test covers it\"}}, …}}`",
        DIMENSIONS[0].key
    );
    let refuse = |what: &str, value: &Value| refuse(what, &value.to_string(), &wanted);
    let entries = value.as_object();
    let entries = entries.ok_or_else(|| refuse("at `rubric`: it is not an object", value))?;
    for (key, entry) in entries {
        let dimension = DIMENSIONS.iter().find(|dimension| dimension.key == key);
        let Some(dimension) = dimension else {
            draft.refuse(
                finding!(
                    Code::RubricInvalid,
                    "unknown dimension `{}`",
                    clean(key, Lines::Fold)
                )
                .at("rubric"),
            );
            continue;
        };
        // A value of another shape reads as empty texts, which a rating must not have.
        let map = entry.as_object();
        let is_known =
            map.is_some_and(|map| map.keys().all(|key| key == "verdict" || key == "why"));
        let text = |name: &str| {
            let text = entry.get(name).and_then(Value::as_str);
            text.filter(|_| is_known).unwrap_or_default()
        };
        draft.put_rating(dimension, text("verdict"), text("why"));
    }
    Ok(())
}

fn describe_wanted(role: Role) -> String {
    let named = fields(role).iter().map(|field| field.key);
    let rubric = has_rubric(role).then_some("rubric");
    let block = has_block(role).then_some("block");
    let keys: Vec<&str> = named.chain(rubric).chain(block).collect();
    format!(
        "the report of {role} as one JSON object with the keys {}",
        keys.join(", ")
    )
}
