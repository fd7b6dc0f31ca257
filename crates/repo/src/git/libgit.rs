//! Objects and refs by libgit2. Reads refs, commits and trees; never the index or the
//! worktree, where libgit2 and git disagree. Ids are full, lower-case and known to name commits, unless said otherwise.

use super::RepoError;
use super::contents::{Change, ChangeKind, Entry, Listed, MAX_FILE, path_text};
use cook_protocol::machine::Head;
use cook_protocol::model::TreeEntry;
use git2::{Commit, ErrorCode, ObjectFormat, ObjectType, Odb, Oid, Repository, Sort};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;
use std::rc::Rc;

/// Bytes of a commit and of a directory, at most.
const MAX_COMMIT: u64 = 16 << 20;
const MAX_TREE: u64 = 256 << 20;

/// Entries of a directory that libgit2 keeps at hand itself, about; a larger one it reads anew for each
/// of its files.
const LARGE: usize = 100;
/// Large directories that are kept.
const MAX_KEPT: usize = 16;
/// Their entries together.
const MAX_ENTRIES: usize = 2_000_000;

/// A directory's entries by name.
type Directory = Rc<HashMap<Vec<u8>, Side>>;

pub(super) struct Libgit {
    repository: Repository,
    /// It can tell refs too.
    pub(super) has_refs: bool,
    /// Large directories that were looked into last.
    directories: RefCell<VecDeque<(Oid, Directory)>>,
}

impl Libgit {
    pub(super) fn new(repository: Repository) -> Self {
        Self {
            repository,
            has_refs: true,
            directories: RefCell::default(),
        }
    }

    /// The objects alone of a repository whose refs libgit2 cannot read.
    pub(super) fn of_objects(dir: &Path, format: ObjectFormat) -> Result<Self, RepoError> {
        let database = Odb::new_ext(format)?;
        let dir = dir.to_string_lossy();
        database.add_disk_alternate(&dir)?;
        Ok(Self {
            has_refs: false,
            ..Self::new(Repository::from_odb(database)?)
        })
    }

    fn oid(&self, id: &str) -> Result<Oid, RepoError> {
        Ok(Oid::from_str_ext(id, self.repository.object_format())?)
    }

    fn commit(&self, id: &str) -> Result<Commit<'_>, RepoError> {
        self.find_commit(self.oid(id)?)
    }

    fn find_commit(&self, id: Oid) -> Result<Commit<'_>, RepoError> {
        self.require_small(id, MAX_COMMIT)?;
        Ok(self.repository.find_commit(id)?)
    }

    /// libgit2 reads an object whole, and a few bytes can be made into any number.
    fn require_small(&self, id: Oid, limit: u64) -> Result<(), RepoError> {
        let (size, kind) = self.repository.odb()?.read_header(id)?;
        match size as u64 > limit {
            true => Err(RepoError::Answer(format!(
                "{kind} {id} takes {size} bytes, and at most {limit} are read"
            ))),
            false => Ok(()),
        }
    }

    fn pair_trees(&self, old: Option<Oid>, new: Option<Oid>) -> Result<Pairs, RepoError> {
        let mut pairs = Pairs::new();
        for (side, id) in [old, new].into_iter().enumerate() {
            let Some(id) = id else { continue };
            self.require_small(id, MAX_TREE)?;
            for entry in self.repository.find_tree(id)?.iter() {
                pairs.entry(entry.name_bytes().to_vec()).or_default()[side] =
                    Some(Side::of(&entry));
            }
        }
        Ok(pairs)
    }
}

/// What stands at a name on one side of a comparison.
#[derive(Clone, Copy, PartialEq)]
struct Side {
    id: Oid,
    mode: i32,
}

impl Side {
    fn of(entry: &git2::TreeEntry<'_>) -> Self {
        Self {
            id: entry.id(),
            mode: entry.filemode(),
        }
    }

    fn is_tree(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }
}

/// The entries of two directories, by name.
type Pairs = BTreeMap<Vec<u8>, [Option<Side>; 2]>;

