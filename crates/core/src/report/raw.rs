//! A report as one of the two forms holds it, before its values are judged.

use super::field::{Field, Kind};
use super::value::{leading_word, offers_other, tidy, without_separator};
use crate::diagnostic::{Code, Finding, Lines, clean};
use crate::model::{Offer, Reground, Rubric, RubricEntry, RubricVerdict};
use std::collections::BTreeMap;

/// Longest field that is kept, in characters.
pub const MAX_FIELD_CHARS: usize = 20_000;

/// What a line of the rubric begins with.
pub(super) const VERDICTS: [&str; 3] = ["pass", "concern", "fail"];

/// A report as one of the two forms holds it, before its values are judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Raw {
    /// By key, tidied.
    pub fields: BTreeMap<&'static str, String>,
    /// The rubric was there.
    pub has_rubric: bool,
    /// Its readable lines.
    pub rubric: Rubric,
    /// A regrounder's block.
    pub block: Option<Reground>,
    /// What an implementer's block says.
    pub offered: Vec<Offer>,
    /// What the form itself breaks.
    pub findings: Vec<Finding>,
    /// What of the answer was taken for thoughts, where a breach may come of it.
    pub left_out: Option<String>,
    /// The form could not be read at all: the findings say why, and the fields say nothing.
    pub unreadable: bool,
}

impl Raw {
    /// A report that could not be read.
    pub fn unreadable(finding: Finding) -> Self {
        Self {
            findings: vec![finding],
            unreadable: true,
            ..Self::default()
        }
    }

    /// Keeps a field's value, unless it was there already.
    pub fn put(&mut self, field: &'static Field, value: &str) {
        let value = match field.kind {
            Kind::Text | Kind::List if field.key != "mission_anchor" => tidy(value),
            // A remark after a yes, a number or an id belongs on its line.
            _ => one_line(value),
        };
        if self.fields.contains_key(field.key) {
            self.findings.push(
                Finding::new(
                    Code::FieldDuplicated,
                    format!("`{}` is given twice", field.label),
                )
                .at(field.key),
            );
        } else {
            self.fields.insert(field.key, value);
        }
    }

    /// Keeps one line of the rubric: `pass - why`, or a verdict and a reason apart.
    pub fn rate(&mut self, key: &'static str, label: &str, verdict: &str, why: Option<&str>) {
        let place = format!("rubric.{key}");
        if self.rubric.contains_key(key) {
            let twice = format!("`{label}` is rated twice");
            self.findings
                .push(Finding::new(Code::RubricDuplicated, twice).at(place));
            return;
        }
        match entry(verdict, why) {
            Ok(entry) => {
                self.rubric.insert(key.to_owned(), entry);
            }
            Err(what) => {
                let held = show_held(verdict);
                let message = format!(
                    "`{label}` {what}; it holds {held}; it must hold {}",
                    describe_rating(label)
                );
                self.findings
                    .push(Finding::new(Code::RubricInvalid, message).at(place));
            }
        }
    }
}

/// What a line of the rubric must hold, and one example.
pub(super) fn describe_rating(label: &str) -> String {
    format!("pass, concern or fail and why; for example `- {label}: concern - no test covers it`")
}

/// The value on one line without the decoration around it, however often that is laid on: what is left
/// reads as itself again.
fn one_line(value: &str) -> String {
    let mut value = clean(value, Lines::Fold);
    loop {
        let next = tidy(without_bullet(&value));
        if next == value {
            return value;
        }
        value = next;
    }
}

/// A yes, a number or an id may stand below its label as the one item of a list.
fn without_bullet(value: &str) -> &str {
    let rest = value.strip_prefix(['-', '*', '+']);
    let rest = rest.and_then(|rest| rest.strip_prefix(' '));
    rest.unwrap_or(value).trim()
}

/// The beginning of what a field holds, on one line, for a message.
pub(super) fn show_held(value: &str) -> String {
    const MAX_CHARS: usize = 80;
    let value = clean(value, Lines::Fold);
    match value.chars().count() {
        0 => "nothing".to_owned(),
        1..=MAX_CHARS => format!("`{value}`"),
        _ => format!("`{}…`", value.chars().take(MAX_CHARS).collect::<String>()),
    }
}

fn entry(verdict: &str, why: Option<&str>) -> Result<RubricEntry, &'static str> {
    let (word, rest) =
        leading_word(verdict, &VERDICTS).ok_or("does not begin with pass, concern or fail")?;
    if offers_other(&VERDICTS, word, rest) {
        return Err("offers more than one of pass, concern and fail");
    }
    let verdict = match word {
        "pass" => RubricVerdict::Pass,
        "concern" => RubricVerdict::Concern,
        _ => RubricVerdict::Fail,
    };
    let why = reason(why.unwrap_or(rest));
    match why.chars().count() {
        0 => Err("does not say why"),
        1..=MAX_FIELD_CHARS => Ok(RubricEntry { verdict, why }),
        _ => Err("is longer than 20,000 characters"),
    }
}

/// A rubric line's reason on one line, without the dash before it.
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
