//! The files by which a step speaks to the CI runner that started it: outputs, variables, search path, summary.
//!
//! A gate is not told where they are, and in the sandbox it cannot write them. Without one it runs as the
//! same user, so they are remembered before the first gate and put back after the last.

use crate::disk::{self, Durable, Links, Mode, NewFile};
use std::io;
use std::path::PathBuf;

/// The variables that name them on GitHub's runners, and those that do as these do.
const NAMES: [&str; 5] = [
    "GITHUB_ENV",
    "GITHUB_OUTPUT",
    "GITHUB_PATH",
    "GITHUB_STATE",
    "GITHUB_STEP_SUMMARY",
];
/// GitHub takes 1 MiB of each.
const LIMIT: u64 = 8 << 20;

/// What they held.
#[derive(Debug)]
pub struct RunnerFiles {
    held: Vec<(&'static str, PathBuf, Option<Vec<u8>>)>,
}

impl RunnerFiles {
    /// Remembers them; there are none where no runner started this process. What is no plain file holds
    /// nothing that could be put back.
    ///
    /// # Errors
    /// A disk that fails.
    pub fn remember() -> io::Result<Self> {
        let mut held = Vec::new();
        for name in NAMES {
            let Some(path) = std::env::var_os(name).filter(|path| !path.is_empty()) else {
                continue;
            };
            let path = PathBuf::from(path);
            let bytes = disk::read_if_plain(&path, LIMIT, Links::Refuse)?;
            held.push((name, path, bytes));
        }
        Ok(Self { held })
    }

    /// Puts back what was written to them since, and names those.
    ///
    /// # Errors
    /// One that cannot be written.
    pub fn put_back(&self) -> io::Result<Vec<&'static str>> {
        let mut written = Vec::new();
        for (name, path, bytes) in &self.held {
            let now = disk::read_if_plain(path, LIMIT, Links::Refuse);
            if now.is_ok_and(|now| now == *bytes) {
                continue;
            }
            match bytes {
                Some(bytes) => NewFile::at(path, Durable::Nothing)
                    .mode(Mode::Kept(0o644))
                    .write(bytes)?,
                None => disk::remove_tree(path)?,
            }
            written.push(*name);
        }
        Ok(written)
    }
}
