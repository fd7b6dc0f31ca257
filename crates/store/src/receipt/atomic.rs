//! Files that appear whole or not at all.

use super::ReceiptError;
use std::io::Write;
use std::path::Path;

/// Writes a file by a temporary one beside it and a rename; only the owner may read it.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), ReceiptError> {
    let fail = |cause| ReceiptError::io("write", path, cause);
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir).map_err(fail)?;
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(fail)?;
    file.write_all(bytes).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    file.persist(path).map_err(|error| fail(error.error))?;
    Ok(())
}

/// Reads a file of at most `limit` bytes; none when there is none.
pub(super) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ReceiptError> {
    use std::io::Read;
    let fail = |cause| ReceiptError::io("read", path, cause);
    let file = match std::fs::File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(fail)?,
    };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > limit {
        let cause = std::io::Error::new(
            std::io::ErrorKind::FileTooLarge,
            format!("larger than {limit} bytes"),
        );
        return Err(fail(cause));
    }
    Ok(Some(bytes))
}
