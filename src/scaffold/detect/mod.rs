//! The checks a repository has at its top level, told from its files alone.
//!
//! Nothing is run. Every command is a constant of this module: what a file says
//! only decides whether the command is proposed, so a hostile file can add no word
//! to one. Files are read up to a cap; links are not followed.

mod check;
mod files;
mod javascript;
mod native;
mod python;
mod runner;

pub use check::Check;
pub(super) use files::Files;

use super::error::Error;
use check::named;
use std::path::Path;

/// The checks of the repository, in the order in which they should run; none in
/// an empty one. A task runner's targets are taken only where no build tool
/// brought a test of its own, since they mostly call it.
///
/// # Errors
/// When a file that is there cannot be read.
pub fn detect(root: &Path) -> Result<Vec<Check>, Error> {
    let files = Files::new(root);
    let mut found = Vec::new();
    native::detect(&files, &mut found)?;
    javascript::detect(&files, &mut found)?;
    python::detect(&files, &mut found)?;
    if !found.iter().any(|proposal| proposal.kind == "test") {
        runner::detect(&files, &mut found)?;
    }
    Ok(named(&found))
}
