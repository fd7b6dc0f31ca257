//! Reads documents as serde types, exactly as strictly as their JSON Schemas in `protocol/schema/` say. A test
//! generates documents and compares both verdicts.

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

/// The maximum number of findings for one file.
pub const MAX_FINDINGS: usize = 50;

/// A document type with a JSON Schema.
pub trait Documented: Serialize + DeserializeOwned {
    /// The kind of document.
    const DOCUMENT: Document;
    /// The published JSON Schema.
    const SCHEMA: &str;
}

/// Defines the kinds of document, each with the name of its schema and its file.
macro_rules! documents {
    ($($kind:ident: $id:literal, $file:literal;)*) => {
        /// The kinds of document that have a schema (`protocol/completion.md#files`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Document {
            $(#[doc = $file] $kind,)*
        }

        impl Document {
            /// All kinds.
            pub const ALL: [Document; [$($id),*].len()] = [$(Document::$kind),*];

            /// Returns the name in its schema file and in the schema's `$id`.
            pub fn id(self) -> &'static str {
                match self { $(Document::$kind => $id,)* }
            }

            /// Returns its file below `.agent/`.
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

/// Parses any JSON in which no object has the same key twice.
///
/// # Errors
/// If it is not valid JSON, or an object has the same key twice.
pub fn value(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes).map(|Unique(value)| value)
}

/// Makes text from a document safe to show in a message: one line without control characters, cut at `max`.
fn show(text: &str, max: usize) -> String {
    shorten(&clean(text, Lines::Fold), max)
}

// Reading the bytes of a document: limited in size, typed, without panics, and in linear time.

/// The maximum size of a document, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;

/// The reasons why a document was not read: at least one finding, the most serious one first.
pub type Rejection = Vec<Finding>;

/// The size in bytes up to which every violation of the schema is listed. A larger document gets only the first
/// error, because it could contain millions.
const MAX_EXPLAINED_BYTES: usize = 1024 * 1024;

/// Reads a document of at most `cap` bytes.
///
/// # Errors
/// `document_too_large`, `document_unreadable` (not valid JSON) or `document_invalid` (JSON that violates the
/// schema or has a key twice; every place is named unless the document is very large).
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

/// Describes what is wrong with bytes that the type did not accept, and where.
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

/// Lists the violations of the schema, each with its JSON pointer. The schema is compiled at the first call.
fn list_errors<T: Documented>(value: &Value) -> Vec<(String, String)> {
    static COMPILED: [OnceLock<Option<GivenSchema>>; 10] = [const { OnceLock::new() }; 10];
    let compile = || GivenSchema::of(serde_json::from_str(T::SCHEMA).ok()?).ok();
    let schema = COMPILED[T::DOCUMENT as usize].get_or_init(compile);
    let errors = schema.as_ref().map(|schema| schema.errors(value));
    errors.into_iter().flatten().collect()
}

/// Says why the bytes are not valid JSON text; `None` if they are. The nesting depth does not matter here.
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

// JSON Schemas (2020-12) of the user, which are compiled before a model is asked for an answer to them.

/// The maximum number of objections to one value.
const MAX_OBJECTIONS: usize = 20;

/// A compiled schema.
pub struct GivenSchema {
    value: Value,
    validator: Validator,
}

impl GivenSchema {
    /// Compiles a schema. References cannot lead to other documents.
    ///
    /// # Errors
    /// The reason why it is not a valid schema.
    pub fn of(value: Value) -> Result<Self, String> {
        if !value.is_object() && !value.is_boolean() {
            return Err("a schema is an object".to_owned());
        }
        match jsonschema::draft202012::new(&value) {
            Ok(validator) => Ok(Self { value, validator }),
            Err(error) => Err(show(&error.to_string(), 500)),
        }
    }

    /// Returns the schema's JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Lists what is wrong with a value, each with its JSON pointer.
    fn errors<'a>(&'a self, value: &'a Value) -> impl Iterator<Item = (String, String)> + 'a {
        let errors = self.validator.iter_errors(value);
        errors.map(|error| (error.instance_path().as_str().to_owned(), describe(&error)))
    }

    /// Lists the objections to a value, each with its path.
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

/// Describes an error without the value, which may be large or hostile.
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

// serde accepts more JSON than JSON Schema does: a list for a struct, `{"word": null}` for an enum, and the last of
// two equal keys for a map.

/// A JSON value in which no object has the same key twice.
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

/// Finds the first value that serde accepted in another form than it writes, and describes the difference. `given`
/// is the document, and `read` the parsed document as serde writes it.
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

// The thoughts in a model's answer.

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"))
}

/// A tag that begins or ends thoughts: `<think>`, `</Reasoning >`, `<seed:think>`, `[THINK]`, `◁think▷`.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    const NAMES: &str =
        "thinking|think|thoughts|thought|reasoning|reason|reflection|scratchpad|analysis";
    let shouted = NAMES.to_uppercase();
    compile(&format!(
        r"[<◁][| \t]*(?<end>/?)[ \t]*(?:[A-Za-z]+:)?(?<name>(?i-u:{NAMES}))(?:[| \t][^<>◁▷]*)?[>▷]|\[(?<END>/?)(?<NAME>{shouted})\]"
    ))
});

/// Finds where the words of a list item, or the words after a label, begin in a line: a tag after the first of them
/// is part of a sentence.
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

/// A model's answer without its thoughts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spoken {
    /// The text without the thoughts.
    pub text: String,
    /// The tag that begins thoughts which never end, with its line number.
    pub unended: Option<(String, usize)>,
    /// The tag that ends thoughts without a beginning (which the program began), with its line number.
    pub ended: Option<(String, usize)>,
}

/// Removes the thoughts from an answer: between their tags, after a tag that is never closed, and before a closing
/// tag that was never opened. A tag in a code span or in quotes is text, and so is one in a sentence of a list item
/// or field.
pub fn without_thoughts(text: &str) -> Spoken {
    let mut spoken = Spoken::default();
    let mut open_name = String::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        // Fast path: answers have many lines, and most contain no bracket.
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
                // The program itself began the thoughts.
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

// JSON in a model's answer, between other words or in a fence.

/// The maximum length in bytes of a text that is searched for JSON.
const MAX_BYTES: usize = 1 << 20;
/// The maximum number of bytes that all parse attempts of one search may read.
const MAX_PARSED: usize = 4 << 20;

/// Returns each object and list in a text that is valid JSON by itself, in order; none is nested in another.
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
            // A quote that another one closes by chance hides no value.
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
