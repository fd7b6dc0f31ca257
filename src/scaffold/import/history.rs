//! The old histories, line by line. A line that is not a record is a finding with its
//! number; the others are taken in.

use super::fields::{Fields, Notes};
use cook_core::diagnostic::Code;
use cook_core::model::{Record, SchemaVersion, SliceRecord, StopRecord, StopRecordType, Trail};
use cook_core::schema::Document;
use memchr::memmem;
use serde_json::Value;

/// Bytes of a history that are read.
pub(super) const MAX_BYTES: u64 = 256 * 1024 * 1024;

pub(super) fn slice_history(bytes: &[u8], notes: &mut Notes) -> Trail<SliceRecord> {
    let kind = Kind {
        document: Document::SliceRecord,
        without_seq: |record| SliceRecord {
            seq: None,
            ..record
        },
        record: slice_record,
    };
    kind.take_in(bytes, notes)
}

pub(super) fn stop_history(bytes: &[u8], notes: &mut Notes) -> Trail<StopRecord> {
    let kind = Kind {
        document: Document::StopRecord,
        without_seq: |record| StopRecord {
            seq: None,
            ..record
        },
        record: stop_record,
    };
    kind.take_in(bytes, notes)
}

/// How the lines of one history are read.
struct Kind<T> {
    document: Document,
    without_seq: fn(T) -> T,
    record: fn(&mut Fields<'_>) -> Result<T, &'static str>,
}

impl<T: Record> Kind<T> {
    fn take_in(&self, bytes: &[u8], notes: &mut Notes) -> Trail<T> {
        let mut trail = Trail::default();
        // Numbers of another log, and empty texts, which are as good as absent.
        let changes = [b",\"seq\":".as_slice(), b"\"\""].map(memmem::Finder::new);
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            let stays = changes.iter().all(|change| change.find(line).is_none());
            if stays && trail.push_exact(line) {
                continue;
            }
            let place = || format!("{}:{}", self.document.file(), index + 1);
            let Some(record) = self.typed(line).or_else(|| self.loose(line, &place, notes)) else {
                continue;
            };
            if let Err(error) = trail.push(&record) {
                notes.add(Code::TrailTorn, &place(), &error.to_string());
            }
        }
        trail
    }

    /// A record that the type reads, and reads as [`Kind::loose`] would.
    fn typed(&self, line: &[u8]) -> Option<T> {
        if line.first() != Some(&b'{') || memmem::find(line, b"\"\"").is_some() {
            return None;
        }
        let record = serde_json::from_slice(line).ok()?;
        Some((self.without_seq)(record))
    }

    /// Field by field; what is not taken is noted.
    fn loose(&self, line: &[u8], place: &dyn Fn() -> String, notes: &mut Notes) -> Option<T> {
        let value = match serde_json::from_slice::<Value>(line) {
            Ok(value) => value,
            Err(error) => {
                let what = format!("not valid JSON, not taken in: {error}");
                notes.add(Code::TrailTorn, &place(), &what);
                return None;
            }
        };
        if !value.is_object() {
            notes.add(Code::TrailTorn, &place(), "not a JSON object, not taken in");
            return None;
        }
        let mut fields = Fields::new(value, self.document.file(), notes)?;
        match (self.record)(&mut fields) {
            Ok(record) => {
                fields.finish();
                Some(record)
            }
            Err(what) => {
                let what = format!("{what}; the record was not taken in");
                notes.add(Code::TrailTorn, &place(), &what);
                None
            }
        }
    }
}

fn slice_record(fields: &mut Fields<'_>) -> Result<SliceRecord, &'static str> {
    fields.ignore(&["schema_version", "seq"]);
    Ok(SliceRecord {
        schema_version: SchemaVersion,
        kind: fields.typed("type").ok_or("no known `type`")?,
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
            .ok_or("no known `type`")?,
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
