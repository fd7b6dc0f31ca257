//! Directories of objects that are lent to a git.

use std::ffi::OsString;
use std::path::Path;

/// Names directories of objects that git reads beside a repository's own.
pub const LENT_VARIABLE: &str = "GIT_ALTERNATE_OBJECT_DIRECTORIES";

/// The value of that variable. git reads quotes as C does.
pub fn join_lent<P: AsRef<Path>>(dirs: &[P]) -> OsString {
    let mut list = OsString::new();
    for dir in dirs {
        let dir = dir.as_ref();
        if !list.is_empty() {
            list.push(if cfg!(windows) { ";" } else { ":" });
        }
        match dir.to_str() {
            Some(text) if text.starts_with('"') || text.contains(':') && cfg!(unix) => {
                let text = text.replace('\\', "\\\\").replace('"', "\\\"");
                list.push(format!("\"{text}\""));
            }
            _ => list.push(dir),
        }
    }
    list
}
