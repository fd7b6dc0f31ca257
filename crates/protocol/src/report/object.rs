//! The JSON form: one object whose keys are the field keys, with `rubric` and `block`.

use super::block;
use super::block::{refuse, refuse_text};
use super::draft::Draft;
use super::table::{ANCHOR, DIMENSIONS, Field, Kind, fields, has_block, has_rubric};
use crate::diagnostic::{Code, Finding, Lines, clean};
use crate::model::Role;
use crate::schema;
use serde_json::{Map, Value};

/// A role's report may have this key; `block` goes for its block alone.
pub(super) fn has_key(role: Role, key: &str) -> bool {
    has_rubric(role) && key == "rubric" || fields(role).iter().any(|field| field.key == key)
}

/// Reads an object. One without the mission anchor is no report, and what else it holds is none of
/// it.
pub(super) fn read(role: Role, text: &str) -> Draft {
    let wanted = describe_wanted(role);
    let map = match schema::value(text.as_bytes()) {
        Ok(Value::Object(map)) => map,
        Ok(value) => {
            return Draft::unreadable(refuse("not an object", &value.to_string(), &wanted));
        }
        Err(error) => return Draft::unreadable(refuse_text(&error, text, &wanted)),
    };
    let is_report = map.contains_key(ANCHOR);
    read_pairs(role, map, is_report).unwrap_or_else(Draft::unreadable)
}

fn read_pairs(role: Role, map: Map<String, Value>, is_report: bool) -> Result<Draft, Finding> {
    let mut draft = Draft::default();
    for (key, value) in map {
        let field = fields(role).iter().find(|field| field.key == key);
        match (field, key.as_str()) {
            (Some(field), _) => draft.put(field, &read_field(field, &value)?),
            (None, "rubric") if has_rubric(role) => rate(&mut draft, &value)?,
            (None, "block") if matches!(role, Role::Regrounder | Role::Implementer) => {
                draft.block = Some(block::convert(role, value)?);
            }
            (None, _) if !is_report => {}
            (None, _) => {
                let what = format!("`{key}` is not a field of {role}");
                return Err(refuse(&what, &value.to_string(), &describe_wanted(role)));
            }
        }
    }
    Ok(draft)
}

/// A field's value as its text form would have it.
fn read_field(field: &Field, value: &Value) -> Result<String, Finding> {
    let kind = match field.kind {
        Kind::YesNo => "true, false or a text",
        Kind::Count => "a number",
        Kind::List => "a list of texts or a text",
        Kind::Text | Kind::Choice(_) | Kind::Sha => "a text",
    };
    let text = match (field.kind, value) {
        (_, Value::String(text)) => Some(text.clone()),
        (_, Value::Null) => Some(String::new()),
        (Kind::YesNo, Value::Bool(true)) => Some("yes".to_owned()),
        (Kind::YesNo, Value::Bool(false)) => Some("no".to_owned()),
        (Kind::Count, Value::Number(number)) => Some(match number.as_f64() {
            // JSON Schema calls 3.0 an integer.
            Some(value) if value.fract() == 0.0 && (0.0..=9.0e15).contains(&value) => {
                format!("{value:.0}")
            }
            _ => number.to_string(),
        }),
        (Kind::List, Value::Array(items)) if items.is_empty() => Some("none".to_owned()),
        (Kind::List, Value::Array(items)) => {
            let lines = items.iter().map(|item| {
                let text = clean(item.as_str()?, Lines::Fold);
                Some(format!("- {text}"))
            });
            let lines: Option<Vec<String>> = lines.collect();
            lines.map(|lines| lines.join("\n"))
        }
        _ => None,
    };
    let what = format!("at `{0}`: `{0}` is not {kind}", field.key);
    text.ok_or_else(|| refuse(&what, &value.to_string(), &field.wants("")))
}

fn rate(draft: &mut Draft, value: &Value) -> Result<(), Finding> {
    let wanted = format!(
        "a verdict and a reason for each dimension; for example `\"rubric\": {{\"{}\": {{\"verdict\": \"concern\", \"why\": \"no test covers it\"}}, …}}`",
        DIMENSIONS[0].key
    );
    let refuse = |what: &str, value: &Value| refuse(what, &value.to_string(), &wanted);
    let entries = value.as_object();
    let entries = entries.ok_or_else(|| refuse("at `rubric`: it is not an object", value))?;
    for (key, entry) in entries {
        let dimension = DIMENSIONS.iter().find(|dimension| dimension.key == key);
        let Some(dimension) = dimension else {
            let message = format!("unknown dimension `{}`", clean(key, Lines::Fold));
            draft.refuse(Finding::new(Code::RubricInvalid, message).at("rubric"));
            continue;
        };
        // A value of another shape reads as empty texts, which no line of a rubric may be.
        let map = entry.as_object();
        let is_known =
            map.is_some_and(|map| map.keys().all(|key| key == "verdict" || key == "why"));
        let text = |name: &str| {
            let text = entry.get(name).and_then(Value::as_str);
            text.filter(|_| is_known).unwrap_or_default()
        };
        draft.put_rating(dimension, text("verdict"), text("why"));
    }
    Ok(())
}

fn describe_wanted(role: Role) -> String {
    let named = fields(role).iter().map(|field| field.key);
    let rubric = has_rubric(role).then_some("rubric");
    let block = has_block(role).then_some("block");
    let keys: Vec<&str> = named.chain(rubric).chain(block).collect();
    format!(
        "the report of {role} as one JSON object with the keys {}",
        keys.join(", ")
    )
}
