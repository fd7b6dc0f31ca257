//! Reading and writing the log's objects.
//!
//! Loose objects are read here rather than by libgit2, whose reader never returns from a truncated object and trusts
//! the size that an object claims. Every object is hashed when it is read: one whose content does not match its name
//! does not exist for cook. libgit2 unpacks objects in packs, and they are hashed here too: its own digest also
//! searches for SHA-1 collisions, which takes several times as long.

use super::error::{During, unreadable};
use crate::disk::{self, Durable, Mode, NewFile};
use crate::room;
use cook_protocol::diagnostic::Failure;
use git2::{ErrorCode, ObjectFormat, ObjectType, Oid, Repository};
use libgit2_sys as raw;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// Objects of at least this size are written here, as are replacements of damaged ones: libgit2's compression and
/// search for SHA-1 collisions take several times as long.
const LARGE: usize = 1 << 20;

/// Modes of tree entries.
pub(crate) const FILE: u32 = 0o100_644;
pub(super) const EXECUTABLE: u32 = 0o100_755;
pub(super) const LINK: u32 = 0o120_000;
pub(crate) const FOLDER: u32 = 0o040_000;
pub(super) const SUBMODULE: u32 = 0o160_000;

/// An open log.
pub(crate) struct Log {
    repo: Repository,
    /// The directory of the log's own objects.
    objects: PathBuf,
    /// Further object directories that are read.
    others: Vec<PathBuf>,
    /// All loose objects in these directories, if they were listed.
    listed: OnceCell<HashSet<Oid>>,
    /// Number of objects that were looked up as loose objects in vain.
    misses: Cell<usize>,
    /// The log's own packs, opened at the first lookup in them.
    packs: OnceCell<Option<Packs>>,
    /// Cache of small objects that were read and hashed, for callers that read the same transitions several times.
    known: OnceCell<RefCell<Known>>,
}

/// Objects by name, and their total size in bytes.
type Known = (HashMap<Oid, (ObjectType, Vec<u8>)>, usize);

/// Largest object in the cache, and largest total, in bytes.
const MAX_KNOWN: usize = 32 << 10;
const MAX_KNOWN_TOGETHER: usize = 16 << 20;

/// After so many lookups of packed objects, the loose ones are listed: listing costs about as much as so many lookups.
const MANY: usize = 2048;

/// Largest file of a ref, and of the other files that libgit2 reads whole, in bytes.
const MAX_REF: u64 = 4 << 10;
const MAX_FILE: u64 = 256 << 20;

fn check_size(file: &Path, limit: u64) -> Result<(), Failure> {
    match file.metadata() {
        Ok(found) if found.is_file() && found.len() > limit => {
            let why = format!("`{}` is larger than {limit} bytes", file.display());
            Err(unreadable("the log", why))
        }
        _ => Ok(()),
    }
}

/// A parsed commit.
pub(crate) struct Commit {
    pub(crate) tree: Oid,
    pub(crate) parents: Vec<Oid>,
    pub(crate) epoch_seconds: i64,
    pub(crate) message: String,
}

/// The text of a commit with cook's fixed identity.
pub(super) fn commit_text(
    tree: Oid,
    parent: Option<Oid>,
    epoch_seconds: i64,
    message: &str,
) -> String {
    let parent = parent.map_or(String::new(), |id| format!("parent {id}\n"));
    let who = format!("cook <cook@localhost> {epoch_seconds} +0000");
    format!("tree {tree}\n{parent}author {who}\ncommitter {who}\n\n{message}")
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    pub(crate) mode: u32,
    pub(crate) name: String,
    pub(crate) id: Oid,
}

impl Log {
    pub(super) fn open(dir: &Path) -> Result<Self, Failure> {
        for (name, limit) in [
            ("HEAD", MAX_REF),
            ("config", MAX_FILE),
            ("packed-refs", MAX_FILE),
        ] {
            check_size(&dir.join(name), limit)?;
        }
        let repo = Repository::open_bare(dir).reading("the log")?;
        Ok(Self {
            repo,
            objects: dir.join("objects"),
            others: Vec::new(),
            listed: OnceCell::new(),
            misses: Cell::new(0),
            packs: OnceCell::new(),
            known: OnceCell::new(),
        })
    }

