//! Append-only records: `slice-history.jsonl` and `stop-check-history.jsonl`.

use super::report::ReportRecord;
use super::scalar::{Count, SchemaVersion, Text, Timestamp};
use super::state::Role;
use serde::{Deserialize, Serialize};

/// What happened to a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SliceRecordType {
    Implemented,
    Reviewed,
    Audited,
    Accepted,
    Reopened,
}

impl SliceRecordType {
    /// All five.
    pub const ALL: [SliceRecordType; 5] = [
        Self::Implemented,
        Self::Reviewed,
        Self::Audited,
        Self::Accepted,
        Self::Reopened,
    ];

    /// The word in documents.
    pub fn id(self) -> &'static str {
        match self {
            Self::Implemented => "implemented",
            Self::Reviewed => "reviewed",
            Self::Audited => "audited",
            Self::Accepted => "accepted",
            Self::Reopened => "reopened",
        }
    }
}

/// What happened to a slice: a line of `slice-history.jsonl`, which is only ever appended
/// to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StopRecordType {
    Judgment,
}

/// One judge's vote: a line of `stop-check-history.jsonl`, which is only ever appended
/// to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
