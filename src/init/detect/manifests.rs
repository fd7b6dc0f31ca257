//! Reads the files of a folder, in a worktree or in a commit, up to a size limit.

use crate::init::text_files::Tree;
use crate::prelude::*;
use cook_repo::git::Entry;
use std::borrow::Cow;

/// Maximum size in bytes of a file that is read; a larger one counts as present but empty.
const MAX_BYTES: u64 = 1024 * 1024;
/// Maximum number of names that are read from a directory.
const MAX_NAMES: usize = 10_000;
/// The directory of GitHub workflows, and the maximum number that is read.
const WORKFLOWS: &str = ".github/workflows";
const MAX_WORKFLOWS: usize = 50;

/// The files of a folder.
#[derive(Clone)]
pub(in crate::init) struct Files<'a> {
    from: From<'a>,
    /// Path relative to the root; empty for the root itself.
    dir: String,
}

#[derive(Clone, Copy)]
enum From<'a> {
    Worktree {
        tree: Tree<'a>,
        root: &'a Path,
    },
    Commit {
        repo: &'a Repo,
        id: &'a str,
        files: &'a BTreeMap<String, TreeEntry>,
    },
}

impl<'a> Files<'a> {
    /// The top folder of a worktree.
    pub(in crate::init) fn new(root: &'a Path) -> Self {
        let tree = Tree::new(root);
        Self {
            from: From::Worktree { tree, root },
            dir: String::new(),
        }
    }

    /// The top folder of a commit (full id) with these files.
    pub(in crate::init) fn of_commit(
        repo: &'a Repo,
        id: &'a str,
        files: &'a BTreeMap<String, TreeEntry>,
    ) -> Self {
        Self {
            from: From::Commit { repo, id, files },
            dir: String::new(),
        }
    }

    /// Another folder of the same worktree or commit.
    pub(in crate::init) fn at(&self, dir: &str) -> Self {
        Self {
            from: self.from,
            dir: dir.to_owned(),
        }
    }

    /// Path of the folder.
    pub(super) fn dir(&self) -> &str {
        &self.dir
    }

    /// The folders above it, nearest first.
    pub(super) fn above(&self) -> impl Iterator<Item = Self> {
        list_folders(&self.dir).map(|dir| self.at(dir))
    }

    /// A path in the folder, relative to the root.
    pub(super) fn place(&self, path: &str) -> String {
        match (self.dir.as_str(), path) {
            ("", path) => path.to_owned(),
            (dir, "") => dir.to_owned(),
            (dir, path) => format!("{dir}/{path}"),
        }
    }

