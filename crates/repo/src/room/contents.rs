//! What a room is filled from and what it holds then, with the index of its `.git`, as a clone has it after its
//! checkout: each file with what the system says of it, so that git in the room need not read every file again, and a
//! script that asks git without letting it look (`git diff-index`) is told that nothing changed. A copy beside the room
//! tells the next fill which files it need not write again.

use crate::disk;
use crate::room::list::{Kind, List};
use cook_protocol::diagnostic::Failure;
use git2::{Index, IndexEntry, IndexTime, ObjectFormat, Oid};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Where a commit comes from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The common git directory.
    pub common: &'a Path,
    /// The worktree's own git directory: whoever clones the worktree is sent what this shows.
    pub git_dir: &'a Path,
    /// The worktree; a submodule's repository may lie in it.
    pub worktree: &'a Path,
    /// Full id of the commit.
    pub commit: &'a str,
    /// Names and ids of the repository's refs. Tags are shown; where it is `alone`, what the others
    /// lead to must be there too: a clone asks for all of it.
    pub refs: &'a [(String, String)],
    /// Where what runs in the room finds the objects of the repository, which is 0, and of each submodule
    /// that it holds; none = where they are.
    pub objects_at: Option<fn(usize) -> PathBuf>,
    /// A `.git` shows the commit and its history.
    pub history: bool,
    /// That `.git` holds what a clone would, and reaches no other object. Where it is not shown, a clone
    /// can be made nonetheless.
    pub alone: bool,
    /// Where git is found.
    pub path: &'a OsStr,
}

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
    /// Directories of objects of the submodules in it, in the order of their numbers.
    pub submodules: Vec<PathBuf>,
    /// The files as they were left, and the directories that hold them.
    pub(crate) stats: Vec<(PathBuf, Stat)>,
    pub(crate) dirs: Vec<PathBuf>,
}

/// Something that the commit names and that is not here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lacking {
    /// The path.
    pub path: String,
    /// What is missing.
    pub why: String,
}

/// A submodule's commit.
const COMMIT: u32 = 0o160_000;

/// What the system says of a file, as git's index has it: any change of its content changes some of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stat {
    /// Seconds and nanoseconds, of the last change of anything and of the content.
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

    /// No time of change is to be had here: a file whose times are put back goes unseen.
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

    /// A file or link there.
    pub fn of_file(place: &Path) -> std::io::Result<Self> {
        std::fs::symlink_metadata(place).map(|found| Self::of(&found))
    }

    /// The time of the last change of its content, in whole seconds.
    pub fn seconds(&self) -> u64 {
        u64::from(self.modified.0 as u32)
    }
}

/// Object, mode and stat of each file that was written, by path.
pub(crate) type Written = HashMap<Vec<u8>, (Oid, u32, Stat)>;

/// What an index says; nothing where it is not whole, and everything is written anew then.
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

/// Writes the index of these files, which are as these say.
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
        // git leaves the device out of what it compares.
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
    /// As git has it.
    pub fn mode(self) -> u32 {
        match self {
            Self::File => 0o100_644,
            Self::Program => 0o100_755,
            Self::Link => 0o120_000,
        }
    }
}
