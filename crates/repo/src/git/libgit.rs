//! Objects and refs through libgit2: commits, their differences, entries of trees. Reads refs, commits and trees; never
//! the index or the worktree, about which libgit2 and git disagree. Ids are full, in lower case and known to name
//! commits, unless stated otherwise.

use super::program::{Call, OrFail, fail_git};
use super::special::check_refs;
use super::{Directory, KnownCommit, Repo};
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::Head;
use cook_protocol::model::TreeEntry;
use git2::{ErrorCode, ObjectType, Oid, Sort};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Largest commit and largest directory object that is read, in bytes.
const MAX_COMMIT: u64 = 16 << 20;
const MAX_TREE: u64 = 256 << 20;

/// Directories with at least this many entries are cached here: libgit2 caches smaller ones only, roughly, and would
/// read a larger one again for each of its files.
const LARGE: usize = 100;
/// Most large directories that are cached.
const MAX_KEPT: usize = 16;
/// Most entries of the cached directories together.
const MAX_ENTRIES: usize = 2_000_000;
/// Commits that one walk of [`Repo::list_ancestors`] visits.
const NEAR: usize = 1_000;

/// Most commits that `walk_line` walks; most commits that are cached, and most bytes of their messages.
const MAX_LINE: usize = 1_000;
const MAX_COMMITS_KEPT: usize = 20_000;
const MAX_MESSAGE_KEPT: usize = 4 << 10;

/// The object id and the mode of an entry.
type Side = (Oid, i32);

/// The entries of two directories, by name.
type Pairs = BTreeMap<Vec<u8>, [Option<Side>; 2]>;

fn side(entry: &git2::TreeEntry<'_>) -> Side {
    (entry.id(), entry.filemode())
}

fn is_tree((_, mode): &Side) -> bool {
    mode & 0o170_000 == 0o040_000
}

fn absent<T>(result: Result<T, git2::Error>) -> Result<Option<T>, Failure> {
    match result {
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        result => result.map(Some).or_fail(),
    }
}

impl Repo {
    pub(super) fn oid(&self, id: &str) -> Result<Oid, Failure> {
        Oid::from_str_ext(id, self.objects.object_format()).or_fail()
    }

    fn commit(&self, id: &str) -> Result<Rc<KnownCommit>, Failure> {
        self.find_commit(self.oid(id)?)
    }

    /// Reads a commit once and caches it: a revwalk of libgit2 reads commits from the disk that were read before.
    fn find_commit(&self, id: Oid) -> Result<Rc<KnownCommit>, Failure> {
        if let Some(known) = self.commits.borrow().get(&id) {
            return Ok(Rc::clone(known));
        }
        self.require_small(id, MAX_COMMIT)?;
        let commit = self.objects.find_commit(id).or_fail()?;
        let known = Rc::new(KnownCommit {
            id,
            tree: commit.tree_id(),
            parents: commit.parent_ids().collect(),
            author: String::from_utf8_lossy(commit.author().name_bytes()).into_owned(),
            message: String::from_utf8_lossy(commit.message_bytes()).into_owned(),
        });
        let mut commits = self.commits.borrow_mut();
        if commits.len() < MAX_COMMITS_KEPT && known.message.len() <= MAX_MESSAGE_KEPT {
            commits.insert(id, Rc::clone(&known));
        }
        Ok(known)
    }

    /// The commits from `to` back to `from`, newest first and without `from`, if each has at most one parent; the flag
    /// says whether the line reaches `from`. `None` if it forks, is too long, or cannot be read.
    fn walk_line(&self, from: Oid, to: Oid) -> Option<(Vec<Rc<KnownCommit>>, bool)> {
        let mut line = Vec::new();
        let mut at = to;
        while at != from {
            let commit = self.find_commit(at).ok()?;
            let next = match commit.parents[..] {
                [parent] => Some(parent),
                [] => None,
                _ => return None,
            };
            line.push(commit);
            match next {
                _ if line.len() > MAX_LINE => return None,
                Some(parent) => at = parent,
                None => return Some((line, false)),
            }
        }
        Some((line, true))
    }

    /// Refuses large objects: libgit2 reads an object whole, and a few compressed bytes can expand to any size.
    fn require_small(&self, id: Oid, limit: u64) -> Result<(), Failure> {
        if self.small.borrow().contains(&id) {
            return Ok(());
        }
        let database = self.objects.odb().or_fail()?;
        let (size, kind) = database.read_header(id).or_fail()?;
        match size as u64 > limit {
            true => Err(fail_git(format!(
                "{kind} {id} takes {size} bytes, and at most {limit} are read"
            ))),
            false => {
                self.small.borrow_mut().insert(id);
                Ok(())
            }
        }
    }

