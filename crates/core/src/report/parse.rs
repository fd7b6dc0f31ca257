//! From bytes to a report: size, text, one of the two forms, each field by its
//! kind, then the rules between fields.

use super::table::{DIMENSIONS, Field, Kind, fields, has_block, has_rubric};
use super::value::{
    MAX_COUNT, after_marker, commit, count, is_none, leading_word, tidy, without_separator, yes_no,
};
use super::{Parsed, Report, json, rules, text};
use crate::diagnostic::{Code, Finding, Lines, clean};
use crate::digest::sha256;
use crate::model::{Reground, ReportRecord, Role, Rubric, RubricEntry, RubricVerdict};
use std::collections::BTreeMap;

/// Largest report that is read, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// Longest field that is kept, in characters.
pub const MAX_FIELD_CHARS: usize = 20_000;

/// A report as one of the two forms holds it, before its values are judged.
#[derive(Debug, Default)]
pub(super) struct Raw {
    /// By key, tidied.
    pub fields: BTreeMap<&'static str, String>,
    /// The rubric was there.
    pub has_rubric: bool,
    /// Its readable lines.
    pub rubric: Rubric,
    /// A regrounder's block.
    pub block: Option<Reground>,
    /// What the form itself breaks.
    pub findings: Vec<Finding>,
    /// The form could not be read at all: the findings say why, and the fields say nothing.
    pub unreadable: bool,
}

impl Raw {
    /// Keeps a field's value, unless it was there already.
    pub fn put(&mut self, field: &'static Field, value: &str) {
        let value = match field.below && field.key != "mission_anchor" {
            true => tidy(value),
            // A remark after a yes, a number or an id belongs on its line.
            false => tidy(&clean(value, Lines::Fold)),
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
            Err(what) => self
                .findings
                .push(Finding::new(Code::RubricInvalid, format!("`{label}` {what}")).at(place)),
        }
    }
}

fn entry(verdict: &str, why: Option<&str>) -> Result<RubricEntry, &'static str> {
    let (word, rest) = leading_word(verdict, &["pass", "concern", "fail"])
        .ok_or("does not begin with pass, concern or fail")?;
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

/// Reads a role's report.
pub fn parse(role: Role, bytes: &[u8]) -> Parsed {
    let refused = |code: Code, message: &str| Parsed {
        report: None,
        findings: vec![Finding::new(code, message)],
        read: ReportRecord {
            role,
            fields: BTreeMap::new(),
            rubric: None,
        },
    };
    if bytes.len() > MAX_BYTES {
        let message = format!("the report has {} bytes, more than 1 MiB", bytes.len());
        return refused(Code::ReportTooLarge, &message);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => clean(text, Lines::Keep),
        Err(error) => {
            let message = format!("byte {} is not UTF-8", error.valid_up_to() + 1);
            return refused(Code::ReportNotText, &message);
        }
    };
    let Some(form) = text::form(&text) else {
        return refused(Code::ReportEmpty, "it holds nothing but progress lines");
    };
    let raw = match form {
        text::Form::Fields(body) => text::read(role, &body),
        text::Form::Json(body) => json::read(role, &body),
    };
    judge(role, raw, sha256(bytes))
}

fn judge(role: Role, mut raw: Raw, sha256: String) -> Parsed {
    let mut findings = std::mem::take(&mut raw.findings);
    if !raw.unreadable {
        findings.extend(fields(role).iter().filter_map(|field| check(field, &raw)));
        findings.extend(check_rubric(role, &raw, &findings));
    }
    raw.fields.retain(|_, value| !value.is_empty());
    let record = ReportRecord {
        role,
        fields: raw
            .fields
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
        rubric: (has_rubric(role) && raw.has_rubric).then_some(raw.rubric),
    };
    let block_lost = findings.iter().any(|finding| {
        matches!(
            finding.code,
            Code::ReportBlockInvalid | Code::ReportBlockAmbiguous
        )
    });
    let block_due = has_block(role) && rules::question(&record).is_none();
    if block_due && raw.block.is_none() && !block_lost {
        findings.push(Finding::new(
            Code::ReportBlockMissing,
            "there is no fenced `json` block",
        ));
    }
    findings.extend(rules::breaches(&record, raw.block.as_ref()));
    let report = findings.is_empty().then(|| Report {
        record: record.clone(),
        block: raw.block,
        sha256,
    });
    Parsed {
        report,
        findings,
        read: record,
    }
}

/// Judges one field by its kind.
fn check(field: &Field, raw: &Raw) -> Option<Finding> {
    let breach = |code: Code, message: String| Some(Finding::new(code, message).at(field.key));
    let label = field.label;
    let Some(value) = raw.fields.get(field.key) else {
        return match field.required {
            true => breach(Code::FieldMissing, format!("`{label}` is missing")),
            false => None,
        };
    };
    if is_blank(field, value) {
        return match field.required {
            true => breach(Code::FieldEmpty, format!("`{label}` is empty")),
            false => None,
        };
    }
    let length = value.chars().count();
    if length > MAX_FIELD_CHARS {
        let message = format!("`{label}` has {length} characters, more than {MAX_FIELD_CHARS}");
        return breach(Code::FieldTooLong, message);
    }
    match field.kind {
        Kind::Text | Kind::List => None,
        Kind::YesNo if yes_no(value).is_some() => None,
        Kind::YesNo => breach(
            Code::FieldNotYesNo,
            format!("`{label}` begins with neither yes nor no"),
        ),
        Kind::Count if count(value).is_some() => None,
        Kind::Count => breach(
            Code::FieldNotCount,
            format!("`{label}` does not begin with a whole number from 0 to {MAX_COUNT}"),
        ),
        Kind::Choice(words) if leading_word(value, words).is_some() => None,
        Kind::Choice(words) => breach(
            Code::FieldNotInSet,
            format!("`{label}` does not begin with one of {}", words.join(", ")),
        ),
        Kind::Sha if commit(value).is_some() || is_none(value) => None,
        Kind::Sha => breach(
            Code::FieldNotInSet,
            format!("`{label}` is neither a commit id of 7 to 64 hex digits nor none"),
        ),
    }
}

/// A value that says nothing: no letter and no digit. A mission may be made of signs alone.
fn is_blank(field: &Field, value: &str) -> bool {
    if field.key == "mission_anchor" {
        return value.is_empty();
    }
    let value = after_marker(value).unwrap_or(value);
    !value.chars().any(char::is_alphanumeric)
}

fn check_rubric(role: Role, raw: &Raw, found: &[Finding]) -> Vec<Finding> {
    if !has_rubric(role) {
        return Vec::new();
    }
    if !raw.has_rubric {
        return vec![Finding::new(Code::RubricMissing, "`Rubric:` is missing").at("rubric")];
    }
    DIMENSIONS
        .iter()
        .map(|dimension| (dimension, format!("rubric.{}", dimension.key)))
        .filter(|(dimension, place)| {
            // A line that is there and broken has its own finding.
            !raw.rubric.contains_key(dimension.key)
                && !found.iter().any(|f| f.place.as_ref() == Some(place))
        })
        .map(|(dimension, place)| {
            Finding::new(
                Code::RubricIncomplete,
                format!("`{}` is not rated", dimension.label),
            )
            .at(place)
        })
        .collect()
}
