//! From bytes to a report: size, text, one of the two forms, each field by its
//! kind, then the rules between fields.

use super::draft::{Draft, MAX_FIELD_CHARS, describe_rating};
use super::table::{ANCHOR, DIMENSIONS, Field, Kind, fields, has_block, has_rubric};
use super::value::{MAX_COUNT, after_marker, commit, count, is_none, show_held, word};
use super::{Parsed, Report, answer, rules};
use crate::diagnostic::{Code, Finding, Lines, clean};
use crate::digest::sha256;
use crate::model::{ReportRecord, Role};
use std::collections::BTreeMap;

/// Largest report that is read, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

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
        let message = format!("the answer has {} bytes, more than 1 MiB", bytes.len());
        return refused(Code::ReportTooLarge, &message);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => clean(text, Lines::Keep),
        Err(error) => {
            let message = format!("byte {} is not UTF-8", error.valid_up_to() + 1);
            return refused(Code::ReportNotText, &message);
        }
    };
    if text.trim().is_empty() {
        return refused(Code::ReportEmpty, "it holds no words");
    }
    judge(role, answer::read(role, &text), sha256(bytes))
}

/// Holds a draft against the grammar and the rules between fields.
pub(super) fn judge(role: Role, mut draft: Draft, sha256: String) -> Parsed {
    let mut findings = std::mem::take(&mut draft.findings);
    if !draft.unreadable {
        findings.extend(fields(role).iter().filter_map(|field| check(field, &draft)));
        findings.extend(check_rubric(role, &draft, &findings));
    }
    let rated = draft.is_rated(&findings);
    draft.fields.retain(|_, value| !value.is_empty());
    let fields = draft.fields.into_iter();
    let record = ReportRecord {
        role,
        fields: fields.map(|(key, value)| (key.to_owned(), value)).collect(),
        rubric: (has_rubric(role) && rated).then_some(draft.rubric),
    };
    let is_lost = findings.iter().any(|finding| {
        let code = finding.code;
        code == Code::ReportBlockInvalid || code == Code::ReportBlockAmbiguous
    });
    let is_due = has_block(role) && !draft.unreadable && rules::question(&record).is_none();
    if is_due && draft.block.is_none() && !is_lost {
        findings.push(Finding::new(
            Code::ReportBlockMissing,
            "there is no fenced `json` block in the report or after it; it holds the plan's changes, and `{}` where nothing changes",
        ));
    }
    findings.extend(rules::breaches(&record, draft.block.as_ref()));
    if !draft.unreadable {
        let explained = findings.into_iter().map(|it| explain(it, &record));
        findings = explained.collect();
    }
    if let (Some(left_out), Some(first)) = (&draft.left_out, findings.first_mut()) {
        first.message += &format!("; {left_out}");
    }
    let report = findings.is_empty().then(|| Report {
        record: record.clone(),
        block: draft.block,
        sha256,
    });
    Parsed {
        report,
        findings,
        read: record,
    }
}

/// The same, with what its field holds and what it must hold.
fn explain(mut finding: Finding, record: &ReportRecord) -> Finding {
    let place = finding.place.as_deref();
    let field = fields(record.role)
        .iter()
        .find(|field| place == Some(field.key));
    if let Some(field) = field {
        let value = rules::field(record, field.key);
        let (holds, wants) = (show_held(value), field.wants(value));
        finding.message += &format!("; it holds {holds}; it must hold {wants}");
    }
    finding
}

/// Judges one field by its kind.
fn check(field: &Field, draft: &Draft) -> Option<Finding> {
    let breach = |code: Code, message: String| Some(Finding::new(code, message).at(field.key));
    let label = field.label;
    let Some(value) = draft.fields.get(field.key) else {
        return match field.key {
            _ if !field.required => None,
            ANCHOR => Some(Finding::new(
                Code::HeaderMissing,
                "`MISSION ANCHOR`, with which a report begins, is missing",
            )),
            _ => breach(Code::FieldMissing, format!("`{label}` is missing")),
        };
    };
    if is_blank(field, value) {
        let empty = breach(Code::FieldEmpty, format!("`{label}` is empty"));
        return empty.filter(|_| field.required);
    }
    let length = value.chars().count();
    if length > MAX_FIELD_CHARS {
        let message = format!("`{label}` has {length} characters, more than {MAX_FIELD_CHARS}");
        return breach(Code::FieldTooLong, message);
    }
    let (is_one, code, what) = match field.kind {
        Kind::Text | Kind::List => return None,
        Kind::YesNo | Kind::Choice(_) => {
            let code = match field.kind {
                Kind::YesNo => Code::FieldNotYesNo,
                _ => Code::FieldNotInSet,
            };
            let words = field.words().join(" or ");
            let is_one = word(value, field.words()).is_some();
            (is_one, code, format!("not exactly {words}"))
        }
        Kind::Count => {
            let what = format!("not exactly a whole number from 0 to {MAX_COUNT}");
            (count(value).is_some(), Code::FieldNotCount, what)
        }
        Kind::Sha => {
            let is_one = commit(value).is_some() || is_none(value);
            let what = "neither exactly a commit id of 7 to 64 hex digits nor none";
            (is_one, Code::FieldNotInSet, what.to_owned())
        }
    };
    match is_one {
        true => None,
        false => breach(code, format!("`{label}` is {what}")),
    }
}

/// A value that says nothing: no letter and no digit. A mission may be made of signs alone.
fn is_blank(field: &Field, value: &str) -> bool {
    if field.key == ANCHOR {
        return value.is_empty();
    }
    let value = after_marker(value).unwrap_or(value);
    !value.chars().any(char::is_alphanumeric)
}

fn check_rubric(role: Role, draft: &Draft, found: &[Finding]) -> Vec<Finding> {
    if !has_rubric(role) {
        return Vec::new();
    }
    if !draft.is_rated(found) {
        let message = format!(
            "`Rubric:` is missing; it must hold a line for each dimension: {}",
            describe_rating(DIMENSIONS[0].label)
        );
        return vec![Finding::new(Code::RubricMissing, message).at("rubric")];
    }
    DIMENSIONS
        .iter()
        .map(|dimension| (dimension, format!("rubric.{}", dimension.key)))
        .filter(|(dimension, place)| {
            // A line that is there and broken has its own finding.
            !draft.rubric.contains_key(dimension.key)
                && !found.iter().any(|f| f.place.as_ref() == Some(place))
        })
        .map(|(dimension, place)| {
            Finding::new(
                Code::RubricIncomplete,
                format!(
                    "`{}` is not rated; it holds nothing; it must hold {}",
                    dimension.label,
                    describe_rating(dimension.label)
                ),
            )
            .at(place)
        })
        .collect()
}