    fn pair_trees(&self, trees: [Option<Oid>; 2]) -> Result<Pairs, Failure> {
        let mut pairs = Pairs::new();
        for (number, id) in trees.into_iter().enumerate() {
            let Some(id) = id else { continue };
            self.require_small(id, MAX_TREE)?;
            for entry in self.objects.find_tree(id).or_fail()?.iter() {
                let name = entry.name_bytes().to_vec();
                pairs.entry(name).or_default()[number] = Some(side(&entry));
            }
        }
        Ok(pairs)
    }

    /// Mode, name and id of each entry of a tree.
    pub(super) fn read_tree(&self, id: Oid) -> Result<Vec<(u32, Vec<u8>, Oid)>, Failure> {
        self.require_small(id, MAX_TREE)?;
        let tree = self.objects.find_tree(id).or_fail()?;
        let entries = tree.iter().map(|entry| {
            let mode = u32::try_from(entry.filemode()).unwrap_or_default();
            (mode, entry.name_bytes().to_vec(), entry.id())
        });
        Ok(entries.collect())
    }

    /// The entry at a path in a commit's tree.
    fn find(&self, commit: &str, path: &str) -> Result<Option<Side>, Failure> {
        let mut directory = self.commit(commit)?.tree;
        let mut found = None;
        for name in path.split('/') {
            if found.is_some_and(|found| !is_tree(&found)) {
                return Ok(None);
            }
            found = self.find_in(directory, name)?;
            match found {
                Some((id, _)) => directory = id,
                None => return Ok(None),
            }
        }
        Ok(found)
    }

    fn find_in(&self, directory: Oid, name: &str) -> Result<Option<Side>, Failure> {
        let mut kept = self.directories.borrow_mut();
        if let Some((_, known)) = kept.iter().find(|(id, _)| *id == directory) {
            return Ok(known.get(name.as_bytes()).copied());
        }
        self.require_small(directory, MAX_TREE)?;
        let tree = self.objects.find_tree(directory).or_fail()?;
        if tree.len() < LARGE {
            return Ok(tree.get_name(name).as_ref().map(side));
        }
        let entries = tree.iter();
        let entries = entries.map(|entry| (entry.name_bytes().to_vec(), side(&entry)));
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

    /// The content of the blob with this full id; `None` if this repository does not have it, or it is larger than
    /// [`MAX_FILE`].
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn blob(&self, id: &str) -> Result<Option<Vec<u8>>, Failure> {
        if !(40..=64).contains(&id.len()) || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let id = self.oid(id)?;
        match absent(self.objects.odb().or_fail()?.read_header(id))? {
            Some((size, ObjectType::Blob)) if size as u64 <= MAX_FILE => Ok(Some(
                self.objects.find_blob(id).or_fail()?.content().to_vec(),
            )),
            _ => Ok(None),
        }
    }

    /// The current HEAD.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn head(&self) -> Result<Head, Failure> {
        if let Ok(head) = self.read_head() {
            return Ok(head);
        }
        let (commit, branch) = self.program.head()?;
        let tree = commit.as_deref().map(|commit| self.find_tree(commit));
        Ok(Head {
            tree: tree.transpose()?,
            commit,
            branch,
        })
    }

    fn read_head(&self) -> Result<Head, Failure> {
        let head = self.objects.find_reference("HEAD").or_fail()?;
        let branch = head.symbolic_target_bytes().map(|target| {
            let name = path_text(target);
            name.strip_prefix("refs/heads/")
                .map_or(name.clone(), str::to_owned)
        });
        let commit = match absent(head.resolve())? {
            Some(found) => {
                let id = found.target();
                Some(self.find_commit(id.ok_or_else(|| fail_git("HEAD leads nowhere"))?)?)
            }
            None if branch.is_some() => None,
            None => return Err(fail_git("HEAD does not name a commit")),
        };
        Ok(Head {
            tree: commit.as_ref().map(|commit| commit.tree.to_string()),
            commit: commit.map(|commit| commit.id.to_string()),
            branch,
        })
    }

    /// Names of the refs below a prefix, which ends with a slash.
    pub(super) fn list_refs_below(&self, prefix: &str) -> Result<Vec<String>, Failure> {
        if self.is_open_in_libgit2() {
            let found = self.objects.references_glob(&format!("{prefix}*"));
            let mut found = found.or_fail()?;
            let names = found.names().map(|name| name.map(str::to_owned).or_fail());
            return names.collect();
        }
        let call = Call::new("for-each-ref --format=%(refname)").arg(prefix);
        self.program.lines(call)
    }

