//! The texts that a text holds: as a reader of its JSON has them, without escapes.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// JSON in a text of JSON, and so on, is followed that far.
const DEPTH: usize = 8;

/// The texts of a document, or of lines that are one each, and what else stands there.
pub fn texts(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(text, DEPTH, &mut found);
    found
}

fn collect(text: &str, depth: usize, found: &mut Vec<String>) {
    if depth > 0 && collect_json(text, depth, found) {
        return;
    }
    if depth == 0 || !text.lines().any(begins_json) {
        found.push(text.to_owned());
        return;
    }
    let mut plain = String::new();
    for line in text.split_inclusive('\n') {
        if !collect_json(line, depth, found) {
            plain.push_str(line);
        }
    }
    found.push(plain);
}

/// Whether all of it is one document, whose texts are found now.
fn collect_json(text: &str, depth: usize, found: &mut Vec<String>) -> bool {
    if !begins_json(text) {
        return false;
    }
    let Ok(Texts(inner)) = serde_json::from_str(text) else {
        return false;
    };
    for text in inner {
        collect(&text, depth - 1, found);
    }
    true
}

fn begins_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"'])
}

/// Every key and text of a document, also of a key that stands there twice.
struct Texts(Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Texts, E> {
        Ok(Texts(vec![text.to_owned()]))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Texts, E> {
        Ok(Texts(Vec::new()))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Texts, E> {
        Ok(Texts(Vec::new()))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Texts, E> {
        Ok(Texts(Vec::new()))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Texts, E> {
        Ok(Texts(Vec::new()))
    }

    fn visit_unit<E: Error>(self) -> Result<Texts, E> {
        Ok(Texts(Vec::new()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
        let mut all = Vec::new();
        while let Some(Texts(one)) = items.next_element()? {
            all.extend(one);
        }
        Ok(Texts(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Texts, A::Error> {
        let mut all = Vec::new();
        while let Some((Texts(key), Texts(value))) = fields.next_entry()? {
            all.extend(key);
            all.extend(value);
        }
        Ok(Texts(all))
    }
}
