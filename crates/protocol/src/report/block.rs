//! The JSON block that a regrounder's report has, and an implementer's may have: how it is shown, key by key, and
//! how it is read. A test reads back what is shown.

use super::value::show_held;
use crate::prelude::*;
use crate::schema;
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Serialize};
use serde_json::{Error, Value};

/// The content of a block.
// Only one exists for each answer that is read.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    /// The changes of a re-ground.
    Reground(Reground),
    /// The proof that an implementer names for each criterion.
    Offers(Vec<Offer>),
}

/// An implementer's block as prompts show it.
pub const OFFER_FORMAT: &str = r#"```json
{
  "evidence": [
    {"criterion": "<word for word>", "anchor": "<test:NAME, cmd:COMMAND#LINE, path:line>"}
  ]
}
```
"#;

/// Each key with an example of its value.
const KEYS: [(&str, &str); 12] = [
    (
        "reconcile",
        r#"{"slice_id": "<committed slice>", "decision": "accepted", "findings": ["<what must be fixed; none when accepted>"]}"#,
    ),
    (
        "reopen",
        r#"[{"slice_id": "<done slice>", "why": "<what no longer holds>", "at": "<commit on HEAD that holds its work, if one does>"}]"#,
    ),
    (
        "plan",
        r#"{
    "plan_basis": "<what you read>",
    "add": [{
      "slice_id": "<letters, digits, . _ ->", "goal": "<purpose>", "acceptance_criteria": ["<condition>"],
      "contract_ids": ["<id>"], "priority": 1, "why_now": "<reason>", "blocked_on": [],
      "implementation_surfaces": ["<path>"], "verification_commands": ["<command, no shell>"], "locked_notes": []
    }],
    "change": [{"slice_id": "<open slice>", "priority": 2, "add_criteria": ["<one that was missing>"], "drop_criteria": [1]}],
    "cancel": [{"slice_id": "<open slice>", "reason": "<why>"}],
    "order": ["<open slices, first to last>"]
  }"#,
    ),
    (
        "evidence",
        r#"[{"slice_id": "<slice>", "criterion": "<word for word>", "anchor": "<anchor>", "basis": "test"}]"#,
    ),
    (
        "conclude",
        r#"{"decision": "go_on", "reason": "<what answers each point of each no: the slice that takes it up, or why it does not hold>"}"#,
    ),
    (
        "answers",
        r#"[{"no": "<id of an unanswered no>", "reason": "<what became of it>"}]"#,
    ),
    (
        "answers_to",
        r#"[{"answer": "<the user's answer: answer-NUMBER>", "slices": ["<slices that it concerns; none = every one>"]}]"#,
    ),
    ("select", r#""<slice id>""#),
    (
        "policy",
        r#"{"to": "await_user_input", "question": "<exact question for the user>"}"#,
    ),
    ("release_blocker_ids", "[]"),
    ("high_value_gaps", "[]"),
    (
        "brief",
        r#"{
    "entries": [{"slot": "learned", "lesson": "<what the next session should know>", "source": "<place>"}],
    "reconciliation": [{"id": "<entry id>", "verdict": "retired", "by": "<entry id or user@ID>", "why": "<why>"}]
  }"#,
    ),
];

/// The sentences below the block, each with the key that it is about.
const WORDS: [(&str, &str); 7] = [
    (ACCEPT, "`decision` is accepted or reopened."),
    (
        "plan",
        "`change` may hold any key of `add` but the criteria (and, of a slice in work, the goal), and `status` planned, or blocked with a `reason`; what is left out stays.",
    ),
    (
        "evidence",
        "`basis` is observed, test, output, user or doc; without it, it follows from the anchor.",
    ),
    (
        DROP,
        "What `drop_criteria` names needs `evidence` that it holds.",
    ),
    (STOP, r#"`conclude` may be {"decision": "stop"}."#),
    (
        "policy",
        r#"`policy` may be {"to": "blocked", "why": "…", "exit": "<command that ends it>"}."#,
    ),
    ("brief", "`verdict` is superseded, demoted or retired."),
];

/// Parts below some keys that are left out of the format if they are not allowed: `accepted` in `reconcile`,
/// `stop` in `conclude`, `drop_criteria` in a plan.
pub const ACCEPT: &str = "accepted";
/// See [`ACCEPT`].
pub const STOP: &str = "stop";
/// See [`ACCEPT`].
pub const DROP: &str = "drop_criteria";

/// Whether a role's block may have this key.
pub(super) fn has_key(role: Role, key: &str) -> bool {
    match role {
        Role::Regrounder => KEYS.iter().any(|(known, _)| *known == key),
        Role::Implementer => key == "evidence",
        _ => false,
    }
}

/// The shape of a key's value, without the parts that are left out.
fn describe_shape(key: &str, shape: &str, left_out: &[&str]) -> String {
    let is_out = |name| left_out.contains(&name);
    match key {
        "reconcile" if is_out(ACCEPT) => shape
            .replace("accepted\"", "reopened\"")
            .replace("; none when accepted", ""),
        "plan" if is_out(DROP) => shape.replace(r#", "drop_criteria": [1]"#, ""),
        _ => shape.to_owned(),
    }
}

/// Describes what a block, or the value of one of its keys, must hold.
pub(super) fn describe_wanted(role: Role, key: &str) -> String {
    let is_shown = |(known, _): &&(&str, &str)| role == Role::Regrounder && *known == key;
    match KEYS.iter().find(is_shown) {
        Some((_, shape)) => format!("for example `\"{key}\": {}`", clean(shape, Lines::Fold)),
        None if role == Role::Regrounder => format!(
            "one JSON object with keys of {}; for example `{{\"select\": \"s2\"}}`",
            KEYS.map(|(key, _)| key).join(", ")
        ),
        None => {
            let shape = OFFER_FORMAT.trim_start_matches("```json");
            let shape = clean(shape.trim_end_matches(['`', '\n']), Lines::Fold);
            format!("the evidence of each criterion; for example `{shape}`")
        }
    }
}

