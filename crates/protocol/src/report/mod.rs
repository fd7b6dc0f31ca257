//! Role reports: their grammar, their consistency rules, and the event that each one becomes
//! (`protocol/completion.md#reports`).
//!
//! Pure. One table for each role ([`fields`]) is the source of the parser, the format in prompts, the JSON schema
//! and the repair prompt. A [`Report`] exists only if no rule is broken, and holds no control or direction
//! character. Nothing here panics, whatever the bytes.

mod answer;
mod block;
mod draft;
mod report_event;
mod rules;
mod table;
mod value;

use crate::model::Rubric;
use crate::prelude::*;
use block::Block;
pub use block::{ACCEPT, DROP, OFFER_FORMAT, STOP};
pub use draft::MAX_FIELD_CHARS;
pub use report_event::{MAX_BYTES, Provenance, Reported, event, find_contradiction, parse};
pub use rules::{
    OPEN_CONTRACTS, advice, counts, fixes, list_deviations, list_items, return_reason, untrue,
};
use schemars::JsonSchema;
use serde::Serialize;
use table::HEADER_FIELDS;
pub use table::{DIMENSIONS, Dimension, Field, Kind, MUST_FIX, fields, has_block, has_rubric};
pub(crate) use value::{is_named, write_header_ids, write_ids};

/// The result of reading a report. It is valid exactly if nothing was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The report, if no rule is broken.
    pub report: Option<Report>,
    /// Every breach, in the order of the table.
    pub findings: Vec<Finding>,
    /// The fields as far as they could be read, broken ones included.
    pub read: ReportRecord,
}

impl Parsed {
    /// Whether no rule is broken.
    pub fn is_valid(&self) -> bool {
        self.report.is_some()
    }
}

/// A report that obeys every rule of the grammar.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    record: ReportRecord,
    block: Option<Block>,
    sha256: String,
}

impl Report {
    /// The role whose report it is.
    pub fn role(&self) -> Role {
        self.record.role
    }

    /// The fields and the rubric, as they are kept in histories.
    pub fn record(&self) -> ReportRecord {
        self.record.clone()
    }

    /// SHA-256 of the received bytes, in hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// A field's text by key; empty if the role has no such field or left it out.
    pub fn field(&self, key: &str) -> &str {
        self.record.fields.get(key).map_or("", String::as_str)
    }

    /// The value of a yes/no field.
    pub fn yes(&self, key: &str) -> Option<bool> {
        value::yes_no(self.field(key))
    }

    /// The value of a count field.
    pub fn count(&self, key: &str) -> Option<u64> {
        value::count(self.field(key))
    }

    /// The texts of a list field; empty if it holds `none`.
    pub fn items(&self, key: &str) -> Vec<String> {
        rules::list_items(&self.record, key)
    }

    /// The ids in a list field.
    pub fn ids(&self, key: &str) -> Vec<String> {
        value::ids(self.field(key))
    }

    /// The commit in a commit field; `None` if it holds `none`.
    pub fn commit(&self, key: &str) -> Option<String> {
        value::commit(self.field(key))
    }

    /// The header's mission anchor, on one line.
    pub fn mission_anchor(&self) -> &str {
        self.field(table::ANCHOR)
    }

    /// The header's remaining contract ids.
    pub fn remaining_contract_ids(&self) -> Vec<String> {
        self.ids(fields(self.role())[table::HEADER_FIELDS - 1].key)
    }

    /// The four dimensions, for the roles that rate them.
    pub fn rubric(&self) -> Option<&Rubric> {
        self.record.rubric.as_ref()
    }

    /// A regrounder's block.
    pub fn block(&self) -> Option<&Reground> {
        match &self.block {
            Some(Block::Reground(block)) => Some(block),
            _ => None,
        }
    }

    /// The proof that an implementer names for each criterion.
    pub fn offers(&self) -> &[Offer] {
        match &self.block {
            Some(Block::Offers(offered)) => offered,
            _ => &[],
        }
    }

    /// The role's question to the user, if it asks one.
    pub fn question(&self) -> Option<&str> {
        rules::question(&self.record)
    }
}

// A report as text: the canonical form, the format with placeholders, and the prompt after a broken report.

/// Indentation of a value below its label: a line that is indented this far is not read as a label or a fence.
const INDENT: &str = "    ";

/// Writes the canonical text. Reading it gives the same fields, rubric and block.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    let role = report.role();
    for (place, field) in fields(role).iter().enumerate() {
        if place == HEADER_FIELDS {
            rubric(&report.record, &mut out);
        }
        if let Some(value) = report.record.fields.get(field.key) {
            line(field, value, &mut out);
        }
    }
    if let Some(block) = report.block() {
        // serde has written this document type before, so that writing it cannot fail.
        let block = serde_json::to_string_pretty(block).unwrap_or_default();
        out.push_str(&format!("\n```json\n{block}\n```\n"));
    }
    if !report.offers().is_empty() {
        out.push_str(&block::render_offers(report.offers()));
    }
    out
}

