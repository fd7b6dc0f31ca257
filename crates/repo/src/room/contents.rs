//! The source and the contents of a clean room, with the index of its `.git` as a clone has it after its checkout. The
//! index records the stat data of each file, so that git in the room need not read every file again, and a script that
//! calls git without refreshing the index (`git diff-index`) sees no changes. A copy beside the room tells the next
//! fill which files are unchanged.

use crate::disk;
use crate::room::list::{Kind, List};
use cook_protocol::diagnostic::Failure;
use git2::{Index, IndexEntry, IndexTime, ObjectFormat, Oid};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// The origin of a commit.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The common git directory.
    pub common: &'a Path,
    /// The worktree's own git directory. A clone of the worktree is served from here.
    pub git_dir: &'a Path,
    /// The worktree; the repository of a submodule may be in it.
    pub worktree: &'a Path,
    /// Full id of the commit.
    pub commit: &'a str,
    /// Names and ids of the repository's refs. Tags appear in the room. With `alone`, the objects reachable from all
    /// refs must exist, because a clone requests all of them.
    pub refs: &'a [(String, String)],
    /// Maps the number of an object directory (0 is the repository's, then those of the submodules in the room) to the
    /// path where programs in the room see it; `None` if that is its real path.
    pub objects_at: Option<fn(usize) -> PathBuf>,
    /// Whether the room has a `.git` with the commit and its history.
    pub history: bool,
    /// Whether that `.git` holds what a clone would hold, and reaches no other object. Without `history`, this only
    /// verifies that a clone can be made.
    pub alone: bool,
    /// The search path for git.
    pub path: &'a OsStr,
}

/// The result of filling a room.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Filled {
    /// The commit's tree.
    pub tree: String,
    /// The number of files of the commit, including those of submodules.
    pub files: usize,
    /// The number of files written.
    pub written: usize,
    /// The number of files and directories removed.
    pub removed: usize,
    /// Files and submodules of the commit that nobody could check out from the commit's objects alone.
    pub lacking: Vec<Lacking>,
    /// Links that lead out of the commit, as path and target.
    pub leading_out: Vec<(String, PathBuf)>,
    /// Possible differences between this room and a clone.
    pub remarks: Vec<String>,
    /// Object directories of the submodules, in the order of their numbers.
    pub submodules: Vec<PathBuf>,
    /// The files of the commit with their stat data after the fill, and the directories of the commit.
    pub(crate) stats: Vec<(PathBuf, Stat)>,
    pub(crate) dirs: Vec<PathBuf>,
}

/// A file or submodule of the commit that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    /// Its path.
    pub path: String,
    /// The reason why it is missing.
    pub why: String,
}

/// The mode of a submodule's entry.
const COMMIT: u32 = 0o160_000;

/// The stat data of a file as in git's index: any change of the file's content changes some of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stat {
    /// Seconds and nanoseconds of ctime and mtime.
    changed: (i32, u32),
    modified: (i32, u32),
    inode: u32,
    user: u32,
    group: u32,
    size: u32,
}

impl Stat {
    #[cfg(unix)]
    fn of(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            changed: (found.ctime() as i32, found.ctime_nsec() as u32),
            modified: (found.mtime() as i32, found.mtime_nsec() as u32),
            inode: found.ino() as u32,
            user: found.uid(),
            group: found.gid(),
            size: found.size() as u32,
        }
    }

    /// Without ctime on this system, a change is missed if mtime is restored.
    #[cfg(not(unix))]
    fn of(found: &Metadata) -> Self {
        let since = |time: std::io::Result<std::time::SystemTime>| {
            let since = time.ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
            Some((since.as_secs() as i32, since.subsec_nanos()))
        };
        Self {
            changed: since(found.created()).unwrap_or_default(),
            modified: since(found.modified()).unwrap_or_default(),
            size: found.len() as u32,
            ..Self::default()
        }
    }

    /// The stat data of a file or link; links are not followed.
    pub fn of_file(place: &Path) -> std::io::Result<Self> {
        std::fs::symlink_metadata(place).map(|found| Self::of(&found))
    }

    /// The modification time in whole seconds.
    pub fn seconds(&self) -> u64 {
        u64::from(self.modified.0 as u32)
    }
}

/// Object id, mode and stat data of each file that was written, by path.
pub(crate) type Written = HashMap<Vec<u8>, (Oid, u32, Stat)>;

/// Reads an index; empty if it is missing or damaged, so that every file is written again.
pub(crate) fn read_index(place: &Path, format: ObjectFormat) -> Written {
    let Ok(index) = Index::open_ext(place, format) else {
        return Written::new();
    };
    let files = index.iter().map(|entry| {
        let stat = Stat {
            changed: (entry.ctime.seconds(), entry.ctime.nanoseconds()),
            modified: (entry.mtime.seconds(), entry.mtime.nanoseconds()),
            inode: entry.ino,
            user: entry.uid,
            group: entry.gid,
            size: entry.file_size,
        };
        (entry.path, (entry.id, entry.mode, stat))
    });
    files.collect()
}

/// Writes an index of these files with this stat data.
pub(crate) fn write_index(
    place: &Path,
    format: ObjectFormat,
    list: &List,
    stats: &[Stat],
) -> Result<(), Failure> {
    let write = || -> Result<(), git2::Error> {
        let removed = disk::remove_file(place);
        removed.map_err(|cause| git2::Error::from_str(&cause.to_string()))?;
        let mut index = Index::open_ext(place, format)?;
        for ((path, leaf), stat) in list.files.iter().zip(stats) {
            index.add(&make_entry(path, leaf.kind.mode(), *stat, leaf.id))?;
        }
        for (path, id) in &list.submodules {
            index.add(&make_entry(path, COMMIT, Stat::default(), *id))?;
        }
        index.write()
    };
    write().map_err(|error| {
        let cause = std::io::Error::other(error.message().to_owned());
        disk::cannot("write", place, cause)
    })
}

fn make_entry(path: &[u8], mode: u32, stat: Stat, id: Oid) -> IndexEntry {
    IndexEntry {
        ctime: IndexTime::new(stat.changed.0, stat.changed.1),
        mtime: IndexTime::new(stat.modified.0, stat.modified.1),
        // git does not compare the device.
        dev: 0,
        ino: stat.inode,
        mode,
        uid: stat.user,
        gid: stat.group,
        file_size: stat.size,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.to_vec(),
    }
}

impl Kind {
    /// The mode in a git tree.
    pub fn mode(self) -> u32 {
        match self {
            Self::File => 0o100_644,
            Self::Program => 0o100_755,
            Self::Link => 0o120_000,
        }
    }
}
