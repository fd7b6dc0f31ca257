//! A report as read from a text or an object, before its values are judged.

use super::block::Block;
use super::table::{ANCHOR, DIMENSIONS, Dimension, Field, Kind, fields};
use super::value::{
    commit, count, ids, is_none, items, show_held, tidy, tidy_line, without_separator, word,
};
use crate::model::{Rubric, RubricEntry};
use crate::prelude::*;

/// Maximum length of a field, in characters.
pub const MAX_FIELD_CHARS: usize = 20_000;

/// The verdicts of the rubric.
pub(super) const VERDICTS: [&str; 3] = ["pass", "concern", "fail"];

/// The parts of a report that a text or an object holds.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    /// Tidied values, by key.
    pub fields: BTreeMap<&'static str, String>,
    /// The ratings that could be read.
    pub rubric: Rubric,
    /// The JSON block of a regrounder or an implementer.
    pub block: Option<Block>,
    /// Breaches of its form.
    pub findings: Vec<Finding>,
    /// Which part of the answer was removed as thoughts, if that may have caused a breach.
    pub left_out: Option<String>,
    /// Whether it could not be read at all. The findings then say why, and the fields mean nothing.
    pub unreadable: bool,
}

impl Draft {
    /// A report that could not be read.
    pub fn unreadable(finding: Finding) -> Self {
        Self {
            findings: vec![finding],
            unreadable: true,
            ..Self::default()
        }
    }

    /// The value of a field; empty if it is missing.
    pub fn field(&self, key: &str) -> &str {
        self.fields.get(key).map_or("", String::as_str)
    }

    /// Whether every required field is present.
    pub fn is_whole(&self, role: Role) -> bool {
        let mut required = fields(role).iter().filter(|field| field.required);
        !self.unreadable && required.all(|field| self.fields.contains_key(field.key))
    }

    /// Whether a dimension is rated, even if wrongly.
    pub fn is_rated(&self, findings: &[Finding]) -> bool {
        let of_rubric = |place: &str| place.starts_with("rubric");
        let mut places = findings.iter().filter_map(|it| it.place.as_deref());
        !self.rubric.is_empty() || places.any(of_rubric)
    }

    /// Adds a breach, one of each code for each place.
    pub fn refuse(&mut self, breach: Finding) {
        let is_known = |one: &Finding| (one.code, &one.place) == (breach.code, &breach.place);
        if !self.unreadable && !self.findings.iter().any(is_known) {
            self.findings.push(breach);
        }
    }

    /// Sets the value of a field. A different earlier value is a breach.
    pub fn put(&mut self, field: &'static Field, value: &str) {
        let value = match field.kind {
            Kind::Text | Kind::List if field.key != ANCHOR => tidy(value),
            _ => tidy_line(value),
        };
        match self.fields.get(field.key) {
            Some(said) if is_same(field, said, &value) => {}
            Some(said) => {
                let twice = tell_twice(field, said, &value);
                self.refuse(twice);
            }
            None => drop(self.fields.insert(field.key, value)),
        }
    }

    /// Reads a dimension's rating from a text: `pass - why`.
    pub fn rate(&mut self, dimension: &'static Dimension, text: &str) {
        let text = tidy_line(text);
        let (verdict, why) = split_rating(&text);
        self.put_rating(dimension, verdict, why);
    }

    /// Sets a dimension's verdict and its reason.
    pub fn put_rating(&mut self, dimension: &'static Dimension, verdict: &str, why: &str) {
        let Dimension { label, key } = *dimension;
        let breach = |code, what: &str| {
            let held = show_held(&format!("{verdict} {why}"));
            let wanted = describe_rating(label);
            finding!(
                code,
                "`{label}` {what}; it holds {held}; it must hold {wanted}"
            )
            .at(format!("rubric.{key}"))
        };
        match (read_rating(verdict, why), self.rubric.get(key)) {
            (Ok(entry), Some(said)) if *said == entry => {}
            (Ok(_), Some(_)) => {
                let what = "is rated twice, in different words";
                self.refuse(breach(Code::RubricDuplicated, what));
            }
            (Ok(entry), None) => drop(self.rubric.insert(key.to_owned(), entry)),
            (Err(what), _) => self.refuse(breach(Code::RubricInvalid, what)),
        }
    }

