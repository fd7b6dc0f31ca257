//! Taking fields out of an old object one by one; what is left over is named.

use cook_core::diagnostic::{Code, Finding, Lines, clean};
use cook_core::model::Count;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;
use std::str::FromStr;

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

/// The fields of one object. A field that is there in a shape that cannot be read
/// is noted, as is every field that nobody took, when [`Fields::finish`] is called.
pub(super) struct Fields<'a> {
    entries: Map<String, Value>,
    place: String,
    notes: &'a mut Notes,
}

impl<'a> Fields<'a> {
    /// None when the value is not an object, which is noted.
    pub(super) fn new(value: Value, place: &str, notes: &'a mut Notes) -> Option<Self> {
        let Value::Object(entries) = value else {
            notes.add(Code::ImportDropped, place, "not a JSON object");
            return None;
        };
        Some(Self {
            entries,
            place: place.to_owned(),
            notes,
        })
    }

    pub(super) fn note(&mut self, code: Code, what: &str) {
        self.notes.add(code, &self.place, what);
    }

    /// Takes a field; null counts as missing.
    fn take(&mut self, name: &str) -> Option<Value> {
        self.entries.remove(name).filter(|value| !value.is_null())
    }

    /// Takes a field as `read` reads it; one that it cannot read is noted.
    fn take_shaped<T>(&mut self, name: &str, read: impl Fn(Value) -> Option<T>) -> Option<T> {
        let read = read(self.take(name)?);
        if read.is_none() {
            let place = format!("{}/{name}", self.place);
            let what = "not in a shape that can be read";
            self.notes.add(Code::ImportDropped, &place, what);
        }
        read
    }

    /// Non-empty text; a number or a truth value is written out.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let text = self.take_shaped(name, |value| match value {
            Value::String(text) => Some(text),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        });
        text.filter(|text| !text.is_empty())
    }

    /// A list of non-empty texts; one text counts as a list of one.
    pub(super) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        let items = self.take_shaped(name, |value| match value {
            Value::Array(items) => Some(items),
            Value::String(_) => Some(vec![value]),
            _ => None,
        })?;
        let text = |item| match item {
            Value::Null => None,
            Value::String(text) => Some(text).filter(|text| !text.is_empty()),
            value => Some(value.to_string()),
        };
        Some(items.into_iter().filter_map(text).collect())
    }

    /// Whatever type reads it as it stands.
    pub(super) fn take_typed<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        self.take_shaped(name, |value| serde_json::from_value(value).ok())
    }

    /// A field that is written as text; any other one stays.
    fn take_parsed<T: FromStr>(&mut self, name: &str) -> Option<T> {
        let parsed = self.entries.get(name)?.as_str()?.trim().parse().ok()?;
        self.entries.remove(name);
        Some(parsed)
    }

    /// A count, also one written as text.
    pub(super) fn count(&mut self, name: &str) -> Option<Count> {
        let count = self
            .take_parsed::<u32>(name)
            .map(|count| Count(count.into()));
        count.or_else(|| self.take_typed(name))
    }

    /// A number, also one written as text.
    pub(super) fn number(&mut self, name: &str) -> Option<Number> {
        self.take_parsed(name).or_else(|| self.take_typed(name))
    }

    /// The members of a list; a field of another shape is noted.
    pub(super) fn list(&mut self, name: &str) -> Vec<Value> {
        let items = self.take_shaped(name, |value| match value {
            Value::Array(items) => Some(items),
            Value::String(_) | Value::Object(_) => Some(vec![value]),
            _ => None,
        });
        items.unwrap_or_default()
    }

    /// Fields that are known and carry nothing cook keeps.
    pub(super) fn ignore(&mut self, names: &[&str]) {
        for name in names {
            self.entries.remove(*name);
        }
    }

    /// Names every field that nobody took.
    pub(super) fn finish(self) {
        for name in self.entries.keys() {
            let what = format!("unknown field `{name}`");
            self.notes.add(Code::ImportDropped, &self.place, &what);
        }
    }
}