/// Reads the block of a role that has one.
pub(super) fn read(role: Role, text: &str) -> Result<Block, Finding> {
    let value = schema::value(text.as_bytes());
    let value = value.map_err(|error| refuse_text(&error, text, &describe_wanted(role, "")))?;
    convert(role, value)
}

/// Converts a JSON value to the block of a role. Removes hidden characters from its texts, which JSON can spell as
/// escapes.
pub(super) fn convert(role: Role, mut value: Value) -> Result<Block, Finding> {
    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Offered {
        evidence: Vec<Offer>,
    }

    clean_texts(&mut value);
    match role {
        Role::Implementer => {
            let offered: Offered = read_as(role, &value)?;
            Ok(Block::Offers(offered.evidence))
        }
        _ => Ok(Block::Reground(read_as(role, &value)?)),
    }
}

/// Recursion is bounded, because the JSON reader goes at most 128 levels deep.
fn clean_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = clean(text, Lines::Keep),
        Value::Array(items) => items.iter_mut().for_each(clean_texts),
        Value::Object(map) => map.values_mut().for_each(clean_texts),
        _ => {}
    }
}

fn read_as<T: Serialize + DeserializeOwned>(role: Role, value: &Value) -> Result<T, Finding> {
    let refuse = |path: &str, error: &Error| refuse_at(path, &error.to_string(), value, role);
    let typed: T = serde_path_to_error::deserialize(value)
        .map_err(|error| refuse(&error.path().to_string(), error.inner()))?;
    let written = serde_json::to_value(&typed).map_err(|error| refuse(".", &error))?;
    match schema::find_misread(value, &written) {
        Some((path, what)) => {
            let error: Error = de::Error::custom(what);
            Err(refuse(path.trim_start_matches('.'), &error))
        }
        None => Ok(typed),
    }
}

/// Describes an error at a path of a block, with the value there and the value that is required.
fn refuse_at(path: &str, error: &str, block: &Value, role: Role) -> Finding {
    let steps = path.split(['.', '[', ']']);
    let steps: Vec<&str> = steps.filter(|step| !matches!(*step, "" | "?")).collect();
    let inside = |value: &Value, step: &str| match step.parse::<usize>() {
        Ok(place) => value.get(place).cloned(),
        Err(_) => value.get(step).cloned(),
    };
    let found = steps.iter().fold(block.clone(), |value, step| {
        inside(&value, step).unwrap_or(value)
    });
    let what = match steps.first() {
        Some(_) => format!("at `{}`: {error}", clean(path, Lines::Fold)),
        None => error.to_owned(),
    };
    let wanted = describe_wanted(role, steps.first().copied().unwrap_or_default());
    refuse(&what, &found.to_string(), &wanted)
}

/// Describes an error in a text that is not JSON, with the words before the place.
pub(super) fn refuse_text(error: &Error, text: &str, wanted: &str) -> Finding {
    const BEFORE: usize = 60;
    let line = text.lines().nth(error.line().saturating_sub(1));
    let line: Vec<char> = line.unwrap_or_default().chars().collect();
    let end = error.column().min(line.len());
    let held: String = line[end.saturating_sub(BEFORE)..end].iter().collect();
    refuse(&error.to_string(), &held, wanted)
}

/// Describes an error in JSON, with what it holds and what it must hold.
pub(super) fn refuse(what: &str, held: &str, wanted: &str) -> Finding {
    let (what, held) = (clean(what, Lines::Fold), show_held(held));
    finding!(
        Code::ReportBlockInvalid,
        "{what}; it holds {held}; it must hold {wanted}"
    )
}

/// Writes an implementer's block in the form in which it is read.
pub(super) fn render_offers(offered: &[Offer]) -> String {
    let block = serde_json::json!({ "evidence": offered });
    // Values that were read from JSON can be written as JSON.
    let block = serde_json::to_string_pretty(&block).unwrap_or_default();
    format!("\n```json\n{block}\n```\n")
}

/// The format of the block, without these keys and parts.
pub(super) fn format(left_out: &[&str]) -> String {
    let shown = |key: &&(&str, &str)| !left_out.contains(&key.0);
    let rows: Vec<String> = KEYS
        .iter()
        .filter(shown)
        .map(|(key, value)| format!("  \"{key}\": {}", describe_shape(key, value, left_out)))
        .collect();
    let words: Vec<&str> = WORDS
        .iter()
        .filter(shown)
        .map(|(_, words)| *words)
        .collect();
    format!(
        "\n```json\n{{\n{}\n}}\n```\nLeave out keys that do not apply. {}\n",
        rows.join(",\n"),
        words.join(" ")
    )
}
