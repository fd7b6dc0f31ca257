//! From bytes to a report: size, text, one of the two forms, each field by its
//! kind, then the rules between fields.

use super::field::{Field, Kind};
use super::raw::{MAX_FIELD_CHARS, Raw, describe_rating, show_held};
use super::table::{DIMENSIONS, fields, has_block, has_rubric};
use super::value::{MAX_COUNT, after_marker, commit, count, is_none, leading_word, yes_no};
use super::{Parsed, Report, find, rules};
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
    let raw = find::read(role, &text);
    judge(role, raw, sha256(bytes))
}

pub(super) fn judge(role: Role, mut raw: Raw, sha256: String) -> Parsed {
    let mut findings = std::mem::take(&mut raw.findings);
    if !raw.unreadable {
        // Without its header the anchor is missing too.
        let has_header = findings.iter().all(|f| f.code != Code::HeaderMissing);
        let due = fields(role).iter().skip(usize::from(!has_header));
        findings.extend(due.filter_map(|field| check(field, &raw)));
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
            Code::ReportBlockInvalid | Code::ReportBlockAmbiguous | Code::ReportBlockMissing
        )
    });
    let block_due = has_block(role) && !raw.unreadable && rules::question(&record).is_none();
    if block_due && raw.block.is_none() && !block_lost {
        findings.push(Finding::new(
            Code::ReportBlockMissing,
            "there is no fenced `json` block in the report or after it; it holds the plan's changes, and `{}` where nothing changes",
        ));
    }
    findings.extend(rules::breaches(&record, raw.block.as_ref()));
    if !raw.unreadable {
        findings = findings
            .into_iter()
            .map(|finding| explain(finding, &record))
            .collect();
    }
    if let (Some(left_out), Some(first)) = (&raw.left_out, findings.first_mut()) {
        first.message += &format!("; {left_out}");
    }
    let report = findings.is_empty().then(|| Report {
        record: record.clone(),
        block: raw.block,
        offered: raw.offered,
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
            !raw.rubric.contains_key(dimension.key)
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
