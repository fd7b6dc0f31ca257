//! Appending lines to a file that others append to at the same time.

use super::open_no_follow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Opens a file for reading and appending, made when it is missing; never through a symlink.
///
/// # Errors
/// When the system refuses.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    open_no_follow(
        OpenOptions::new().read(true).append(true).create(true),
        path,
    )
}

/// Appends a line and its end, both in one write, so that no other line comes between.
///
/// # Errors
/// When the system refuses.
pub fn append_line(file: &mut File, line: &str) -> io::Result<()> {
    file.write_all(format!("{line}\n").as_bytes())
}
