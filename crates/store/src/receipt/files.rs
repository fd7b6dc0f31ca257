//! The files of receipts and trust: the owner's alone, whole or not at all.

use super::ReceiptError;
use cook_os::disk::{self, Durable, Links, NewFile};
use std::path::Path;

/// Writes a file that only the owner may read, its directories where they are missing.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), ReceiptError> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| NewFile::at(path, Durable::Content).write(bytes))
        .map_err(|cause| ReceiptError::io("write", path, cause))
}

/// Reads a file of at most `limit` bytes; none when there is none.
pub(super) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ReceiptError> {
    disk::read(path, limit, Links::Refuse).map_err(|cause| ReceiptError::io("read", path, cause))
}

/// Removes a file, where there is one.
pub(super) fn remove(path: &Path) -> Result<(), ReceiptError> {
    match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(ReceiptError::io("remove", path, cause))
        }
        _ => Ok(()),
    }
}
