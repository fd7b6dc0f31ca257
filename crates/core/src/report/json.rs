//! The JSON form: one object whose keys are the field keys, with `rubric` and,
//! for the regrounder, `block`; and the regrounder's block itself.
//!
//! Keys given twice are told apart from keys given once, which a plain JSON value
//! would not do.

use super::block::describe_wanted as wanted_in;
use super::field::{Field, Kind};
use super::offer::{OFFER_FORMAT, OfferBlock};
use super::raw::{Raw, show_held};
use super::table::{DIMENSIONS, fields, has_block, has_rubric};
use crate::diagnostic::{Code, Finding, Lines, clean};
use crate::model::{Reground, Role};
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// Reads a regrounder's block.
pub(super) fn block(text: &str) -> Result<Reground, Finding> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let block: Reground = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| invalid_block(&error.path().to_string(), error.inner(), text))?;
    let broken = |error: serde_json::Error| invalid_block(".", &error, text);
    deserializer.end().map_err(broken)?;
    let given = serde_json::from_str(text).map_err(broken)?;
    check_shape(&block, &given)
}

/// The block, when objects are objects: serde also takes a list of an object's values.
/// Hidden characters come out of its texts, which JSON can spell as escapes.
fn check_shape(block: &Reground, given: &Value) -> Result<Reground, Finding> {
    let text = given.to_string();
    let typed = serde_json::to_value(block).map_err(|error| invalid_block(".", &error, &text))?;
    match list_for_object(given, &typed, "block") {
        Some(path) => {
            let error = de::Error::custom("a list stands where an object belongs");
            let path = path.trim_start_matches("block.");
            Err(invalid_block(path, &error, &text))
        }
        None => clean_block(typed),
    }
}

fn list_for_object(given: &Value, typed: &Value, path: &str) -> Option<String> {
    match (given, typed) {
        (Value::Array(_), Value::Object(_)) => Some(path.to_owned()),
        (Value::Array(given), Value::Array(typed)) => given
            .iter()
            .zip(typed)
            .enumerate()
            .find_map(|(place, (a, b))| list_for_object(a, b, &format!("{path}[{place}]"))),
        (Value::Object(given), Value::Object(typed)) => given.iter().find_map(|(key, a)| {
            let b = typed.get(key)?;
            list_for_object(a, b, &format!("{path}.{key}"))
        }),
        _ => None,
    }
}

fn clean_block(mut value: Value) -> Result<Reground, Finding> {
    clean_texts(&mut value);
    let text = value.to_string();
    serde_path_to_error::deserialize(value)
        .map_err(|error| invalid_block(&error.path().to_string(), error.inner(), &text))
}

/// Recursion is bounded: a block's type nests a few levels and nothing else passes.
fn clean_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = clean(text, Lines::Keep),
        Value::Array(items) => items.iter_mut().for_each(clean_texts),
        Value::Object(map) => map.values_mut().for_each(clean_texts),
        _ => {}
    }
}

/// What is wrong in a regrounder's block.
fn invalid_block(path: &str, error: &serde_json::Error, text: &str) -> Finding {
    let steps = list_steps(path);
    let wants = wanted_in(steps.first().copied().unwrap_or_default());
    invalid(path, error, text, &wants)
}

/// What is wrong in a report that is one object.
fn invalid_report(role: Role, path: &str, error: &serde_json::Error, text: &str) -> Finding {
    let steps = list_steps(path);
    let first = steps.first().copied().unwrap_or_default();
    let field = fields(role).iter().find(|field| field.key == first);
    let wants = match (first, field) {
        ("block", _) if has_block(role) => wanted_in(steps.get(1).copied().unwrap_or_default()),
        ("block", _) => format!(
            "for example `\"block\": {}`",
            clean(
                OFFER_FORMAT
                    .trim_start_matches("```json")
                    .trim_end()
                    .trim_end_matches("```"),
                Lines::Fold
            )
        ),
        ("rubric", _) if has_rubric(role) => format!(
            "a verdict and a reason for each dimension; for example `\"rubric\": {{\"{}\": {{\"verdict\": \"concern\", \"why\": \"no test covers it\"}}, …}}`",
            DIMENSIONS[0].key
        ),
        (_, Some(field)) => field.wants(""),
        (_, None) => format!(
            "the report of {role} as one JSON object with the keys {}",
            list_keys(role)
        ),
    };
    invalid(path, error, text, &wants)
}

