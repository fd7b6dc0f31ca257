//! What an answer says of a report's fields outside of the report: where it says something else,
//! nobody can tell which of the two is meant, and the report is refused.

use super::field::{Field, Kind};
use super::json::is_report;
use super::passage::Passage;
use super::raw::{Raw, show_held};
use super::table::{DIMENSIONS, fields, has_rubric};
use super::text;
use super::value::{commit, count, ids, is_none, items, leading_word, yes_no};
use crate::diagnostic::{Code, Finding, Lines, clean};
use crate::model::Role;
use crate::schema::find_json;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;

/// What a passage itself says of the fields, besides the reports on the `taken` lines and those in
/// JSON.
pub(super) fn find_strays(role: Role, passage: &Passage, taken: &[Range<usize>]) -> Vec<Raw> {
    let is_taken = |line: usize| taken.iter().any(|range| range.contains(&line));
    let mut strays = Vec::new();
    for mut section in text::sections(role, passage) {
        if is_taken(section.start) {
            continue;
        }
        section.end = text::find_end_of_value(passage, &section);
        strays.push(text::read(passage, &[section], &BTreeSet::new()));
    }
    if has_rubric(role) {
        let lines = passage.lines.iter().enumerate();
        let own = lines.filter(|(place, _)| !passage.inner[*place] && !is_taken(*place));
        strays.extend(own.filter_map(|(_, line)| find_rating(line)));
    }
    let own = passage.own_text();
    let objects = find_json(&own).into_iter();
    strays.extend(objects.filter_map(|object| of_object(role, object)));
    strays
}

/// The verdicts that stand in the fences, quotes and comments of an answer: whoever reads it cannot
/// tell which one is meant. Only indented by four blanks they are somebody else's.
pub(super) fn find_verdicts_within(role: Role, lines: Vec<&str>, depth: usize) -> Vec<Raw> {
    let passage = Passage::new(lines, None);
    let mut verdicts = Vec::new();
    for part in &passage.parts {
        let lines = passage.inside(part);
        let inside = Passage::new(lines.clone(), None);
        verdicts.extend(find_strays(role, &inside, &[]));
        let own = inside.own_text();
        let reports = find_json(&own).into_iter();
        verdicts.extend(reports.filter_map(|object| read_named(role, object)));
        if depth > 0 {
            verdicts.extend(find_verdicts_within(role, lines, depth - 1));
        }
    }
    for raw in &mut verdicts {
        for field in fields(role) {
            let is_verdict = |said: &String| match field.kind {
                Kind::YesNo => yes_no(said).is_some(),
                Kind::Count => count(said).is_some(),
                Kind::Choice(words) => leading_word(said, words).is_some(),
                Kind::Sha | Kind::Text | Kind::List => false,
            };
            if !raw.fields.get(field.key).is_some_and(is_verdict) {
                raw.fields.remove(field.key);
            }
        }
    }
    verdicts
}

/// A line that rates one of the four dimensions.
fn find_rating(line: &str) -> Option<Raw> {
    let (label, value) = text::rating(line)?;
    let mut dimensions = DIMENSIONS.iter();
    let dimension = dimensions.find(|dimension| dimension.label.to_lowercase() == label)?;
    let mut raw = Raw::default();
    raw.rate(dimension.key, dimension.label, value, None);
    Some(raw)
}

/// An object that is no report and names fields of one.
fn of_object(role: Role, object: &str) -> Option<Raw> {
    match is_report(role, object) {
        true => None,
        false => read_named(role, object),
    }
}

/// The fields that an object names.
fn read_named(role: Role, object: &str) -> Option<Raw> {
    let Ok(Value::Object(map)) = serde_json::from_str(object) else {
        return None;
    };
    let mut raw = Raw::default();
    for field in fields(role) {
        let said = match map.get(field.key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(true)) => "yes".to_owned(),
            Some(Value::Bool(false)) => "no".to_owned(),
            Some(other @ (Value::Number(_) | Value::Array(_))) => other.to_string(),
            _ => continue,
        };
        raw.put(field, &said);
    }
    (!raw.fields.is_empty()).then_some(raw)
}

/// The report with a finding for each field of which a stray says something else.
pub(super) fn refuse_strays(role: Role, mut raw: Raw, strays: &[Raw]) -> Raw {
    for field in fields(role) {
        let said = raw.fields.get(field.key).map_or("", String::as_str);
        let others = strays
            .iter()
            .filter_map(|stray| stray.fields.get(field.key));
        // What is said a thousand times is compared once.
        let others: BTreeSet<&String> = others.collect();
        let mut others = others.into_iter();
        let other = others.find(|other| !other.is_empty() && !is_same(field, said, other));
        if let Some(other) = other {
            let message = format!(
                "`{}` stands once more outside the report, with {}",
                field.label,
                show_held(other)
            );
            raw.findings
                .push(Finding::new(Code::FieldDuplicated, message).at(field.key));
        }
    }
    for dimension in &DIMENSIONS {
        let said = raw.rubric.get(dimension.key).map(|entry| entry.verdict);
        let mut others = strays
            .iter()
            .filter_map(|stray| stray.rubric.get(dimension.key));
        if others.any(|other| Some(other.verdict) != said) {
            let message = format!(
                "`{}` is rated once more outside the report, and otherwise",
                dimension.label
            );
            let place = format!("rubric.{}", dimension.key);
            raw.findings
                .push(Finding::new(Code::RubricDuplicated, message).at(place));
        }
    }
    raw
}

/// The first thing in which two reports differ: its place, and how.
pub(super) fn difference(role: Role, one: &Raw, other: &Raw) -> Option<(&'static str, String)> {
    let said = |raw: &Raw, key: &str| raw.fields.get(key).cloned().unwrap_or_default();
    for field in fields(role) {
        let (one, other) = (said(one, field.key), said(other, field.key));
        if !is_same(field, &one, &other) {
            let how = format!(
                "`{}` holds {} in one and {} in another",
                field.label,
                show_held(&one),
                show_held(&other)
            );
            return Some((field.key, how));
        }
    }
    let folded = |raw: &Raw| {
        let entries = raw.rubric.iter();
        let folded = entries.map(|(key, entry)| {
            let why = clean(&entry.why, Lines::Fold);
            (key.clone(), entry.verdict, why)
        });
        folded.collect::<Vec<_>>()
    };
    if folded(one) != folded(other) {
        return Some(("rubric", "their rubrics differ".to_owned()));
    }
    (one.block != other.block || one.findings != other.findings)
        .then(|| ("block", "their JSON blocks differ".to_owned()))
}

/// Two values say the same, in whatever form.
fn is_same(field: &Field, one: &str, other: &str) -> bool {
    let fold = |text: &str| clean(text, Lines::Fold);
    if fold(one) == fold(other) || is_none(one) && is_none(other) {
        return true;
    }
    match field.kind {
        Kind::YesNo => yes_no(one).is_some() && yes_no(one) == yes_no(other),
        Kind::Count => count(one).is_some() && count(one) == count(other),
        Kind::Sha => commit(one).is_some() && commit(one) == commit(other),
        Kind::Choice(words) => {
            let word = |text| leading_word(text, words).map(|(word, _)| word);
            word(one).is_some() && word(one) == word(other)
        }
        Kind::List => items(one) == items(other) || ids(one) == ids(other),
        Kind::Text => false,
    }
}
