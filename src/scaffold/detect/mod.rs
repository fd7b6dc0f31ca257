//! What a repository is, told from the files at its top level alone: its checks, and what a clean
//! room needs before they can run.
//!
//! Nothing is run. Every command is put together from constants of this module: what a file says
//! only decides whether the command is proposed, so a hostile file can add no word to one. Files
//! are read up to a cap; links are not followed.

mod check;
mod files;
mod javascript;
mod native;
mod python;
mod runner;
mod rust;

pub(super) use check::Proposed;
pub(super) use files::Files;

use super::error::Error;
use check::Found;
use std::path::Path;

/// What the settings of a repository could be; nothing in an empty one. A task runner's targets
/// are taken only where no build tool brought a test of its own, since they mostly call it.
///
/// # Errors
/// When a file that is there cannot be read.
pub fn detect(root: &Path) -> Result<Proposed, Error> {
    let files = Files::new(root);
    let mut found = Found::default();
    rust::detect(&files, &mut found)?;
    native::detect(&files, &mut found)?;
    javascript::detect(&files, &mut found)?;
    python::detect(&files, &mut found)?;
    if !found.has_test() {
        runner::detect(&files, &mut found)?;
    }
    Ok(found.into_proposed())
}
