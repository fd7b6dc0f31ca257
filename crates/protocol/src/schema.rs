//! Reading documents by their serde types, no more freely than their JSON Schemas in
//! `protocol/schema/` say: both give the same verdict on every document (a test draws them).

use crate::diagnostic::{Code, Finding, Lines, clean, finding, shorten};
use crate::model::{
    ActiveSlice, BriefDocument, BriefRecord, Plan, Profile, Receipt, SliceRecord, State,
    StopRecord, VerificationEvidence,
};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use regex::Regex;
use serde::de::{DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::{LazyLock, OnceLock};

/// Findings that one file gives at most.
pub const MAX_FINDINGS: usize = 50;

/// A type that has a schema.
pub trait Documented: Serialize + DeserializeOwned {
    /// Which.
    const DOCUMENT: Document;
    /// Its JSON Schema, as it is published.
    const SCHEMA: &str;
}

/// Types with the names of their schemas and the files in which they stand.
macro_rules! documents {
    ($($kind:ident: $id:literal, $file:literal;)*) => {
        /// The kinds of document that have a schema (`protocol/completion.md#files`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Document {
            $(#[doc = $file] $kind,)*
        }

        impl Document {
            /// All of them.
            pub const ALL: [Document; [$($id),*].len()] = [$(Document::$kind),*];

            /// The name that its schema file and its `$id` carry.
            pub fn id(self) -> &'static str {
                match self { $(Document::$kind => $id,)* }
            }

            /// The file under `.agent/` it stands in.
            pub fn file(self) -> &'static str {
                match self { $(Document::$kind => $file,)* }
            }
        }

        $(impl Documented for $kind {
            const DOCUMENT: Document = Document::$kind;
            const SCHEMA: &str =
                include_str!(concat!("../../../protocol/schema/", $id, ".schema.json"));
        })*
    };
}

documents! {
    Profile: "profile", "profile.json";
    State: "state", "state.json";
    Plan: "plan", "plan.json";
    ActiveSlice: "active-slice", "active-slice.json";
    SliceRecord: "slice-record", "slice-history.jsonl";
    StopRecord: "stop-record", "stop-check-history.jsonl";
    VerificationEvidence: "verification-evidence", "verification-evidence.json";
    Receipt: "receipt", "receipt";
    BriefDocument: "brief", "brief.json";
    BriefRecord: "brief-record", "brief-history.jsonl";
}

/// Reads any JSON in which no object gives a key twice.
///
/// # Errors
/// When it is not valid JSON, or a key stands twice.
pub fn value(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes).map(|Unique(value)| value)
}

/// Text from a document as a message shows it: one harmless line, cut.
fn show(text: &str, max: usize) -> String {
    shorten(&clean(text, Lines::Fold), max)
}

// Reading a document's bytes: capped, typed, never a panic, linear in its size.

/// Bytes a document holds at most.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;

/// Why a document is not read: at least one finding, the first is the gravest.
pub type Rejection = Vec<Finding>;

/// Bytes up to which the schema is asked for every place that is wrong. A larger
/// document gets the first one alone: it could hold millions.
const MAX_EXPLAINED_BYTES: usize = 1024 * 1024;

/// Reads a document of at most `cap` bytes.
///
/// # Errors
/// `document_too_large`, `document_unreadable` (the bytes are not valid JSON) or
/// `document_invalid` (JSON that breaks the schema, with every place unless it is very large, or gives a key twice).
pub fn read_document<T: Documented>(bytes: &[u8], cap: usize) -> Result<T, Rejection> {
    let document = T::DOCUMENT;
    if bytes.len() > cap {
        return Err(vec![
            finding!(
                Code::DocumentTooLarge,
                "{} bytes; cook reads at most {cap}",
                bytes.len()
            )
            .at(document.file()),
        ]);
    }
    from_slice(bytes).map_err(|error| explain::<T>(bytes, &error))
}

