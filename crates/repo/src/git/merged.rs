//! Whether a commit is exactly the merge of a finished commit into its base: git makes the merge again, and the trees
//! are compared.
//!
//! It is made in a git dir of cook's own that reads the repository's objects and has no settings, attributes or merge
//! drivers of any user; nothing is written to the user's objects.
//!
//! Also: blobs that a partial clone lacks, files of a commit below given paths, and merge bases.

use super::libgit::path_text;
use super::program::{Call, Program, refusal};
use super::{Entry, Repo};
use crate::disk::{AtPath, TemporaryDir};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::model::TreeEntry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use strum::IntoStaticStr;

/// Exit code of git for arguments that it does not know.
const USAGE: i32 = 129;
/// Most commits into which a rebase may have turned the work.
const MAX_REBASED: usize = 250;

/// How a finished commit was merged into another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum MergedAs {
    /// A commit with both as its parents.
    Merge,
    /// One commit that holds all of its changes.
    Squash,
    /// Its commits, made anew one by one.
    Rebase,
}

impl MergedAs {
    /// The name in answers.
    pub fn id(self) -> &'static str {
        self.into()
    }
}

/// The commit into which a finished one was merged, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedFrom {
    /// The commit before the merge.
    pub base: String,
    /// How it was merged.
    pub how: MergedAs,
}

impl Repo {
    /// The commit into which `done` was merged so that the result is exactly the tree of `head` (full ids). `None` if
    /// git produces this tree from no such merge, or only with conflicts.
    ///
    /// # Errors
    /// If the repository cannot be read, or git is too old to make the merge again (before 2.38).
    pub fn find_merge(&self, head: &str, done: &str) -> Result<Option<MergedFrom>, Failure> {
        let tree = self.find_tree(head)?;
        let parents = self.read_written_parents(head)?;
        let is_partial = self.promisor()?.is_some();
        let mut again = None;
        let mut is_it = |base: &str| -> Result<bool, Failure> {
            let again = match &mut again {
                Some(again) => again,
                none => none.insert(Again::new(self)?),
            };
            if self.resolve(base)?.is_none() {
                return Ok(false);
            }
            // Nothing is to be merged into a base that contains the work, and nobody judged the commits built on it.
            match self.merge_base(base, done)? {
                Some(common) if common != done => {}
                _ => return Ok(false),
            }
            if is_partial {
                let apart = self.list_merge_bases(base, done)?;
                let apart = apart.iter().map(String::as_str);
                for commit in [head, done, base].into_iter().chain(apart) {
                    self.fetch_missing(commit, &[])?;
                }
            }
            again.makes(self, base, done, &tree)
        };
        if let [one, two] = &parents[..] {
            // In both directions: the work into the branch, or the branch into the work.
            for (base, other) in [(one, two), (two, one)] {
                if other == done && is_it(base)? {
                    let (base, how) = (base.clone(), MergedAs::Merge);
                    return Ok(Some(MergedFrom { base, how }));
                }
            }
        }
        let mut next = parents.first().cloned();
        for back in 1..=MAX_REBASED {
            let Some(base) = next else {
                break;
            };
            if self.resolve(&base)?.is_none() {
                break;
            }
            if is_it(&base)? && self.brings_all(&base, head, done)? {
                let how = match back {
                    1 => MergedAs::Squash,
                    _ => MergedAs::Rebase,
                };
                return Ok(Some(MergedFrom { base, how }));
            }
            next = self.parent(&base)?;
        }
        Ok(None)
    }

