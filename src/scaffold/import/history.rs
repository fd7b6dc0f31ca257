//! The old histories, line by line. A line that is not a record is a finding with its
//! number; the others are taken in.

use super::fields::{Fields, Notes};
use cook_core::diagnostic::Code;
use cook_core::model::{SchemaVersion, SliceRecord, StopRecord, StopRecordType};
use cook_core::schema::Document;
use serde_json::Value;

/// Bytes of a history that are read.
pub(super) const MAX_BYTES: u64 = 256 * 1024 * 1024;

pub(super) fn slice_history(bytes: &[u8], notes: &mut Notes) -> Vec<SliceRecord> {
    take_in(bytes, Document::SliceRecord, slice_record, notes)
}

pub(super) fn stop_history(bytes: &[u8], notes: &mut Notes) -> Vec<StopRecord> {
    take_in(bytes, Document::StopRecord, stop_record, notes)
}

/// How a record is read field by field, or why it is none.
type ReadRecord<T> = fn(&mut Fields<'_>) -> Result<T, &'static str>;

fn take_in<T>(
    bytes: &[u8],
    document: Document,
    record: ReadRecord<T>,
    notes: &mut Notes,
) -> Vec<T> {
    let mut records = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        match read_line(line, document, record, notes) {
            Ok(record) => records.push(record),
            Err(what) => {
                let place = format!("{}:{}", document.file(), index + 1);
                notes.add(Code::TrailTorn, &place, &what);
            }
        }
    }
    records
}

/// One line; fields that are not taken are noted, and the error says why the record is not.
fn read_line<T>(
    line: &[u8],
    document: Document,
    record: ReadRecord<T>,
    notes: &mut Notes,
) -> Result<T, String> {
    let value = serde_json::from_slice::<Value>(line)
        .map_err(|error| format!("not valid JSON, not taken in: {error}"))?;
    let fields = value
        .is_object()
        .then(|| Fields::new(value, document.file(), notes));
    let mut fields = fields.flatten().ok_or("not a JSON object, not taken in")?;
    let record =
        record(&mut fields).map_err(|what| format!("{what}; the record was not taken in"))?;
    fields.finish();
    Ok(record)
}

fn slice_record(fields: &mut Fields<'_>) -> Result<SliceRecord, &'static str> {
    fields.ignore(&["schema_version", "seq"]);
    Ok(SliceRecord {
        by: None,
        schema_version: SchemaVersion,
        kind: fields.take_typed("type").ok_or("no known `type`")?,
        recorded_at: fields.take_typed("recorded_at").ok_or("no `recorded_at`")?,
        slice_id: fields.text("slice_id").ok_or("no `slice_id`")?,
        commit_sha: fields.text("commit_sha").ok_or("no `commit_sha`")?,
        head_sha: fields.text("head_sha").ok_or("no `head_sha`")?,
        seq: None,
        role: fields.take_typed("role"),
        report: fields.take_typed("report"),
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
            .take_typed::<StopRecordType>("type")
            .ok_or("no known `type`")?,
        recorded_at: fields.take_typed("recorded_at").ok_or("no `recorded_at`")?,
        head_sha: fields.text("head_sha").ok_or("no `head_sha`")?,
        can_stop: fields.take_typed("can_stop").ok_or("no `can_stop`")?,
        blocker_count: fields.count("blocker_count").ok_or("no `blocker_count`")?,
        high_value_gap_count: fields
            .count("high_value_gap_count")
            .ok_or("no `high_value_gap_count`")?,
        stop_wave_id: fields.count("stop_wave_id"),
        seq: None,
        role: fields.take_typed("role"),
        report: fields.take_typed("report"),
        report_sha256: fields.text("report_sha256"),
        session: fields.text("session"),
    })
}