/// Finds out what is wrong with bytes that the type did not accept, and where.
fn explain<T: Documented>(bytes: &[u8], error: &serde_json::Error) -> Rejection {
    let file = T::DOCUMENT.file();
    if let Some(what) = not_json(bytes) {
        return vec![Finding::new(Code::DocumentUnreadable, what).at(file)];
    }
    let errors = match serde_json::from_slice::<Value>(bytes) {
        Ok(value) if bytes.len() <= MAX_EXPLAINED_BYTES => list_errors::<T>(&value),
        _ => Vec::new(),
    };
    let findings = errors.into_iter().map(|(pointer, what)| {
        let place = match pointer.is_empty() {
            true => file.to_owned(),
            false => format!("{file}#{}", show(&pointer, 300)),
        };
        Finding::new(Code::DocumentInvalid, what).at(place)
    });
    let mut findings: Rejection = findings.take(MAX_FINDINGS).collect();
    findings.dedup();
    if findings.is_empty() {
        let what = show(&error.to_string(), 500);
        findings.push(Finding::new(Code::DocumentInvalid, what).at(file));
    }
    findings
}

/// What the schema, compiled at the first call, objects to, by JSON pointers.
fn list_errors<T: Documented>(value: &Value) -> Vec<(String, String)> {
    static COMPILED: [OnceLock<Option<GivenSchema>>; 10] = [const { OnceLock::new() }; 10];
    let compile = || GivenSchema::of(serde_json::from_str(T::SCHEMA).ok()?).ok();
    let schema = COMPILED[T::DOCUMENT as usize].get_or_init(compile);
    let errors = schema.as_ref().map(|schema| schema.errors(value));
    errors.into_iter().flatten().collect()
}

/// Says why the bytes are not valid JSON text; the nesting depth does not matter here.
fn not_json(bytes: &[u8]) -> Option<String> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Some("the file is empty".to_owned());
    }
    if bytes.contains(&0) {
        return Some("the file holds NUL bytes".to_owned());
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        return Some(format!("not UTF-8 at byte {}", error.valid_up_to()));
    }
    let error = serde_json::from_slice::<IgnoredAny>(bytes).err()?;
    Some(show(&error.to_string(), 200))
}

// A JSON Schema that a user gives, 2020-12: checked before anything is asked with it.

/// Objections that one value gives at most.
const MAX_OBJECTIONS: usize = 20;

/// A schema that compiled.
pub struct GivenSchema {
    value: Value,
    validator: Validator,
}

impl GivenSchema {
    /// Compiles a schema. References leave the document nowhere.
    ///
    /// # Errors
    /// Why it is none.
    pub fn of(value: Value) -> Result<Self, String> {
        if !value.is_object() && !value.is_boolean() {
            return Err("a schema is an object".to_owned());
        }
        match jsonschema::draft202012::new(&value) {
            Ok(validator) => Ok(Self { value, validator }),
            Err(error) => Err(show(&error.to_string(), 500)),
        }
    }

    /// The schema itself.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// What is wrong with a value: JSON pointers, and what is wrong there.
    fn errors<'a>(&'a self, value: &'a Value) -> impl Iterator<Item = (String, String)> + 'a {
        let errors = self.validator.iter_errors(value);
        errors.map(|error| (error.instance_path().as_str().to_owned(), describe(&error)))
    }

    /// What it objects to in a value, each with its path.
    pub fn objections(&self, value: &Value) -> Vec<String> {
        let errors = self.errors(value).take(MAX_OBJECTIONS);
        let lines = errors.map(|(path, what)| match path.is_empty() {
            true => format!("/: {what}"),
            false => format!("{}: {what}", show(&path, 200)),
        });
        let mut objections: Vec<String> = lines.collect();
        objections.dedup();
        objections
    }
}

impl std::fmt::Debug for GivenSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_tuple("GivenSchema").field(&self.value).finish()
    }
}