    /// The parents that a commit (full id) names, including those beyond the boundary of a shallow clone.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn read_written_parents(&self, commit: &str) -> Result<Vec<String>, Failure> {
        let call = Call::new("cat-file commit").env("GIT_NO_REPLACE_OBJECTS", "1");
        let lines = self.program.lines(call.arg(commit))?;
        let head = lines.iter().take_while(|line| !line.is_empty());
        let parents = head.filter_map(|line| line.strip_prefix("parent "));
        Ok(parents.map(str::to_owned).collect())
    }

    /// Whether `base..head` changes as much as the work did. If it changes less, `base` already held a part of the
    /// work, remade by a rebase, and nobody compared the other changes that came with that part.
    fn brings_all(&self, base: &str, head: &str, done: &str) -> Result<bool, Failure> {
        let Some(before) = self.merge_base(base, done)? else {
            return Ok(false);
        };
        Ok(self.measure_change(base, head)? == self.measure_change(&before, done)?)
    }

    /// The numbers of added lines, removed lines, and changed binary files.
    fn measure_change(&self, from: &str, to: &str) -> Result<[u64; 3], Failure> {
        let call = Call::new(
            "diff-tree -r --numstat --minimal --no-renames --no-ext-diff --no-textconv --ignore-submodules=none",
        );
        let lines = self.program.lines(
            call.env("GIT_NO_REPLACE_OBJECTS", "1")
                .arg(from.to_owned())
                .arg(to.to_owned()),
        )?;
        let mut sums = [0; 3];
        for line in lines {
            let mut words = line.split('\t');
            let mut count = || words.next().and_then(|word| word.parse::<u64>().ok());
            match (count(), count()) {
                (Some(added), Some(removed)) => {
                    sums[0] += added;
                    sums[1] += removed;
                }
                _ => sums[2] += 1,
            }
        }
        Ok(sums)
    }

    /// Whether the clone is shallow.
    pub fn is_shallow(&self) -> bool {
        let shallow = self.common_dir.join("shallow");
        shallow.metadata().is_ok_and(|found| found.len() > 0)
    }

    /// The remote from which a partial clone fetches missing objects; `None` if the clone is not partial.
    ///
    /// # Errors
    /// If git does not answer.
    pub fn promisor(&self) -> Result<Option<String>, Failure> {
        self.known.promisor.recall("", || self.read_promisor())
    }

    fn read_promisor(&self) -> Result<Option<String>, Failure> {
        let promisors = Call::new("config --bool --name-only")
            .arg("--get-regexp")
            .arg(r"^remote\..*\.promisor$");
        let names = self.program.line(promisors)?.unwrap_or_default();
        let name = names.lines().next().unwrap_or_default();
        let remote = name
            .strip_prefix("remote.")
            .and_then(|name| name.strip_suffix(".promisor"));
        Ok(remote.map(str::to_owned))
    }

    /// Fetches the objects that a partial clone left out: those of a commit's files, and of the whole `history` of
    /// other commits. Returns false if nothing is missing, or the repository has no such remote.
    ///
    /// # Errors
    /// If git or the remote does not answer.
    pub fn fetch_missing(&self, commit: &str, history: &[&str]) -> Result<bool, Failure> {
        let Some(remote) = self.promisor()? else {
            return Ok(false);
        };
        let mut before = BTreeSet::new();
        loop {
            let missing = self.list_missing(commit, history)?;
            // A fetched directory may name further missing objects.
            if missing.is_empty() || missing == before {
                return Ok(!before.is_empty());
            }
            self.fetch_objects(&remote, &missing)?;
            before = missing;
        }
    }

    /// Whether the objects of a commit's files, and of the whole `history` of other commits, are here.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn has_all(&self, commit: &str, history: &[&str]) -> Result<bool, Failure> {
        Ok(self.list_missing(commit, history)?.is_empty())
    }

    fn list_missing(&self, commit: &str, history: &[&str]) -> Result<BTreeSet<String>, Failure> {
        let mut missing = self.missing(&["--no-walk"], commit)?;
        if !history.is_empty() {
            missing.append(&mut self.missing(&[], &history.join("\n"))?);
        }
        Ok(missing)
    }

    /// Missing objects that are reachable from these commits.
    fn missing(&self, how: &[&str], lines: &str) -> Result<BTreeSet<String>, Failure> {
        let mut list = Call::new("rev-list --objects --missing=print --stdin");
        list.arguments.extend(how.iter().map(Into::into));
        let list = list.env("GIT_NO_REPLACE_OBJECTS", "1");
        let listed = self.program.lines(list.stdin(lines.as_bytes().to_vec()))?;
        let missing = listed.iter().filter_map(|line| line.strip_prefix('?'));
        Ok(missing.map(str::to_owned).collect())
    }

    /// The only call that contacts a remote; it runs the default `git-upload-pack` there.
    fn fetch_objects(&self, remote: &str, ids: &BTreeSet<String>) -> Result<(), Failure> {
        let uploader = format!("remote.{remote}.uploadpack");
        let fetch = Call::new("fetch --quiet --no-tags --no-write-fetch-head --recurse-submodules=no --filter=blob:none --stdin --")
        .env("GIT_NO_LAZY_FETCH", "0")
        .env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh")
        .env("GIT_CONFIG_COUNT", "2")
        .env("GIT_CONFIG_KEY_0", "fetch.negotiationAlgorithm")
        .env("GIT_CONFIG_VALUE_0", "noop")
        .env("GIT_CONFIG_KEY_1", uploader)
        .env("GIT_CONFIG_VALUE_1", "git-upload-pack");
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let ids = ids.join("\n") + "\n";
        self.program
            .answer(fetch.arg(remote).stdin(ids.into_bytes()))?;
        Ok(())
    }

    /// The files of a commit (full id) at or below these paths, including symlinks and submodules.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn list_files_under(
        &self,
        commit: &str,
        paths: &[&str],
    ) -> Result<BTreeMap<String, TreeEntry>, Failure> {
        // Without a path git would list all files.
        match paths.is_empty() {
            true => Ok(BTreeMap::new()),
            false => self.list_tree(commit, paths),
        }
    }

    /// The files of a commit (full id), including symlinks and submodules.
    ///
    /// # Errors
    /// When there is no such commit.
    pub fn files(&self, commit: &str) -> Result<BTreeMap<String, TreeEntry>, Failure> {
        self.known
            .trees
            .recall(commit, || self.list_tree(commit, &[]))
    }

    fn list_tree(
        &self,
        commit: &str,
        paths: &[&str],
    ) -> Result<BTreeMap<String, TreeEntry>, Failure> {
        let mut call = Call::new("ls-tree -r -z --full-tree")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .arg(commit)
            .arg("--");
        for path in paths {
            call = call.arg(*path);
        }
        let mut files = BTreeMap::new();
        for line in self.program.entries(call)? {
            let line = path_text(&line);
            let Some((facts, path)) = line.split_once('\t') else {
                continue;
            };
            if let [mode, _, id] = facts.split(' ').collect::<Vec<_>>()[..] {
                let entry = TreeEntry {
                    mode: mode.to_owned(),
                    id: id.to_owned(),
                };
                files.insert(path.to_owned(), entry);
            }
        }
        Ok(files)
    }

    /// The only merge base of two commits (full ids); `None` if there is none, or more than one.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn only_merge_base(&self, one: &str, two: &str) -> Result<Option<String>, Failure> {
        let mut bases = self.list_merge_bases(one, two)?;
        Ok(bases.pop().filter(|_| bases.is_empty()))
    }

    /// All merge bases of two commits (full ids).
    pub(crate) fn list_merge_bases(&self, one: &str, two: &str) -> Result<Vec<String>, Failure> {
        let call = Call::new("merge-base --all").env("GIT_NO_REPLACE_OBJECTS", "1");
        let told = self.program.ask(call.arg(one).arg(two))?;
        match told.code {
            Some(0 | 1) => Ok(String::from_utf8_lossy(&told.stdout)
                .lines()
                .map(str::to_owned)
                .collect()),
            _ => Err(refusal("merge-base", &told)),
        }
    }
}

