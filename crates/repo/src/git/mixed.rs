//! Differences between two commits, and commits that mix both: the files of one commit, with some files from another.
//!
//! A made commit is a few loose objects without a ref; the same mixture always has the same id, and `git gc` eventually
//! removes it.
//!
//! Committing exactly some paths (`cook init --commit`) with plumbing commands: a temporary index, a tree, a commit, a
//! compare-and-swap of HEAD. Other staged paths stay staged and out of the commit. The commit carries the user's
//! identity; no hook runs and nothing is signed, because it holds only what cook wrote and must not depend on the
//! project's tools.
//!
//! Throwaway copies of the repository: the history up to a commit, on a branch of the same name, without a way back to
//! the original.

use super::Repo;
use super::libgit::path_text;
use super::program::{Call, OrFail, Program, fail_git, path_list, refuse_path};
use crate::disk::{AtPath, TemporaryDir, cannot};
use cook_protocol::diagnostic::Failure;
use cook_protocol::model::TreeEntry;
use git2::{ObjectType, Oid};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

/// Author and committer of a made commit, with a fixed time.
const NOBODY: &str = "nobody <nobody@example.invalid> 1700000000 +0000";

/// Modes of tree entries, as trees write them.
const FOLDER: &str = "40000";
const SUBMODULE: &str = "160000";

/// A path with the mode and object it gets; `None` removes it.
type Placed<'p> = (&'p str, Option<(String, Oid)>);

/// A path that differs between two commits; a renamed file is one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeChange {
    /// Path and entry in the first commit; `None` if it is not there.
    pub before: Option<(String, TreeEntry)>,
    /// Path and entry in the second commit; `None` if it is not there.
    pub after: Option<(String, TreeEntry)>,
}

impl TreeChange {
    /// The path in the second commit, or in the first one if the file is gone.
    pub fn path(&self) -> &str {
        let both = self.after.as_ref().or(self.before.as_ref());
        both.map_or("", |(path, _)| path)
    }
}

/// The new content of a path in a made commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// An existing object.
    Entry(TreeEntry),
    /// A text, in a file with the given mode.
    Text {
        /// Octal, as git writes it.
        mode: String,
        /// The content of the file.
        text: String,
    },
    /// Removes the path.
    Nothing,
}

/// The message of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Full id.
    pub commit: String,
    /// The whole message.
    pub message: String,
    /// All parents except the first.
    pub merged: Vec<String>,
}

