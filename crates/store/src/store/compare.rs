//! A history file in `.agent/` against the log's, byte by byte.

use super::error::StoreError;
use super::log::Log;
use super::objects;
use super::tree::History;
use cook_os::disk;
use git2::Oid;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// How a history file compares with the log, as far as it goes.
pub(super) enum Comparison {
    Equal,
    /// The file is a proper prefix of the log's, this many bytes long.
    Prefix(u64),
    /// It differs in this line (from 1).
    Differs(u64),
}

/// Reads a history file once against the log's.
pub(super) fn compare(
    log: &Log,
    tip: Oid,
    dir: &Path,
    history: History,
) -> Result<Comparison, StoreError> {
    let path = dir.join(history.file());
    let failed = |error: io::Error| StoreError::unreadable(history.file(), error);
    let mut file = disk::open_no_follow(OpenOptions::new().read(true), &path).map_err(failed)?;
    let (blobs, _) = objects::segments(log, tip, history, 0)?;
    let mut done = 0;
    let mut theirs = Vec::new();
    for blob in blobs {
        let size = log.size(blob)?;
        theirs.clear();
        (&mut file)
            .take(size)
            .read_to_end(&mut theirs)
            .map_err(failed)?;
        // A blob is named by its digest, so only one that differs need be inflated.
        if objects::blob_id(log, &theirs)? == blob {
            done += size;
            continue;
        }
        let ours = log.blob(blob)?;
        let equal = common_prefix(&ours, &theirs);
        done += equal as u64;
        if equal < theirs.len() {
            return find_line(&path, done)
                .map(Comparison::Differs)
                .map_err(failed);
        }
        if equal < ours.len() {
            return Ok(Comparison::Prefix(done));
        }
    }
    let mut rest = [0];
    if file.read(&mut rest).map_err(failed)? == 0 {
        return Ok(Comparison::Equal);
    }
    find_line(&path, done)
        .map(Comparison::Differs)
        .map_err(failed)
}

/// How many bytes both begin with.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let shorter = a.len().min(b.len());
    if a[..shorter] == b[..shorter] {
        return shorter;
    }
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The line (from 1) in which a byte of a file stands.
fn find_line(path: &Path, offset: u64) -> io::Result<u64> {
    let file = disk::open_no_follow(OpenOptions::new().read(true), path)?;
    let mut reader = BufReader::with_capacity(1 << 16, file.take(offset));
    let mut line = 1;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok(line);
        }
        line += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
        let length = chunk.len();
        reader.consume(length);
    }
}

pub(super) fn ends_line(path: &Path, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut file = disk::open_no_follow(OpenOptions::new().read(true), path)?;
    file.seek(SeekFrom::Start(length - 1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last[0] == b'\n')
}
