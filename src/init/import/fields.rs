//! Reading an old object field by field: what does not fit is left out and named.

use cook_protocol::diagnostic::{Code, Finding, Lines, clean};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Findings that an import gives at most; the rest is counted.
const MAX_FINDINGS: usize = 200;
/// Characters of a message.
const MAX_MESSAGE: usize = 300;

/// What was found, each thing once with how often.
#[derive(Debug, Default)]
pub(super) struct Notes {
    seen: BTreeMap<(Code, String, String), usize>,
    more: usize,
}

impl Notes {
    pub(super) fn add(&mut self, code: Code, place: &str, what: &str) {
        let line = |text| clean(text, Lines::Fold).chars().take(MAX_MESSAGE).collect();
        let key = (code, line(place), line(what));
        if self.seen.len() < MAX_FINDINGS || self.seen.contains_key(&key) {
            *self.seen.entry(key).or_default() += 1;
        } else {
            self.more += 1;
        }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self
            .seen
            .into_iter()
            .map(|((code, place, what), times)| {
                let times = if times > 1 {
                    format!(" ({times} times)")
                } else {
                    String::new()
                };
                Finding::new(code, format!("{what}{times}")).at(place)
            })
            .collect();
        if self.more > 0 {
            let what = format!("{} more things were not taken in", self.more);
            findings.push(Finding::new(Code::ImportDropped, what));
        }
        findings
    }
}

/// An object of an older writer.
pub(super) type Object = Map<String, Value>;

/// The object that a value is.
pub(super) fn read_object(value: Value, place: &str, notes: &mut Notes) -> Option<Object> {
    if let Value::Object(mut object) = value {
        object.retain(|_, value| !value.is_null());
        return Some(object);
    }
    notes.add(Code::ImportDropped, place, "not a JSON object");
    None
}

/// What a type knows of an object, with these values in the place of what is missing. A field in another
/// shape is tried as the nearest one that fits.
///
/// # Errors
/// What is missing.
pub(super) fn read_known<T: DeserializeOwned>(
    mut object: Object,
    defaults: Value,
    place: &str,
    notes: &mut Notes,
) -> Result<T, String> {
    let mut defaults = match defaults {
        Value::Object(defaults) => defaults,
        _ => Object::new(),
    };
    for (key, value) in &defaults {
        object.entry(key).or_insert_with(|| value.clone());
    }
    // Shapes that are left to try of each field.
    let mut shapes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    loop {
        let value = Value::Object(object.clone());
        let error = match serde_path_to_error::deserialize::<_, T>(value) {
            Ok(read) => return Ok(read),
            Err(error) => error,
        };
        let key = match error.path().iter().next() {
            Some(serde_path_to_error::Segment::Map { key }) => key.clone(),
            _ => return Err(error.inner().to_string()),
        };
        let Some(given) = object.remove(&key) else {
            return Err(error.inner().to_string());
        };
        if error.inner().to_string().starts_with("unknown field") {
            let what = format!("unknown field `{key}`");
            notes.add(Code::ImportDropped, place, &what);
            continue;
        }
        let left = shapes
            .entry(key.clone())
            .or_insert_with(|| list_shapes(&given));
        match left.pop() {
            Some(other) => drop(object.insert(key, other)),
            None => {
                let place = format!("{place}/{key}");
                let what = "not in a shape that can be read";
                notes.add(Code::ImportDropped, &place, what);
                object.extend(defaults.remove_entry(&key));
            }
        }
    }
}

/// Other shapes of a value, the nearest last.
fn list_shapes(value: &Value) -> Vec<Value> {
    let as_text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    match value {
        Value::String(text) => {
            let parsed = serde_json::from_str(text.trim()).ok();
            let list = Value::Array(vec![value.clone()]);
            [Some(list), parsed].into_iter().flatten().collect()
        }
        Value::Number(_) | Value::Bool(_) => vec![Value::String(value.to_string())],
        Value::Array(items) => {
            let items = items.iter().filter(|item| !item.is_null()).map(as_text);
            let items = items.filter(|text| !text.is_empty()).map(Value::String);
            vec![Value::Array(items.collect())]
        }
        Value::Null | Value::Object(_) => Vec::new(),
    }
}