/// What is wrong, without repeating the value: it may be large or hostile.
fn describe(error: &ValidationError<'_>) -> String {
    let text = match error.kind() {
        ValidationErrorKind::Required { property } => match property {
            Value::String(name) => format!("`{name}` is missing"),
            other => format!("{other} is missing"),
        },
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let shown: Vec<String> = unexpected
                .iter()
                .take(5)
                .map(|name| format!("`{}`", show(name, 60)))
                .collect();
            let more = unexpected.len() - shown.len();
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            format!("unknown field {}{more}", shown.join(", "))
        }
        ValidationErrorKind::Enum { options } => format!("not one of {options}"),
        ValidationErrorKind::Constant { expected_value } => format!("not {expected_value}"),
        ValidationErrorKind::MinLength { .. } => "an empty text".to_owned(),
        ValidationErrorKind::Minimum { limit } => format!("below {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("above {limit}"),
        _ => error.masked_with("the value").to_string(),
    };
    show(&text, 500)
}

// Serde reads JSON more freely than JSON Schema does: a struct also from an
// array, an enum also from `{"word": null}`, a map with the last of two equal keys.

/// JSON in which no object gives a key twice.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, Unique(value))) = entries.next_entry::<String, _>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("`{key}` is given twice")));
            }
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

/// Where serde took a value of another kind for what was read of it, and how: it writes it in its own.
pub(crate) fn find_misread(given: &Value, read: &Value) -> Option<(String, &'static str)> {
    let inside = |place: String, (path, what): (String, _)| (format!("{place}{path}"), what);
    match (given, read) {
        (Value::Array(_), Value::Object(_)) => {
            Some((String::new(), "a list stands where an object belongs"))
        }
        (Value::Object(_), Value::String(_)) => {
            Some((String::new(), "an object stands where a text belongs"))
        }
        (Value::Array(given), Value::Array(read)) => {
            let mut pairs = given.iter().zip(read).enumerate();
            pairs.find_map(|(at, (a, b))| Some(inside(format!("[{at}]"), find_misread(a, b)?)))
        }
        (Value::Object(given), Value::Object(read)) => given
            .iter()
            .find_map(|(key, a)| Some(inside(format!(".{key}"), find_misread(a, read.get(key)?)?))),
        _ => None,
    }
}

fn from_slice<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    let given = value(bytes)?;
    let read = T::deserialize(&given)?;
    match find_misread(&given, &serde_json::to_value(&read)?) {
        Some((path, what)) => Err(Error::custom(format!("{what}: `{path}`"))),
        None => Ok(read),
    }
}

// The thoughts in what a model says.

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"))
}

/// A tag of thoughts: `<think>`, `</Reasoning >`, `<seed:think>`, `[THINK]`, `◁think▷`.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    const NAMES: &str =
        "thinking|think|thoughts|thought|reasoning|reason|reflection|scratchpad|analysis";
    let shouted = NAMES.to_uppercase();
    compile(&format!(
        r"[<◁][| \t]*(?<end>/?)[ \t]*(?:[A-Za-z]+:)?(?<name>(?i-u:{NAMES}))(?:[| \t][^<>◁▷]*)?[>▷]|\[(?<END>/?)(?<NAME>{shouted})\]"
    ))
});

/// Where the first word of a list item or behind a label stands in a line: what comes after it is
/// part of a sentence.
fn find_sentence(line: &str) -> Option<usize> {
    const LABEL: usize = 120;
    let said = line.trim_start();
    let digits = said.trim_start_matches(|c: char| c.is_ascii_digit());
    let item = match digits.len() < said.len() {
        true => digits.strip_prefix(['.', ')']),
        false => said.strip_prefix(['-', '*', '+']),
    };
    let item = item.filter(|item| item.starts_with(' '));
    let begins = said.starts_with(|c: char| c.is_alphanumeric() || c == '*');
    let mut pairs = said.as_bytes().windows(2).take(LABEL + 1);
    let label = pairs.position(|pair| pair == b": ").filter(|_| begins);
    let words = item.or_else(|| label.map(|at| &said[at + 1..]))?;
    let word = words.find(char::is_alphanumeric)?;
    Some(line.len() - words.len() + word)
}

/// What an answer says besides a model's thoughts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spoken {
    /// The words that are no thoughts.
    pub text: String,
    /// The tag of thoughts that never end, with the number of its line.
    pub unended: Option<(String, usize)>,
    /// The tag that ends thoughts which the program began, with the number of its line.
    pub ended: Option<(String, usize)>,
}