impl Repo {
    /// The differences between two commits (full ids), with rename detection, sorted by path.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn list_tree_changes(&self, from: &str, to: &str) -> Result<Vec<TreeChange>, Failure> {
        let of = format!("{from} {to}");
        let entries = self.known.changes.recall(&of, || {
            let call = Call::new("diff-tree -r -z -M -l1000 --raw --no-abbrev --no-commit-id --ignore-submodules=none")
            .env("GIT_NO_REPLACE_OBJECTS", "1");
            self.program.entries(call.arg(from).arg(to))
        })?;
        let mut entries = entries.into_iter();
        let mut changes = Vec::new();
        while let Some(facts) = entries.next() {
            let facts = String::from_utf8_lossy(&facts).into_owned();
            let words: Vec<&str> = facts.trim_start_matches(':').split(' ').collect();
            let [old_mode, new_mode, old_id, new_id, status] = words[..] else {
                return Err(fail_git("git diff-tree said what is no change"));
            };
            let path = entries
                .next()
                .map(|path| path_text(&path))
                .unwrap_or_default();
            let is_pair = status.starts_with(['R', 'C']);
            let to = match is_pair {
                true => entries
                    .next()
                    .map(|path| path_text(&path))
                    .unwrap_or_default(),
                false => path.clone(),
            };
            let side = |mode: &str, id: &str, path: String| {
                let entry = TreeEntry {
                    mode: mode.to_owned(),
                    id: id.to_owned(),
                };
                (mode != "000000").then_some((path, entry))
            };
            changes.push(TreeChange {
                before: side(old_mode, old_id, path),
                after: side(new_mode, new_id, to),
            });
        }
        changes.sort_by(|one, two| one.path().cmp(two.path()));
        Ok(changes)
    }

    /// Makes a commit on top of `code` (a full id) that has the same files except for `puts`. Returns `code` itself if
    /// nothing differs.
    ///
    /// # Errors
    /// When git does not answer, or an object cannot be written.
    pub fn make_mixed(&self, code: &str, puts: &BTreeMap<String, Put>) -> Result<String, Failure> {
        let mut placed = Vec::new();
        for (path, put) in puts {
            let entry = match put {
                Put::Nothing => None,
                Put::Entry(TreeEntry { mode, id }) => {
                    let id = self.oid(id)?;
                    self.require_object(id, mode, path)?;
                    Some((mode.clone(), id))
                }
                Put::Text { mode, text } => {
                    let id = self.write_object(ObjectType::Blob, text.as_bytes())?;
                    Some((mode.clone(), id))
                }
            };
            placed.push((path.as_str(), entry));
        }
        let tree = self.oid(&self.find_tree(code)?)?;
        let made = match self.make_tree(Some(tree), &placed)? {
            Some(made) => made,
            None => self.write_object(ObjectType::Tree, b"")?,
        };
        self.make_on(code, &made.to_string(), "Tests of another commit")
    }

    /// Checks that the object of an entry exists, or may still be fetched in a partial clone.
    fn require_object(&self, id: Oid, mode: &str, path: &str) -> Result<(), Failure> {
        let is_here = mode == SUBMODULE || self.objects.odb().or_fail()?.exists(id);
        match is_here || self.promisor()?.is_some() {
            true => Ok(()),
            false => Err(fail_git(format!("the object {id} of `{path}` is not here"))),
        }
    }

    /// Writes a directory with these paths changed; `None` if it ends up empty. As in git's index, a file replaces a
    /// directory of the same name, and a directory a file.
    fn make_tree(&self, old: Option<Oid>, placed: &[Placed]) -> Result<Option<Oid>, Failure> {
        let mut entries = BTreeMap::new();
        if let Some(old) = old {
            for (mode, name, id) in self.read_tree(old)? {
                entries.insert(name, (format!("{mode:o}"), id));
            }
        }
        let mut below: BTreeMap<&str, Vec<Placed>> = BTreeMap::new();
        // Removals come first, to make room for additions.
        let (gone, come): (Vec<&Placed>, Vec<&Placed>) =
            placed.iter().partition(|(_, entry)| entry.is_none());
        for (path, entry) in gone.into_iter().chain(come) {
            if let Some((dir, rest)) = path.split_once('/') {
                below.entry(dir).or_default().push((rest, entry.clone()));
                continue;
            }
            let name = path.as_bytes();
            match entry {
                Some((mode, id)) => {
                    let mode = mode.trim_start_matches('0').to_owned();
                    entries.insert(name.to_vec(), (mode, *id));
                }
                None => {
                    if entries.get(name).is_some_and(|(mode, _)| mode != FOLDER) {
                        entries.remove(name);
                    }
                }
            }
        }
        for (dir, placed) in below {
            let name = dir.as_bytes();
            let there = entries.get(name);
            let old = there.filter(|(mode, _)| mode == FOLDER).map(|(_, id)| *id);
            let is_file = there.is_some() && old.is_none();
            match self.make_tree(old, &placed)? {
                Some(made) => {
                    entries.insert(name.to_vec(), (FOLDER.to_owned(), made));
                }
                None if is_file => {}
                None => {
                    entries.remove(name);
                }
            }
        }
        if entries.is_empty() {
            return Ok(None);
        }
        let bytes = write_tree_bytes(entries);
        self.write_object(ObjectType::Tree, &bytes).map(Some)
    }

    /// Writes an object; by git if libgit2 cannot read the refs of this repository.
    fn write_object(&self, kind: ObjectType, bytes: &[u8]) -> Result<Oid, Failure> {
        if self.is_open_in_libgit2() {
            return self.objects.odb().or_fail()?.write(kind, bytes).or_fail();
        }
        let call = Call::new("hash-object -w --no-filters --stdin -t").arg(kind.str());
        self.oid(&self.program.text(call.stdin(bytes))?)
    }

    /// Makes a commit on top of HEAD (a full id) of everything in the worktree that git does not ignore; returns HEAD
    /// itself if nothing differs. It has no ref.
    ///
    /// # Errors
    /// When git does not answer, or a file cannot be read.
    pub fn make_snapshot(&self, head: &str) -> Result<String, Failure> {
        let made = TemporaryDir::make();
        let dir = made.at("make a directory in", &std::env::temp_dir())?;
        let index = dir.path().join("index");
        // The copy brings git's stat cache, so that unchanged files are not read.
        let own = self.git_dir().join("index");
        match std::fs::copy(&own, &index) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(cannot("copy", &own, error));
            }
            _ => {}
        }
        let on = |call: Call| call.env("GIT_INDEX_FILE", &index);
        self.program.answer(on(Call::new("add --all")))?;
        let tree = self.program.text(on(Call::new("write-tree")))?;
        self.make_on(head, &tree, "What stands in the worktree")
    }

    /// Whether the repository holds a blob with these bytes.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn has_file(&self, bytes: &[u8]) -> Result<bool, Failure> {
        let hash = Call::new("hash-object --no-filters --stdin");
        let id = self.program.text(hash.stdin(bytes))?;
        Ok(self.blob(&id)?.is_some())
    }

    /// Makes a commit of a tree with a fixed author; returns `parent` if its tree is the same.
    fn make_on(&self, parent: &str, tree: &str, message: &str) -> Result<String, Failure> {
        if tree == self.find_tree(parent)? {
            return Ok(parent.to_owned());
        }
        let text = format!(
            "tree {tree}\nparent {parent}\nauthor {NOBODY}\ncommitter {NOBODY}\n\n{message}\n"
        );
        let made = self.write_object(ObjectType::Commit, text.as_bytes())?;
        Ok(made.to_string())
    }

    /// The messages of `from..to` (full ids) along the first parents, oldest first.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn list_said(&self, from: &str, to: &str) -> Result<Vec<Said>, Failure> {
        let call =
            Call::new("log -z --first-parent --reverse --no-show-signature --format=%H%n%P%n%B")
                .env("GIT_NO_REPLACE_OBJECTS", "1");
        let call = call.arg(to).arg(format!("^{from}")).arg("--");
        let entries = self.program.entries(call)?;
        let said = entries.iter().map(|entry| {
            let text = String::from_utf8_lossy(entry);
            let (commit, rest) = text.split_once('\n').unwrap_or((&text, ""));
            let (parents, message) = rest.split_once('\n').unwrap_or((rest, ""));
            let merged = parents.split(' ').skip(1).map(str::to_owned);
            Said {
                commit: commit.to_owned(),
                message: message.to_owned(),
                merged: merged.collect(),
            }
        });
        Ok(said.collect())
    }

    /// Files of a commit (full id) that contain this text, which must not span lines.
    ///
    /// # Errors
    /// When git does not answer.
    pub(super) fn list_files_with(&self, commit: &str, text: &str) -> Result<Vec<String>, Failure> {
        let options = "grep --no-recurse-submodules --full-name --no-color -aFlz";
        let call = Call::new(options).arg("-e").arg(text);
        let told = self.program.ask(call.arg(commit).arg("--"))?;
        let prefix = format!("{commit}:");
        let paths = told.stdout.split(|byte| *byte == 0);
        let paths =
            paths.filter_map(|path| path_text(path).strip_prefix(&prefix).map(str::to_owned));
        Ok(paths.collect())
    }

    /// The lines of a commit's files (full id) that contain one of these words, each with its path.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn find_words(
        &self,
        commit: &str,
        words: &BTreeSet<String>,
    ) -> Result<Vec<(String, String)>, Failure> {
        /// Most lines that are read.
        const MOST: usize = 20_000;
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let mut call = Call::new(
            "grep --no-recurse-submodules --full-name --no-color --no-line-number --no-column --max-count=200 -IwFz",
        );
        for word in words {
            call = call.arg("-e").arg(word);
        }
        let told = self.program.ask(call.arg(commit).arg("--"))?;
        let prefix = format!("{commit}:");
        let lines = told.stdout.split(|byte| *byte == b'\n').take(MOST);
        let found = lines.filter_map(|line| {
            let end = line.iter().position(|byte| *byte == 0)?;
            let path = path_text(&line[..end]);
            let text = String::from_utf8_lossy(&line[end + 1..]).into_owned();
            Some((path.strip_prefix(&prefix)?.to_owned(), text))
        });
        Ok(found.collect())
    }

    /// Commits the worktree's content of `paths` on top of HEAD, also on an unborn branch. Returns the commit's full
    /// id, or `None` if HEAD already has this content.
    ///
    /// # Errors
    /// If a path is missing or leaves the worktree, the index is locked, no identity is set, or HEAD moved meanwhile.
    /// HEAD has not moved then.
    pub fn commit_paths(&self, paths: &[&str], message: &str) -> Result<Option<String>, Failure> {
        let git = &self.program;
        let list = encode_paths(&self.root, paths)?;
        let head = self.head()?;
        let scratch = TemporaryDir::make_in(&self.git_dir).at("write in", &self.git_dir)?;
        let tree = write_tree_with(
            git,
            &scratch.path().join("index"),
            head.commit.as_deref(),
            &list,
        )?;
        if head.tree.as_deref() == Some(tree.as_str()) {
            return Ok(None);
        }
        let mut call = Call::new("commit-tree -F -");
        if let Some(parent) = &head.commit {
            call = call.arg("-p").arg(parent);
        }
        let id = git.text(call.arg(&tree).stdin(message))?;
        // The user's index gets these paths before HEAD moves, so that a locked index fails before anything has
        // changed.
        git.answer(Call::new("update-index --add -z --stdin").stdin(list))?;
        let old = head.commit.as_deref().unwrap_or("");
        self.forget_status();
        git.answer(
            Call::new("update-ref -m")
                .arg("commit: cook init")
                .arg("HEAD")
                .arg(&id)
                .arg(old),
        )?;
        Ok(Some(id))
    }

    /// Clones the repository into a directory that does not exist yet, with a commit (full id) checked out on `branch`,
    /// or detached if that is `None`. The copy has no remote, no other branch, no tag and no reflog.
    ///
    /// # Errors
    /// If git fails.
    pub fn copy_to(&self, dir: &Path, branch: Option<&str>, commit: &str) -> Result<Self, Failure> {
        let clone = Call::new(
            "clone --quiet --no-hardlinks --no-checkout --no-tags --template= -c gc.auto=0 -c maintenance.auto=false -c core.logAllRefUpdates=false --",
        );
        let clone = clone.env("GIT_ALLOW_PROTOCOL", "file");
        self.program.answer(clone.arg(&self.root).arg(dir))?;
        let git = Program::at(dir);
        git.answer(Call::new("remote remove origin"))?;
        let own = git.line(Call::new("symbolic-ref --quiet HEAD"))?;
        let mut checkout = Call::new("checkout --quiet --force --no-recurse-submodules");
        checkout = match branch {
            Some(branch) => checkout.arg("-B").arg(branch).arg(commit),
            None => checkout.arg("--detach").arg(commit),
        };
        git.answer(checkout)?;
        let copy = Self::discover(dir)?;
        let stays = copy.head()?.branch.map(|name| format!("refs/heads/{name}"));
        if let Some(own) = own.filter(|own| Some(own) != stays.as_ref()) {
            git.answer(Call::new("update-ref -d").arg(&own))?;
        }
        Ok(copy)
    }

    /// Makes a commit on top of HEAD with the tree of `like` except for `texts` (`None` removes the file), and with the
    /// author, committer, times and message of `like`. Then resets HEAD, index and worktree to it.
    ///
    /// # Errors
    /// If git fails, or `like` does not have one of the paths.
    pub fn commit_like(
        &self,
        like: &str,
        texts: &[(String, Option<String>)],
    ) -> Result<String, Failure> {
        let git = &self.program;
        git.answer(Call::new("read-tree").arg(like))?;
        for (path, text) in texts {
            let entry = self.tree_entry(like, path)?;
            let Some(entry) = entry else {
                let what = format!("{like} holds no `{path}`");
                return Err(fail_git(what));
            };
            let mut line = match text {
                None => format!("0 {}\t{path}", "0".repeat(like.len())),
                Some(text) => {
                    let hash = Call::new("hash-object -w --no-filters --stdin");
                    let id = git.text(hash.stdin(text.as_bytes()))?;
                    format!("{} {id}\t{path}", entry.mode)
                }
            };
            line.push('\0');
            let update = Call::new("update-index -z --index-info");
            git.answer(update.stdin(line))?;
        }
        let tree = git.text(Call::new("write-tree"))?;
        let show = |format: &str| {
            Call::new("log -1 --no-show-signature --date=raw")
                .arg(format)
                .arg(like)
        };
        let who = git.text(show(WHO))?;
        let message = git.answer(show("--format=%B"))?;
        let parent = git.text(Call::new("rev-parse HEAD"))?;
        let mut commit = Call::new("commit-tree -F - -p")
            .arg(parent)
            .arg(tree)
            .stdin(message);
        for (name, value) in VARIABLES.iter().zip(who.split('\0')) {
            commit = commit.env(name, value);
        }
        let id = git.text(commit)?;
        let reset = Call::new("reset --hard --quiet --no-recurse-submodules");
        git.answer(reset.arg(&id))?;
        Ok(id)
    }
}

