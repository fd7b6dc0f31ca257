//! The JSON Schema (2020-12) of a role's report in its JSON form, from the table.

use cook_protocol::model::{Role, Slot};
use cook_protocol::report::{
    DIMENSIONS, Field, Kind, MAX_FIELD_CHARS, fields, has_block, has_rubric,
};
use serde_json::{Map, Value, json};

/// The words of the rubric.
const VERDICTS: [&str; 3] = ["pass", "concern", "fail"];

/// The largest count that is kept (2^53 - 1).
const MAX_COUNT: u64 = 9_007_199_254_740_991;

/// The schema that `protocol/schema/report-<role>.json` holds.
///
/// A report that the schema accepts can still break a rule between fields, which
/// a schema does not express; one that it refuses is refused by the parser when
/// its values are of the wrong type.
pub fn describe_report(role: Role) -> Value {
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
        Kind::Text | Kind::Sha => text(),
        Kind::YesNo => json!({"anyOf": [{"type": "boolean"}, {"enum": field.words()}]}),
        Kind::Count => json!({"anyOf": [
            {"type": "integer", "minimum": 0, "maximum": MAX_COUNT},
            {"type": "string", "pattern": "^[0-9]{1,16}$"},
        ]}),
        Kind::List => json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, text()]}),
        Kind::Choice(words) => json!({"enum": words}),
    };
    property["title"] = json!(field.title());
    property["description"] = json!(field.hint);
    property
}

/// An object with these properties and no other.
fn object(properties: Value, required: &[&str]) -> Value {
    let mut object = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

/// The same, or null.
fn or_null(mut schema: Value) -> Value {
    let kind = schema["type"].take();
    schema["type"] = json!([kind, "null"]);
    schema
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

/// A text that is not empty.
fn name() -> Value {
    json!({"type": "string", "minLength": 1})
}

fn any_text() -> Value {
    json!({"type": "string"})
}

fn rubric() -> Value {
    let entry = object(
        json!({"verdict": {"enum": VERDICTS}, "why": text()}),
        &["verdict", "why"],
    );
    let keys = DIMENSIONS.map(|dimension| dimension.key);
    let entries = keys.map(|key| (key.to_owned(), entry.clone()));
    object(Value::Object(Map::from_iter(entries)), &keys)
}

/// An implementer's block, which it may leave out.
fn offer() -> Value {
    let entry = json!({"criterion": any_text(), "anchor": any_text()});
    let entry = object(entry, &["criterion", "anchor"]);
    let mut offer = object(json!({"evidence": list(entry)}), &["evidence"]);
    offer["description"] = json!("what proves each criterion; heard below `strict`");
    offer
}

/// A regrounder's block: [`cook_protocol::model::Reground`].
fn block() -> Value {
    let reconcile = json!({
        "slice_id": name(),
        "decision": {"enum": ["accepted", "reopened"]},
        "findings": list(name()),
    });
    let reopen = json!({"slice_id": name(), "why": name(), "at": or_null(any_text())});
    let answer = json!({"no": name(), "reason": name()});
    let placed = json!({"answer": name(), "slices": list(name())});
    object(
        json!({
            "reconcile": or_null(object(reconcile, &["slice_id", "decision"])),
            "reopen": list(object(reopen, &["slice_id", "why"])),
            "plan": or_null(plan()),
            "evidence": list(evidence_claim()),
            "conclude": conclude(),
            "answers": list(object(answer, &["no", "reason"])),
            "answers_to": list(object(placed, &["answer", "slices"])),
            "select": or_null(any_text()),
            "policy": policy(),
            "release_blocker_ids": list(name()),
            "high_value_gaps": list(name()),
            "brief": brief(),
        }),
        &[],
    )
}

fn plan() -> Value {
    let cancel = json!({"slice_id": name(), "reason": name()});
    object(
        json!({
            "plan_basis": any_text(),
            "candidate_slices": list(describe_planned_slice()),
            "add": list(describe_planned_slice()),
            "change": list(describe_changed_slice()),
            "cancel": list(object(cancel, &["slice_id", "reason"])),
            "order": list(name()),
        }),
        &[],
    )
}

fn conclude() -> Value {
    let go_on = json!({"decision": {"const": "go_on"}, "reason": or_null(any_text())});
    json!({"oneOf": [
        {"type": "null"},
        object(json!({"decision": {"const": "stop"}}), &["decision"]),
        object(go_on, &["decision"]),
    ]})
}

/// A change of the brief: [`cook_protocol::model::BriefChange`].
fn brief() -> Value {
    let line = |slot: Slot| {
        let mut properties = Map::new();
        properties.insert("slot".to_owned(), json!({"const": slot.id()}));
        for key in slot.fields() {
            let kind = match *key {
                "basis" => json!({"enum": ["observed", "test", "output", "user", "doc"]}),
                _ => name(),
            };
            properties.insert((*key).to_owned(), kind);
        }
        let required = ["slot"].into_iter().chain(slot.fields().iter().copied());
        object(Value::Object(properties), &required.collect::<Vec<&str>>())
    };
    let outcome = json!({
        "id": name(),
        "verdict": {"enum": ["superseded", "demoted", "retired"]},
        "by": or_null(any_text()),
        "why": name(),
    });
    let guide = json!({"content": name(), "reason": any_text()});
    or_null(object(
        json!({
            "entries": list(json!({"oneOf": Slot::ALL.map(line)})),
            "reconciliation": list(object(outcome, &["id", "verdict", "why"])),
            "whole": {"type": "boolean"},
            "guide": or_null(object(guide, &["content", "reason"])),
        }),
        &[],
    ))
}

fn describe_changed_slice() -> Value {
    let texts = || or_null(list(name()));
    object(
        json!({
            "slice_id": name(),
            "goal": or_null(any_text()),
            "add_criteria": list(name()),
            "drop_criteria": list(json!({"type": "integer", "minimum": 1})),
            "contract_ids": texts(),
            "priority": or_null(json!({"type": "number"})),
            "status": {"enum": ["planned", "blocked", null]},
            "why_now": or_null(any_text()),
            "blocked_on": texts(),
            "implementation_surfaces": texts(),
            "verification_commands": texts(),
            "locked_notes": texts(),
            "reason": or_null(any_text()),
        }),
        &["slice_id"],
    )
}

fn describe_planned_slice() -> Value {
    let status = json!([
        "planned",
        "selected",
        "in_progress",
        "blocked",
        "done",
        "cancelled",
        null
    ]);
    object(
        json!({
            "slice_id": name(),
            "goal": name(),
            "acceptance_criteria": list(name()),
            "contract_ids": list(name()),
            "priority": {"type": "number"},
            "status": {"enum": status},
            "why_now": any_text(),
            "blocked_on": list(name()),
            "implementation_surfaces": list(name()),
            "verification_commands": list(name()),
            "locked_notes": list(name()),
            "reason": or_null(any_text()),
        }),
        &["slice_id", "goal", "acceptance_criteria", "priority"],
    )
}

fn evidence_claim() -> Value {
    object(
        json!({
            "slice_id": or_null(any_text()),
            "criterion": name(),
            "anchor": name(),
            "basis": {"enum": ["observed", "test", "output", "user", "doc", null]},
        }),
        &["criterion", "anchor"],
    )
}

fn policy() -> Value {
    let asks = json!({"to": {"const": "await_user_input"}, "question": name()});
    let blocked = json!({"to": {"const": "blocked"}, "why": name(), "exit": name()});
    json!({"oneOf": [
        {"type": "null"},
        object(asks, &["to", "question"]),
        object(blocked, &["to", "why", "exit"]),
    ]})
}
