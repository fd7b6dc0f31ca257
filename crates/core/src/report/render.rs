//! A report as text: the canonical form, the format with placeholders, and what
//! to ask for when a report was broken.

use super::field::{Field, Kind};
use super::table::{DIMENSIONS, HEADER_FIELDS, fields, has_block, has_rubric};
use super::{Parsed, Report};
use crate::diagnostic::{Finding, Lines, clean};
use crate::model::{ReportRecord, Role, Rubric, RubricVerdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// Blanks before each line of a value that stands below its label: so far in,
/// nothing is read as a label or a fence.
const INDENT: &str = "    ";

/// The canonical text. Reading it gives the same fields, rubric and block.
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
        // A document type that serde wrote before cannot fail to be written.
        let block = serde_json::to_string_pretty(block).unwrap_or_default();
        out.push_str(&format!("\n```json\n{block}\n```\n"));
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
            let verdict = word(entry.verdict);
            let label = dimension.label;
            out.push_str(&format!("- {label}: {verdict} - {}\n", entry.why));
        }
    }
}

fn word(verdict: RubricVerdict) -> &'static str {
    match verdict {
        RubricVerdict::Pass => "pass",
        RubricVerdict::Concern => "concern",
        RubricVerdict::Fail => "fail",
    }
}

/// The exact format of a role's report, with placeholders in angle brackets.
pub fn format(role: Role) -> String {
    let mut out = String::new();
    for (place, field) in fields(role).iter().enumerate() {
        if place == HEADER_FIELDS && has_rubric(role) {
            out.push_str("Rubric:\n");
            for dimension in &DIMENSIONS {
                out.push_str(&format!(
                    "- {}: <pass|concern|fail> - <why>\n",
                    dimension.label
                ));
            }
        }
        match field.kind {
            Kind::List if place >= HEADER_FIELDS => {
                out.push_str(&format!("{}:\n- <{}>\n", field.title(), field.hint));
            }
            _ => out.push_str(&format!("{}: <{}>\n", field.title(), field.hint)),
        }
    }
    if has_block(role) {
        out.push_str(BLOCK_FORMAT);
    }
    out
}

/// The regrounder's block with every key it may hold. A test reads it back.
const BLOCK_FORMAT: &str = r#"
```json
{
  "reconcile": {"slice_id": "<committed slice>", "decision": "accepted", "findings": []},
  "reopen": [{"slice_id": "<done slice>", "why": "<what no longer holds>", "at": "<commit on HEAD that holds its work, if one does>"}],
  "plan": {
    "plan_basis": "<what you read to make this plan>",
    "candidate_slices": [
      {
        "slice_id": "<one word of letters, digits, . _ ->",
        "goal": "<what it is for>",
        "acceptance_criteria": ["<a condition that a command or a reader can check>"],
        "contract_ids": ["<contract id>"],
        "priority": 1,
        "status": "planned",
        "why_now": "<why at this place>",
        "blocked_on": [],
        "implementation_surfaces": ["<path>"],
        "verification_commands": ["<command, no shell>"],
        "locked_notes": [],
        "reason": "<only with cancelled or blocked>"
      }
    ]
  },
  "evidence": [
    {"slice_id": "<slice>", "criterion": "<word for word>", "anchor": "<test:NAME, cmd:COMMAND#LINE, path:line>", "basis": "test"}
  ],
  "conclude": {"decision": "go_on", "reason": "<only after a whole stop wave>"},
  "answers": [{"no": "<id of an unanswered no>", "reason": "<what became of it>"}],
  "select": "<slice id>",
  "policy": {"to": "await_user_input", "question": "<only when the user must decide>"},
  "release_blocker_ids": [],
  "high_value_gaps": [],
  "brief": {
    "entries": [{"slot": "learned", "lesson": "<what the next session should know>", "source": "<where it was seen>"}],
    "reconciliation": [{"id": "<entry id>", "verdict": "retired", "by": "<entry id or user@ID>", "why": "<why>"}]
  }
}
```
Leave out every key that does not apply. `decision` is accepted or reopened; `status` is planned, blocked or
cancelled; `basis` is observed, test, output, user or doc; `conclude` may be {"decision": "stop"}; `policy` may be
{"to": "blocked", "why": "…", "exit": "<command>"}.
"#;

/// What to ask an agent for after a broken report: each breach in plain words, then the format.
pub fn repair_prompt(role: Role, findings: &[Finding]) -> String {
    let mut out = format!(
        "Your report as {role} could not be used. Nothing was recorded. What is wrong:\n\n"
    );
    for finding in findings {
        out.push_str(&format!("- {}\n", plain(role, finding)));
    }
    out.push_str(
        "\nDo not repeat the work. Send the whole report once more, every field of it, true to what \
         you found before. Begin with the first line of this format and replace each <placeholder>:\n\n",
    );
    out.push_str(&format(role));
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

/// A report judged by grammar and consistency alone.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checked {
    /// No rule is broken.
    pub valid: bool,
    /// Whose report it is.
    pub role: Role,
    /// By field key.
    pub fields: BTreeMap<String, String>,
    /// By dimension key; null where there is none.
    pub rubric: Option<Rubric>,
    /// What is wrong with it, without places.
    pub findings: Vec<Finding>,
}

/// What is told of a report that was read.
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
    }
}
