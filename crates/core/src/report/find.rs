//! Which words of an answer are the report.
//!
//! What the answer says itself comes first; what stands in its fences and quotes counts only
//! where that holds no report, nor the better part of one. Reports that differ are none.

use super::blocks;
use super::fence::Fence;
use super::field::Field;
use super::json;
use super::passage::{Passage, Wrapping};
use super::raw::Raw;
use super::stray::{difference, find_strays, find_verdicts_within, refuse_strays};
use super::table::{fields, has_block, has_rubric};
use super::text::{self, Section};
use super::value::dedent;
use crate::diagnostic::{Code, Finding};
use crate::model::Role;
use crate::schema::{find_json, without_thoughts};
use std::collections::BTreeSet;
use std::ops::Range;

/// How deep fences and quotes are looked into.
const MAX_DEPTH: usize = 4;
/// So many fields of a role are a report, though a broken one.
const ATTEMPT: usize = 3;

/// Reads the report that an answer holds.
pub(super) fn read(role: Role, text: &str) -> Raw {
    let spoken = without_thoughts(text);
    // A report that is set in as a whole is one all the same.
    let text = dedent(&spoken.text);
    let lines: Vec<&str> = text.lines().collect();
    // Where the end of the answer is lost in thoughts, what it quotes is not its word.
    let depth = match spoken.unended {
        Some(_) => 1,
        None => MAX_DEPTH,
    };
    let mut raw = search(role, lines.clone(), depth)
        .or_else(|broken| {
            // Fences within a fence around everything may have ended it too early; not where
            // a report begins outside of them.
            let is_whole = spoken.unended.is_none() && !begins_outside(role, &lines);
            let inside = strip_fence(&lines).filter(|_| is_whole);
            let inside = inside.map(|inside| search(role, inside, depth));
            inside.and_then(Result::ok).ok_or(broken)
        })
        .unwrap_or_else(|broken| {
            broken.map(|raw| *raw).unwrap_or_else(|| {
                let message = format!(
                    "no line `MISSION ANCHOR: …` is there that the fields of {role} follow"
                );
                Raw::unreadable(Finding::new(Code::HeaderMissing, message))
            })
        });
    raw.left_out = match (&spoken.unended, &spoken.ended) {
        (Some((tag, line)), _) => Some(format!(
            "the thoughts that begin on line {line} with `{tag}` never end, and are not part of the answer"
        )),
        (None, Some((tag, line))) => Some(format!(
            "what stands before `{tag}` on line {line} is thought, and no part of the answer"
        )),
        (None, None) => tell_comment(&lines),
    };
    raw
}

/// What the first comment of an answer leaves out of it.
fn tell_comment(lines: &[&str]) -> Option<String> {
    let passage = Passage::new(lines.to_vec(), None);
    let mut parts = passage.parts.iter();
    let comment = parts.find(|part| part.wrapping == Wrapping::Comment)?;
    Some(format!(
        "what stands in the comment (`<!-- … -->`) on line {} is no part of the answer",
        comment.start + 1
    ))
}

fn begins_outside(role: Role, lines: &[&str]) -> bool {
    let passage = Passage::new(lines.to_vec(), None);
    let begins = text::sections(role, &passage);
    let named = passage
        .own_text()
        .contains(&format!("\"{}\"", fields(role)[0].key));
    named || begins.iter().any(Section::is_anchor)
}

fn strip_fence<'a>(lines: &[&'a str]) -> Option<Vec<&'a str>> {
    let is_said = |line: &&str| !line.trim().is_empty();
    let first = lines.iter().position(is_said)?;
    let last = lines.iter().rposition(is_said)?;
    let fence = Fence::open(lines[first]).filter(|fence| !fence.is_json())?;
    (first < last && fence.is_closed_by(lines[last])).then(|| lines[first + 1..last].to_vec())
}

/// What one passage holds of a role's report.
#[derive(Default)]
struct Held {
    whole: Vec<Raw>,
    /// The lines of those that are text.
    taken: Vec<Range<usize>>,
    /// What it says of the fields besides.
    strays: Vec<Raw>,
    /// How many fields the fullest broken one has, and that one.
    broken: Option<(usize, Raw)>,
}

