//! Gates on a commit of which a part is taken back: whether anything notices that it is not there.

use super::ReceiptError;
use super::gate::{Gates, run_of};
use super::place::RunPlace;
use cook_core::diagnostic::Failure;
use cook_core::machine::GateRun;
use cook_core::model::{Caches, GateSpec};
use cook_os::disk::{self, Durable, Mode, NewFile};
use std::io;
use std::path::{Path, PathBuf};

/// A file as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBack {
    /// Relative to the root, of plain parts: a path of a commit's tree.
    pub path: String,
    /// What it held; none = there was no such file.
    pub bytes: Option<Vec<u8>>,
    /// It could be run.
    pub runs: bool,
}

impl Gates<'_> {
    /// Runs gates at a commit (full id) in a clean room in which these files are as they were before.
    /// No receipt is kept: what they say is of no commit.
    ///
    /// # Errors
    /// As [`Gates::run_at`].
    pub fn run_without(
        &self,
        commit: &str,
        taken_back: &[TakenBack],
        gates: &[GateSpec],
        caches: Caches,
    ) -> Result<Vec<GateRun>, Failure> {
        let mut place = self.room(caches)?;
        let mut runs = Vec::new();
        for gate in gates {
            let run = match self.prepare(&mut place, commit)? {
                None => {
                    take_back(&mut place, taken_back)?;
                    self.run_one(&mut place, gate)?
                }
                problem => run_of(gate, (None, problem), &place),
            };
            runs.push(run);
        }
        Ok(runs)
    }
}

fn take_back(place: &mut RunPlace, files: &[TakenBack]) -> Result<(), ReceiptError> {
    let Some(top) = place.alter() else {
        return Ok(());
    };
    for file in files {
        let written = put(&top, file);
        written.map_err(|cause| ReceiptError::io("write", &top.join(&file.path), cause))?;
    }
    Ok(())
}

/// Puts one file as it was, through no link: the room's directories come from the commit.
fn put(top: &Path, file: &TakenBack) -> io::Result<()> {
    let mut parts: Vec<&str> = file.path.split('/').collect();
    if parts
        .iter()
        .any(|part| matches!(*part, "" | "." | ".." | ".git"))
    {
        return Err(io::Error::other("it is not a path of a commit"));
    }
    let name = parts.pop().unwrap_or_default();
    let mut dir: PathBuf = top.to_owned();
    for part in parts {
        dir.push(part);
        match dir.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                std::fs::remove_file(&dir)?;
                std::fs::create_dir(&dir)?;
            }
            Err(_) if file.bytes.is_none() => return Ok(()),
            Err(_) => std::fs::create_dir(&dir)?,
        }
    }
    let target = dir.join(name);
    match &file.bytes {
        None => match std::fs::remove_file(&target) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
        Some(bytes) => {
            if disk::is_directory(&target) {
                disk::remove_tree(&target)?;
            }
            let bits = if file.runs { 0o755 } else { 0o644 };
            NewFile::at(&target, Durable::Nothing)
                .mode(Mode::Masked(bits))
                .write(bytes)
        }
    }
}
