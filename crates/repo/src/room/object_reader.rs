//! Objects by their id, read from an object directory alone. Each is hashed and compared with its
//! name: `git checkout` takes a loose object with false bytes, and an index that lies, as it comes.

use crate::room::RoomError;
use git2::{ObjectFormat, ObjectType, Odb, Oid};
use std::path::Path;

/// Bytes of a commit and of a directory, at most: a few bytes can be made into any number.
const MAX_COMMIT: u64 = 16 << 20;
const MAX_TREE: u64 = 256 << 20;

/// The objects of one repository.
pub(crate) struct Objects {
    database: Odb<'static>,
    format: ObjectFormat,
}

impl Objects {
    /// Those below an `objects` directory and the alternates that it names.
    pub fn open(dir: &Path, format: ObjectFormat) -> Result<Self, RoomError> {
        let path = dir
            .to_str()
            .ok_or_else(|| RoomError::NotUtf8(dir.to_owned()))?;
        let open = || {
            let database = Odb::new_ext(format)?;
            database.add_disk_alternate(path)?;
            Ok(database)
        };
        let opened = open();
        let database = opened.map_err(|error: git2::Error| {
            let cause = std::io::Error::other(error.message().to_owned());
            RoomError::io("read objects of", dir, cause)
        })?;
        Ok(Self { database, format })
    }

    /// The id that a text says.
    pub fn id(&self, text: &str) -> Result<Oid, String> {
        Oid::from_str_ext(text, self.format).map_err(|_| format!("`{text}` is not an object's id"))
    }

    /// An object's bytes; else what is wrong with it, as a fragment.
    pub fn read(&self, id: Oid, kind: ObjectType) -> Result<Vec<u8>, String> {
        match kind {
            ObjectType::Commit => self.require_small(id, MAX_COMMIT)?,
            ObjectType::Tree => self.require_small(id, MAX_TREE)?,
            _ => {}
        }
        let found = self.database.read(id);
        let object = found.map_err(|error| format!("{kind} {id}: {}", error.message()))?;
        match object.kind() == kind {
            true => Ok(object.data().to_vec()),
            false => Err(format!("{id} is a {}, not a {kind}", object.kind())),
        }
    }

    /// How large an object is.
    pub fn size(&self, id: Oid) -> Result<u64, String> {
        let found = self.database.read_header(id);
        let (size, _) = found.map_err(|error| format!("object {id}: {}", error.message()))?;
        Ok(size as u64)
    }

    /// Refuses an object that is larger.
    pub fn require_small(&self, id: Oid, limit: u64) -> Result<(), String> {
        match self.size(id)? {
            size if size > limit => Err(format!(
                "object {id} takes {size} bytes, and at most {limit} are read"
            )),
            _ => Ok(()),
        }
    }

    /// The tree of a commit.
    pub fn find_tree(&self, commit: Oid) -> Result<Oid, String> {
        let bytes = self.read(commit, ObjectType::Commit)?;
        let line = bytes.split(|byte| *byte == b'\n').next();
        let id = line.and_then(|line| line.strip_prefix(b"tree "));
        let text = id.and_then(|id| std::str::from_utf8(id).ok());
        self.id(text.ok_or_else(|| format!("commit {commit} names no tree"))?)
    }

    /// The entries of a directory: mode, name, id.
    pub fn read_tree(&self, tree: Oid) -> Result<Vec<(u32, Vec<u8>, Oid)>, String> {
        let bytes = self.read(tree, ObjectType::Tree)?;
        let mut rest = &bytes[..];
        let mut entries = Vec::new();
        while !rest.is_empty() {
            let entry = self.take_entry(&mut rest);
            entries.push(entry.ok_or_else(|| format!("tree {tree} is malformed"))?);
        }
        Ok(entries)
    }

    /// `mode name`, a zero byte, the id.
    fn take_entry(&self, rest: &mut &[u8]) -> Option<(u32, Vec<u8>, Oid)> {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (head, tail) = (&rest[..end], &rest[end + 1..]);
        let space = head.iter().position(|byte| *byte == b' ')?;
        let mode = u32::from_str_radix(std::str::from_utf8(&head[..space]).ok()?, 8).ok()?;
        let (id, tail) = tail.split_at_checked(self.id_bytes())?;
        *rest = tail;
        Some((mode, head[space + 1..].to_vec(), Oid::from_bytes(id).ok()?))
    }

    /// How ids are made here.
    pub fn format(&self) -> ObjectFormat {
        self.format
    }

    /// Bytes of an id.
    fn id_bytes(&self) -> usize {
        match self.format {
            ObjectFormat::Sha256 => 32,
            _ => 20,
        }
    }
}
