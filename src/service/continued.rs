//! The file that holds the brief (`CONTINUE.md`): the bytes that are printed, with
//! one line end. Only a brief is overwritten.

use super::brief::{DEFAULT_BYTES, assemble};
use super::workspace::Workspace;
use crate::init::{read_text_file, write_text_file};
use cook_protocol::diagnostic::{Code, Failure, Refusal};
use cook_protocol::model::BriefSync;

/// Writes a brief where `path` says, or where the settings say when it is empty;
/// where that is, relative to the worktree.
///
/// # Errors
/// A path out of the worktree, a file there that is not a brief, one that cannot be written.
pub fn write_brief(workspace: &Workspace, path: &str, text: &str) -> Result<String, Failure> {
    let path = match path {
        "" => workspace.config()?.brief.path.clone(),
        path => path.to_owned(),
    };
    let root = workspace.repo.root();
    let text = format!("{text}\n");
    match read_text_file(root, &path)? {
        Some(there) if there == text => {}
        Some(there) if !there.trim().is_empty() && !there.starts_with("## Task\n") => {
            return Err(Refusal::new(
                Code::PathUnsafe,
                format!("`{path}` is not a brief and would be overwritten"),
            )
            .into());
        }
        _ => write_text_file(root, &path, &text)?,
    }
    Ok(path)
}

/// Writes the file when the settings want it to follow the brief.
///
/// # Errors
/// As [`write_brief`]; a brief that cannot be put together.
pub fn follow_brief(workspace: &Workspace) -> Result<Option<String>, Failure> {
    if workspace.config()?.brief.sync != BriefSync::Always {
        return Ok(None);
    }
    let whole = assemble(workspace)?;
    write_brief(workspace, "", &whole.within(Some(DEFAULT_BYTES)).text).map(Some)
}
