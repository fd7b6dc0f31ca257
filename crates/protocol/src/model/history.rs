//! Append-only records: the histories of slices and votes, and the checkpoint trail.

use super::scalar::{Count, SchemaVersion, Text, Timestamp};
use super::state::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::IntoStaticStr;

// Append-only records: `slice-history.jsonl` and `stop-check-history.jsonl`.

/// Kind of a record of `slice-history.jsonl`.
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

/// An event of a slice: one line of `slice-history.jsonl`, to which lines are only appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SliceRecord {
    /// Version of the document format.
    pub schema_version: SchemaVersion,
    /// Kind of the event.
    #[serde(rename = "type")]
    pub kind: SliceRecordType,
    /// Time of the event (RFC 3339, UTC); imported records may hold another text or a number.
    pub recorded_at: Timestamp,
    /// ID of the slice.
    #[serde(with = "Text")]
    pub slice_id: String,
    /// Full ID of the slice's newest commit at the event.
    #[serde(with = "Text")]
    pub commit_sha: String,
    /// Full ID of HEAD at the event.
    #[serde(with = "Text")]
    pub head_sha: String,
    /// Number of the transition that wrote the record; absent in imported records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Count>,
    /// Role that wrote the report; absent if there is no report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// For an `accepted` record without a report: name and version of the rules by which cook accepted the slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Report that caused the event; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportRecord>,
    /// SHA-256 of the text of the report, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_sha256: Option<String>,
    /// ID of the exchange or session that produced the report; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// For `implemented` and `accepted`: IDs of the receipts of the gates that ran for the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipts: Option<Vec<String>>,
    /// For `implemented`: full IDs of all commits that the slice claims since it was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Vec<String>>,
    /// For `reviewed` and `audited`: SHA-256, in hexadecimal, of what was judged: the criteria, the user's answers and
    /// the offered proofs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria_sha256: Option<String>,
    /// For `reopened`: findings that must be fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<String>>,
}

/// Kind of a record of `stop-check-history.jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum StopRecordType {
    Judgment,
}

/// The vote of one judge: one line of `stop-check-history.jsonl`, to which lines are only appended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopRecord {
    /// Version of the document format.
    pub schema_version: SchemaVersion,
    /// Kind of the record; a constant.
    #[serde(rename = "type")]
    pub kind: StopRecordType,
    /// Time of the vote (RFC 3339, UTC); imported records may hold another text or a number.
    pub recorded_at: Timestamp,
    /// Full ID of the HEAD that was judged.
    #[serde(with = "Text")]
    pub head_sha: String,
    /// Whether the judge votes that the project can stop.
    pub can_stop: bool,
    /// Number of blockers that the judge counts.
    pub blocker_count: Count,
    /// Number of high-value gaps that the judge counts.
    pub high_value_gap_count: Count,
    /// Number of the stop wave to which the vote belongs; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_wave_id: Option<Count>,
    /// Number of the transition that wrote the record; absent in imported records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Count>,
    /// Role that wrote the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Report of the judge; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportRecord>,
    /// SHA-256 of the text of the report, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_sha256: Option<String>,
    /// ID of the exchange or session that produced the report; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Verdict on one dimension of a rubric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, JsonSchema)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum RubricVerdict {
    Pass,
    Concern,
    Fail,
}

/// One dimension of a rubric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RubricEntry {
    /// Verdict on the dimension: `pass`, `concern` or `fail`.
    pub verdict: RubricVerdict,
    /// Reason for the verdict.
    pub why: String,
}

/// The four dimensions, by key (`contract_coverage`, …).
pub type Rubric = BTreeMap<String, RubricEntry>;

/// A report as it is kept: the fields by key, and the rubric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportRecord {
    /// Role that wrote the report.
    pub role: Role,
    /// Texts of the fields, by field key.
    pub fields: BTreeMap<String, String>,
    /// Rubric with four dimensions, by dimension key; absent if the role has none.
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

/// Cause of an entry of the checkpoint trail.
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

/// An entry of the checkpoint trail. Two entries with one ID are one entry. Fields of a later cook are read over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    /// ID of the entry; it is the first key of the line, so that it can be found without parsing.
    #[schemars(length(min = 1, max = 100))]
    pub id: String,
    /// Version of the document format.
    pub schema_version: SchemaVersion,
    /// Time of the entry (RFC 3339, UTC).
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Cause of the entry.
    pub kind: CheckpointKind,
    /// Text of the entry: one or more lines, at most 4,096 bytes.
    pub text: String,
    /// ID of the slice or issue that the entry belongs to; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// ID of the session that the entry comes from; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Name of the agent of that session; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Full ID of the commit that the entry belongs to; absent if there is none.
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