    /// Refuses what another part of the answer contradicts.
    pub fn hold_against(&mut self, role: Role, other: &Self) {
        let is_whole = other.is_whole(role);
        let mut found = Vec::new();
        for field in fields(role) {
            let (one, two) = (self.field(field.key), other.field(field.key));
            let is_said = self.is_whole(role) || self.fields.contains_key(field.key);
            if is_said && (is_whole || !two.is_empty()) && !is_same(field, one, two) {
                found.push(tell_twice(field, one, two));
            }
        }
        for dimension in &DIMENSIONS {
            let (one, two) = (&self.rubric, &other.rubric);
            let (one, two) = (one.get(dimension.key), two.get(dimension.key));
            let is_said = self.is_whole(role) || one.is_some();
            if is_said && two.is_some() && one != two {
                let message = format!("`{}` is rated twice, in different words", dimension.label);
                let place = format!("rubric.{}", dimension.key);
                found.push(Finding::new(Code::RubricDuplicated, message).at(place));
            }
        }
        let broken = other.findings.iter();
        found.extend(broken.filter(|it| !self.findings.contains(it)).cloned());
        if let (true, Some(first)) = (is_whole, found.first()) {
            let message = format!(
                "the answer holds whole reports that differ: {}",
                first.message
            );
            let place = first.place.clone().unwrap_or_else(|| "block".to_owned());
            *self = Self::unreadable(Finding::new(Code::ReportAmbiguous, message).at(place));
        } else {
            found.into_iter().for_each(|finding| self.refuse(finding));
        }
    }
}

fn tell_twice(field: &Field, one: &str, other: &str) -> Finding {
    finding!(
        Code::FieldDuplicated,
        "`{}` is given twice, with {} and with {}",
        field.label,
        show_held(one),
        show_held(other)
    )
    .at(field.key)
}

/// Whether two values mean the same, in whatever form.
fn is_same(field: &Field, one: &str, other: &str) -> bool {
    let fold = |text: &str| clean(text, Lines::Fold);
    if fold(one) == fold(other) || is_none(one) && is_none(other) {
        return true;
    }
    match field.kind {
        Kind::YesNo | Kind::Choice(_) => {
            let said = word(one, field.words());
            said.is_some() && said == word(other, field.words())
        }
        Kind::Count => count(one).is_some() && count(one) == count(other),
        Kind::Sha => commit(one).is_some() && commit(one) == commit(other),
        Kind::List => items(one) == items(other) || ids(one) == ids(other),
        Kind::Text => false,
    }
}

/// Splits `pass - why` into the verdict and the rest, at a colon or a dash.
fn split_rating(text: &str) -> (&str, &str) {
    let ends = [text.find([':', '–', '—']), text.find(" - ")];
    let end = ends.into_iter().flatten().min().unwrap_or(text.len());
    text.split_at(end)
}

fn read_rating(verdict: &str, why: &str) -> Result<RubricEntry, &'static str> {
    let verdict = match word(verdict, &VERDICTS).ok_or("is not rated pass, concern or fail")? {
        "pass" => RubricVerdict::Pass,
        "concern" => RubricVerdict::Concern,
        _ => RubricVerdict::Fail,
    };
    let why = reason(why);
    // `pass - fail it loses data` is not a rating. A reason may begin with `no`, unless punctuation follows it.
    let mut words = why.split(|c: char| !c.is_alphanumeric());
    let first = words.find(|word| !word.is_empty());
    if first.is_some_and(|first| word(first, &VERDICTS).is_some()) {
        return Err("begins its reason with a second verdict");
    }
    let begin = why.split([',', '.', ';', ':', '!', '?', '–', '—']).next();
    let begin = begin.unwrap_or_default().split(" - ").next();
    if begin.is_some_and(|begin| word(begin, &["yes", "no", "pass", "concern", "fail"]).is_some()) {
        return Err("begins its reason with a second verdict");
    }
    match why.chars().count() {
        0 => Err("does not say why"),
        1..=MAX_FIELD_CHARS => Ok(RubricEntry { verdict, why }),
        _ => Err("is longer than 20,000 characters"),
    }
}

/// The reason of a rating on one line, without the dash before it.
fn reason(text: &str) -> String {
    let mut text = clean(text, Lines::Fold);
    loop {
        let next = tidy(without_separator(&text));
        if next == text {
            return text;
        }
        text = next;
    }
}

/// What a line of the rubric must hold, with one example.
pub(super) fn describe_rating(label: &str) -> String {
    format!("pass, concern or fail and why; for example `- {label}: concern - no test covers it`")
}