/// Encodes a tree as git does: a directory sorts as if its name ended with a slash.
fn write_tree_bytes(entries: BTreeMap<Vec<u8>, (String, Oid)>) -> Vec<u8> {
    let mut entries: Vec<(Vec<u8>, (String, Oid))> = entries.into_iter().collect();
    entries.sort_by_cached_key(|(name, (mode, _))| {
        let mut key = name.clone();
        if mode == FOLDER {
            key.push(b'/');
        }
        key
    });
    let mut bytes = Vec::new();
    for (name, (mode, id)) in entries {
        bytes.extend_from_slice(mode.as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(&name);
        bytes.push(0);
        bytes.extend_from_slice(id.as_bytes());
    }
    bytes
}

/// Writes the tree of `parent` with the worktree's content of the listed paths.
fn write_tree_with(
    git: &Program,
    index: &Path,
    parent: Option<&str>,
    list: &[u8],
) -> Result<String, Failure> {
    let with = |call: Call| call.env("GIT_INDEX_FILE", index);
    let read = match parent {
        Some(parent) => Call::new("read-tree").arg(parent),
        None => Call::new("read-tree --empty"),
    };
    git.answer(with(read))?;
    let add = Call::new("update-index --add -z --stdin").stdin(list);
    git.answer(with(add))?;
    // A partial clone lacks the blobs of unchanged files.
    git.text(with(Call::new("write-tree --missing-ok")))
}

fn encode_paths(root: &Path, paths: &[&str]) -> Result<Vec<u8>, Failure> {
    for path in paths {
        let inside = !path.contains('\0')
            && Path::new(path)
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
        if !inside || path.is_empty() {
            return Err(refuse_path(path));
        }
        let place = root.join(path);
        place.symlink_metadata().at("read", &place)?;
    }
    Ok(path_list(paths.iter().map(|path| path.as_bytes())))
}

/// Identity and times of a copied commit, in the order of the variables.
const WHO: &str = "--format=%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd";
const VARIABLES: [&str; 6] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
];
