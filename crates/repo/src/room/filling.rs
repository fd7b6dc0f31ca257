//! Makes a directory hold exactly the files of a commit, without following links that exist in it.

use crate::disk::{self, AtPath, Durable, Links, NewFile, cannot};
use crate::room::attributes::{Attributes, Made, Pointer};
use crate::room::contents::{Filled, Lacking, Source, Stat, Written, read_index, write_index};
use crate::room::list::{Kind, Leaf, List, join, place_below};
use crate::room::repository::{self, Repository};
use crate::room::submodule::find_submodules;
use crate::thread;
use cook_protocol::diagnostic::Failure;
use std::collections::BTreeSet;
use std::fs::{self, FileType, OpenOptions, ReadDir};
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Two changes of a file within this time may leave the same timestamps.
const CLOCK_STEP: Duration = Duration::from_millis(10);
/// How far the timestamps of a file may lie in the future; beyond that, the fill waits.
const AHEAD: Duration = Duration::from_secs(2);
/// The number of files that justify another thread.
const ENOUGH: usize = 4_000;
/// Maximum size in bytes of the note with a digest, and of an index.
const MAX_NOTE: u64 = 1 << 10;
const MAX_INDEX: u64 = 1 << 30;

/// The filling of a room with a commit.
pub(crate) struct Filling<'a> {
    /// The room's own directory, for notes.
    pub dir: &'a Path,
    /// The directory for the commit's files.
    pub top: &'a Path,
    pub source: &'a Source<'a>,
    /// The directories that are kept.
    pub caches: CachePaths,
    /// The history of this commit was already verified in this room.
    pub is_held: bool,
    pub filled: Filled,
}

impl<'a> Filling<'a> {
    /// Makes the directory hold the commit and its existing caches. git in the room ignores the directories
    /// `passed_over`.
    pub fn fill(mut self, passed_over: &'a [String]) -> Result<Filled, Failure> {
        let repository = Repository::of(self.source, passed_over)?;
        self.filled.tree = repository.tree.to_string();
        self.put(&repository, b"")?;
        if self.filled.written > 0 {
            // Ensures that a later change gets different timestamps.
            std::thread::sleep(CLOCK_STEP);
        }
        Ok(self.filled)
    }

    /// Fills the part of the room at `root` from one repository, then its submodules.
    fn put(&mut self, repository: &Repository<'a>, root: &[u8]) -> Result<(), Failure> {
        let wrong = |why| repository.not_reproducible(why);
        let list = &repository.list;
        let top = self.place(self.top, root)?;
        let notes = match root.is_empty() {
            true => self.dir.to_owned(),
            false => self
                .dir
                .join("submodules")
                .join(cook_protocol::digest::sha256(root)),
        };
        fs::create_dir_all(&notes).at("make", &notes)?;
        let submodules = find_submodules(repository, self.source, root, &mut self.filled);
        let place = notes.join("attributes.git");
        let attributes = Attributes::read(place, list, &repository.objects, repository.path);
        let attributes = attributes.map_err(wrong)?;
        let index = notes.join("index");
        // Without a completed fill, nothing was built from the files that are there.
        let was_filled = index.exists();
        let note = notes.join("attributes");
        let known = disk::read_text(&note, MAX_NOTE, Links::Refuse);
        let before = match known.is_ok_and(|known| known.as_ref() == Some(&attributes.digest)) {
            true => read_index(&index, repository.objects.format()),
            // Files with other attributes have other contents.
            false => Written::new(),
        };
        let parts = submodules.keys().map(|path| &path[..]).collect();
        let found = scan(&top, root, list, &parts, &self.caches)?;
        for path in &found.strange {
            self.remove(path)?;
        }
        let (mut stats, due) = self.find_due(&top, list, &before, &found.files)?;
        for number in due.iter().filter(|number| found.files[**number]) {
            self.remove(&self.place(&top, &list.files[*number].0)?)?;
        }
        for dir in &list.dirs {
            self.make_dir(&self.place(&top, dir)?, found.dirs.contains(dir))?;
        }
        let made = attributes.make(repository, due.iter().map(|number| &list.files[*number]))?;
        let there = stats.iter().zip(&found.files);
        let there = there.filter(|(_, there)| was_filled && **there);
        let stamp = later_than(there.map(|(stat, _)| stat.seconds()).max());
        let mut known = stats.clone();
        for number in &due {
            let (path, leaf) = &list.files[*number];
            let lacking = self.filled.lacking.len();
            let stat = self.write(repository, root, (path, *leaf), made.get(&path[..]), stamp)?;
            stats[*number] = stat;
            // A file without its content is looked for again at the next fill.
            let is_whole = lacking == self.filled.lacking.len();
            known[*number] = if is_whole { stat } else { Stat::default() };
        }
        let is_same = |(path, id)| before.get(path).is_some_and(|(known, _, _)| known == id);
        let is_same = was_filled
            && due.is_empty()
            && before.len() == list.files.len() + list.submodules.len()
            && list.submodules.iter().all(is_same);
        if !is_same {
            write_index(&index, repository.objects.format(), list, &known)?;
            let written = NewFile::at(&note, Durable::Nothing).write(attributes.digest.as_bytes());
            written.at("write", &note)?;
        }
        self.filled.written += due.len();
        self.filled.files += list.files.len();
        self.find_leading_out(&top, root, list)?;
        for dir in &list.dirs {
            self.filled.dirs.push(self.place(&top, dir)?);
        }
        for ((path, _), stat) in list.files.iter().zip(stats) {
            self.filled.stats.push((self.place(&top, path)?, stat));
        }
        self.put_git_dir(repository, &top, &index, is_same)?;
        for (path, submodule) in &submodules {
            self.put(submodule, &join(root, path))?;
        }
        Ok(())
    }

