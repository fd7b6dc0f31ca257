//! Kept copies of files that cook would have overwritten or that a driven session left behind: refs in the log
//! (`refs/displaced/*`, `refs/rescue/*`) that are never part of the chain.

use super::Store;
use super::error::{
    During, in_one_line, too_large, unknown_name, unreadable, unsafe_path, unwritable,
};
use super::log_place::{self, Place};
use super::odb::{self, Log, TreeEntry};
use crate::disk::{self, Durable, Links, Mode, NewFile};
use cook_protocol::diagnostic::{Code, Failure};
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// Most files of one kept copy that are listed.
const MAX_LISTED: usize = 10_000;

/// Most levels of directories in a kept copy.
const MAX_DEPTH: usize = 64;

/// Why a copy was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeptKind {
    /// cook would have overwritten it (`refs/displaced/*`).
    Displaced,
    /// It was set aside around a driven session (`refs/rescue/*`).
    Rescue,
}

impl KeptKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Displaced, Self::Rescue];

    /// The prefix of its refs.
    pub fn prefix(self) -> &'static str {
        match self {
            KeptKind::Displaced => "refs/displaced/",
            KeptKind::Rescue => "refs/rescue/",
        }
    }
}

/// Largest file that is set aside; an operation that needs to set a larger one aside is refused.
pub const MAX_KEPT: u64 = 64 << 20;

/// A file to be set aside.
pub(super) struct Aside {
    pub(super) name: String,
    pub(super) mode: u32,
    pub(super) bytes: Vec<u8>,
}

impl Aside {
    /// Reads a file in a directory without following symlinks.
    pub(super) fn read(dir: &Path, name: &str) -> Result<Self, Failure> {
        Self::read_as(dir.join(name), name.to_owned())
    }

    /// Like [`Aside::read`], with the name to keep it under.
    pub(super) fn read_as(path: PathBuf, name: String) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| unreadable(path.display().to_string(), error);
        let refused = |what: &str| unsafe_path(Code::AgentDirUnsafe, &path, what);
        let found = disk::look(&path)
            .map_err(failed)?
            .ok_or_else(|| refused("vanished while it was read"))?;
        if found.is_symlink() {
            let target = std::fs::read_link(&path).map_err(failed)?;
            return Ok(Self {
                name,
                mode: odb::LINK,
                bytes: target.as_os_str().as_encoded_bytes().to_vec(),
            });
        }
        if !found.is_file() {
            return Err(refused("is not a file; move it away"));
        }
        if found.len() > MAX_KEPT {
            return Err(too_large(&path, found.len(), MAX_KEPT));
        }
        Ok(Self {
            name,
            mode: match disk::permission_bits(&found) & 0o111 {
                0 => odb::FILE,
                _ => odb::EXECUTABLE,
            },
            bytes: disk::read(&path, MAX_KEPT, Links::Refuse)
                .map_err(failed)?
                .unwrap_or_default(),
        })
    }
}

/// One file of a kept copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// Path relative to the worktree's root, with `/`.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// One kept copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCopy {
    /// The name that `rescue` commands take.
    pub id: String,
    /// Why it was kept.
    pub kind: KeptKind,
    /// The commit in the log that holds it.
    pub commit: String,
    /// Time in seconds since 1970, UTC.
    pub epoch_seconds: i64,
    /// The reason, in one line.
    pub why: String,
    /// Its files, sorted by path; at most 10,000.
    pub files: Vec<KeptFile>,
}

/// The name under which a path component is kept: control characters, `\`, `:` and invalid UTF-8 become `%XX`; in a
/// name that is still not safe, every byte does.
fn make_kept_name(component: &[u8]) -> String {
    let escape = |byte: u8| format!("%{byte:02X}");
    let mut name = String::new();
    for chunk in component.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | ':' => name.push_str(&escape(c as u8)),
                c if c.is_ascii_control() => name.push_str(&escape(c as u8)),
                c => name.push(c),
            }
        }
        name.extend(chunk.invalid().iter().map(|byte| escape(*byte)));
    }
    match is_plain_name(&name) {
        true => name,
        false => component.iter().map(|byte| escape(*byte)).collect(),
    }
}

