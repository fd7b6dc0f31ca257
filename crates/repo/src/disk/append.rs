//! Appending lines to a file that others append to at the same time.

#[cfg(unix)]
use super::new_file::{Durable, NewFile};
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

/// Gives a file that has other names, as in a copy of a directory by hard links, a content of its own, so that
/// what is appended shows in none of them.
///
/// # Errors
/// When the system refuses.
#[cfg_attr(not(unix), allow(unused_variables))]
pub fn unshare(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let is_shared = |found: std::fs::Metadata| found.is_file() && found.nlink() > 1;
        if std::fs::symlink_metadata(path).is_ok_and(is_shared) {
            let bytes = std::fs::read(path)?;
            return NewFile::at(path, Durable::Content).write(&bytes).map(drop);
        }
    }
    Ok(())
}