fn absent<T>(result: Result<T, git2::Error>) -> Result<Option<T>, RepoError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Libgit {
    /// What stands at a path below a commit.
    fn find(&self, commit: &str, path: &str) -> Result<Option<Side>, RepoError> {
        let root = self.commit(commit)?.tree_id();
        let mut found: Option<Side> = None;
        for name in path.split('/') {
            let directory = match found {
                None => root,
                Some(side) if side.is_tree() => side.id,
                Some(_) => return Ok(None),
            };
            found = self.find_in(directory, name)?;
            if found.is_none() {
                return Ok(None);
            }
        }
        Ok(found)
    }

    fn find_in(&self, directory: Oid, name: &str) -> Result<Option<Side>, RepoError> {
        let mut kept = self.directories.borrow_mut();
        if let Some((_, known)) = kept.iter().find(|(id, _)| *id == directory) {
            return Ok(known.get(name.as_bytes()).copied());
        }
        self.require_small(directory, MAX_TREE)?;
        let tree = self.repository.find_tree(directory)?;
        if tree.len() < LARGE {
            return Ok(tree.get_name(name).as_ref().map(Side::of));
        }
        let entries = tree.iter();
        let entries = entries.map(|entry| (entry.name_bytes().to_vec(), Side::of(&entry)));
        let entries: Directory = Rc::new(entries.collect());
        let found = entries.get(name.as_bytes()).copied();
        kept.push_back((directory, entries));
        while kept.len() > MAX_KEPT
            || kept.len() > 1 && kept.iter().map(|(_, it)| it.len()).sum::<usize>() > MAX_ENTRIES
        {
            kept.pop_front();
        }
        Ok(found)
    }

    /// A blob's content by its id; none when it is not here, or too large.
    pub(super) fn blob(&self, id: &str) -> Result<Option<Vec<u8>>, RepoError> {
        let odb = self.repository.odb()?;
        let id = self.oid(id)?;
        match absent(odb.read_header(id))? {
            Some((size, ObjectType::Blob)) if size as u64 <= MAX_FILE => {
                Ok(Some(self.repository.find_blob(id)?.content().to_vec()))
            }
            _ => Ok(None),
        }
    }

    /// HEAD now.
    pub(super) fn head(&self) -> Result<Head, RepoError> {
        let head = self.repository.find_reference("HEAD")?;
        let branch = head.symbolic_target_bytes().map(|target| {
            let name = path_text(target);
            name.strip_prefix("refs/heads/")
                .map_or(name.clone(), str::to_owned)
        });
        let commit = match absent(head.resolve())? {
            Some(found) => match found.target() {
                Some(id) => Some(self.find_commit(id)?),
                None => return Err(RepoError::Answer("HEAD leads nowhere".to_owned())),
            },
            // A detached HEAD always resolves; a branch that has no commit does not.
            None if branch.is_some() => None,
            None => return Err(RepoError::Answer("HEAD does not name a commit".to_owned())),
        };
        Ok(Head {
            tree: commit.as_ref().map(|commit| commit.tree_id().to_string()),
            commit: commit.map(|commit| commit.id().to_string()),
            branch,
        })
    }

    /// `hex` is 4 to 64 hexadecimal digits; none when no commit begins so, an error when several do.
    pub(super) fn resolve(&self, hex: &str) -> Result<Option<String>, RepoError> {
        match self.repository.find_commit_by_prefix(hex) {
            Ok(commit) => Ok(Some(commit.id().to_string())),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn is_ancestor(&self, ancestor: &str, descendant: &str) -> Result<bool, RepoError> {
        let (ancestor, descendant) = (self.oid(ancestor)?, self.oid(descendant)?);
        Ok(ancestor == descendant || self.repository.graph_descendant_of(descendant, ancestor)?)
    }

    pub(super) fn merge_base(&self, one: &str, two: &str) -> Result<Option<String>, RepoError> {
        let base = absent(self.repository.merge_base(self.oid(one)?, self.oid(two)?))?;
        Ok(base.map(|base| base.to_string()))
    }

    /// The newest `limit` commits of `from..to`, newest first, children before parents.
    pub(super) fn list(
        &self,
        from: Option<&str>,
        to: &str,
        limit: usize,
    ) -> Result<Vec<Listed>, RepoError> {
        let mut walk = self.repository.revwalk()?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::TIME)?;
        walk.push(self.oid(to)?)?;
        if let Some(from) = from {
            walk.hide(self.oid(from)?)?;
        }
        walk.take(limit)
            .map(|id| {
                let id = id?;
                let commit = self.find_commit(id)?;
                Ok(Listed {
                    id: id.to_string(),
                    author: String::from_utf8_lossy(commit.author().name_bytes()).into_owned(),
                    message: String::from_utf8_lossy(commit.message_bytes()).into_owned(),
                })
            })
            .collect()
    }

    pub(super) fn tree(&self, commit: &str) -> Result<String, RepoError> {
        Ok(self.commit(commit)?.tree_id().to_string())
    }

    /// First parent; none for a root.
    pub(super) fn parent(&self, commit: &str) -> Result<Option<String>, RepoError> {
        let parent = self.commit(commit)?.parent_ids().next();
        Ok(parent.map(|parent| parent.to_string()))
    }

    /// All parents, the first one first.
    pub(super) fn parents(&self, commit: &str) -> Result<Vec<String>, RepoError> {
        let commit = self.commit(commit)?;
        Ok(commit.parent_ids().map(|id| id.to_string()).collect())
    }

    /// Differences between two commits' trees (none = the empty tree), sorted by path.
    pub(super) fn changes(&self, from: Option<&str>, to: &str) -> Result<Vec<Change>, RepoError> {
        let old = from.map(|from| self.commit(from).map(|commit| commit.tree_id()));
        let mut changes = Vec::new();
        // libgit2's own comparison looks into directories that are the same on both sides.
        let mut due = vec![(
            old.transpose()?,
            Some(self.commit(to)?.tree_id()),
            Vec::new(),
        )];
        while let Some((old, new, at)) = due.pop() {
            for (name, sides) in self.pair_trees(old, new)? {
                let path = [&at[..], &name[..]].concat();
                let trees = sides.map(|side| side.filter(Side::is_tree).map(|side| side.id));
                if trees[0] != trees[1] {
                    due.push((trees[0], trees[1], [&path[..], b"/"].concat()));
                }
                let files = sides.map(|side| side.filter(|side| !side.is_tree()));
                let kind = match files {
                    [Some(old), Some(new)] if old == new => None,
                    [None, None] => None,
                    // A link in place of a file too, as git says.
                    [Some(_), Some(_)] => Some(ChangeKind::Modified),
                    [None, Some(_)] => Some(ChangeKind::Added),
                    [Some(_), None] => Some(ChangeKind::Deleted),
                };
                changes.extend(kind.map(|kind| Change {
                    path: path_text(&path),
                    kind,
                }));
            }
        }
        changes.sort();
        Ok(changes)
    }

    pub(super) fn entry(&self, commit: &str, path: &str) -> Result<Entry, RepoError> {
        let Some(found) = self.find(commit, path)? else {
            return Ok(Entry::Nothing);
        };
        match found.mode & 0o170_000 {
            0o040_000 => return Ok(Entry::Directory),
            0o160_000 => return Ok(Entry::Submodule),
            0o120_000 => return Ok(Entry::Symlink),
            _ => {}
        }
        let (size, _) = self.repository.odb()?.read_header(found.id)?;
        if size as u64 > MAX_FILE {
            return Ok(Entry::Huge(size as u64));
        }
        Ok(Entry::File {
            bytes: self.repository.find_blob(found.id)?.content().to_vec(),
            oid: found.id.to_string(),
        })
    }

    /// What stands at a path that is no directory; none when nothing does.
    pub(super) fn tree_entry(
        &self,
        commit: &str,
        path: &str,
    ) -> Result<Option<TreeEntry>, RepoError> {
        let found = self.find(commit, path)?;
        let found = found.filter(|found| !found.is_tree());
        Ok(found.map(|found| TreeEntry {
            mode: format!("{:06o}", found.mode),
            id: found.id.to_string(),
        }))
    }
}