/// Keeps files of `.agent/` under a new `refs/displaced/<id>`; durable on return.
pub(super) fn keep(log: &Log, files: &[Aside], why: &str) -> Result<String, Failure> {
    let paths = files.iter().map(|file| (vec![".agent", &file.name], file));
    keep_as(log, KeptKind::Displaced, paths.collect(), why)
}

/// A file with the components of its path.
type Placed<'a> = (Vec<&'a str>, &'a Aside);

fn keep_as(
    log: &Log,
    kind: KeptKind,
    files: Vec<Placed<'_>>,
    why: &str,
) -> Result<String, Failure> {
    let tree = folder(log, &files)?;
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let commit = log.write_commit(tree, None, now, &format!("{why}\n"))?;
    log.sync_fan_out()?;
    let id = log_place::fresh_id();
    log.create_ref(&format!("{}{id}", kind.prefix()), commit)
        .writing("a kept copy")?;
    Ok(id)
}

/// Writes the tree of these files.
fn folder(log: &Log, files: &[Placed<'_>]) -> Result<Oid, Failure> {
    let mut below: BTreeMap<&str, Vec<Placed<'_>>> = BTreeMap::new();
    let mut entries = Vec::new();
    for (names, file) in files {
        match &names[..] {
            [] => {}
            [name] => entries.push(TreeEntry {
                mode: file.mode,
                name: (*name).to_owned(),
                id: log.write(ObjectType::Blob, &file.bytes)?,
            }),
            [first, rest @ ..] => below.entry(first).or_default().push((rest.to_vec(), file)),
        }
    }
    for (name, inside) in below {
        entries.push(TreeEntry {
            mode: odb::FOLDER,
            name: name.to_owned(),
            id: folder(log, &inside)?,
        });
    }
    log.write_tree(entries)
}

impl Store {
    /// Kept copies, newest first.
    pub fn rescue_list(&self) -> Result<Vec<KeptCopy>, Failure> {
        let log = self.open_with_users_objects()?;
        let mut copies = Vec::new();
        for kind in KeptKind::ALL {
            for (id, target) in log.list_refs_under(kind.prefix())? {
                // A damaged copy must not keep the others from being listed.
                let copy = describe_copy(&log, id.clone(), kind, target);
                copies.push(copy.unwrap_or_else(|error| KeptCopy {
                    id,
                    kind,
                    commit: target.to_string(),
                    epoch_seconds: 0,
                    why: format!("damaged: {}", in_one_line(&error)),
                    files: Vec::new(),
                }));
            }
        }
        copies.sort_by(|a, b| (b.epoch_seconds, &b.id).cmp(&(a.epoch_seconds, &a.id)));
        Ok(copies)
    }

    /// The content of one file of a kept copy.
    pub fn rescue_show(&self, id: &str, path: &str) -> Result<Vec<u8>, Failure> {
        let log = self.open_with_users_objects()?;
        let files = list_kept_files(&log, id)?;
        let found = files.into_iter().find(|(found, ..)| found == path);
        log.blob(found.ok_or_else(|| unknown_name(path))?.1)
    }

    /// Writes files of a kept copy below `into`, a directory inside the worktree (relative to its root, or absolute);
    /// missing directories are created. An empty `paths` means all files. Existing files are replaced only with
    /// `overwrite`. Symlinks are restored as plain files that hold their target. Returns the written paths.
    pub fn rescue_restore(
        &self,
        id: &str,
        paths: &[String],
        into: &Path,
        overwrite: bool,
    ) -> Result<Vec<PathBuf>, Failure> {
        let log = self.open_with_users_objects()?;
        let mut wanted = list_kept_files(&log, id)?;
        wanted.retain(|(path, ..)| paths.is_empty() || paths.contains(path));
        if let Some(absent) = paths
            .iter()
            .find(|path| !wanted.iter().any(|(found, ..)| found == *path))
        {
            return Err(unknown_name(absent));
        }
        let root = Target::new(&self.place, into)?;
        let mut targets = Vec::new();
        for (path, ..) in &wanted {
            let target = root.path.join(path);
            if !overwrite && log_place::look(&target)?.is_some() {
                return Err(refuse(&target, "something is there already"));
            }
            targets.push(target);
        }
        for ((_, blob, mode), target) in wanted.iter().zip(&targets) {
            root.write(target, &log.blob(*blob)?, *mode, overwrite)?;
        }
        Ok(targets)
    }

    /// The log with the user's objects for reading: a rescue copy may share most of its files with them.
    fn open_with_users_objects(&self) -> Result<Log, Failure> {
        log_place::open_known_log(&self.place)?.with_objects(&self.place.common_dir.join("objects"))
    }
}

/// The description of one copy.
fn describe_copy(log: &Log, id: String, kind: KeptKind, target: Oid) -> Result<KeptCopy, Failure> {
    let commit = log.commit(target)?;
    let files = list_files(log, commit.tree, "", 0)?.into_iter();
    let files = files.take(MAX_LISTED).map(|(path, id, _)| {
        let bytes = log.size(id)?;
        Ok(KeptFile { path, bytes })
    });
    let why = commit.message.lines().next().unwrap_or_default();
    Ok(KeptCopy {
        id,
        kind,
        commit: target.to_string(),
        epoch_seconds: commit.epoch_seconds,
        why: why.to_owned(),
        files: files.collect::<Result<_, Failure>>()?,
    })
}

fn list_kept_files(log: &Log, id: &str) -> Result<Vec<(String, Oid, u32)>, Failure> {
    let plain = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if id.is_empty() || id.len() > 100 || !plain {
        return Err(unknown_name(id));
    }
    for kind in KeptKind::ALL {
        if let Some(commit) = log.find_ref(&format!("{}{id}", kind.prefix()))? {
            return list_files(log, log.commit(commit)?.tree, "", 0);
        }
    }
    Err(unknown_name(id))
}

/// Path, blob and mode of each file below a tree, in order. A name that could lead out of the directory is an error.
fn list_files(
    log: &Log,
    tree: Oid,
    under: &str,
    depth: usize,
) -> Result<Vec<(String, Oid, u32)>, Failure> {
    let bad = |what: &str| unreadable("a kept copy", what);
    if depth > MAX_DEPTH {
        return Err(bad("its directories are nested too deep"));
    }
    let mut files = Vec::new();
    for TreeEntry { mode, name, id } in log.tree(tree)? {
        if !is_plain_name(&name) {
            return Err(bad("it holds a name that is not a plain file name"));
        }
        let path = format!("{under}{name}");
        match mode {
            odb::FOLDER => files.extend(list_files(log, id, &format!("{path}/"), depth + 1)?),
            odb::SUBMODULE => {}
            _ => files.push((path, id, mode)),
        }
    }
    Ok(files)
}

/// Whether a path component stays below its directory on every system.
fn is_plain_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    !name.is_empty()
        && !name.contains(['/', '\\', '\0', ':'])
        && name != "."
        && name != ".."
        && lower != ".git"
        && lower != "git~1"
}