/// The report, or the fullest of the broken ones.
fn search(role: Role, lines: Vec<&str>, depth: usize) -> Result<Raw, Option<Box<Raw>>> {
    let mut passages = vec![Passage::new(lines.clone(), None)];
    let mut level = 0..1;
    let mut fullest: Option<(usize, Raw)> = None;
    let mut whole: Vec<Raw> = Vec::new();
    let mut strays: Vec<Raw> = Vec::new();
    for _ in 0..depth {
        for place in level.clone() {
            let mut held = look(role, &passages, place);
            if whole.is_empty() && !held.whole.is_empty() {
                strays.extend(around(role, &passages, place));
            }
            whole.append(&mut held.whole);
            strays.append(&mut held.strays);
            let broken = held
                .broken
                .filter(|(count, _)| fullest.as_ref().is_none_or(|(fullest, _)| count >= fullest));
            fullest = broken.or(fullest);
        }
        let certain = passages[level.clone()]
            .iter()
            .all(|passage| !passage.unclosed);
        if !whole.is_empty() && certain {
            break;
        }
        if whole.is_empty() && fullest.as_ref().is_some_and(|(count, _)| *count >= ATTEMPT) {
            break;
        }
        let next: Vec<Passage> = level
            .clone()
            .flat_map(|place| passages[place].parts.iter().map(move |part| (place, part)))
            .filter(|(_, part)| part.wrapping != Wrapping::Comment)
            .map(|(place, part)| {
                Passage::new(passages[place].inside(part), Some((place, part.end)))
            })
            .collect();
        level = passages.len()..passages.len() + next.len();
        passages.extend(next);
    }
    let is_whole = !whole.is_empty();
    let mut raw = match (is_whole, fullest) {
        (true, _) => settle(role, whole, &strays),
        (false, Some((_, raw))) => raw,
        (false, None) => return Err(None),
    };
    blocks::settle(role, &lines, &mut raw);
    match is_whole {
        true if raw.unreadable => Ok(raw),
        true => Ok(refuse_strays(
            role,
            raw,
            &find_verdicts_within(role, lines, depth),
        )),
        false => Err(Some(Box::new(raw))),
    }
}

/// It is not the format with its placeholders, though the prompt has filled in its header.
fn is_filled(role: Role, raw: &Raw) -> bool {
    let is_placeholder = |field: &Field| {
        let said = raw.fields.get(field.key).map_or("", String::as_str);
        said.trim_start_matches("- ") == format!("<{}>", field.hint)
    };
    !fields(role).iter().any(is_placeholder)
}

/// The one report of several equal ones.
fn settle(role: Role, mut whole: Vec<Raw>, strays: &[Raw]) -> Raw {
    // A format that was copied before it was filled in is not a report beside one.
    if whole.iter().any(|raw| is_filled(role, raw)) {
        whole.retain(|raw| is_filled(role, raw));
    }
    let count = whole.len();
    let raw = whole.swap_remove(0);
    let differs = whole.iter().find_map(|other| difference(role, &raw, other));
    if let Some((place, how)) = differs {
        let message = format!("the answer holds {count} whole reports, not all equal: {how}");
        return Raw::unreadable(Finding::new(Code::ReportAmbiguous, message).at(place));
    }
    refuse_strays(role, raw, strays)
}

/// What the passages around this one say of a report's fields.
fn around(role: Role, passages: &[Passage], place: usize) -> Vec<Raw> {
    let mut strays = Vec::new();
    let mut next = passages[place].around;
    while let Some((place, _)) = next {
        strays.extend(find_strays(role, &passages[place], &[]));
        next = passages[place].around;
    }
    strays
}

fn look(role: Role, passages: &[Passage], place: usize) -> Held {
    let passage = &passages[place];
    let own = passage.own_text();
    let mut held = look_for_text(role, passages, place);
    // An answer in JSON, though its texts may look like fields; an object before a report is none.
    let is_json = held.whole.is_empty() && is_json(role, passage, &own);
    if is_json {
        held = Held::default();
    }
    let json = look_for_json(role, &own, is_json && place == 0);
    // An object beside a text is a second report, and one that may say something else.
    if held.whole.iter().any(|raw| is_filled(role, raw)) {
        held.whole.extend(json.whole);
    } else if held
        .broken
        .as_ref()
        .is_none_or(|(count, _)| *count < ATTEMPT)
    {
        held.whole.extend(json.whole);
        held.broken = json.broken.or(held.broken);
    }
    if !held.whole.is_empty() {
        held.strays = find_strays(role, passage, &held.taken);
    }
    held
}

