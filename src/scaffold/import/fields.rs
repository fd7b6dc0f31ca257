//! Taking fields out of an old object one by one; what is left over is named.

use cook_core::diagnostic::{Code, Finding, Lines, clean};
use cook_core::model::{Count, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
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
        let what: String = clean(what, Lines::Fold).chars().take(MAX_MESSAGE).collect();
        let place: String = clean(place, Lines::Fold)
            .chars()
            .take(MAX_MESSAGE)
            .collect();
        let key = (code, place, what);
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

    fn misshapen(&mut self, name: &str) {
        let place = format!("{}/{name}", self.place);
        self.notes.add(
            Code::ImportDropped,
            &place,
            "not in a shape that can be read",
        );
    }

    /// Non-empty text; a number or a truth value is written out.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) if !text.is_empty() => Some(text),
            Value::String(_) => None,
            value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
            _ => {
                self.misshapen(name);
                None
            }
        }
    }

    /// A list of non-empty texts; one text counts as a list of one.
    pub(super) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        let items = match self.take(name)? {
            Value::Array(items) => items,
            value @ Value::String(_) => vec![value],
            _ => {
                self.misshapen(name);
                return None;
            }
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Value::String(text) if text.is_empty() => {}
                Value::String(text) => texts.push(text),
                value @ (Value::Number(_) | Value::Bool(_)) => texts.push(value.to_string()),
                Value::Null => {}
                value => texts.push(value.to_string()),
            }
        }
        Some(texts)
    }

    /// Whatever type reads it as it stands.
    pub(super) fn typed<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let value = self.take(name)?;
        match serde_json::from_value(value) {
            Ok(value) => Some(value),
            Err(_) => {
                self.misshapen(name);
                None
            }
        }
    }

    /// A count, also one written as text.
    pub(super) fn count(&mut self, name: &str) -> Option<Count> {
        if let Some(Value::String(text)) = self.entries.get(name)
            && let Ok(count) = text.trim().parse::<u32>()
        {
            self.entries.remove(name);
            return Some(Count(count.into()));
        }
        self.typed(name)
    }

    /// A number, also one written as text.
    pub(super) fn number(&mut self, name: &str) -> Option<Number> {
        if let Some(Value::String(text)) = self.entries.get(name)
            && let Ok(number) = serde_json::from_str::<Number>(text.trim())
        {
            self.entries.remove(name);
            return Some(number);
        }
        self.typed(name)
    }

    /// A moment: text or a number.
    pub(super) fn moment(&mut self, name: &str) -> Option<Timestamp> {
        self.typed(name)
    }

    /// The members of a list; a field of another shape is noted.
    pub(super) fn list(&mut self, name: &str) -> Vec<Value> {
        match self.take(name) {
            Some(Value::Array(items)) => items,
            Some(value @ (Value::String(_) | Value::Object(_))) => vec![value],
            Some(_) => {
                self.misshapen(name);
                Vec::new()
            }
            None => Vec::new(),
        }
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
