//! Whether a commit is exactly the merge of a finished one into its base: recomputed, not believed.
//!
//! git makes the merge again in a git dir of cook's own, which reads the repository's objects and
//! has settings, attributes and merge drivers of nobody; the user's objects are never written.

use super::error::AtPath;
use super::program::{Call, Program, refusal};
use super::{Entry, Repo, RepoError};
use crate::disk::TemporaryDir;
use crate::process::{LENT_VARIABLE, join_lent};
use cook_protocol::diagnostic::{Code, Failure};
use std::ffi::OsString;

/// git's exit code for words that it does not know.
const USAGE: i32 = 129;
/// Commits that a rebase may have made of the work.
const MAX_REBASED: usize = 250;

/// How a finished commit came to be another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergedAs {
    /// A commit with both as its parents.
    Merge,
    /// One commit that brings in all of it.
    Squash,
    /// Its commits, made anew one by one.
    Rebase,
}

impl MergedAs {
    /// The word in answers.
    pub fn id(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Squash => "squash",
            Self::Rebase => "rebase",
        }
    }
}

/// What a commit was merged into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedFrom {
    /// The commit before it.
    pub base: String,
    /// How.
    pub how: MergedAs,
}

impl Repo {
    /// What `done` was merged into so that exactly the tree of `head` came of it (full ids); none
    /// where no merge of git's makes this tree, or one with conflicts does.
    ///
    /// # Errors
    /// When the repository cannot be read, or git cannot make a merge again (before 2.38).
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
            // Into what was built on the work there is nothing to merge, and what was built nobody judged.
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
            // Both ways round: the work into the branch, or the branch into the work.
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
            next = self.objects.parent(&base)?;
        }
        Ok(None)
    }

    /// The parents that a commit (full id) names, also where a shallow clone was cut off from them.
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

    /// From `base` to `head` as much changed as the work changed. Where less did, `base` held a part
    /// of the work already, made anew by whoever rebased it, and what else came with that nobody
    /// compared.
    fn brings_all(&self, base: &str, head: &str, done: &str) -> Result<bool, Failure> {
        let Some(before) = self.merge_base(base, done)? else {
            return Ok(false);
        };
        Ok(self.measure_change(base, head)? == self.measure_change(&before, done)?)
    }

    /// Lines that were added and taken away, and files that are no text.
    fn measure_change(&self, from: &str, to: &str) -> Result<[u64; 3], RepoError> {
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

    /// The clone does not hold the whole history.
    pub fn is_shallow(&self) -> bool {
        let shallow = self.common_dir.join("shallow");
        shallow.metadata().is_ok_and(|found| found.len() > 0)
    }
}

/// A git dir of cook's own that reads the user's objects.
struct Again {
    dir: TemporaryDir,
    program: Program,
    objects: OsString,
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
        Ok(Self {
            objects: join_lent(&[repo.common_dir.join("objects")]),
            program,
            dir,
        })
    }

    /// Whether git merges both into this tree, without a conflict. Git finds what they have in common
    /// as `git merge` does.
    fn makes(&self, repo: &Repo, base: &str, done: &str, tree: &str) -> Result<bool, Failure> {
        let mut sources = vec![None];
        if !matches!(repo.entry(base, ".gitattributes")?, Entry::Nothing) {
            sources.push(Some(format!("--attr-source={base}")));
        }
        for source in sources {
            let mut call = alone(Call::default()).env("GIT_DIR", self.dir.path());
            call = call.env(LENT_VARIABLE, &self.objects);
            let with_attributes = source.is_some();
            call.arguments.extend(source.map(OsString::from));
            call = call.arg("merge-tree").arg("--write-tree");
            let captured = self.program.ask(call.arg(base).arg(done))?;
            let said = String::from_utf8_lossy(&captured.stdout);
            match captured.code {
                Some(0) if said.lines().next() == Some(tree) => return Ok(true),
                Some(0 | 1) => {}
                // Before 2.41 git reads no attributes without a worktree.
                Some(USAGE) if with_attributes => {}
                Some(USAGE) => {
                    let what = "this git cannot make a merge again";
                    let failure = Failure::state(Code::GitFailed, what);
                    return Err(failure.replace_hints(["update git to 2.38 or later"]));
                }
                _ => return Err(refusal("merge-tree".to_owned(), &captured).into()),
            }
        }
        Ok(false)
    }
}

/// A call by nobody's settings.
fn alone(call: Call<'static>) -> Call<'static> {
    call.env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
}
