//! A history file in `.agent/`, read once, beside the records that replay produces.

use super::compare::{common_prefix, line_at};
use super::error::StoreError;
use super::tree::History;
use cook_core::diagnostic::{Code, Finding};
use cook_os::disk;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A history file in `.agent/`, read beside the replay.
pub(super) struct HistoryFile {
    history: History,
    path: PathBuf,
    file: Option<File>,
    buffer: Vec<u8>,
    /// Bytes that it should have.
    expected: u64,
    /// Bytes that were as they should be.
    good: u64,
    differs: bool,
    torn: bool,
}

impl HistoryFile {
    pub(super) fn open(dir: &Path, history: History) -> Result<Self, StoreError> {
        let path = dir.join(history.file());
        let file = match disk::open_no_follow(OpenOptions::new().read(true), &path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(StoreError::unreadable(history.file(), error)),
        };
        Ok(Self {
            history,
            path,
            file,
            buffer: Vec::new(),
            expected: 0,
            good: 0,
            differs: false,
            torn: false,
        })
    }

    fn failed(&self) -> impl Fn(std::io::Error) -> StoreError + use<> {
        let name = self.history.file();
        move |error| StoreError::unreadable(name, error)
    }

    /// That many bytes from here on, without moving on; none when the file cannot hold
    /// what the log says.
    pub(super) fn ahead(&self, length: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let failed = self.failed();
        let Some(file) = self.file.as_ref().filter(|_| !self.differs) else {
            return Ok(None);
        };
        let found = file.metadata().map_err(&failed)?.len();
        let Some(capacity) = usize::try_from(length)
            .ok()
            .filter(|_| length <= found.saturating_sub(self.good))
        else {
            return Ok(None);
        };
        let mut reader = file;
        reader.seek(SeekFrom::Start(self.good)).map_err(&failed)?;
        let mut bytes = Vec::with_capacity(capacity);
        let read = reader.take(length).read_to_end(&mut bytes);
        reader
            .seek(SeekFrom::Start(self.good))
            .and(read)
            .map_err(&failed)?;
        Ok((bytes.len() as u64 == length).then_some(bytes))
    }

    /// The next bytes were read with [`HistoryFile::ahead`] and are as they should be.
    pub(super) fn skip(&mut self, length: u64) -> Result<(), StoreError> {
        let failed = self.failed();
        self.good += length;
        if let Some(file) = self.file.as_mut() {
            file.seek(SeekFrom::Start(self.good)).map_err(failed)?;
        }
        Ok(())
    }

    /// The next bytes of the file must be these.
    pub(super) fn expect(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let failed = self.failed();
        self.expected += bytes.len() as u64;
        let Some(file) = self.file.as_mut().filter(|_| !self.differs) else {
            return Ok(());
        };
        self.buffer.clear();
        file.take(bytes.len() as u64)
            .read_to_end(&mut self.buffer)
            .map_err(failed)?;
        let equal = common_prefix(bytes, &self.buffer);
        self.good += equal as u64;
        if equal < bytes.len() {
            self.differs = true;
            self.torn =
                equal == self.buffer.len() && equal > 0 && bytes.get(equal - 1) != Some(&b'\n');
        }
        Ok(())
    }

    pub(super) fn verdict(&mut self) -> Result<Option<Finding>, StoreError> {
        let failed = self.failed();
        let place = format!(".agent/{}", self.history.file());
        let Some(file) = self.file.as_mut() else {
            // A history that is shown from its first line on is not missed before it.
            if self.expected == 0 && self.history == History::Brief {
                return Ok(None);
            }
            let finding = Finding::new(Code::DocumentMissing, "the history is missing");
            return Ok(Some(finding.at(place)));
        };
        let mut more = [0];
        if !self.differs && file.read(&mut more).map_err(&failed)? == 0 {
            return Ok(None);
        }
        let line = line_at(&self.path, self.good).map_err(failed)?;
        let (code, what) = if self.torn {
            (Code::HistoryTorn, "ends in the middle of")
        } else {
            (Code::HistoryForged, "differs from the log in")
        };
        Ok(Some(
            Finding::new(code, format!("the history {what} line {line}")).at(place),
        ))
    }
}