    /// Every ref: its name, the object to which it resolves, and its target ref if it is symbolic. Refs that do not
    /// resolve are skipped.
    pub(super) fn list_refs(&self) -> Result<Vec<(String, String, Option<String>)>, Failure> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        // Only git knows which refs belong to a linked worktree.
        if self.is_open_in_libgit2() && self.git_dir == self.common_dir {
            check_refs(&self.root)?;
            let mut found = Vec::new();
            for reference in self.objects.references().or_fail()? {
                let reference = reference.or_fail()?;
                let target = reference.resolve().ok().and_then(|target| target.target());
                if let Some(id) = target {
                    let names = reference.symbolic_target_bytes().map(text);
                    found.push((text(reference.name_bytes()), id.to_string(), names));
                }
            }
            return Ok(found);
        }
        let format = "--format=%(refname)%00%(objectname)%00%(symref)";
        let lines = self.program.lines(Call::new("for-each-ref").arg(format))?;
        let fields = lines.iter().filter_map(|line| {
            let mut fields = line.split('\0').map(str::to_owned);
            let named = (fields.next()?, fields.next()?);
            Some((
                named.0,
                named.1,
                fields.next().filter(|names| !names.is_empty()),
            ))
        });
        Ok(fields.collect())
    }

    /// The full id of the only commit whose id begins with `id`; `None` if there is none, or several. Only hexadecimal
    /// ids of at least 4 digits are accepted, never refs.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn resolve(&self, id: &str) -> Result<Option<String>, Failure> {
        let is_id = (4..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_id {
            return Ok(None);
        }
        let id = id.to_ascii_lowercase();
        let is_whole = self.oid(&id).is_ok_and(|whole| {
            whole.to_string() == id && self.commits.borrow().contains_key(&whole)
        });
        if is_whole {
            return Ok(Some(id));
        }
        match absent(self.objects.find_commit_by_prefix(&id)) {
            Ok(commit) => Ok(commit.map(|commit| commit.id().to_string())),
            // Only git resolves an ambiguous id by the kind of the objects.
            Err(_) => self.program.resolve(&id),
        }
    }

    /// Whether `descendant` (full id) is `ancestor` (full id) or has it as an ancestor.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn is_ancestor(&self, ancestor: &str, descendant: &str) -> Result<bool, Failure> {
        let (ancestor, descendant) = (self.oid(ancestor)?, self.oid(descendant)?);
        if let Some((_, leads)) = self.walk_line(ancestor, descendant) {
            return Ok(leads);
        }
        let leads = || self.objects.graph_descendant_of(descendant, ancestor);
        Ok(ancestor == descendant || leads().or_fail()?)
    }

    /// The commits among these (full ids) that are `descendant` or its ancestors. One walk finds all that are near it,
    /// instead of a walk for each.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn list_ancestors(
        &self,
        descendant: &str,
        mut commits: BTreeSet<String>,
    ) -> Result<BTreeSet<String>, Failure> {
        let mut found = BTreeSet::new();
        let mut walk = self.objects.revwalk().or_fail()?;
        walk.push(self.oid(descendant)?).or_fail()?;
        for id in walk.take(NEAR) {
            let Ok(id) = id else { break };
            found.extend(commits.take(&id.to_string()));
            if commits.is_empty() {
                break;
            }
        }
        // The remaining commits are far away, or behind a commit that cannot be read.
        for far in commits {
            if self.is_ancestor(&far, descendant)? {
                found.insert(far);
            }
        }
        Ok(found)
    }

    /// The best common ancestor of two commits (full ids).
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn merge_base(&self, one: &str, two: &str) -> Result<Option<String>, Failure> {
        let base = absent(self.objects.merge_base(self.oid(one)?, self.oid(two)?))?;
        Ok(base.map(|base| base.to_string()))
    }

    /// The newest `limit` commits of `from..to`, newest first, children before parents.
    pub(super) fn list(
        &self,
        from: Option<&str>,
        to: &str,
        limit: usize,
    ) -> Result<Vec<Listed>, Failure> {
        let listed = |commit: &KnownCommit| Listed {
            id: commit.id.to_string(),
            author: commit.author.clone(),
            message: commit.message.clone(),
        };
        if let Some(from) = from
            && let Some((line, true)) = self.walk_line(self.oid(from)?, self.oid(to)?)
        {
            return Ok(line
                .iter()
                .take(limit)
                .map(|commit| listed(commit))
                .collect());
        }
        let mut walk = self.objects.revwalk().or_fail()?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::TIME).or_fail()?;
        walk.push(self.oid(to)?).or_fail()?;
        if let Some(from) = from {
            walk.hide(self.oid(from)?).or_fail()?;
        }
        walk.take(limit)
            .map(|id| {
                let commit = self.find_commit(id.or_fail()?)?;
                Ok(listed(&commit))
            })
            .collect()
    }

    /// The tree of a commit, both by full id.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn find_tree(&self, commit: &str) -> Result<String, Failure> {
        Ok(self.commit(commit)?.tree.to_string())
    }

    /// The first parent; `None` for a root commit.
    pub(super) fn parent(&self, commit: &str) -> Result<Option<String>, Failure> {
        Ok(self.parents(commit)?.into_iter().next())
    }

    /// All parents in order.
    pub(super) fn parents(&self, commit: &str) -> Result<Vec<String>, Failure> {
        let commit = self.commit(commit)?;
        Ok(commit.parents.iter().map(Oid::to_string).collect())
    }

    /// Paths that differ between the trees of two commits, sorted; `None` stands for the empty tree. A rename is a
    /// deletion and an addition.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn changes(&self, from: Option<&str>, to: &str) -> Result<Vec<Change>, Failure> {
        let tree = |commit: &str| Ok::<_, Failure>(self.commit(commit)?.tree);
        let mut changes = Vec::new();
        let mut due = vec![([from.map(tree).transpose()?, Some(tree(to)?)], Vec::new())];
        while let Some((trees, at)) = due.pop() {
            for (name, sides) in self.pair_trees(trees)? {
                let path = [&at[..], &name[..]].concat();
                let trees = sides.map(|side| side.filter(is_tree).map(|(id, _)| id));
                if trees[0] != trees[1] {
                    due.push((trees, [&path[..], b"/"].concat()));
                }
                let kind = match sides.map(|side| side.filter(|side| !is_tree(side))) {
                    [old, new] if old == new => continue,
                    [None, _] => ChangeKind::Added,
                    [_, None] => ChangeKind::Deleted,
                    _ => ChangeKind::Modified,
                };
                let path = path_text(&path);
                changes.push(Change { path, kind });
            }
        }
        changes.sort();
        Ok(changes)
    }

    /// The entry at a path in a commit's tree. The path is looked up in the tree only: it cannot leave the repository,
    /// and symlinks are not followed.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn entry(&self, commit: &str, path: &str) -> Result<Entry, Failure> {
        let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
        let Some((id, mode)) = (match path.split('/').all(is_plain) {
            true => self.find(commit, path)?,
            false => None,
        }) else {
            return Ok(Entry::Nothing);
        };
        match mode & 0o170_000 {
            0o040_000 => return Ok(Entry::Directory),
            0o160_000 => return Ok(Entry::Submodule),
            0o120_000 => return Ok(Entry::Symlink),
            _ => {}
        }
        let (size, _) = self.objects.odb().or_fail()?.read_header(id).or_fail()?;
        if size as u64 > MAX_FILE {
            return Ok(Entry::Huge(size as u64));
        }
        Ok(Entry::File {
            bytes: self.objects.find_blob(id).or_fail()?.content().to_vec(),
            oid: id.to_string(),
        })
    }

    /// The mode and id of the entry at a path in a commit (full id), of any kind except a directory.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn tree_entry(&self, commit: &str, path: &str) -> Result<Option<TreeEntry>, Failure> {
        let found = self.find(commit, path)?.filter(|found| !is_tree(found));
        Ok(found.map(|(id, mode)| TreeEntry {
            mode: format!("{mode:06o}"),
            id: id.to_string(),
        }))
    }
}

/// A commit in a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) id: String,
    /// The author, as the commit names them.
    pub(super) author: String,
    pub(super) message: String,
}

/// How a path changed between two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// A path that differs between two trees. In a path that is not UTF-8 each invalid byte is written as `\xNN`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Relative to the root of the worktree.
    pub path: String,
    /// How it changed.
    pub kind: ChangeKind,
}

/// The entry at a path in a commit's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// No entry.
    Nothing,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A submodule.
    Submodule,
    /// A file larger than [`MAX_FILE`], with its size in bytes.
    Huge(u64),
    /// A file's content and its object id.
    File {
        /// The content.
        bytes: Vec<u8>,
        /// Blob id.
        oid: String,
    },
}

/// Largest file, in bytes, whose content is read from a tree.
pub const MAX_FILE: u64 = 8 * 1024 * 1024;

/// Converts the bytes of a path to text; each byte that is not UTF-8 becomes `\xNN`.
pub fn path_text(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}