/// A git dir of cook's own that reads the user's objects.
struct Again {
    dir: TemporaryDir,
    program: Program,
}

impl Again {
    fn new(repo: &Repo) -> Result<Self, Failure> {
        let dir = TemporaryDir::make().at("make a directory in", &std::env::temp_dir())?;
        let program = Program::at(dir.path());
        let format = repo
            .program
            .text(Call::new("rev-parse --show-object-format"))?;
        let init = Call::new("init --quiet --bare --template=");
        program.answer(alone(init).arg(format!("--object-format={format}")))?;
        Ok(Self { program, dir })
    }

    /// Whether git merges both into this tree without conflicts. Git finds the merge base as `git merge` does.
    fn makes(&self, repo: &Repo, base: &str, done: &str, tree: &str) -> Result<bool, Failure> {
        let mut sources = vec![None];
        if !matches!(repo.entry(base, ".gitattributes")?, Entry::Nothing) {
            sources.push(Some(format!("--attr-source={base}")));
        }
        for source in sources {
            let mut call = alone(Call::default()).env("GIT_DIR", self.dir.path());
            call = call.lend(&[repo.common_dir.join("objects")]);
            let with_attributes = source.is_some();
            call.arguments.extend(source.map(OsString::from));
            call = call.arg("merge-tree").arg("--write-tree");
            let captured = self.program.ask(call.arg(base).arg(done))?;
            let said = String::from_utf8_lossy(&captured.stdout);
            match captured.code {
                Some(0) if said.lines().next() == Some(tree) => return Ok(true),
                Some(0 | 1) => {}
                // Before 2.41 git does not read attributes without a worktree.
                Some(USAGE) if with_attributes => {}
                Some(USAGE) => {
                    let what = "this git cannot make a merge again";
                    let failure = Failure::state(Code::GitFailed, what);
                    return Err(failure.replace_hints(["update git to 2.38 or later"]));
                }
                _ => return Err(refusal("merge-tree", &captured)),
            }
        }
        Ok(false)
    }
}

/// Detaches a call from all user and system settings.
fn alone(call: Call) -> Call {
    call.env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
}
