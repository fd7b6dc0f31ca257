//! Append-only records: the histories of slices and votes, and the checkpoint trail.

use super::scalar::{Count, SchemaVersion, Text, Timestamp};
use super::state::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::IntoStaticStr;

// Append-only records: `slice-history.jsonl` and `stop-check-history.jsonl`.

/// What happened to a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, JsonSchema)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum SliceRecordType {
    Implemented,
    Reviewed,
    Audited,
    Accepted,
    Reopened,
}

/// What happened to a slice: a line of `slice-history.jsonl`, which is only ever appended
/// to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SliceRecord {
    /// Version of this document's shape.
    pub schema_version: SchemaVersion,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: SliceRecordType,
    /// When.
    pub recorded_at: Timestamp,
    /// To which slice.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// The slice's commit that the record speaks of.
    #[serde(with = "Text")]
    pub commit_sha: String,
    /// HEAD at that moment.
    #[serde(with = "Text")]
    pub head_sha: String,
    /// Number of the transition that wrote it; left out in imported records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Count>,
    /// Role whose report it transcribes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// `accepted`: by which rules cook accepted it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// A report as it was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportRecord>,
    /// Digest of the report's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_sha256: Option<String>,
    /// The exchange the report came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Receipt ids of the gates that were run for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipts: Option<Vec<String>>,
    /// `implemented`: every commit the report claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Vec<String>>,
    /// `reviewed`, `audited`: digest of the criteria that were judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria_sha256: Option<String>,
    /// `reopened`: what must be fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<String>>,
}

/// The one kind of stop record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum StopRecordType {
    Judgment,
}

/// One judge's vote: a line of `stop-check-history.jsonl`, which is only ever appended
/// to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopRecord {
    /// Version of this document's shape.
    pub schema_version: SchemaVersion,
    /// The one kind of record.
    #[serde(rename = "type")]
    pub kind: StopRecordType,
    /// When.
    pub recorded_at: Timestamp,
    /// The HEAD that was judged.
    #[serde(with = "Text")]
    pub head_sha: String,
    /// The vote.
    pub can_stop: bool,
    /// Blockers the judge counts.
    pub blocker_count: Count,
    /// High-value gaps the judge counts.
    pub high_value_gap_count: Count,
    /// The wave it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_wave_id: Option<Count>,
    /// Number of the transition that wrote it; left out in imported records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Count>,
    /// Role whose report it transcribes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// A report as it was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportRecord>,
    /// Digest of the report's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_sha256: Option<String>,
    /// The exchange the report came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// One dimension's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, JsonSchema)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum RubricVerdict {
    Pass,
    Concern,
    Fail,
}

/// One line of a rubric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RubricEntry {
    /// pass, concern or fail.
    pub verdict: RubricVerdict,
    /// Why.
    pub why: String,
}

/// The four dimensions, by key (`contract_coverage`, …).
pub type Rubric = BTreeMap<String, RubricEntry>;

/// A report as it is kept: the fields by key, and the rubric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportRecord {
    /// Whose report it is.
    pub role: Role,
    /// Text of each field, by key.
    pub fields: BTreeMap<String, String>,
    /// The four dimensions, by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<Rubric>,
}

/// A request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// The content hash of the exchange, as in session files.
    pub hash: String,
    /// `say`, `act`, `recap` or `repair`.
    pub kind: String,
    /// The request.
    pub input: String,
    /// The answer.
    pub output: String,
}

/// The exchange that contained a report, and the exchanges before it in the same context window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedExchange {
    /// The id of the exchange, `ex_…`, as in the history record.
    pub exchange: String,
    /// The exchanges, oldest first; the last one contained the report.
    pub said: Vec<Said>,
}

/// The hashes of the exchanges of a citation; kept in a file that is named after the cited exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The id of the cited exchange.
    pub exchange: String,
    /// The hashes, oldest first; the last one is that of the exchange with the report.
    pub said: Vec<String>,
}

// The checkpoint trail: one line of `checkpoints.jsonl` for each entry, outside the documents.

/// What made an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, JsonSchema)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum CheckpointKind {
    /// Somebody said so (`cook brief checkpoint`).
    Manual,
    /// A commit came on HEAD.
    Commit,
    /// Kept before a compaction.
    Auto,
    /// A slice or an issue became a session's current one.
    Claim,
    /// The stop gate let a session go without progress.
    Released,
    /// The files of a closed issue.
    Files,
    /// What the user typed, as the agent reported it.
    Prompt,
}

/// An entry of the checkpoint trail. Two entries with one id are one entry.
/// Fields of a later cook are read over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    /// Its name; first in the line, so that it is found without parsing.
    #[schemars(length(min = 1, max = 100))]
    pub id: String,
    /// Version of this document's shape.
    pub schema_version: SchemaVersion,
    /// When.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// What made it.
    pub kind: CheckpointKind,
    /// One or more lines, at most 4,096 bytes.
    pub text: String,
    /// The slice or issue it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The session it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The commit, in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Prefix of the id of a prompt, which can follow `user@` in an anchor. Ids of messages that the user gave to
/// cook itself never begin so.
pub const PROMPT_ID: &str = "prompt-";

/// Prefix of the text that replaces a prompt if the settings keep only its digest. The hexadecimal SHA-256 of
/// the prompt, with white space collapsed to single spaces, follows.
pub const PROMPT_DIGEST: &str = "sha256:";

/// The maximum length of an entry's text, in bytes.
pub const MAX_CHECKPOINT_TEXT: usize = 4096;