    /// The log with its loose objects listed, for reading many of them without a lookup for each. libgit2 still finds
    /// those that are added later.
    pub(super) fn at_rest(self) -> Self {
        self.list_files();
        self
    }

    pub(super) fn list_files(&self) {
        self.listed.get_or_init(|| {
            let names = self.directories().flat_map(|dir| list_loose(dir));
            names.filter_map(|hex| self.oid(&hex)).collect()
        });
    }

    /// The log with another object directory to read from.
    pub(super) fn with_objects(mut self, dir: &Path) -> Result<Self, Failure> {
        self.repo
            .odb()
            .and_then(|odb| odb.add_disk_alternate(&dir.to_string_lossy()))
            .reading("the repository's objects")?;
        self.others.push(dir.to_owned());
        Ok(self)
    }

    /// The target of a ref; `None` only if the ref does not exist.
    pub(crate) fn find_ref(&self, name: &str) -> Result<Option<Oid>, Failure> {
        check_size(&self.repo.path().join(name), MAX_REF)?;
        match self.repo.refname_to_id(name) {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(unreadable("a ref of the log", error)),
        }
    }

    /// Refs below a prefix that ends in `/`: the rest of the name, and the target.
    pub(super) fn list_refs_under(&self, prefix: &str) -> Result<Vec<(String, Oid)>, Failure> {
        for file in disk::list_files_below(&self.repo.path().join(prefix)) {
            check_size(&file, MAX_REF)?;
        }
        let mut found = Vec::new();
        for reference in self
            .repo
            .references_glob(&format!("{prefix}*"))
            .reading("the refs of the log")?
        {
            let reference = reference.reading("the refs of the log")?;
            let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
            if let (Some(rest), Some(target)) = (name.strip_prefix(prefix), reference.target()) {
                found.push((rest.to_owned(), target));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Creates a ref that must not exist yet; durable on return.
    pub(super) fn create_ref(&self, name: &str, target: Oid) -> Result<(), git2::Error> {
        self.repo.reference(name, target, false, "").map(drop)
    }

    /// Moves a ref that must still point at `from`; durable on return.
    pub(super) fn move_ref(&self, name: &str, from: Oid, to: Oid) -> Result<(), git2::Error> {
        self.repo
            .reference_matching(name, to, true, from, "")
            .map(drop)
    }

    /// Removes a ref that must still point at `from`.
    pub(super) fn remove_ref(&self, name: &str, from: Oid) -> Result<(), git2::Error> {
        let mut found = self.repo.find_reference(name)?;
        match found.target() == Some(from) {
            true => found.delete(),
            false => Err(git2::Error::from_str("it points elsewhere now")),
        }
    }

    /// The commit with an abbreviated id, if there is exactly one.
    pub(super) fn find_commit_by_prefix(&self, prefix: &str) -> Option<Oid> {
        let short = Oid::from_str_ext(prefix, self.format()).ok()?;
        let id = self.odb().ok()?.exists_prefix(short, prefix.len()).ok()?;
        self.commit(id).ok().map(|_| id)
    }

    pub(super) fn format(&self) -> ObjectFormat {
        self.repo.object_format()
    }

    /// The id of an object with that content.
    pub(crate) fn name(&self, kind: ObjectType, bytes: &[u8]) -> Result<Oid, Failure> {
        let head = format!("{} {}\0", kind.str(), bytes.len());
        // libgit2's own digest also searches for SHA-1 collisions, which takes several times as long. Anyone who could
        // write a collision to the log could as well rewrite the log.
        let id = match self.format() {
            ObjectFormat::Sha1 => Oid::from_bytes(&digest::<Sha1>(&head, bytes)),
            _ => Oid::from_bytes(&digest::<Sha256>(&head, bytes)),
        };
        id.reading("a digest")
    }

    /// The object id that a full name stands for, whether the object exists or not.
    pub(crate) fn oid(&self, hex: &str) -> Option<Oid> {
        Oid::from_str_ext(hex, self.format())
            .ok()
            .filter(|id| id.to_string() == hex)
    }

    /// The directories from which loose objects are read.
    fn directories(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.objects].into_iter().chain(&self.others)
    }

    /// Those of them in which this object may be a loose one.
    fn directories_of(&self, id: Oid) -> impl Iterator<Item = &PathBuf> {
        let listed = self.listed.get();
        let is_loose = listed.is_none_or(|listed| listed.contains(&id));
        self.directories().filter(move |_| is_loose)
    }

    fn odb(&self) -> Result<git2::Odb<'_>, Failure> {
        self.repo.odb().reading("the log's objects")
    }

    /// The ids of all objects.
    pub(crate) fn all(&self) -> Result<Vec<Oid>, Failure> {
        let mut ids = Vec::new();
        self.odb()?
            .foreach(|id| {
                ids.push(*id);
                true
            })
            .reading("the log's objects")?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// Writes an object; durable on return. Replaces a damaged object of that name, which libgit2 would take for
    /// already written.
    pub(crate) fn write(&self, kind: ObjectType, bytes: &[u8]) -> Result<Oid, Failure> {
        let id = self.name(kind, bytes)?;
        let sound = match read_loose(&self.objects, id) {
            Ok(found) => found.is_none_or(|(found, there)| found == kind && there == bytes),
            Err(_) => false,
        };
        if !sound {
            std::fs::remove_file(loose_path(&self.objects, id)).writing("an object of the log")?;
        }
        if bytes.len() >= LARGE {
            return self.write_anew(kind, bytes);
        }
        self.odb()?
            .write(kind, bytes)
            .writing("an object of the log")
    }

    /// Writes an object as a loose one, even if a pack holds a damaged copy: the loose one takes precedence.
    pub(crate) fn write_anew(&self, kind: ObjectType, bytes: &[u8]) -> Result<Oid, Failure> {
        let id = self.name(kind, bytes)?;
        write_loose(&self.objects, id, kind, bytes).writing("an object of the log")?;
        Ok(id)
    }

    /// The path of an object's loose file, whether it exists or not.
    pub(crate) fn loose_file(&self, id: Oid) -> PathBuf {
        loose_path(&self.objects, id)
    }

    /// Makes the directories of new objects durable: libgit2 syncs an object and its directory, but not the parent's
    /// entry of a new directory.
    pub(super) fn sync_fan_out(&self) -> Result<(), Failure> {
        disk::sync_dir(&self.objects).writing("the objects of the log")
    }

    pub(crate) fn write_tree(&self, entries: Vec<TreeEntry>) -> Result<Oid, Failure> {
        self.write(ObjectType::Tree, &tree_bytes(entries))
    }

    /// Writes a commit with cook's fixed identity. No ref moves.
    pub(crate) fn write_commit(
        &self,
        tree: Oid,
        parent: Option<Oid>,
        epoch_seconds: i64,
        message: &str,
    ) -> Result<Oid, Failure> {
        let text = commit_text(tree, parent, epoch_seconds, message);
        self.write(ObjectType::Commit, text.as_bytes())
    }

    /// Turns the cache of small objects on.
    pub(super) fn remember(&self) {
        self.known.get_or_init(RefCell::default);
    }

    /// The content of an object, checked against its name; from the cache if it is there.
    pub(crate) fn read(&self, id: Oid) -> Result<(ObjectType, Vec<u8>), Failure> {
        let Some(known) = self.known.get() else {
            return self.read_file(id);
        };
        if let Some(known) = known.borrow().0.get(&id) {
            return Ok(known.clone());
        }
        let (kind, bytes) = self.read_file(id)?;
        let (objects, together) = &mut *known.borrow_mut();
        if bytes.len() <= MAX_KNOWN && *together + bytes.len() <= MAX_KNOWN_TOGETHER {
            *together += bytes.len();
            objects.insert(id, (kind, bytes.clone()));
        }
        Ok((kind, bytes))
    }

    fn read_file(&self, id: Oid) -> Result<(ObjectType, Vec<u8>), Failure> {
        let failed = |error| unreadable_object(id, error);
        for dir in self.directories_of(id) {
            let found = read_loose(dir, id).map_err(|error| failed(error.into()))?;
            if let Some((kind, bytes)) = found {
                if self.name(kind, &bytes)? != id {
                    return Err(failed("its content is not what its name says".into()));
                }
                return Ok((kind, bytes));
            }
        }
        self.misses.set(self.misses.get() + 1);
        if self.misses.get() == MANY {
            self.list_files();
        }
        let packs = self
            .packs
            .get_or_init(|| Packs::open(&self.objects, self.format()));
        if let Some((kind, bytes)) = packs.as_ref().and_then(|packs| packs.read(id))
            && self.name(kind, &bytes)? == id
        {
            return Ok((kind, bytes));
        }
        // The packs may have changed, or the object is damaged: libgit2 looks again, and verifies the hash.
        let odb = self.odb()?;
        let object = odb.read(id).map_err(|error| failed(error.into()))?;
        Ok((object.kind(), object.data().to_vec()))
    }

    /// Whether an object of that name exists, intact or not.
    pub(super) fn holds(&self, id: Oid) -> bool {
        let is_loose =
            |dir: &PathBuf| disk::look(&loose_path(dir, id)).is_ok_and(|at| at.is_some());
        self.directories_of(id).any(is_loose) || self.odb().is_ok_and(|odb| odb.exists(id))
    }

    /// The type of an object, and its size before compression.
    pub(super) fn header(&self, id: Oid) -> Result<(ObjectType, u64), Failure> {
        let failed = |error| unreadable_object(id, error);
        for dir in self.directories_of(id) {
            if let Some(file) = open_loose(dir, id).map_err(|error| failed(error.into()))? {
                return read_header(&mut stream(file)).map_err(|error| failed(error.into()));
            }
        }
        self.odb()?
            .read_header(id)
            .map(|(size, kind)| (kind, size as u64))
            .map_err(|error| failed(error.into()))
    }

    /// The size of an object before compression.
    pub(super) fn size(&self, id: Oid) -> Result<u64, Failure> {
        self.header(id).map(|(_, size)| size)
    }

    pub(super) fn read_as(&self, id: Oid, wanted: ObjectType) -> Result<Vec<u8>, Failure> {
        match self.read(id)? {
            (kind, bytes) if kind == wanted => Ok(bytes),
            (kind, _) => Err(unreadable(
                format!("object {id} of the log"),
                format!("it is a {}, not a {}", kind.str(), wanted.str()),
            )),
        }
    }

    pub(crate) fn blob(&self, id: Oid) -> Result<Vec<u8>, Failure> {
        self.read_as(id, ObjectType::Blob)
    }

    pub(crate) fn commit(&self, id: Oid) -> Result<Commit, Failure> {
        self.decode_commit(id, &self.read_as(id, ObjectType::Commit)?)
    }

    /// Parses the content of a commit.
    pub(crate) fn decode_commit(&self, id: Oid, bytes: &[u8]) -> Result<Commit, Failure> {
        self.parse_commit(&String::from_utf8_lossy(bytes))
            .ok_or_else(|| unreadable(format!("log commit {id}"), "it is malformed"))
    }

    fn parse_commit(&self, text: &str) -> Option<Commit> {
        let (head, message) = text.split_once("\n\n")?;
        let mut lines = head.lines();
        let tree = self.oid(lines.next()?.strip_prefix("tree ")?)?;
        let mut parents = Vec::new();
        let mut epoch_seconds = None;
        for line in lines {
            if let Some(parent) = line.strip_prefix("parent ") {
                parents.push(self.oid(parent)?);
            } else if let Some(who) = line.strip_prefix("committer ") {
                epoch_seconds = who.rsplit(' ').nth(1)?.parse().ok();
            }
        }
        Some(Commit {
            tree,
            parents,
            epoch_seconds: epoch_seconds?,
            message: message.to_owned(),
        })
    }

    pub(crate) fn tree(&self, id: Oid) -> Result<Vec<TreeEntry>, Failure> {
        self.decode_tree(id, &self.read_as(id, ObjectType::Tree)?)
    }

    /// Parses the content of a tree.
    pub(crate) fn decode_tree(&self, id: Oid, bytes: &[u8]) -> Result<Vec<TreeEntry>, Failure> {
        let width = id.as_bytes().len();
        parse_tree(bytes, width)
            .ok_or_else(|| unreadable(format!("tree {id} of the log"), "it is malformed"))
    }
}

/// The packs of an object directory, read through libgit2 without hashing.
struct Packs(NonNull<raw::git_odb_backend>);

// SAFETY: one thread at a time uses it, and libgit2 locks what backends share.
unsafe impl Send for Packs {}

impl Packs {
    fn open(objects: &Path, format: ObjectFormat) -> Option<Self> {
        let path = CString::new(objects.as_os_str().as_encoded_bytes()).ok()?;
        let options = raw::git_odb_backend_pack_options {
            version: raw::GIT_ODB_BACKEND_PACK_OPTIONS_VERSION,
            oid_type: match format {
                ObjectFormat::Sha1 => raw::GIT_OID_SHA1,
                _ => raw::GIT_OID_SHA256,
            },
        };
        let mut backend = std::ptr::null_mut();
        // SAFETY: the path and the options outlive the call; libgit2 was initialised when the log was opened.
        let code = unsafe { raw::git_odb_backend_pack(&mut backend, path.as_ptr(), &options) };
        NonNull::new(backend).filter(|_| code == 0).map(Self)
    }

    /// The object as a pack holds it, without a check of its name; `None` if no pack has it, or it cannot be unpacked.
    fn read(&self, id: Oid) -> Option<(ObjectType, Vec<u8>)> {
        let mut name = raw::git_oid {
            kind: match id.as_bytes().len() {
                20 => raw::GIT_OID_SHA1 as _,
                _ => raw::GIT_OID_SHA256 as _,
            },
            id: [0; raw::GIT_OID_MAX_SIZE],
        };
        name.id[..id.as_bytes().len()].copy_from_slice(id.as_bytes());
        let backend = self.0.as_ptr();
        let (mut data, mut length, mut kind) = (std::ptr::null_mut(), 0, raw::GIT_OBJECT_INVALID);
        // SAFETY: the backend lives as long as this value, and the data read is ours until it is freed.
        unsafe {
            let read = (*backend).read?;
            if read(&mut data, &mut length, &mut kind, backend, &name) != 0 || data.is_null() {
                return None;
            }
            let bytes = std::slice::from_raw_parts(data.cast::<u8>(), length).to_vec();
            raw::git_odb_backend_data_free(backend, data);
            Some((ObjectType::from_raw(kind)?, bytes))
        }
    }
}

impl Drop for Packs {
    fn drop(&mut self) {
        // SAFETY: this value is the only owner.
        unsafe {
            if let Some(free) = (*self.0.as_ptr()).free {
                free(self.0.as_ptr());
            }
        }
    }
}

fn unreadable_object(id: Oid, error: Box<dyn std::error::Error + Send + Sync>) -> Failure {
    unreadable(format!("object {id} of the log"), error)
}

/// Encodes a tree as git does.
pub(super) fn tree_bytes(mut entries: Vec<TreeEntry>) -> Vec<u8> {
    // git sorts a directory as if its name ended with a slash.
    let key = |entry: &TreeEntry| {
        let mut key = entry.name.clone();
        if entry.mode == FOLDER {
            key.push('/');
        }
        key
    };
    entries.sort_by_cached_key(key);
    let mut bytes = Vec::new();
    for entry in &entries {
        bytes.extend_from_slice(format!("{:o} {}\0", entry.mode, entry.name).as_bytes());
        bytes.extend_from_slice(entry.id.as_bytes());
    }
    bytes
}

fn digest<D: Digest>(head: &str, bytes: &[u8]) -> sha2::digest::Output<D> {
    D::new()
        .chain_update(head.as_bytes())
        .chain_update(bytes)
        .finalize()
}

fn parse_tree(bytes: &[u8], width: usize) -> Option<Vec<TreeEntry>> {
    let entries = room::parse_tree(bytes, width)?.into_iter();
    let entries = entries.map(|(mode, name, id)| {
        let name = String::from_utf8(name).ok()?;
        Some(TreeEntry { mode, name, id })
    });
    entries.collect()
}

/// Largest object of a log before compression.
const MAX_OBJECT: u64 = 1 << 30;

/// Names of the loose objects in an object directory, from the names of its files.
pub(super) fn list_loose(objects: &Path) -> Vec<String> {
    let entries = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten();
    let fan_outs = entries(objects).filter(|entry| entry.file_name().len() == 2);
    let names = fan_outs.flat_map(|fan_out| {
        let begin = fan_out.file_name();
        entries(&fan_out.path())
            .map(move |file| format!("{}{}", begin.display(), file.file_name().display()))
    });
    names.collect()
}

/// Reads a loose object; `None` if there is no such file.
pub(super) fn read_loose(objects: &Path, id: Oid) -> io::Result<Option<(ObjectType, Vec<u8>)>> {
    open_loose(objects, id)?.map(inflate).transpose()
}

/// Writes a loose object as git does: under a temporary name, synced, renamed, and its directory synced.
pub(super) fn write_loose(
    objects: &Path,
    id: Oid,
    kind: ObjectType,
    bytes: &[u8],
) -> io::Result<()> {
    let path = loose_path(objects, id);
    let dir = path.parent().unwrap_or(objects);
    match std::fs::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let new = NewFile::at(&path, Durable::ContentAndName)
        .mode(Mode::Masked(0o444))
        // A prefix that git's own cleanup recognizes.
        .prefix("tmp_obj_");
    let mut stream = flate2::write::ZlibEncoder::new(new.begin()?, flate2::Compression::fast());
    write!(stream, "{} {}\0", kind.str(), bytes.len())?;
    stream.write_all(bytes)?;
    stream.finish()?.finish().map(drop)
}

pub(super) fn open_loose(objects: &Path, id: Oid) -> io::Result<Option<File>> {
    match disk::open_no_follow(OpenOptions::new().read(true), &loose_path(objects, id)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn loose_path(objects: &Path, id: Oid) -> PathBuf {
    let hex = id.to_string();
    objects.join(&hex[..2]).join(&hex[2..])
}

pub(super) type Inflated<R> = io::BufReader<flate2::read::ZlibDecoder<R>>;

pub(super) fn stream<R: Read>(file: R) -> Inflated<R> {
    io::BufReader::with_capacity(4096, flate2::read::ZlibDecoder::new(file))
}

fn make_malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Type and size according to the object's own header.
pub(super) fn read_header(stream: &mut impl BufRead) -> io::Result<(ObjectType, u64)> {
    let mut head = Vec::new();
    stream.take(64).read_until(0, &mut head)?;
    head.strip_suffix(b"\0")
        .and_then(|head| std::str::from_utf8(head).ok())
        .and_then(|head| head.split_once(' '))
        .and_then(|(kind, size)| Some((ObjectType::from_str(kind)?, size.parse().ok()?)))
        .ok_or_else(|| make_malformed("its header is malformed"))
}

fn inflate(file: impl Read) -> io::Result<(ObjectType, Vec<u8>)> {
    let mut stream = stream(file);
    let (kind, size) = read_header(&mut stream)?;
    if size > MAX_OBJECT {
        return Err(make_malformed("it is larger than cook reads"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(1 << 20)).unwrap_or(0));
    stream.take(size + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != size {
        return Err(make_malformed("it is not as long as it says"));
    }
    Ok((kind, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_and_commits_are_those_of_git() {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(dir.path()).unwrap();
        let log = Log::open(dir.path()).unwrap();
        let blob = log.write(ObjectType::Blob, b"text").unwrap();
        let entry = |mode, name: &str, id| TreeEntry {
            mode,
            name: name.to_owned(),
            id,
        };
        let inner = log.write_tree(vec![entry(FILE, "x", blob)]).unwrap();
        let entries = vec![
            entry(FOLDER, "a", inner),
            entry(FILE, "a.b", blob),
            entry(FILE, "a0", blob),
            entry(EXECUTABLE, "z", blob),
            entry(LINK, "0", blob),
        ];
        let tree = log.write_tree(entries.clone()).unwrap();
        let mut builder = repo.treebuilder(None).unwrap();
        for entry in &entries {
            builder
                .insert(&entry.name, entry.id, entry.mode as i32)
                .unwrap();
        }
        assert_eq!(builder.write().unwrap(), tree);
        let mut read = log.tree(tree).unwrap();
        assert_eq!(read.len(), 5);
        read.retain(|entry| !entries.contains(entry));
        assert!(read.is_empty());

        let first = log.write_commit(tree, None, 7, "one\n").unwrap();
        let second = log
            .write_commit(tree, Some(first), 1_700_000_000, "two\n\nA: b\n")
            .unwrap();
        let theirs = repo.find_commit(second).unwrap();
        let ours = log.commit(second).unwrap();
        assert_eq!(theirs.tree_id(), ours.tree);
        assert_eq!(ours.parents, [first]);
        assert_eq!(theirs.time().seconds(), ours.epoch_seconds);
        assert_eq!(theirs.message().unwrap(), ours.message);
        assert_eq!(theirs.author().email().unwrap(), "cook@localhost");
    }

    #[test]
    fn objects_are_named_as_git_names_them() {
        for format in [ObjectFormat::Sha1, ObjectFormat::Sha256] {
            let dir = tempfile::tempdir().unwrap();
            let mut options = git2::RepositoryInitOptions::new();
            options.bare(true).object_format(format);
            Repository::init_opts(dir.path(), &options).unwrap();
            let log = Log::open(dir.path()).unwrap();
            for bytes in [&b""[..], b"text", &[0xff; 100_000]] {
                for kind in [ObjectType::Blob, ObjectType::Tree, ObjectType::Commit] {
                    let theirs = Oid::hash_object_ext(kind, bytes, format).unwrap();
                    assert_eq!(log.name(kind, bytes).unwrap(), theirs);
                }
            }
        }
    }

    #[test]
    fn content_that_is_not_what_the_name_says_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        Repository::init_bare(dir.path()).unwrap();
        let log = Log::open(dir.path()).unwrap();
        let id = log.write(ObjectType::Blob, b"true").unwrap();
        let hex = id.to_string();
        let path = dir.path().join("objects").join(&hex[..2]).join(&hex[2..]);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, deflate(b"blob 5\0false")).unwrap();
        assert!(log.blob(id).is_err());
    }

    fn deflate(bytes: &[u8]) -> Vec<u8> {
        let mut writer =
            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn objects_cut_short_or_lying_are_errors() {
        let good = deflate(b"blob 5\0hello");
        let (kind, bytes) = inflate(&good[..]).unwrap();
        assert_eq!((kind, bytes.as_slice()), (ObjectType::Blob, &b"hello"[..]));
        for length in 0..good.len() {
            assert!(inflate(&good[..length]).is_err(), "{length}");
        }
        for bad in [
            &b"blob 6\0hello"[..],
            b"blob 4\0hello",
            b"blob 99999999999999\0hello",
            b"blob -1\0",
            b"snake 5\0hello",
            b"blob",
            b"",
        ] {
            assert!(inflate(&deflate(bad)[..]).is_err(), "{bad:?}");
        }
        assert!(inflate(&b"not compressed"[..]).is_err());
    }
}
