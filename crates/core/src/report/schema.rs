//! The JSON Schema (2020-12) of a role's report in its JSON form, from the table.

use super::field::{Field, Kind};
use super::raw::MAX_FIELD_CHARS;
use super::table::{DIMENSIONS, fields, has_block, has_rubric};
use super::value::MAX_COUNT;
use crate::model::{Role, Slot};
use serde_json::{Map, Value, json};

/// The schema that `protocol/schema/report-<role>.json` holds.
///
/// A report that the schema accepts can still break a rule between fields, which
/// a schema does not express; one that it refuses is refused by the parser when
/// its values are of the wrong type.
pub fn schema(role: Role) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for field in fields(role) {
        properties.insert(field.key.to_owned(), property(field));
        if field.required {
            required.push(field.key);
        }
    }
    if has_rubric(role) {
        properties.insert("rubric".to_owned(), rubric());
        required.push("rubric");
    }
    if has_block(role) {
        properties.insert("block".to_owned(), block());
    }
    if role == Role::Implementer {
        properties.insert("block".to_owned(), offer());
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("report of {role}"),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn text() -> Value {
    json!({"type": "string", "pattern": r"\S", "maxLength": MAX_FIELD_CHARS})
}

fn property(field: &Field) -> Value {
    let mut property = match field.kind {
        Kind::Text => text(),
        Kind::YesNo => json!({"anyOf": [{"type": "boolean"}, leading_word(field.words())]}),
        Kind::Count => json!({"anyOf": [
            {"type": "integer", "minimum": 0, "maximum": MAX_COUNT},
            {"type": "string", "pattern": "^[\\s*`]*[0-9]", "maxLength": MAX_FIELD_CHARS},
        ]}),
        Kind::List => json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, text()]}),
        Kind::Choice(words) => leading_word(words),
        Kind::Sha => text(),
    };
    property["title"] = json!(field.title());
    property["description"] = json!(field.hint);
    property
}

/// A text that begins with one of the words, in any case.
fn leading_word(words: &[&str]) -> Value {
    let any_case = |word: &&str| -> String {
        word.chars()
            .map(|c| format!("[{}{c}]", c.to_ascii_uppercase()))
            .collect()
    };
    let words: Vec<String> = words.iter().map(any_case).collect();
    json!({
        "type": "string",
        "pattern": format!("^[\\s*`]*({})($|[^A-Za-z0-9])", words.join("|")),
        "maxLength": MAX_FIELD_CHARS,
    })
}

fn rubric() -> Value {
    let entry = json!({
        "type": "object",
        "properties": {"verdict": leading_word(&["pass", "concern", "fail"]), "why": text()},
        "required": ["verdict", "why"],
        "additionalProperties": false,
    });
    let entries: Map<String, Value> = DIMENSIONS
        .iter()
        .map(|dimension| (dimension.key.to_owned(), entry.clone()))
        .collect();
    let keys: Vec<&str> = DIMENSIONS.iter().map(|dimension| dimension.key).collect();
    json!({
        "type": "object",
        "properties": entries,
        "required": keys,
        "additionalProperties": false,
    })
}

/// An implementer's block, which it may leave out.
fn offer() -> Value {
    let entry = json!({
        "type": "object",
        "properties": {"criterion": {"type": "string"}, "anchor": {"type": "string"}},
        "required": ["criterion", "anchor"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {"evidence": {"type": "array", "items": entry}},
        "required": ["evidence"],
        "additionalProperties": false,
        "description": "what proves each criterion; heard below `strict`",
    })
}

/// A regrounder's block: [`crate::model::Reground`].
fn block() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string", "minLength": 1}});
    let name = json!({"type": "string", "minLength": 1});
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "reconcile": {
                "type": ["object", "null"],
                "additionalProperties": false,
                "properties": {
                    "slice_id": name,
                    "decision": {"enum": ["accepted", "reopened"]},
                    "findings": texts,
                },
                "required": ["slice_id", "decision"],
            },
            "reopen": {"type": "array", "items": {
                "type": "object",
                "properties": {"slice_id": name, "why": name, "at": {"type": ["string", "null"]}},
                "required": ["slice_id", "why"],
                "additionalProperties": false,
            }},
            "plan": {
                "type": ["object", "null"],
                "additionalProperties": false,
                "properties": {
                    "plan_basis": {"type": "string"},
                    "candidate_slices": {"type": "array", "items": describe_planned_slice()},
                    "add": {"type": "array", "items": describe_planned_slice()},
                    "change": {"type": "array", "items": describe_changed_slice()},
                    "cancel": {"type": "array", "items": {
                        "type": "object",
                        "properties": {"slice_id": name, "reason": name},
                        "required": ["slice_id", "reason"],
                        "additionalProperties": false,
                    }},
                    "order": texts,
                },
            },
            "evidence": {"type": "array", "items": evidence_claim()},
            "conclude": {"oneOf": [
                {"type": "null"},
                {
                    "type": "object",
                    "properties": {"decision": {"const": "stop"}},
                    "required": ["decision"],
                    "additionalProperties": false,
                },
                {
                    "type": "object",
                    "properties": {
                        "decision": {"const": "go_on"},
                        "reason": {"type": ["string", "null"]},
                    },
                    "required": ["decision"],
                    "additionalProperties": false,
                },
            ]},
            "answers": {"type": "array", "items": {
                "type": "object",
                "properties": {"no": name, "reason": name},
                "required": ["no", "reason"],
                "additionalProperties": false,
            }},
            "answers_to": {"type": "array", "items": {
                "type": "object",
                "properties": {"answer": name, "slices": texts},
                "required": ["resume", "--answer", "slices"],
                "additionalProperties": false,
            }},
            "select": {"type": ["string", "null"]},
            "policy": policy(),
            "release_blocker_ids": texts,
            "high_value_gaps": texts,
            "brief": brief(),
        },
    })
}

