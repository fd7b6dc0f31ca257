//! One repository whose commit a room holds: the user's own, or a submodule's.

use crate::disk::{self, Links};
use crate::room::RoomError;
use crate::room::error::AtPath;
use crate::room::list::{Leaf, List};
use crate::room::object_reader::Objects;
use crate::room::plain_git::Git;
use crate::room::room_contents::Source;
use git2::{ObjectFormat, ObjectType, Oid};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Bytes of the list of commits without parents, at most.
const MAX_SHALLOW: u64 = 64 << 20;

/// A repository, and what one of its commits holds.
pub(crate) struct Repository<'a> {
    /// Its git directory, which all its worktrees share.
    pub git_dir: PathBuf,
    pub objects: Objects,
    /// Full id.
    pub commit: String,
    pub tree: Oid,
    pub list: List,
    /// Where what runs in the room finds its objects; none = where they are.
    pub objects_at: Option<PathBuf>,
    /// Names and ids of refs.
    pub refs: &'a [(String, String)],
    /// Directories that git is told not to look at.
    pub caches: &'a [String],
    /// The room's `.git` holds what a clone would, and reaches no other object.
    pub alone: bool,
    /// What its history is taken from.
    pub from: TakenFrom,
    /// Where git is found.
    pub path: &'a OsStr,
}

/// What a history is taken from.
pub(crate) enum TakenFrom {
    /// Whoever clones this worktree by its git directory.
    Clone(PathBuf),
    /// A submodule that a clone gets from this place.
    Place(PathBuf),
    /// A submodule that a clone gets from where nobody is asked: what is here of it is taken.
    Here,
    /// The same of a submodule whose commit a clone gets without those before it.
    Cut,
}

impl<'a> Repository<'a> {
    /// The user's own.
    pub fn of(source: &Source<'a>, caches: &'a [String]) -> Result<Self, RoomError> {
        if source.common.to_str().is_none() {
            return Err(RoomError::NotUtf8(source.common.to_owned()));
        }
        let read = Self::read(source.common, source.commit, source);
        let read = read.map_err(|why| RoomError::NotReproducible {
            commit: source.commit.to_owned(),
            why,
        })?;
        Ok(Self {
            objects_at: source.objects_at.map(|at| at(0)),
            refs: source.refs,
            caches,
            from: TakenFrom::Clone(source.git_dir.to_owned()),
            ..read
        })
    }

    /// Reads what the commit holds; what is wrong with it otherwise.
    pub fn read(git_dir: &Path, commit: &str, source: &Source<'a>) -> Result<Self, String> {
        let format = match source.commit.len() {
            64 => ObjectFormat::Sha256,
            _ => ObjectFormat::Sha1,
        };
        let opened = Objects::open(&git_dir.join("objects"), format);
        let objects = opened.map_err(|error| error.to_string())?;
        let tree = objects.find_tree(objects.id(commit)?)?;
        Ok(Self {
            list: List::read(&objects, tree)?,
            git_dir: git_dir.to_owned(),
            objects,
            commit: commit.to_owned(),
            tree,
            objects_at: None,
            refs: &[],
            caches: &[],
            alone: source.alone,
            from: TakenFrom::Here,
            path: source.path,
        })
    }

    /// Where its objects are.
    pub fn here(&self) -> PathBuf {
        self.git_dir.join("objects")
    }

    /// The object of one of its files.
    pub fn read_file(&self, path: &[u8], leaf: Leaf) -> Result<Vec<u8>, RoomError> {
        let read = self.objects.read(leaf.id, ObjectType::Blob);
        let path = String::from_utf8_lossy(path);
        read.map_err(|why| self.not_reproducible(format!("`{path}`: {why}")))
    }

    /// Commits whose parents a shallow clone does not have, one line each.
    pub fn read_shallow(&self) -> Result<Option<String>, RoomError> {
        let place = match &self.from {
            TakenFrom::Cut => return Ok(Some(format!("{}\n", self.commit))),
            // Where all of it comes from there, it is cut off as it is there.
            TakenFrom::Place(place) if self.alone => find_git_dir(place),
            _ => None,
        };
        let place = place.as_deref().unwrap_or(&self.git_dir).join("shallow");
        let read = disk::read_text(&place, MAX_SHALLOW, Links::Refuse);
        read.at("read", &place)
    }

    /// git in a directory, by the program that the user trusted.
    pub fn git<'g>(&'g self, dir: &'g Path) -> Git<'g> {
        Git {
            path: self.path,
            dir,
        }
    }

    /// Where its commit is not what a clone has, and why.
    pub fn not_reproducible(&self, why: String) -> RoomError {
        RoomError::NotReproducible {
            commit: self.commit.clone(),
            why,
        }
    }
}

/// The git directory of the repository at a place of this machine, where git would find one.
pub(crate) fn find_git_dir(place: &Path) -> Option<PathBuf> {
    let mut suffixed = place.as_os_str().to_owned();
    suffixed.push(".git");
    let places = [place.join(".git"), place.to_owned(), suffixed.into()];
    places.into_iter().find(|dir| dir.join("objects").is_dir())
}