    /// Writes or removes the `.git` of this part of the room.
    fn put_git_dir(
        &self,
        repository: &Repository,
        top: &Path,
        index: &Path,
        is_same: bool,
    ) -> Result<(), Failure> {
        let git = top.join(".git");
        if !self.source.history {
            // A clone always gets the history, so it is verified even if the room does not show it.
            if top == self.top && self.source.alone && !self.is_held {
                repository::write(repository, &git)?;
            }
            return repository::remove(&git);
        }
        let is_new = !repository::is_as_written(repository, &git)?;
        if is_new {
            repository::write(repository, &git)?;
        }
        if is_new || !is_same {
            let to = git.join("index");
            let bytes = disk::read_present(index, MAX_INDEX, Links::Refuse).at("read", index)?;
            repository::write_file(&to, &bytes)?;
        }
        Ok(())
    }

    /// The stat data of the files, and the indexes in `list.files` of those that are missing or changed since they were
    /// written.
    fn find_due(
        &self,
        top: &Path,
        list: &List,
        before: &Written,
        there: &[bool],
    ) -> Result<(Vec<Stat>, Vec<usize>), Failure> {
        let mut places = Vec::with_capacity(list.files.len());
        for (path, _) in &list.files {
            places.push(self.place(top, path)?);
        }
        let stats = look(&places, |place| Stat::of_file(place).unwrap_or_default());
        let is_due = |number: &usize| {
            let (path, leaf) = &list.files[*number];
            let written = (leaf.id, leaf.kind.mode(), stats[*number]);
            !there[*number] || before.get(path) != Some(&written)
        };
        let due = (0..list.files.len()).filter(is_due).collect();
        Ok((stats, due))
    }

    fn place(&self, top: &Path, path: &[u8]) -> Result<PathBuf, Failure> {
        place_below(top, path).at("name a file in", top)
    }

    fn remove(&mut self, path: &Path) -> Result<(), Failure> {
        self.filled.removed += 1;
        repository::remove(path)
    }