fn refuse(path: &Path, what: &str) -> Failure {
    unsafe_path(
        Code::NotWritable,
        path,
        format!("cannot be restored to: {what}"),
    )
}

/// A directory inside the worktree.
struct Target {
    worktree: PathBuf,
    path: PathBuf,
}

impl Target {
    fn new(place: &Place, into: &Path) -> Result<Self, Failure> {
        let refuse = |what: &str| refuse(into, what);
        let real = |path: &Path| path.canonicalize().reading(path.display().to_string());
        let worktree = real(&place.worktree)?;
        let inside = if into.is_absolute() {
            into.strip_prefix(&place.worktree)
                .or_else(|_| into.strip_prefix(&worktree))
                .map_err(|_| refuse("it is not inside the worktree"))?
        } else {
            into
        };
        let mut path = worktree.clone();
        for component in inside.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) if name.to_str().is_some_and(is_plain_name) => {
                    path.push(name);
                }
                _ => return Err(refuse("it is not a plain path inside the worktree")),
            }
        }
        Ok(Self { worktree, path })
    }

    fn write(
        &self,
        target: &Path,
        bytes: &[u8],
        mode: u32,
        overwrite: bool,
    ) -> Result<(), Failure> {
        let failed = |error: std::io::Error| unwritable(target.display().to_string(), error);
        let dir = target
            .parent()
            .ok_or_else(|| failed(std::io::Error::other("it has no directory")))?;
        self.make_dirs(dir)?;
        let new = NewFile::at(target, Durable::Content).mode(match mode {
            odb::EXECUTABLE => Mode::Exact(0o755),
            _ => Mode::Masked(0o644),
        });
        let new = match overwrite {
            true => new,
            false => new.over_nothing(),
        };
        new.write(bytes).map_err(failed)
    }

    /// Creates the directories between the worktree and `dir`; refuses a symlink on the way.
    fn make_dirs(&self, dir: &Path) -> Result<(), Failure> {
        let inside = dir
            .strip_prefix(&self.worktree)
            .map_err(|_| refuse(dir, "it is not inside the worktree"))?;
        let mut at = self.worktree.clone();
        for component in inside.components() {
            at.push(component);
            match log_place::look(&at)? {
                None => std::fs::create_dir(&at).writing(at.display().to_string())?,
                Some(found) if found.is_dir() => {}
                Some(_) => return Err(refuse(&at, "something on the way is not a directory")),
            }
        }
        Ok(())
    }
}

