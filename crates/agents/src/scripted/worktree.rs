//! What a scripted agent does with the worktree that it stands in.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Puts `to` in the first place of `from`; a file without it is an error.
pub(super) fn replace(path: &str, from: &str, to: &str) -> io::Result<()> {
    let path = Path::new(path);
    let text = std::fs::read_to_string(path)?;
    if !text.contains(from) {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    std::fs::write(path, text.replacen(from, to, 1))
}

/// The text with the commit that HEAD names in place of `{head}`.
pub(super) fn with_head(text: &str) -> io::Result<String> {
    if !text.contains("{head}") {
        return Ok(text.to_owned());
    }
    let answer = Command::new("git")
        .args(["rev-parse", "--verify", "--quiet", "HEAD"])
        .stdin(Stdio::null())
        .output()?;
    if !answer.status.success() {
        return Err(io::Error::from(io::ErrorKind::NotFound));
    }
    let head = String::from_utf8_lossy(&answer.stdout);
    Ok(text.replace("{head}", head.trim()))
}