fn line(field: &Field, value: &str, out: &mut String) {
    out.push_str(&field.title());
    out.push(':');
    if !value.contains('\n') {
        out.push_str(&format!(" {value}\n"));
        return;
    }
    out.push('\n');
    for line in value.lines() {
        match line.is_empty() {
            true => out.push('\n'),
            false => out.push_str(&format!("{INDENT}{line}\n")),
        }
    }
}

fn rubric(record: &ReportRecord, out: &mut String) {
    let Some(rubric) = &record.rubric else { return };
    out.push_str("Rubric:\n");
    for dimension in &DIMENSIONS {
        if let Some(entry) = rubric.get(dimension.key) {
            let verdict = entry.verdict.id();
            let label = dimension.label;
            out.push_str(&format!("- {label}: {verdict} - {}\n", entry.why));
        }
    }
}

/// The exact format of a role's report, with placeholders in angle brackets.
pub fn format(role: Role) -> String {
    render_format_without(role, &[])
}

/// Like `format`, without these optional fields and keys of the block.
pub fn render_format_without(role: Role, left_out: &[&str]) -> String {
    let mut out = String::new();
    let is_asked = |field: &Field| field.required || !left_out.contains(&field.label);
    let asked = fields(role).iter().filter(|field| is_asked(field));
    for (place, field) in asked.enumerate() {
        if place == HEADER_FIELDS && has_rubric(role) {
            out.push_str("Rubric:\n");
            for dimension in &DIMENSIONS {
                out.push_str(&format!(
                    "- {}: <pass|concern|fail> - <why>\n",
                    dimension.label
                ));
            }
        }
        let (title, placeholder) = (field.title(), field.placeholder());
        match field.kind {
            Kind::List if place >= HEADER_FIELDS => {
                out.push_str(&format!("{title}:\n- <{placeholder}>\n"));
            }
            _ => out.push_str(&format!("{title}: <{placeholder}>\n")),
        }
    }
    if has_block(role) {
        out.push_str(&block::format(left_out));
    }
    out
}

/// Maximum number of characters, from the end of a refused answer, that its agent is shown again.
const MAX_REFUSED: usize = 12_000;

/// Maximum number of breaches that are named one by one.
const MAX_BREACHES: usize = 50;

/// The prompt for an agent after a broken report: each breach in plain words, the answer that it sent, then the
/// format of its first prompt.
pub fn repair_prompt(role: Role, findings: &[Finding], sent: &str, format: &str) -> String {
    let mut out = format!(
        "Your report as {role} could not be used. Nothing was recorded. What is wrong:\n\n"
    );
    for finding in findings.iter().take(MAX_BREACHES) {
        out.push_str(&format!("- {}\n", plain(role, finding)));
    }
    let more = findings.len().saturating_sub(MAX_BREACHES);
    if more > 0 {
        out.push_str(&format!("- and {more} more\n"));
    }
    let sent = clean(sent.trim(), Lines::Keep);
    let left_out = sent.chars().count().saturating_sub(MAX_REFUSED);
    out.push_str(match left_out {
        0 => "\nYou sent:\n\n",
        _ => "\nThe end of what you sent:\n\n",
    });
    let shown: String = sent.chars().skip(left_out).collect();
    for line in shown.lines() {
        out.push_str(format!("{INDENT}{line}").trim_end());
        out.push('\n');
    }
    out.push_str(
        "\nDo not repeat the work. Send the whole report once more, every field of it, true to what \
         you found before. Begin with the first line of this format and replace each <placeholder>:\n\n",
    );
    out.push_str(format.trim_end());
    out.push('\n');
    out
}

fn plain(role: Role, finding: &Finding) -> String {
    let field = finding
        .place
        .as_deref()
        .and_then(|key| fields(role).iter().find(|field| field.key == key))
        .map(|field| format!("`{}`: ", field.title()))
        .unwrap_or_default();
    let text = format!(
        "{field}{} [{}] ({})",
        finding.message,
        finding.code,
        finding.code.hint()
    );
    clean(&text, Lines::Fold)
}

/// The result of checking a report without recording it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checked {
    /// Whether the report breaks no rule.
    pub valid: bool,
    /// Role that wrote the report.
    pub role: Role,
    /// Texts of the fields, by field key.
    pub fields: BTreeMap<String, String>,
    /// Rubric by dimension key; null if the report has none.
    pub rubric: Option<Rubric>,
    /// Findings about the report; those about its form have no place.
    pub findings: Vec<Finding>,
    /// Transition and commit that the report was compared with; absent if only its form was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Reason why the report was not compared with the state of the repository; absent if it was compared, and outside
    /// a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_held: Option<String>,
    /// Runs that were assumed to pass, because a check runs nothing; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
}

/// Describes the result of reading a report.
pub fn describe_check(role: Role, parsed: &Parsed) -> Checked {
    let findings = parsed.findings.iter();
    Checked {
        valid: parsed.is_valid(),
        role,
        fields: parsed.read.fields.clone(),
        rubric: parsed.read.rubric.clone(),
        findings: findings
            .map(|finding| Finding::new(finding.code, finding.message.clone()))
            .collect(),
        against: None,
        not_held: None,
        assumed: Vec::new(),
    }
}
