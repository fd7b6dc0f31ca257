//! The stamp `<git dir>/cook-checkout.json`: which commit `.agent/` shows, and
//! what each file looked like right after cook wrote it.

use super::error::{During, StoreError};
use super::place::Place;
use cook_core::diagnostic::Code;
use cook_os::disk::{self, Links};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::Metadata;

/// What a file looked like right after cook wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stat {
    pub(super) bytes: u64,
    pub(super) mtime_ns: i128,
    /// Change time and inode; 0 where the system has none.
    pub(super) ctime_ns: i128,
    pub(super) inode: u64,
}

impl Stat {
    #[cfg(unix)]
    pub(super) fn of(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let nanos =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            bytes: found.len(),
            mtime_ns: nanos(found.mtime(), found.mtime_nsec()),
            ctime_ns: nanos(found.ctime(), found.ctime_nsec()),
            inode: found.ino(),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn of(found: &Metadata) -> Self {
        let mtime_ns = found
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .map_or(0, |since| since.as_nanos() as i128);
        Self {
            bytes: found.len(),
            mtime_ns,
            ctime_ns: mtime_ns,
            inode: 0,
        }
    }
}

/// One file in the stamp.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shown {
    /// Blob id of a document, digest chain of a history.
    pub(super) oid: String,
    /// Null for a file that was left as somebody else wrote it.
    pub(super) stat: Option<Stat>,
}

/// `cook-checkout.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stamp {
    pub(super) schema_version: u32,
    pub(super) commit: String,
    pub(super) files: BTreeMap<String, Shown>,
}

/// The stamp as it was found, with its own change time: a file changed in the
/// same tick of the file system's clock cannot be told by its stat.
pub(super) struct FoundStamp {
    pub(super) stamp: Stamp,
    pub(super) written_ns: i128,
}

/// An unreadable or foreign stamp is not a stamp: contents are compared instead.
pub(super) fn read_stamp(place: &Place) -> Result<Option<FoundStamp>, StoreError> {
    let path = place.stamp_file();
    let Some(found) = disk::look(&path).reading("the checkout's stamp")? else {
        return Ok(None);
    };
    if !found.is_file() {
        return Err(StoreError::path(
            Code::LogUnsafe,
            &path,
            "is not a regular file",
        ));
    }
    let Some(bytes) = disk::read(&path, 1 << 20, Links::Refuse).reading("the checkout's stamp")?
    else {
        return Ok(None);
    };
    let stamp = serde_json::from_slice::<Stamp>(&bytes)
        .ok()
        .filter(|stamp| stamp.schema_version == 1);
    Ok(stamp.map(|stamp| FoundStamp {
        stamp,
        written_ns: Stat::of(&found).ctime_ns,
    }))
}