/// Thoughts are no part of an answer, wherever they stand: between their tags, behind a tag that
/// none ends, before an end that none begins. A tag in a code span or in quotes is a word, and so is
/// one in a sentence of a list item or of a field.
pub fn without_thoughts(text: &str) -> Spoken {
    let mut spoken = Spoken::default();
    let mut open_name = String::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        // Most lines hold no bracket, and answers have many lines.
        if !line.contains(['<', '[', '◁']) {
            if spoken.unended.is_none() {
                spoken.text.push_str(line);
            }
            continue;
        }
        let sentence = find_sentence(line).unwrap_or(usize::MAX);
        let (mut kept, mut looked_at, mut marks, mut is_spoken_of) = (0, 0, [false; 2], false);
        for found in TAG.captures_iter(line) {
            let tag = found.get_match();
            let group = |one: &str, other: &str| {
                let part = found.name(one).or(found.name(other));
                part.map_or_else(String::new, |part| part.as_str().to_lowercase())
            };
            let (closes, name) = (!group("end", "END").is_empty(), group("name", "NAME"));
            for (mark, is_odd) in ['`', '"'].into_iter().zip(&mut marks) {
                *is_odd ^= line[looked_at..tag.start()].matches(mark).count() % 2 == 1;
            }
            looked_at = tag.start();
            if marks.contains(&true) {
                continue;
            }
            if spoken.unended.is_some() {
                if closes && name == open_name {
                    spoken.unended = None;
                    kept = tag.end();
                    if !spoken.text.is_empty() && !spoken.text.ends_with('\n') {
                        spoken.text.push('\n');
                    }
                }
                continue;
            }
            let goes_on = || !line[tag.end()..].trim().is_empty();
            if sentence < tag.start() && (!closes || is_spoken_of || goes_on()) {
                is_spoken_of = true;
                continue;
            }
            let place = Some((tag.as_str().to_owned(), number + 1));
            if closes {
                // The program has begun the thoughts itself.
                spoken.text.clear();
                spoken.ended = place;
                kept = tag.end();
            } else {
                spoken.text.push_str(&line[kept..tag.start()]);
                spoken.unended = place;
                open_name = name;
            }
        }
        if spoken.unended.is_none() {
            spoken.text.push_str(&line[kept..]);
        }
    }
    spoken
}

// JSON in what a model says: between other words, in a fence.

/// Longest text that JSON is sought in, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// How much is parsed in search of it, all attempts together.
const MAX_PARSED: usize = 4 << 20;

