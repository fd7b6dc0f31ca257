//! Reading documents by their serde types, no more freely than their JSON Schemas in
//! `protocol/schema/` say: both give the same verdict on every document (a test draws them).

mod custom;
mod read;
mod strict;
mod thoughts;
mod within;

pub use custom::GivenSchema;
pub use read::{Documented, MAX_DOCUMENT_BYTES, Rejection, read_document};
pub use thoughts::{Spoken, without_thoughts};
pub use within::find_json;

use crate::diagnostic::{Lines, clean};
use serde_json::Value;

/// Findings that one file gives at most.
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
}

/// Reads any JSON in which no object gives a key twice.
///
/// # Errors
/// When it is not valid JSON, or a key stands twice.
pub fn value(bytes: &[u8]) -> serde_json::Result<Value> {
    strict::from_slice(bytes)
}

/// Text from a document as a message shows it: one harmless line, cut.
fn show(text: &str, max: usize) -> String {
    let line = clean(text, Lines::Fold);
    if line.chars().count() <= max {
        return line;
    }
    line.chars().take(max).chain(['…']).collect()
}