/// The keys of a report that is one object.
fn list_keys(role: Role) -> String {
    let named = fields(role).iter().map(|field| field.key);
    let rubric = has_rubric(role).then_some("rubric");
    let block = has_block(role).then_some("block");
    let keys: Vec<&str> = named.chain(rubric).chain(block).collect();
    keys.join(", ")
}

fn list_steps(path: &str) -> Vec<&str> {
    let steps = path.split(['.', '[', ']']);
    steps.filter(|step| !matches!(*step, "" | "?")).collect()
}

/// What is wrong at a path of a text of JSON, with what stands there and what must.
fn invalid(path: &str, error: &serde_json::Error, text: &str, wants: &str) -> Finding {
    let place = match path {
        "." | "?" => String::new(),
        path => format!("at `{}`: ", clean(path, Lines::Fold)),
    };
    let holds = match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            let step = |value: &Value, step: &&str| match step.parse::<usize>() {
                Ok(place) => value.get(place).cloned(),
                Err(_) => value.get(step).cloned(),
            };
            let steps = list_steps(path).into_iter();
            let found = steps.fold(value, |value, key| step(&value, &key).unwrap_or(value));
            found.to_string()
        }
        // The words before the place where it is no JSON any more.
        Err(error) => {
            let line = text.lines().nth(error.line().saturating_sub(1));
            let line: Vec<char> = line.unwrap_or_default().chars().collect();
            let end = error.column().min(line.len());
            line[end.saturating_sub(BEFORE)..end].iter().collect()
        }
    };
    Finding::new(
        Code::ReportBlockInvalid,
        format!(
            "{place}{}; it holds {}; it must hold {wants}",
            clean(&error.to_string(), Lines::Fold),
            show_held(&holds)
        ),
    )
}

/// Characters that are shown before a place that is no JSON.
const BEFORE: usize = 60;

/// Whether an object has a report's first field.
pub(super) fn is_report(role: Role, object: &str) -> bool {
    let key = fields(role)[0].key;
    serde_json::from_str::<Value>(object).is_ok_and(|value| value.get(key).is_some())
}

/// Reads the JSON form.
pub(super) fn read(role: Role, body: &str) -> Raw {
    let mut deserializer = serde_json::Deserializer::from_str(body);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut deserializer, &mut track);
    let object = Object { role }.deserialize(tracked);
    let mut raw = match object {
        Ok(raw) => raw,
        Err(error) => {
            let path = track.path().to_string();
            return Raw::unreadable(invalid_report(role, &path, &error, body));
        }
    };
    if let Err(error) = deserializer.end() {
        return Raw::unreadable(invalid_report(role, ".", &error, body));
    }
    if let Some(block) = raw.block.take() {
        // It was read once, so it can be read again.
        let given: Value = serde_json::from_str(body).unwrap_or_default();
        match check_shape(&block, &given["block"]) {
            Ok(block) => raw.block = Some(block),
            Err(finding) => raw.findings.push(finding),
        }
    }
    raw
}

/// Reads the object key by key.
struct Object {
    role: Role,
}

