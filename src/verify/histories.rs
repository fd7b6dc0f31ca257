//! Histories in `.agent/` without a log to compare them with: each line by itself.
//!
//! A clone holds none (they are not tracked), so these are a copied or restored
//! worktree's. One pass with one buffer, whatever their size.

use super::outcome::Outcome;
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_core::model::{SliceRecord, StopRecord};
use cook_core::schema::{self, Documented};
use cook_os::disk::{self, Links};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Bytes that are read at a time; a longer line makes the buffer grow up to the cap of
/// a document.
const CHUNK: usize = 1 << 20;

/// Checks both files. True when one of them holds a record.
pub(super) fn check(root: &Path, outcome: &mut Outcome) -> Result<bool, Failure> {
    let slice = Lines::<SliceRecord>::check(root, outcome)?;
    let stop = Lines::<StopRecord>::check(root, outcome)?;
    if slice + stop > 0 {
        outcome.add_checked(format!("{} history records", slice + stop));
    }
    Ok(slice + stop > 0)
}

/// The lines of one history as they come.
struct Lines<'o, T> {
    outcome: &'o mut Outcome,
    lines: u64,
    /// Findings of this file so far.
    found: usize,
    of: std::marker::PhantomData<T>,
}

impl<'o, T: Documented> Lines<'o, T> {
    /// How many lines the file holds; 0 when it is not there.
    fn check(root: &Path, outcome: &'o mut Outcome) -> Result<u64, Failure> {
        let name = T::DOCUMENT.file();
        let path = root.join(".agent").join(name);
        let file = match disk::open_regular(&path, Links::Refuse) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(0),
            Err(error) => {
                let finding = Finding::new(Code::DocumentUnreadable, error.to_string());
                outcome.findings.push(finding.at(format!(".agent/{name}")));
                return Ok(0);
            }
        };
        let mut lines = Self {
            outcome,
            lines: 0,
            found: 0,
            of: std::marker::PhantomData,
        };
        lines.all(file).map_err(|error| unreadable(name, &error))?;
        Ok(lines.lines)
    }

    /// Line by line, with no more in memory than one document may have.
    fn all(&mut self, file: File) -> std::io::Result<()> {
        let mut file = BufReader::with_capacity(CHUNK, file);
        let mut line = Vec::new();
        while self.found < schema::MAX_FINDINGS {
            line.clear();
            let mut rest = file.by_ref().take(schema::MAX_DOCUMENT_BYTES as u64 + 2);
            if rest.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if let Some(whole) = line.strip_suffix(b"\n") {
                self.line(whole);
            } else if line.len() > schema::MAX_DOCUMENT_BYTES {
                self.line(&line);
                break;
            } else {
                self.lines += 1;
                let what = "the last line is incomplete";
                self.add(Finding::new(Code::HistoryTorn, what));
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        if let Err(findings) = schema::read_document::<T>(line, schema::MAX_DOCUMENT_BYTES) {
            for finding in findings {
                self.add(finding);
            }
        }
    }

    fn add(&mut self, mut finding: Finding) {
        self.found += 1;
        let name = T::DOCUMENT.file();
        let inside = finding.place.take().unwrap_or_default();
        let inside = inside.strip_prefix(name).unwrap_or(&inside);
        let place = format!(".agent/{name}:{}{inside}", self.lines);
        self.outcome.findings.push(finding.at(place));
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    Failure::state(
        Code::DocumentUnreadable,
        format!("`.agent/{name}`: {error}"),
    )
}
