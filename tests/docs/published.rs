//! The schemas in `protocol/schema/` are the ones that the types describe.

use crate::docs::plain_schemas::{describe_answer, describe_document};
use crate::docs::report_schemas::describe_report;
use crate::support::generated;
use cook::commands::published::describe_answers;
use cook_protocol::model::{Event, Role};
use cook_protocol::schema::Document;
use serde_json::{Map, Value, json};

/// Characters of a line, where a value fits on one.
const WIDTH: usize = 110;

/// What is read first stands first.
const FIRST: [&str; 8] = [
    "$schema",
    "$id",
    "title",
    "description",
    "type",
    "required",
    "properties",
    "additionalProperties",
];

fn order(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = fields.iter().collect();
    let rank = |name: &str| FIRST.iter().position(|first| *first == name);
    fields.sort_by_key(|(name, _)| rank(name).unwrap_or(FIRST.len()));
    fields
}

fn write_line(value: &Value) -> String {
    let rows = |rows: Vec<String>| rows.join(", ");
    match value {
        Value::Array(items) => format!("[{}]", rows(items.iter().map(write_line).collect())),
        Value::Object(fields) => {
            let row = |(name, value): (_, _)| format!("\"{name}\": {}", write_line(value));
            format!("{{{}}}", rows(order(fields).into_iter().map(row).collect()))
        }
        plain => plain.to_string(),
    }
}

/// What fits on a line stands on one; `before`: characters that stand there already.
fn lay_out(value: &Value, depth: usize, before: usize) -> String {
    let line = write_line(value);
    let inside = "  ".repeat(depth + 1);
    if inside.len() + before + line.chars().count() <= WIDTH {
        return line;
    }
    let (open, close, rows) = match value {
        Value::Array(items) => ('[', ']', fill(items, depth + 1)),
        Value::Object(fields) => {
            let row = |(name, value): (&String, &Value)| {
                format!("\"{name}\": {}", lay_out(value, depth + 1, name.len() + 4))
            };
            ('{', '}', order(fields).into_iter().map(row).collect())
        }
        _ => return line,
    };
    let rows = rows.join(&format!(",\n{inside}"));
    format!("{open}\n{inside}{rows}\n{}{close}", "  ".repeat(depth))
}

/// Words share lines, other items have their own.
fn fill(items: &[Value], depth: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for item in items {
        let text = lay_out(item, depth, 0);
        match rows.last_mut() {
            Some(row) if !item.is_object() && depth * 2 + row.len() + text.len() + 3 <= WIDTH => {
                *row += &format!(", {text}");
            }
            _ => rows.push(text),
        }
    }
    rows
}

#[test]
fn generated_schemas_are_those_of_the_types() {
    let documents =
        Document::ALL.map(|one| (format!("{}.schema", one.id()), describe_document(one)));
    let answers = describe_answers().into_iter().map(|(id, title, schema)| {
        let name = format!("output-{id}.schema");
        (name, describe_answer(id, title, schema))
    });
    let reports = Role::ALL.map(|role| (format!("report-{}", role.short()), describe_report(role)));
    for (id, schema) in documents.into_iter().chain(answers).chain(reports) {
        let wanted = lay_out(&schema, 0, 0) + "\n";
        assert_eq!(serde_json::from_str::<Value>(&wanted).unwrap(), schema);
        generated::compare(&format!("protocol/schema/{id}.json"), &wanted);
    }
}

#[test]
fn every_event_is_named_in_the_list_of_names() {
    let unknown = serde_json::from_value::<Event>(json!({"event": "frobnicated"}));
    let known = unknown.unwrap_err().to_string();
    let (_, known) = known.split_once("expected one of ").unwrap();
    let names: Vec<&str> = known
        .split(", ")
        .map(|name| name.trim_matches('`'))
        .collect();
    assert_eq!(names, Event::NAMES);
}