/// Each object and list of a text that is JSON by itself, in order; none lies within another.
pub fn find_json(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut at, mut parsed) = (0, 0);
    while let Some(next) = text[at..].find(['{', '[']) {
        let start = at + next;
        let rest = &text[start..];
        if text.len() > MAX_BYTES || parsed > MAX_PARSED {
            break;
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        at = start + 1;
        match values.next() {
            Some(Err(error)) => {
                let lines = rest.split_inclusive('\n').take(error.line() - 1);
                parsed += lines.map(str::len).sum::<usize>() + error.column();
            }
            _ => {
                at = start + values.byte_offset();
                parsed += at - start;
                found.push(&text[start..at]);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests_of_thoughts {
    use super::*;

    #[test]
    fn thoughts_are_no_part_of_an_answer() {
        for (text, wanted) in [
            ("<think>{}</think>[1]", "[1]"),
            ("\n<thinking>\na\n</thinking>\nb", "\n\nb"),
            ("so {} or\n</think>\n[1]", "\n[1]"),
            ("a\n<think>never ends", "a\n"),
            ("a `</think>` in words", "a `</think>` in words"),
            ("{\"a\": \"<think>\"}", "{\"a\": \"<think>\"}"),
            ("OK. <THINK a=b>x</Think >y", "OK. \ny"),
            ("<reasoning>\n<think>\n</reasoning>a", "a"),
            ("<seed:think>x</seed:think>a", "a"),
            ("[THINK]x[/THINK]a [think] b", "a [think] b"),
            ("◁think▷x◁/think▷a", "a"),
            ("Vec<Thing> a < b </p>", "Vec<Thing> a < b </p>"),
            ("<think>a</think>b<think>c</think>d", "b\nd"),
            ("plain", "plain"),
            (
                "- between <think> and </think>\n- a",
                "- between <think> and </think>\n- a",
            ),
            ("- p.py:5 passes </think> on", "- p.py:5 passes </think> on"),
            (
                "1. it does not end at <think>\na",
                "1. it does not end at <think>\na",
            ),
            (
                "Follow-up: keep <reasoning>x</reasoning>",
                "Follow-up: keep <reasoning>x</reasoning>",
            ),
            ("- draft\n- more </think>\na", "\na"),
            ("- <think>a</think>b", "- \nb"),
            ("- so <think>\na\n</think>\nb", "\nb"),
            ("<think>\n- a </think> b", " b"),
        ] {
            assert_eq!(without_thoughts(text).text, wanted, "{text:?}");
        }
        let unended = without_thoughts("a\n<Think>b").unended;
        assert_eq!(unended, Some(("<Think>".to_owned(), 2)));
        let ended = without_thoughts("a\nb</think>c").ended;
        assert_eq!(ended, Some(("</think>".to_owned(), 2)));
    }

    #[test]
    fn thoughts_without_end_are_searched_in_bounded_time() {
        const BYTES: usize = 1 << 20;
        let start = std::time::Instant::now();
        for piece in [
            "<",
            "<think>",
            "</think>",
            "`<think>",
            "<think></think>",
            "[",
            "◁think",
            "<think ",
            "< ",
            "</think>\n",
            "a: <think></think>",
        ] {
            without_thoughts(&piece.repeat(BYTES / piece.len()));
            without_thoughts(&format!("- {}", piece.repeat(BYTES / piece.len())));
        }
        assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
    }
}

#[cfg(test)]
mod tests_of_within {
    use super::*;

    #[test]
    fn json_is_found_between_words() {
        for (text, wanted) in [
            ("Here: {\"a\": [1]} and [2].", vec!["{\"a\": [1]}", "[2]"]),
            ("```json\n{\"a\": \"}\"}\n```", vec!["{\"a\": \"}\"}"]),
            ("{x} [see {\"a\": 1}", vec!["{\"a\": 1}"]),
            ("nothing {", vec![]),
            ("é[1]é", vec!["[1]"]),
            ("[ ] { } [1,] {\"a\":1,} {1:2}", vec!["[ ]", "{ }"]),
            (
                "[{\"a\" : [true, -1.5e3, null], \"b\":{}} , \"\\u00e9\"]",
                vec!["[{\"a\" : [true, -1.5e3, null], \"b\":{}} , \"\\u00e9\"]"],
            ),
            // A quote that another one ends by chance hides no value.
            ("he said [\"so] and {\"a\": \"b\"}", vec!["{\"a\": \"b\"}"]),
            ("[[1], [2] oops [3]", vec!["[1]", "[2]", "[3]"]),
            ("[01] [\"\n\"] [tru] [1]", vec!["[1]"]),
        ] {
            assert_eq!(find_json(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn hostile_text_is_searched_in_bounded_time() {
        let start = std::time::Instant::now();
        for piece in [
            "[",
            "{\"a\":",
            "[1,",
            "[],",
            "\"[",
            "[1,\",[1,\",",
            "{}",
            "[\",",
            "{\"{\":",
            "]",
        ] {
            let text = piece.repeat(MAX_BYTES / piece.len());
            find_json(&text);
            find_json(&format!("{}{}", "[".repeat(1_000), &text[..MAX_BYTES / 2]));
            find_json(&format!("[\"{}", &text[..MAX_BYTES / 2]));
        }
        let half = MAX_BYTES / 2;
        find_json(&format!("{}{}", "[".repeat(half), "]".repeat(half)));
        assert!(find_json(&"[1]".repeat(MAX_BYTES)).is_empty());
        assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
    }
}