    /// A file's text, with invalid UTF-8 replaced; `None` if it is not a regular file.
    pub(in crate::init) fn text(&self, path: &str) -> Result<Option<String>> {
        let place = self.place(path);
        let bytes = match self.from {
            From::Worktree { tree, .. } => match tree.bytes(&place, MAX_BYTES) {
                Err(failure) if failure.code == Code::InputTooLarge => Some(Vec::new()),
                Err(failure) if failure.code == Code::AgentDirUnsafe => None,
                read => read?,
            },
            From::Commit { repo, id, .. } if self.has(path) => {
                let failed = |failure: Failure| {
                    let what = format!("`{place}` cannot be read");
                    Failure::state(Code::InputUnreadable, what).with_cause(&failure)
                };
                Some(match repo.entry(id, &place).map_err(failed)? {
                    Entry::File { bytes, .. } if bytes.len() as u64 <= MAX_BYTES => bytes,
                    _ => Vec::new(),
                })
            }
            From::Commit { .. } => None,
        };
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// As [`Files::text`], but `None` if git ignores the file, because no clone has it.
    pub(super) fn read_committed(&self, path: &str) -> Result<Option<String>> {
        match self.list_ignored(&[path]).is_empty() {
            true => self.text(path),
            false => Ok(None),
        }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        let place = self.place(path);
        match self.from {
            From::Worktree { tree, .. } => tree.has_file(&place).unwrap_or(false),
            From::Commit { files, .. } => {
                let found = files.get(&place);
                found.is_some_and(|entry| entry.mode.starts_with("100"))
            }
        }
    }

    pub(super) fn has_directory(&self, path: &str) -> bool {
        match self.from {
            From::Worktree { tree, .. } => tree.has_directory(&self.place(path)).unwrap_or(false),
            From::Commit { .. } => !self.list_names(path).is_empty(),
        }
    }

    /// The first of these files that exists.
    pub(super) fn first(&self, paths: &[&'static str]) -> Option<&'static str> {
        paths.iter().copied().find(|path| self.has(path))
    }

    /// The files that exist and that git does not ignore.
    pub(super) fn list_committed(&self, paths: &[&'static str]) -> Vec<&'static str> {
        let there: Vec<&'static str> = paths
            .iter()
            .copied()
            .filter(|path| self.has(path))
            .collect();
        let ignored = self.list_ignored(&there);
        let kept = there.into_iter().filter(|path| !ignored.contains(*path));
        kept.collect()
    }

    /// The paths that git ignores; empty if there is no repository.
    pub(super) fn list_ignored(&self, paths: &[&str]) -> BTreeSet<String> {
        if paths.is_empty() {
            return BTreeSet::new();
        }
        let places: Vec<String> = paths.iter().map(|path| self.place(path)).collect();
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let ignored = match self.from {
            From::Worktree { root, .. } => {
                Repo::discover(root).and_then(|repo| repo.list_ignored(&places))
            }
            From::Commit { repo, .. } => repo.list_ignored(&places),
        };
        let ignored = ignored.unwrap_or_default();
        let pairs = paths.iter().zip(places);
        pairs
            .filter(|(_, place)| ignored.contains(*place))
            .map(|(path, _)| (*path).to_owned())
            .collect()
    }

    /// Whether the name of any file in that directory passes the test.
    pub(super) fn any_name(&self, directory: &str, test: impl Fn(&str) -> bool) -> bool {
        self.list_names(directory).iter().any(|name| test(name))
    }

    fn list_names(&self, directory: &str) -> Vec<String> {
        let place = self.place(directory);
        match self.from {
            From::Worktree { root, .. } => {
                let entries = std::fs::read_dir(root.join(place)).into_iter().flatten();
                let names = entries.take(MAX_NAMES).flatten();
                names
                    .filter_map(|entry| entry.file_name().into_string().ok())
                    .collect()
            }
            From::Commit { files, .. } => {
                let below = match place.as_str() {
                    "" => String::new(),
                    place => format!("{place}/"),
                };
                let paths = files.range(below.clone()..).map(|(path, _)| path.as_str());
                let inside = paths.map_while(|path| path.strip_prefix(&below));
                let names = inside.map(|path| path.split('/').next().unwrap_or(path));
                let mut names: Vec<String> = names.take(MAX_NAMES).map(str::to_owned).collect();
                names.dedup();
                names
            }
        }
    }

    /// The texts of the repository's workflows, sorted by file name.
    pub(super) fn read_workflows(&self) -> Result<Vec<String>> {
        let root = self.at("");
        let mut names = root.list_names(WORKFLOWS);
        names.retain(|name| name.ends_with(".yml") || name.ends_with(".yaml"));
        names.sort();
        let mut texts = Vec::new();
        for name in names.iter().take(MAX_WORKFLOWS) {
            texts.extend(root.text(&format!("{WORKFLOWS}/{name}"))?);
        }
        Ok(texts)
    }
}

/// The folders above a path, nearest first; the last is the root, as an empty string.
pub(crate) fn list_folders(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.rmatch_indices('/').map(|(end, _)| &path[..end]);
    let root = (!path.is_empty()).then_some("");
    ends.chain(root)
}

// The results of the detection: commands that check the repository, and what a clean room needs to run them.

/// A command that checks the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub(super) tool: &'static str,
    /// The kind of check: `test`, `lint`, `build` and so on.
    pub kind: &'static str,
    /// The command, as plain words separated by single spaces.
    pub run: Cow<'static, str>,
    /// The file that it was found in.
    pub source: &'static str,
    /// Whether it is part of the stop verifier, so that a failure is a must-fix finding.
    pub required: bool,
    /// Whether it needs the network because no setup command fetches its dependencies.
    pub network: bool,
}

impl Check {
    pub(super) fn new(
        tool: &'static str,
        kind: &'static str,
        source: &'static str,
        run: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            tool,
            kind,
            run: run.into(),
            source,
            required: true,
            network: false,
        }
    }

    pub(super) fn with_network(mut self, network: bool) -> Self {
        self.network = network;
        self
    }
}

/// The proposed settings for a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proposed {
    /// The checks, in the order in which they should run.
    pub checks: Vec<Check>,
    /// Directories that are kept from run to run.
    pub cache: Vec<&'static str>,
    /// Setup commands that run in a clone before the checks, each with its folder.
    pub setup: Vec<(String, String)>,
    /// Files, relative to the root, whose change makes the setup run again.
    pub setup_inputs: Vec<String>,
    /// Whether a setup depends on files that are not known, so that it runs again for every commit.
    pub setup_always: bool,
    /// Messages about files that cannot be parsed and are not used.
    pub unread: Vec<String>,
}

impl Proposed {
    /// Parses a JSON file; null, with a message in `unread`, if it is invalid.
    pub(super) fn read_json(&mut self, path: String, text: &str) -> serde_json::Value {
        serde_json::from_str(text).unwrap_or_else(|error| {
            self.unread.push(format!(
                "`{path}` is not valid JSON, so nothing in it is read: {error}"
            ));
            serde_json::Value::Null
        })
    }

    /// Parses a TOML file; empty, with a message in `unread`, if it is invalid.
    pub(super) fn read_toml(&mut self, path: String, text: &str) -> toml::Table {
        toml::from_str(text).unwrap_or_else(|error: toml::de::Error| {
            let what = error.message();
            self.unread.push(format!(
                "`{path}` is not valid TOML, so nothing in it is read: {what}"
            ));
            toml::Table::new()
        })
    }

    pub(super) fn add(&mut self, check: Check) {
        self.checks.push(check);
    }

    pub(super) fn add_caches(&mut self, dirs: &[&'static str]) {
        for dir in dirs {
            if !self.cache.contains(dir) {
                self.cache.push(dir);
            }
        }
    }

    /// Adds setup commands, and the files that their result depends on; without any files, the setup runs again for
    /// every commit.
    pub(super) fn add_setup<T: Into<String>>(
        &mut self,
        files: &Files<'_>,
        commands: impl IntoIterator<Item = T>,
        inputs: &[&'static str],
    ) {
        let commands = commands.into_iter().map(Into::into);
        self.setup
            .extend(commands.map(|run| (files.dir().to_owned(), run)));
        let inputs_here = inputs.iter().map(|path| files.place(path));
        self.setup_inputs.extend(inputs_here);
        self.setup_always |= inputs.is_empty();
        if self.setup_always {
            self.setup_inputs.clear();
        }
    }

    /// Whether any of the checks runs tests.
    pub fn has_test(&self) -> bool {
        self.checks.iter().any(|check| check.kind == "test")
    }

    /// The name of a check: its kind, such as `test`, or `npm-test` if several checks have this kind.
    pub fn name_check(&self, check: &Check) -> String {
        let alike = self.checks.iter().filter(|other| other.kind == check.kind);
        match alike.count() {
            1 => check.kind.to_owned(),
            _ => format!("{}-{}", check.tool, check.kind),
        }
    }
}
