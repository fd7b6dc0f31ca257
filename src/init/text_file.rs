//! One text file of the user's that cook writes when it is told to: `CONTINUE.md`, the
//! agent guide. Never outside the worktree, never through a link, whole or not at all.

use super::error::Error;
use super::files::{Mode, Tree, is_directory};
use cook_protocol::diagnostic::{Code, Failure, Refusal};
use std::path::Path;

/// Bytes such a file may have.
pub(super) const MAX: u64 = 4 << 20;

fn unsafe_path(path: &str, what: &str) -> Failure {
    Refusal::new(Code::PathUnsafe, format!("`{path}` is {what}")).into()
}

/// A link in the way is the path's fault, not that of `.agent/`.
fn failure(error: Error) -> Failure {
    match error {
        Error::Unsafe { path, what } => unsafe_path(&path, what),
        other => other.into(),
    }
}

/// Objects to a path that may not be written.
fn check(root: &Path, path: &str) -> Result<(), Failure> {
    let refuse = |what| unsafe_path(path, what);
    let parts: Vec<&str> = path.split('/').collect();
    let plain =
        |part: &&str| !matches!(*part, "" | "." | "..") && !part.contains(['\\', '\0', ':']);
    if !parts.iter().all(plain) || path.chars().any(char::is_control) {
        return Err(refuse("not a plain path inside the worktree"));
    }
    let own = |part: &str| {
        [".git", ".agent"]
            .iter()
            .any(|own| part.eq_ignore_ascii_case(own))
    };
    if parts.iter().any(|part| own(part)) {
        return Err(refuse("git's or cook's own"));
    }
    let mut directory = String::new();
    for part in &parts[..parts.len() - 1] {
        directory.push_str(part);
        if !is_directory(&root.join(&directory), &directory).map_err(failure)? {
            return Err(refuse("in a directory that is not there"));
        }
        directory.push('/');
    }
    Ok(())
}

/// The file's text; none when it is not there.
///
/// # Errors
/// A path that leaves the worktree or goes through a link, a file that is not text.
pub fn read_text_file(root: &Path, path: &str) -> Result<Option<String>, Failure> {
    check(root, path)?;
    Tree::new(root).text(path, MAX).map_err(failure)
}

/// Puts the text there. A file that was there keeps its permissions.
///
/// # Errors
/// As [`read_text_file`], and a file that cannot be written.
pub fn write_text_file(root: &Path, path: &str, text: &str) -> Result<(), Failure> {
    check(root, path)?;
    let tree = Tree::new(root);
    tree.make_agent_directories()?;
    tree.write(path, text.as_bytes(), Mode::Data)
        .map_err(failure)
}