/// Whether the text is one object, whole or broken; one that is none of a report beside
/// something else is not.
fn is_json(role: Role, passage: &Passage, own: &str) -> bool {
    let own = own.trim();
    let is_other = |object: &str| {
        let beside = own != object || !passage.parts.is_empty();
        beside && own.starts_with(object) && !json::is_report(role, object)
    };
    own.starts_with('{')
        && !find_json(own)
            .first()
            .is_some_and(|object| is_other(object))
}

/// Objects that are reports, also within a list or an object around them.
fn find_reports(role: Role, text: &str, depth: usize) -> Vec<&str> {
    let mut found = Vec::new();
    for value in find_json(text) {
        match json::is_report(role, value) {
            true => found.push(value),
            false if depth > 0 => found.extend(find_reports(role, &value[1..], depth - 1)),
            false => {}
        }
    }
    found
}

/// Objects with a mission anchor; `due` = the answer is JSON, whatever it holds.
fn look_for_json(role: Role, own: &str, due: bool) -> Held {
    let key = fields(role)[0].key;
    let named = own.find(&format!("\"{key}\""));
    if !due && named.is_none() {
        return Held::default();
    }
    let whole: Vec<Raw> = find_reports(role, own, MAX_DEPTH)
        .into_iter()
        .map(|text| json::read(role, text))
        .collect();
    let start = named.and_then(|place| own[..place].rfind('{'));
    let broken = whole.is_empty() && (due || start.is_some());
    Held {
        whole,
        broken: broken.then(|| (ATTEMPT, json::read(role, &own[start.unwrap_or(0)..]))),
        ..Held::default()
    }
}

fn look_for_text(role: Role, passages: &[Passage], place: usize) -> Held {
    let passage = &passages[place];
    let mut sections = text::sections(role, passage);
    let mut held = Held::default();
    let mut fullest: Option<(usize, &[Section])> = None;
    let anchors: Vec<usize> = sections
        .iter()
        .filter(|section| section.is_anchor())
        .map(|section| section.start)
        .collect();
    let read = |report: &[Section]| {
        let after = anchors.partition_point(|anchor| *anchor <= report[0].start);
        let end = anchors.get(after).copied().unwrap_or(passage.lines.len());
        read_text(role, passages, place, report, end)
    };
    for report in sections.chunk_by_mut(|_, next| !next.is_anchor()) {
        if report[0].is_anchor() && end_whole(role, passage, report) {
            held.whole.push(read(report));
            let last = report.iter().map(|section| section.end).max();
            held.taken.push(report[0].start..last.unwrap_or_default());
            continue;
        }
        let labels: BTreeSet<&str> = report.iter().map(Section::key).collect();
        let is_fullest = fullest.is_none_or(|(count, _)| labels.len() >= count);
        if is_fullest && (labels.len() > 1 || report[0].is_anchor()) {
            fullest = Some((labels.len(), report));
        }
    }
    held.broken = fullest.map(|(count, report)| (count, read(report)));
    held
}

/// Whether every field that must be there is; then the values from the last one on end where
/// the report does.
fn end_whole(role: Role, passage: &Passage, report: &mut [Section]) -> bool {
    let required = fields(role).iter().filter(|field| field.required);
    let mut missing: BTreeSet<&str> = required.map(|field| field.key).collect();
    missing.extend(has_rubric(role).then_some("rubric"));
    let last = report.iter().position(|section| {
        missing.remove(section.key());
        missing.is_empty()
    });
    let Some(last) = last else { return false };
    for section in &mut report[last..] {
        section.end = text::find_end_of_value(passage, section);
    }
    true
}

/// Reads a report and, up to the line `end`, its block.
fn read_text(
    role: Role,
    passages: &[Passage],
    place: usize,
    report: &[Section],
    end: usize,
) -> Raw {
    let passage = &passages[place];
    let (Some(first), Some(last)) = (report.first(), report.last()) else {
        return Raw::default();
    };
    let mut blocks = match role {
        Role::Regrounder => blocks::find(passage, first.start..end, last.end),
        Role::Implementer => blocks::find_offers(passage, first.start..end),
        _ => return text::read(passage, report, &BTreeSet::new()),
    };
    let taken = std::mem::take(&mut blocks.lines);
    let mut around = passage.around.filter(|_| has_block(role));
    while let (true, Some((place, line))) = (blocks.texts.is_empty(), around) {
        blocks = blocks::find_marked(&passages[place], line..passages[place].lines.len(), line);
        around = passages[place].around;
    }
    let mut raw = text::read(passage, report, &taken);
    blocks::put(role, &mut raw, &blocks.texts);
    raw
}
