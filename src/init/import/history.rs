//! The old histories, line by line. A line that is not a record is a finding with its
//! number; the others are taken in.

use super::fields::{Notes, read_known};
use cook_protocol::diagnostic::Code;
use cook_protocol::model::SchemaVersion;
use cook_protocol::schema::Document;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Bytes of a history that are read.
pub(super) const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The records of a history.
pub(super) fn read_records<T: DeserializeOwned>(
    bytes: &[u8],
    document: Document,
    notes: &mut Notes,
) -> Vec<T> {
    let mut records = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        match read_line(line, document, notes) {
            Ok(record) => records.push(record),
            Err(what) => {
                let place = format!("{}:{}", document.file(), index + 1);
                notes.add(Code::TrailTorn, &place, &what);
            }
        }
    }
    records
}

fn read_line<T: DeserializeOwned>(
    line: &[u8],
    document: Document,
    notes: &mut Notes,
) -> Result<T, String> {
    let value = serde_json::from_slice::<Value>(line)
        .map_err(|error| format!("not valid JSON, not taken in: {error}"))?;
    let Value::Object(mut object) = value else {
        return Err("not a JSON object, not taken in".to_owned());
    };
    object.retain(|_, value| !value.is_null());
    object.insert("schema_version".to_owned(), json!(SchemaVersion));
    // What cook alone writes.
    for own in ["seq", "by"] {
        object.remove(own);
    }
    read_known(object, Value::Null, document.file(), notes)
        .map_err(|what| format!("{what}; the record was not taken in"))
}