    fn make_dir(&self, path: &Path, is_there: bool) -> Result<(), Failure> {
        let make = || {
            if !is_there {
                fs::create_dir(path)?;
            }
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                if fs::symlink_metadata(path)?.permissions().mode() & 0o7777 != 0o755 {
                    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
                }
            }
            Ok(())
        };
        make().at("make", path)
    }

    /// Creates one file.
    fn write(
        &mut self,
        repository: &Repository,
        root: &[u8],
        (path, leaf): (&[u8], Leaf),
        made: Option<&Made>,
        stamp: Option<SystemTime>,
    ) -> Result<Stat, Failure> {
        let whole = join(root, path);
        let place = self.place(self.top, &whole)?;
        let failed = |cause| cannot("write", &place, cause);
        let named = || String::from_utf8_lossy(&whole).into_owned();
        let bytes;
        let bytes = match made {
            Some(made) => &made.bytes,
            None => {
                bytes = repository.read_file(path, leaf)?;
                &bytes
            }
        };
        if leaf.kind == Kind::Link {
            make_link(bytes, &place).map_err(|cause| match cause.kind() {
                // A clone cannot make this link either.
                io::ErrorKind::NotFound
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::InvalidFilename => {
                    let path = named();
                    let why = format!("`{path}` is a link that cannot be made: {cause}");
                    repository.not_reproducible(why)
                }
                _ => failed(cause),
            })?;
            return Stat::of_file(&place).map_err(failed);
        }
        let mut options = OpenOptions::new();
        let mut file =
            disk::open_no_follow(options.write(true).create_new(true), &place).map_err(failed)?;
        let pointer = made.filter(|made| made.is_large);
        match pointer.and_then(|made| Pointer::parse(&made.bytes)) {
            Some(pointer) => {
                let written = pointer.write(&repository.git_dir, &mut file);
                if let Err(why) = written.map_err(failed)? {
                    let path = named();
                    self.filled.lacking.push(Lacking { path, why });
                }
            }
            None => file.write_all(bytes).map_err(failed)?,
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::Permissions::from_mode(leaf.kind.mode() & 0o777);
            file.set_permissions(mode).map_err(failed)?;
        }
        if let Some(stamp) = stamp {
            file.set_modified(stamp).map_err(failed)?;
        }
        drop(file);
        Stat::of_file(&place).map_err(failed)
    }

    /// Finds the links that lead out of the commit, by their text and by their resolved path: a link may lead through
    /// another.
    fn find_leading_out(&mut self, top: &Path, root: &[u8], list: &List) -> Result<(), Failure> {
        let whole = self.top.canonicalize();
        let whole = whole.at("look at", self.top)?;
        let links = list.files.iter();
        for (path, _) in links.filter(|(_, leaf)| leaf.kind == Kind::Link) {
            let place = self.place(top, path)?;
            let target = fs::read_link(&place).unwrap_or_default();
            let end = place.canonicalize().ok();
            let is_out = end.as_ref().is_some_and(|end| !end.starts_with(&whole));
            let path = join(root, path);
            if is_out || leads_out(&path, target.as_os_str().as_encoded_bytes()) {
                let path = String::from_utf8_lossy(&path).into_owned();
                self.filled.leading_out.push((path, end.unwrap_or(target)));
            }
        }
        Ok(())
    }
}

impl Filled {
    /// Returns a file of the commit below `top` that was changed since it was written. A change that was reverted
    /// counts too, because ctime cannot be set back.
    pub(crate) fn find_changed(&self, top: &Path) -> Option<String> {
        let mut links = self.dirs.iter().filter(|dir| !disk::is_directory(dir));
        let changed = look(&self.stats, |(place, stat)| {
            Stat::of_file(place).ok() != Some(*stat)
        });
        let mut changed = changed
            .into_iter()
            .zip(&self.stats)
            .filter(|(is_changed, _)| *is_changed);
        let changed = links.next().or_else(|| Some(&changed.next()?.1.0))?;
        Some(
            changed
                .strip_prefix(top)
                .unwrap_or(changed)
                .display()
                .to_string(),
        )
    }
}

/// Applies `ask` to all items, in parallel if there are many.
fn look<T: Sync, R: Send>(items: &[T], ask: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let parts = thread::at_once().clamp(1, 1 + items.len() / ENOUGH);
    let parts: Vec<_> = items.chunks(items.len().div_ceil(parts).max(1)).collect();
    let found = thread::on_each(&parts, |part| part.iter().map(&ask).collect::<Vec<R>>());
    let found = found.into_iter();
    found
        .flat_map(|found| found.unwrap_or_else(|panic| resume_unwind(panic)))
        .collect()
}

/// A timestamp at least a whole second after everything that was written there or built from it. Otherwise a tool that
/// compares whole seconds and sizes would mistake the new version for the old one. `None` in a new room, where any time
/// will do.
fn later_than(newest: Option<u64>) -> Option<SystemTime> {
    let newest = newest?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let stamp = Duration::from_secs(now.as_secs().max(newest) + 1);
    let ahead = stamp.saturating_sub(now);
    std::thread::sleep(ahead.saturating_sub(AHEAD));
    Some(UNIX_EPOCH + stamp)
}

/// Whether a link's target lies outside the commit.
fn leads_out(path: &[u8], target: &[u8]) -> bool {
    if target.starts_with(b"/") {
        return true;
    }
    let mut depth = path.iter().filter(|byte| **byte == b'/').count() as i64;
    target.split(|byte| *byte == b'/').any(|part| {
        depth += match part {
            b"" | b"." => 0,
            b".." => -1,
            _ => 1,
        };
        depth < 0
    })
}

