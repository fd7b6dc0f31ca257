//! What a room holds once it is filled, and whether somebody changed it since.

use crate::look::Look;
use crate::manifest::Stat;
use cook_os::thread;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

/// Files that are worth a thread.
const ENOUGH: usize = 4_000;

/// What filling a room brought.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Filled {
    /// The commit's tree.
    pub tree: String,
    /// Files of the commit, those of submodules among them.
    pub files: usize,
    /// Files that were written.
    pub written: usize,
    /// Files and directories that were removed.
    pub removed: usize,
    /// What the commit names and nobody who has its objects alone can have.
    pub lacking: Vec<Lacking>,
    /// Links that lead out of the commit, by path, with where they end.
    pub leading_out: Vec<(String, PathBuf)>,
    /// What is here and may be otherwise in a clone.
    pub remarks: Vec<String>,
    /// Files that were there were taken for what was written once, without a look at each.
    pub unseen: bool,
    /// Directories of objects of the submodules in it, in the order of their numbers.
    pub submodules: Vec<PathBuf>,
    /// For git: of the room's `.git` and of each submodule's.
    pub(crate) indexes: Vec<Vec<u8>>,
    /// The files as they were left, by path.
    pub(crate) stats: Vec<(Vec<u8>, Stat)>,
}

impl Filled {
    /// A file of the commit below `top` that somebody changed since it was written. A change that was put back is
    /// one too: the system's time of it cannot be put back.
    pub(crate) fn find_changed(&self, top: &Path) -> Option<String> {
        let parts = thread::at_once().clamp(1, 1 + self.stats.len() / ENOUGH);
        let parts: Vec<_> = self
            .stats
            .chunks(self.stats.len().div_ceil(parts).max(1))
            .collect();
        let changed = thread::on_each(&parts, |part| {
            let mut look = Look::below(top);
            part.iter()
                .find(|(path, stat)| look.at(path).ok() != Some(*stat))
        });
        let mut changed = changed
            .into_iter()
            .filter_map(|found| found.unwrap_or_else(|panic| resume_unwind(panic)));
        changed
            .next()
            .map(|(path, _)| String::from_utf8_lossy(path).into_owned())
    }
}

/// Something that the commit names and that is not here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    /// The path.
    pub path: String,
    /// What is missing.
    pub why: String,
}