/// Keeps copies of files, each given as its path in the copy (with `/` as separator) and the path to read. Absent files
/// and non-files are skipped. Returns the id of the copy; `None` if no file was found.
///
/// # Errors
/// If a file cannot be read or is too large, or the log cannot be written. Nothing is kept then, and the caller must
/// not overwrite anything.
pub fn rescue_keep(
    place: &Place,
    files: &[(Vec<u8>, PathBuf)],
    why: &str,
) -> Result<Option<String>, Failure> {
    // Without a workflow there may be no log yet; a log that has been lost is not created anew.
    if log_place::read_id(place)?.is_none() {
        log_place::create_log(place)?;
    }
    let log = log_place::open_known_log(place)?;
    let mut found = Vec::new();
    for (path, at) in files {
        let names: Vec<String> = path
            .split(|byte| *byte == b'/')
            .map(make_kept_name)
            .collect();
        let there = log_place::look(at)?;
        if there.is_some_and(|there| there.is_file() || there.is_symlink()) {
            found.push((names, Aside::read_as(at.clone(), String::new())?));
        }
    }
    if found.is_empty() {
        return Ok(None);
    }
    let placed = found
        .iter()
        .map(|(names, aside)| (names.iter().map(String::as_str).collect(), aside))
        .collect();
    keep_as(&log, KeptKind::Rescue, placed, why).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_kept_under_one_that_can_be_shown() {
        for (name, kept) in [
            (&b"a b.txt"[..], "a b.txt"),
            (b"caf\xe9", "caf%E9"),
            ("käse".as_bytes(), "käse"),
            (b"a\\b:c\n", "a%5Cb%3Ac%0A"),
            (b".git", "%2E%67%69%74"),
            (b"100%", "100%"),
        ] {
            assert_eq!(make_kept_name(name), kept);
            assert!(is_plain_name(&make_kept_name(name)));
        }
    }

    #[test]
    fn names_that_could_lead_elsewhere_are_refused() {
        for bad in [
            "", ".", "..", "a/b", "a\\b", ".git", ".GIT", "git~1", "C:", "a\0",
        ] {
            assert!(!is_plain_name(bad), "{bad:?}");
        }
        for good in ["a", ".agent", "plan.json", "..a", "ü"] {
            assert!(is_plain_name(good), "{good}");
        }
    }
}