/// Creates a link. On systems without links it creates a file with the target, as git does.
fn make_link(target: &[u8], place: &Path) -> io::Result<()> {
    match cfg!(unix) {
        true => disk::link(&disk::native_path(target).unwrap_or_default(), place),
        false => fs::File::create_new(place)?.write_all(target),
    }
}

/// The content of a directory before it is filled.
#[derive(Debug)]
pub(crate) struct Found {
    /// For each file of the commit: whether a file or link of the same kind exists.
    pub files: Vec<bool>,
    /// The commit's directories that exist.
    pub dirs: BTreeSet<Vec<u8>>,
    /// Everything that belongs neither to the commit nor to a cache.
    pub strange: Vec<PathBuf>,
}

/// Directories that are kept between runs, by path from the top or by name at any depth.
#[derive(Debug, Default)]
pub(crate) struct CachePaths {
    names: BTreeSet<Vec<u8>>,
    paths: BTreeSet<Vec<u8>>,
}

impl CachePaths {
    /// Parses patterns as `.gitignore` does: one without a slash is a name.
    pub fn of(patterns: &[String]) -> Self {
        let mut caches = Self::default();
        for pattern in patterns {
            let path = pattern.trim_matches('/').as_bytes().to_vec();
            let is_plain = path
                .split(|byte| *byte == b'/')
                .all(|part| !matches!(part, b"" | b"." | b".." | b".git"));
            let is_name = !pattern.trim_end_matches('/').contains('/');
            match is_plain {
                true if is_name => drop(caches.names.insert(path)),
                true => drop(caches.paths.insert(path)),
                false => {}
            }
        }
        caches
    }

    fn include(&self, path: &[u8]) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        self.paths.contains(path) || self.names.contains(name)
    }

    /// Whether a cache lies below this directory.
    fn lie_below(&self, dir: &[u8]) -> bool {
        let below = [dir, b"/"].concat();
        self.paths.iter().any(|cache| cache.starts_with(&below))
    }
}

/// Scans a repository's part of the room, which lies at `root`, without the caches, its `.git` and the `parts` that are
/// filled from other repositories.
pub(crate) fn scan(
    top: &Path,
    root: &[u8],
    wanted: &List,
    parts: &BTreeSet<&[u8]>,
    caches: &CachePaths,
) -> Result<Found, Failure> {
    let mut found = Found {
        files: vec![false; wanted.files.len()],
        dirs: BTreeSet::new(),
        strange: Vec::new(),
    };
    let mut due = vec![Vec::new()];
    while let Some(at) = due.pop() {
        let dir = place_below(top, &at).at("read", top)?;
        let failed = |cause| cannot("read", &dir, cause);
        for entry in open(&dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let Some(path) = name_bytes(&entry).map(|name| join(&at, &name)) else {
                found.strange.push(entry.path());
                continue;
            };
            if path == b".git" {
                continue;
            }
            let number = wanted.find(&path);
            let in_room = join(root, &path);
            if !kind.is_dir() {
                match number.filter(|number| is_as(kind, wanted.files[*number].1.kind)) {
                    Some(number) => found.files[number] = true,
                    None => found.strange.push(entry.path()),
                }
            } else if wanted.dirs.contains(&path) {
                if !parts.contains(&path[..]) {
                    due.push(path.clone());
                }
                found.dirs.insert(path);
            } else if number.is_none() && caches.include(&in_room) {
                // A real directory. A link in its place could lead into a worktree, and is removed as strange.
            } else if number.is_none() && caches.lie_below(&in_room) {
                due.push(path);
            } else {
                found.strange.push(entry.path());
            }
        }
    }
    Ok(found)
}

/// Reads a directory; one that a command made unreadable for its owner is made readable again.
fn open(dir: &Path) -> io::Result<ReadDir> {
    match std::fs::read_dir(dir) {
        #[cfg(unix)]
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755))?;
            std::fs::read_dir(dir)
        }
        read => read,
    }
}

/// Whether the existing file is of this kind. Links are regular files on systems without links.
fn is_as(found: FileType, kind: Kind) -> bool {
    match kind {
        Kind::Link if cfg!(unix) => found.is_symlink(),
        _ => found.is_file(),
    }
}

/// The name of an entry as git stores it.
fn name_bytes(entry: &fs::DirEntry) -> Option<Vec<u8>> {
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStringExt::into_vec(entry.file_name()));
    #[cfg(not(unix))]
    return entry.file_name().into_string().ok().map(String::into_bytes);
}
