//! Reading a document's bytes: capped, typed, never a panic, linear in its size.

use super::{Document, GivenSchema, MAX_FINDINGS, show, strict};
use crate::diagnostic::{Code, Finding};
use crate::model::{
    ActiveSlice, BriefDocument, BriefRecord, Plan, Profile, Receipt, SliceRecord, State,
    StopRecord, VerificationEvidence,
};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use std::sync::OnceLock;

/// Bytes a document holds at most.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;

/// Why a document is not read: at least one finding, the first is the gravest.
pub type Rejection = Vec<Finding>;

/// Bytes up to which the schema is asked for every place that is wrong. A larger
/// document gets the first one alone: it could hold millions.
const MAX_EXPLAINED_BYTES: usize = 1024 * 1024;

/// A type that has a schema.
pub trait Documented: DeserializeOwned {
    /// Which.
    const DOCUMENT: Document;
    /// Its JSON Schema, as it is published.
    const SCHEMA: &str;
}

macro_rules! documented {
    ($($kind:ident: $file:literal),* $(,)?) => { $(impl Documented for $kind {
        const DOCUMENT: Document = Document::$kind;
        const SCHEMA: &str =
            include_str!(concat!("../../../../protocol/schema/", $file, ".schema.json"));
    })* };
}
documented!(
    Profile: "profile",
    State: "state",
    Plan: "plan",
    ActiveSlice: "active-slice",
    SliceRecord: "slice-record",
    StopRecord: "stop-record",
    VerificationEvidence: "verification-evidence",
    Receipt: "receipt",
    BriefDocument: "brief",
    BriefRecord: "brief-record",
);

/// Reads a document of at most `cap` bytes.
///
/// # Errors
/// `document_too_large`, `document_unreadable` (the bytes are not valid JSON) or
/// `document_invalid` (JSON that breaks the schema, with every place unless it is very large, or gives a key twice).
pub fn read_document<T: Documented>(bytes: &[u8], cap: usize) -> Result<T, Rejection> {
    let document = T::DOCUMENT;
    if bytes.len() > cap {
        let what = format!("{} bytes; cook reads at most {cap}", bytes.len());
        return Err(vec![
            Finding::new(Code::DocumentTooLarge, what).at(document.file()),
        ]);
    }
    strict::from_slice(bytes).map_err(|error| explain::<T>(bytes, &error))
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
