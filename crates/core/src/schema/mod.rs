//! The JSON Schemas of `protocol/schema/`, built in, and reading by them.
//!
//! A document is read by its serde type ([`read_document`]); the schema explains
//! what is wrong with one that was refused, and checks values that have no type.
//! Both give the same verdict on every document (a test draws them). Compiling a
//! schema costs about half a millisecond, so it happens once and only when asked.

mod custom;
#[cfg(feature = "schema")]
pub mod published;
mod read;
mod strict;
mod thoughts;
mod within;

pub use custom::GivenSchema;
pub use read::{Documented, MAX_DOCUMENT_BYTES, Rejection, read_document};
pub use thoughts::{Spoken, without_thoughts};
pub use within::find_json;

use crate::diagnostic::{Code, Finding, Lines, clean};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use std::sync::OnceLock;

/// Findings that one document gives at most.
pub const MAX_FINDINGS: usize = 50;

/// The kinds of document that have a schema (`protocol/completion.md#files`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Document {
    /// `profile.json`.
    Profile,
    /// `state.json`.
    State,
    /// `plan.json`.
    Plan,
    /// `active-slice.json`.
    ActiveSlice,
    /// A line of `slice-history.jsonl`.
    SliceRecord,
    /// A line of `stop-check-history.jsonl`.
    StopRecord,
    /// `verification-evidence.json`.
    VerificationEvidence,
    /// A receipt.
    Receipt,
    /// `brief.json`.
    BriefDocument,
    /// A line of `brief-history.jsonl`.
    BriefRecord,
}

impl Document {
    /// All of them.
    pub const ALL: [Document; 10] = [
        Document::Profile,
        Document::State,
        Document::Plan,
        Document::ActiveSlice,
        Document::SliceRecord,
        Document::StopRecord,
        Document::VerificationEvidence,
        Document::Receipt,
        Document::BriefDocument,
        Document::BriefRecord,
    ];

    /// The name that its schema file and its `$id` carry.
    pub fn id(self) -> &'static str {
        match self {
            Document::Profile => "profile",
            Document::State => "state",
            Document::Plan => "plan",
            Document::ActiveSlice => "active-slice",
            Document::SliceRecord => "slice-record",
            Document::StopRecord => "stop-record",
            Document::VerificationEvidence => "verification-evidence",
            Document::Receipt => "receipt",
            Document::BriefDocument => "brief",
            Document::BriefRecord => "brief-record",
        }
    }

    /// The file under `.agent/` it stands in.
    pub fn file(self) -> &'static str {
        match self {
            Document::Profile => "profile.json",
            Document::State => "state.json",
            Document::Plan => "plan.json",
            Document::ActiveSlice => "active-slice.json",
            Document::SliceRecord => "slice-history.jsonl",
            Document::StopRecord => "stop-check-history.jsonl",
            Document::VerificationEvidence => "verification-evidence.json",
            Document::Receipt => "receipt",
            Document::BriefDocument => "brief.json",
            Document::BriefRecord => "brief-history.jsonl",
        }
    }

    /// The schema's text.
    pub fn schema_text(self) -> &'static str {
        match self {
            Document::Profile => include_str!("../../../../protocol/schema/profile.schema.json"),
            Document::State => include_str!("../../../../protocol/schema/state.schema.json"),
            Document::Plan => include_str!("../../../../protocol/schema/plan.schema.json"),
            Document::ActiveSlice => {
                include_str!("../../../../protocol/schema/active-slice.schema.json")
            }
            Document::SliceRecord => {
                include_str!("../../../../protocol/schema/slice-record.schema.json")
            }
            Document::StopRecord => {
                include_str!("../../../../protocol/schema/stop-record.schema.json")
            }
            Document::VerificationEvidence => {
                include_str!("../../../../protocol/schema/verification-evidence.schema.json")
            }
            Document::Receipt => include_str!("../../../../protocol/schema/receipt.schema.json"),
            Document::BriefDocument => {
                include_str!("../../../../protocol/schema/brief.schema.json")
            }
            Document::BriefRecord => {
                include_str!("../../../../protocol/schema/brief-record.schema.json")
            }
        }
    }

    /// The compiled schema; compiled at the first call.
    fn validator(self) -> Option<&'static Validator> {
        static COMPILED: [OnceLock<Option<Validator>>; 10] = [const { OnceLock::new() }; 10];
        COMPILED[self as usize]
            .get_or_init(|| {
                let schema = serde_json::from_str::<Value>(self.schema_text()).ok()?;
                jsonschema::draft202012::new(&schema).ok()
            })
            .as_ref()
    }
}

/// Reads any JSON in which no object gives a key twice.
///
/// # Errors
/// When it is not valid JSON, or a key stands twice.
pub fn value(bytes: &[u8]) -> serde_json::Result<Value> {
    strict::from_slice(bytes)
}

/// Whether the schema accepts the value; [`check`] says why not.
pub fn accepts(document: Document, value: &Value) -> bool {
    document
        .validator()
        .is_some_and(|validator| validator.is_valid(value))
}

/// Everything the schema objects to, at most [`MAX_FINDINGS`], each at a place
/// such as `state.json#/current_phase` (a JSON pointer after the file's name).
pub fn check(document: Document, value: &Value) -> Vec<Finding> {
    let Some(validator) = document.validator() else {
        let what = format!(
            "the schema `{}` built into cook does not compile",
            document.id()
        );
        return vec![Finding::new(Code::DocumentInvalid, what)];
    };
    let mut findings: Vec<Finding> = validator
        .iter_errors(value)
        .take(MAX_FINDINGS)
        .map(|error| finding(document, &error))
        .collect();
    findings.dedup();
    findings
}

fn finding(document: Document, error: &ValidationError<'_>) -> Finding {
    Finding::new(Code::DocumentInvalid, describe(error))
        .at(place(document, error.instance_path().as_str()))
}

/// A place in a document.
fn place(document: Document, pointer: &str) -> String {
    if pointer.is_empty() {
        return document.file().to_owned();
    }
    format!("{}#{}", document.file(), show(pointer, 300))
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

/// Text from a document as a message shows it: one harmless line, cut.
fn show(text: &str, max: usize) -> String {
    let line = clean(text, Lines::Fold);
    if line.chars().count() <= max {
        return line;
    }
    line.chars().take(max).chain(['…']).collect()
}