/// A change of the brief: [`crate::model::BriefChange`].
fn brief() -> Value {
    let name = json!({"type": "string", "minLength": 1});
    let line = |slot: Slot| {
        let mut properties = Map::new();
        properties.insert("slot".to_owned(), json!({"const": slot.id()}));
        for key in slot.fields() {
            let kind = match *key {
                "basis" => json!({"enum": ["observed", "test", "output", "user", "doc"]}),
                _ => name.clone(),
            };
            properties.insert((*key).to_owned(), kind);
        }
        let required: Vec<&str> = ["slot"]
            .into_iter()
            .chain(slot.fields().iter().copied())
            .collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    json!({
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": {
            "entries": {"type": "array", "items": {"oneOf": Slot::ALL.map(line)}},
            "reconciliation": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "id": name,
                    "verdict": {"enum": ["superseded", "demoted", "retired"]},
                    "by": {"type": ["string", "null"]},
                    "why": name,
                },
                "required": ["id", "verdict", "why"],
                "additionalProperties": false,
            }},
            "whole": {"type": "boolean"},
            "guide": {
                "type": ["object", "null"],
                "properties": {"content": name, "reason": {"type": "string"}},
                "required": ["content", "reason"],
                "additionalProperties": false,
            },
        },
    })
}

fn describe_changed_slice() -> Value {
    let texts = json!({"type": ["array", "null"], "items": {"type": "string", "minLength": 1}});
    let name = json!({"type": "string", "minLength": 1});
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "slice_id": name,
            "goal": {"type": ["string", "null"]},
            "add_criteria": {"type": "array", "items": name},
            "drop_criteria": {"type": "array", "items": {"type": "integer", "minimum": 1}},
            "contract_ids": texts,
            "priority": {"type": ["number", "null"]},
            "status": {"enum": ["planned", "blocked", null]},
            "why_now": {"type": ["string", "null"]},
            "blocked_on": texts,
            "implementation_surfaces": texts,
            "verification_commands": texts,
            "locked_notes": texts,
            "reason": {"type": ["string", "null"]},
        },
        "required": ["slice_id"],
    })
}

fn describe_planned_slice() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string", "minLength": 1}});
    let name = json!({"type": "string", "minLength": 1});
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "slice_id": name,
            "goal": name,
            "acceptance_criteria": texts,
            "contract_ids": texts,
            "priority": {"type": "number"},
            "status": {"enum": [
                "planned", "selected", "in_progress", "blocked", "done", "cancelled", null,
            ]},
            "why_now": {"type": "string"},
            "blocked_on": texts,
            "implementation_surfaces": texts,
            "verification_commands": texts,
            "locked_notes": texts,
            "reason": {"type": ["string", "null"]},
        },
        "required": ["slice_id", "goal", "acceptance_criteria", "priority"],
    })
}

fn evidence_claim() -> Value {
    let name = json!({"type": "string", "minLength": 1});
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "slice_id": {"type": ["string", "null"]},
            "criterion": name,
            "anchor": name,
            "basis": {"enum": ["observed", "test", "output", "user", "doc", null]},
        },
        "required": ["criterion", "anchor"],
    })
}

fn policy() -> Value {
    let name = json!({"type": "string", "minLength": 1});
    json!({"oneOf": [
        {"type": "null"},
        {
            "type": "object",
            "properties": {"to": {"const": "await_user_input"}, "question": name},
            "required": ["to", "question"],
            "additionalProperties": false,
        },
        {
            "type": "object",
            "properties": {"to": {"const": "blocked"}, "why": name, "exit": name},
            "required": ["to", "why", "exit"],
            "additionalProperties": false,
        },
    ]})
}
