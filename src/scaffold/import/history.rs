//! The old histories, line by line. A line that is no record is a finding with its
//! number; the others are taken in.

use super::fields::{Fields, Notes};
use crate::diagnostic::Code;
use crate::model::{SchemaVersion, SliceRecord, StopRecord, StopRecordType};
use crate::schema::Document;
use serde_json::Value;

/// Bytes of a history that are read.
pub(super) const MAX_BYTES: u64 = 256 * 1024 * 1024;

pub(super) fn slice_history(bytes: Vec<u8>, notes: &mut Notes) -> Vec<SliceRecord> {
    records(&bytes, Document::SliceRecord, notes, slice_record)
}

pub(super) fn stop_history(bytes: Vec<u8>, notes: &mut Notes) -> Vec<StopRecord> {
    records(&bytes, Document::StopRecord, notes, stop_record)
}

fn records<T>(
    bytes: &[u8],
    document: Document,
    notes: &mut Notes,
    record: fn(&mut Fields<'_>) -> Result<T, &'static str>,
) -> Vec<T> {
    let mut records = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let place = format!("{}:{}", document.file(), index + 1);
        let value = match serde_json::from_slice::<Value>(line) {
            Ok(value) => value,
            Err(error) => {
                let what = format!("no JSON, not taken in: {error}");
                notes.add(Code::TrailTorn, &place, &what);
                continue;
            }
        };
        if !value.is_object() {
            notes.add(Code::TrailTorn, &place, "no JSON object, not taken in");
            continue;
        }
        let Some(mut fields) = Fields::new(value, document.file(), notes) else {
            continue;
        };
        match record(&mut fields) {
            Ok(record) => {
                fields.finish();
                records.push(record);
            }
            Err(what) => {
                let what = format!("{what}; the record was not taken in");
                notes.add(Code::TrailTorn, &place, &what);
            }
        }
    }
    records
}

fn slice_record(fields: &mut Fields<'_>) -> Result<SliceRecord, &'static str> {
    fields.ignore(&["schema_version", "seq"]);
    Ok(SliceRecord {
        schema_version: SchemaVersion,
        kind: fields.typed("type").ok_or("no `type` that cook knows")?,
        recorded_at: fields.moment("recorded_at").ok_or("no `recorded_at`")?,
        slice_id: fields.text("slice_id").ok_or("no `slice_id`")?,
        commit_sha: fields.text("commit_sha").ok_or("no `commit_sha`")?,
        head_sha: fields.text("head_sha").ok_or("no `head_sha`")?,
        seq: None,
        role: fields.typed("role"),
        report: fields.typed("report"),
        report_sha256: fields.text("report_sha256"),
        session: fields.text("session"),
        receipts: fields.texts("receipts"),
        claimed: fields.texts("claimed"),
        criteria_sha256: fields.text("criteria_sha256"),
        findings: fields.texts("findings"),
    })
}

fn stop_record(fields: &mut Fields<'_>) -> Result<StopRecord, &'static str> {
    fields.ignore(&["schema_version", "seq"]);
    Ok(StopRecord {
        schema_version: SchemaVersion,
        kind: fields
            .typed::<StopRecordType>("type")
            .ok_or("no `type` that cook knows")?,
        recorded_at: fields.moment("recorded_at").ok_or("no `recorded_at`")?,
        head_sha: fields.text("head_sha").ok_or("no `head_sha`")?,
        can_stop: fields.typed("can_stop").ok_or("no `can_stop`")?,
        blocker_count: fields.count("blocker_count").ok_or("no `blocker_count`")?,
        high_value_gap_count: fields
            .count("high_value_gap_count")
            .ok_or("no `high_value_gap_count`")?,
        stop_wave_id: fields.count("stop_wave_id"),
        seq: None,
        role: fields.typed("role"),
        report: fields.typed("report"),
        report_sha256: fields.text("report_sha256"),
        session: fields.text("session"),
    })
}