impl<'de> DeserializeSeed<'de> for Object {
    type Value = Raw;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the report of {} as an object", self.role)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut raw = Raw::default();
        let mut blocks = 0;
        while let Some(key) = map.next_key::<String>()? {
            if key == "block" && has_block(self.role) {
                blocks += 1;
                raw.block = Some(map.next_value::<Reground>()?);
            } else if key == "block" && self.role == Role::Implementer {
                raw.offered = map.next_value::<OfferBlock>()?.evidence;
            } else if key == "rubric" && has_rubric(self.role) {
                rubric(&mut raw, map.next_value::<Pairs>()?);
            } else {
                let field = fields(self.role).iter().find(|field| field.key == key);
                let field = field.ok_or_else(|| {
                    de::Error::custom(format!("`{key}` is not a field of {}", self.role))
                })?;
                raw.put(field, &map.next_value_seed(FieldText(field))?);
            }
        }
        if blocks > 1 {
            raw.block = None;
            raw.findings.push(Finding::new(
                Code::ReportBlockAmbiguous,
                "`block` is given twice",
            ));
        }
        Ok(raw)
    }
}

/// Reads a field's value, so that what is wrong with it is told of its place.
struct FieldText(&'static Field);

impl<'de> DeserializeSeed<'de> for FieldText {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        let value = Value::deserialize(deserializer)?;
        field_text(self.0, &value).map_err(de::Error::custom)
    }
}

/// A field's value as its text form would have it.
fn field_text(field: &Field, value: &Value) -> Result<String, String> {
    match (field.kind, value) {
        (_, Value::String(text)) => Ok(text.clone()),
        (_, Value::Null) => Ok(String::new()),
        (Kind::YesNo, Value::Bool(true)) => Ok("yes".to_owned()),
        (Kind::YesNo, Value::Bool(false)) => Ok("no".to_owned()),
        (Kind::Count, Value::Number(number)) => Ok(match number.as_f64() {
            // JSON Schema calls 3.0 an integer.
            Some(value) if value.fract() == 0.0 && (0.0..=9.0e15).contains(&value) => {
                format!("{value:.0}")
            }
            _ => number.to_string(),
        }),
        (Kind::List, Value::Array(items)) => list_text(field, items),
        (kind, _) => Err(format!("`{}` is not {}", field.key, describe_kind(kind))),
    }
}

fn list_text(field: &Field, items: &[Value]) -> Result<String, String> {
    let mut lines = Vec::new();
    for item in items {
        let text = item
            .as_str()
            .ok_or_else(|| format!("`{}` may hold texts only", field.key))?;
        lines.push(format!("- {}", clean(text, Lines::Fold)));
    }
    match lines.is_empty() {
        true => Ok("none".to_owned()),
        false => Ok(lines.join("\n")),
    }
}

fn describe_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::YesNo => "true, false or a text",
        Kind::Count => "a number",
        Kind::List => "a list of texts or a text",
        Kind::Text | Kind::Choice(_) | Kind::Sha => "a text",
    }
}

/// An object's pairs in order, doubles included.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor)
    }
}

fn rubric(raw: &mut Raw, pairs: Pairs) {
    if raw.has_rubric {
        raw.findings
            .push(Finding::new(Code::RubricDuplicated, "`rubric` is given twice").at("rubric"));
        return;
    }
    raw.has_rubric = true;
    for (key, value) in pairs.0 {
        let Some(dimension) = DIMENSIONS.iter().find(|dimension| dimension.key == key) else {
            let message = format!("unknown dimension `{}`", clean(&key, Lines::Fold));
            raw.findings
                .push(Finding::new(Code::RubricInvalid, message).at("rubric"));
            continue;
        };
        // A value of another shape reads as empty texts, which no line of a rubric may be.
        let known = value
            .as_object()
            .is_some_and(|entry| entry.keys().all(|key| key == "verdict" || key == "why"));
        let text = |name: &str| {
            let text = value.get(name).and_then(Value::as_str);
            text.filter(|_| known).unwrap_or_default()
        };
        let why = text("why");
        raw.rate(dimension.key, dimension.label, text("verdict"), Some(why));
    }
}
