//! Objects and refs by libgit2: commits, what differs between two, what stands at a path. Reads refs, commits and
//! trees; never the index or the worktree, where libgit2 and git disagree. Ids are full, lower-case and known to name
//! commits, unless said otherwise.

use super::program::{Call, OrFail, fail_git};
use super::special::check_refs;
use super::{Directory, KnownCommit, Repo};
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::Head;
use cook_protocol::model::TreeEntry;
use git2::{ErrorCode, ObjectType, Oid, Sort};
use std::collections::{BTreeMap, BTreeSet};
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
/// Commits that one walk looks at.
const NEAR: usize = 1_000;

/// Commits of a line that are walked here, and that are kept, with messages of at most so many bytes.
const MAX_LINE: usize = 1_000;
const MAX_COMMITS_KEPT: usize = 20_000;
const MAX_MESSAGE_KEPT: usize = 4 << 10;

/// The object and the mode of what stands at a name.
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

    /// Read once, and then kept: a walk of libgit2's reads each commit that was looked at before from the disk again.
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

    /// The commits from one back to another, newest first and without that one, where each has one parent: whether the
    /// line leads there. None where it forks, is long, or cannot be read.
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

    /// libgit2 reads an object whole, and a few bytes can be made into any number.
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

    /// What stands at a path below a commit.
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

    /// A blob's content by its full id; none when this repository does not have it, or
    /// it is larger than any file that is read.
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

    /// HEAD now.
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

    /// Names of the refs below a prefix that ends with a slash.
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

    /// Every ref: its name, the object that it leads to, and the ref that it names where it is symbolic. One that leads
    /// nowhere is passed over.
    pub(super) fn list_refs(&self) -> Result<Vec<(String, String, Option<String>)>, Failure> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        // Which refs are a linked worktree's own only git tells.
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

    /// The full id of the one commit that begins with `id`; none when there is no
    /// such commit, or several. Only hexadecimal ids of at least 4 digits name a
    /// commit here, never refs.
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
            // Only git tells an ambiguous id apart by what kind of object it names.
            Err(_) => self.program.resolve(&id),
        }
    }

    /// True when `descendant` is `ancestor` or comes after it (full ids).
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

    /// Those of these commits (full ids) that `descendant` is or comes after: one walk finds all that are near it, where a
    /// question for each would walk for each.
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
        // What is far, or beyond what cannot be read.
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

    /// First parent; none for a root.
    pub(super) fn parent(&self, commit: &str) -> Result<Option<String>, Failure> {
        Ok(self.parents(commit)?.into_iter().next())
    }

    /// All parents, the first one first.
    pub(super) fn parents(&self, commit: &str) -> Result<Vec<String>, Failure> {
        let commit = self.commit(commit)?;
        Ok(commit.parents.iter().map(Oid::to_string).collect())
    }

    /// Paths that differ between two commits' trees, sorted; none = the empty tree.
    /// A rename is a deletion and an addition.
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

    /// What stands at a path in a commit's tree. The path is looked up in the tree
    /// alone, so it cannot leave the repository, and links are not followed.
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

    /// What stands at a path of a commit (full id) that is no directory, of whatever kind.
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
    /// Who wrote it, as the commit has it.
    pub(super) author: String,
    pub(super) message: String,
}

/// What became of a path between two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// A path that differs between two trees. Paths that are not UTF-8 carry `\xNN`
/// for each byte that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Relative to the root.
    pub path: String,
    /// What became of it.
    pub kind: ChangeKind,
}

/// What stands at a path in a commit's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Nothing,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A submodule.
    Submodule,
    /// A file larger than [`MAX_FILE`].
    Huge(u64),
    /// A file's content and its object id.
    File {
        /// The content.
        bytes: Vec<u8>,
        /// Blob id.
        oid: String,
    },
}

/// Bytes of a file that are read out of a tree.
pub const MAX_FILE: u64 = 8 * 1024 * 1024;

/// A path of bytes as text: what is not UTF-8 becomes `\xNN`.
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
