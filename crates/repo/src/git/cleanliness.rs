//! Cleanliness, as `git status` tells it (`protocol/completion.md#files`), and the contract files.
//!
//! What stands at a path of the worktree, and whether git looks at it.

use super::libgit::{Entry, MAX_FILE, path_text};
use super::program::{Call, may_hold_submodules, path_list, refusal};
use super::{PIN_REFS, Repo};
use crate::disk::{self, Links, native_path};
use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::digest::sha256;
use cook_protocol::machine::{Head, MAX_PATHS, Worktree};
use cook_protocol::model::{CONTRACT_FILES, SETTINGS_FILES};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Largest settings file: one that is larger counts as another than the user left.
const MAX_SETTINGS: u64 = 4 << 20;

/// Settings by which a look at the worktree could be made to see less.
pub(super) const WATCHFUL: &str = "-c core.trustctime=true -c core.checkStat=default -c core.fsmonitor=false -c core.untrackedCache=false";

/// What `git status` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The fact decisions read.
    pub worktree: Worktree,
    /// A tracked path differs from HEAD, in the index or in the worktree.
    pub tracked: bool,
}

/// What `git status` said, for another opening of the same repository.
#[derive(Debug, Clone)]
pub struct ToldStatus(Vec<u8>);

impl Repo {
    /// Runs `git status`. Untracked files count, ignored ones never do.
    ///
    /// # Errors
    /// `git_missing`, or what git says.
    pub fn status(&self) -> Result<Status, Failure> {
        let said = self.ask_status("")?;
        let status = read(&said);
        *self.known.status.borrow_mut() = Some(said);
        Ok(status)
    }

    /// What `git status` said when this was asked last, for those who show the worktree beside what was decided by it
    /// a moment ago; asked where nobody did. After a session the repository is opened anew.
    ///
    /// # Errors
    /// As [`Repo::status`].
    pub fn recent_status(&self) -> Result<Status, Failure> {
        let known = self.known.status.borrow().as_deref().map(read);
        known.map_or_else(|| self.status(), Ok)
    }

    /// The same, whatever the repository's settings let git take for unchanged: it may read every file.
    ///
    /// # Errors
    /// `git_missing`, or what git says.
    pub fn read_status_anew(&self) -> Result<Status, Failure> {
        self.ask_status(WATCHFUL).map(|said| read(&said))
    }

    /// What was said last, where anything was: see [`Repo::recent_status`].
    pub fn last_status(&self) -> Option<ToldStatus> {
        self.known.status.borrow().clone().map(ToldStatus)
    }

    /// Takes what was said for what was said here.
    pub fn take_status(&self, told: ToldStatus) {
        *self.known.status.borrow_mut() = Some(told.0);
    }

    /// What was said last does not count any more: the worktree or HEAD is changed, or may be.
    pub fn forget_status(&self) {
        self.known.status.take();
    }

    /// Nothing differs from HEAD and nothing is new, by a look that sees no less than [`Repo::status`].
    pub(super) fn note_clean(&self) {
        self.take_status(ToldStatus(Vec::new()));
    }

    fn ask_status(&self, settings: &str) -> Result<Vec<u8>, Failure> {
        let words = "status --porcelain=v2 -z --untracked-files=normal";
        let call = Call::new(&format!("{settings} {words}"));
        // HEAD as it is written, not as the user has it replaced.
        let call = call.env("GIT_NO_REPLACE_OBJECTS", "1");
        self.program.answer(call)
    }

    /// Those of these paths that git leaves out of commits: ignored, and not tracked. One that ends
    /// with a slash is asked about as a directory.
    ///
    /// # Errors
    /// `git_missing`, or what git says.
    pub fn list_ignored(&self, paths: &[&str]) -> Result<BTreeSet<String>, Failure> {
        let paths = path_list(paths.iter().map(|path| path.as_bytes()));
        let call = Call::new("check-ignore -z --stdin").stdin(paths);
        let answer = self.program.ask(call)?;
        match answer.code {
            Some(0 | 1) => {
                let listed = answer.stdout.split(|byte| *byte == 0);
                let named = listed.filter(|path| !path.is_empty());
                Ok(named.map(path_text).collect())
            }
            _ => Err(refusal("check-ignore", &answer)),
        }
    }

    /// Tracked files that git was told not to look at (assume-unchanged, skip-worktree) and that are
    /// otherwise than HEAD has them: a clean status says nothing about them.
    ///
    /// # Errors
    /// `git_missing`, or what git says.
    pub fn list_unwatched(&self) -> Result<Vec<String>, Failure> {
        let listed = self.program.entries(Call::new("ls-files -v -z"))?;
        let mut paths = listed
            .iter()
            .filter_map(|entry| Some((is_unwatched(entry)?, is_left_out(entry))))
            .peekable();
        if paths.peek().is_none() {
            return Ok(Vec::new());
        }
        let head = self.head()?.commit;
        let mut unwatched = Vec::new();
        for (path, is_left_out) in paths {
            let path = path_text(path);
            // A sparse checkout leaves files out; nothing else lets one be missing.
            let may_lack = is_left_out && self.look(&path)?.is_none();
            if unwatched.len() < MAX_PATHS
                && !may_lack
                && !self.is_as_committed(head.as_deref(), &path)?
            {
                unwatched.push(path);
            }
        }
        Ok(unwatched)
    }

    /// The file holds what the commit has there, byte by byte.
    fn is_as_committed(&self, head: Option<&str>, path: &str) -> Result<bool, Failure> {
        let Some(head) = head else {
            return Ok(false);
        };
        let here = disk::read_if_plain(&self.root.join(path), MAX_FILE, Links::Refuse);
        Ok(match (here, self.entry(head, path)?) {
            (Ok(Some(here)), Entry::File { bytes, .. }) => here == bytes,
            _ => false,
        })
    }

    /// Where a `.gitignore` would not be tracked, in each directory that holds tracked files: one that
    /// ignores itself stands in no status.
    ///
    /// # Errors
    /// `git_missing`, or what git says.
    pub fn list_untracked_gitignores(&self) -> Result<BTreeSet<String>, Failure> {
        const NAME: &str = ".gitignore";
        let listed = self.program.entries(Call::new("ls-files -z"))?;
        let paths: Vec<String> = listed.iter().map(|path| path_text(path)).collect();
        let mut places = BTreeSet::from([NAME.to_owned()]);
        for path in &paths {
            let slashes = path.rmatch_indices('/').map(|(at, _)| &path[..=at]);
            for dir in slashes {
                // Those above it are there already.
                if !places.insert(format!("{dir}{NAME}")) {
                    break;
                }
            }
        }
        for path in &paths {
            places.remove(path);
        }
        Ok(places)
    }

    /// Paths at which the index names a commit: submodules and repositories of their own.
    ///
    /// # Errors
    /// `git_missing`, or what git says.
    pub fn list_nested(&self) -> Result<Vec<PathBuf>, Failure> {
        if !may_hold_submodules(&self.git_dir, &self.git_dir.join("index")) {
            return Ok(Vec::new());
        }
        let listed = self.program.answer(Call::new("ls-files --stage -z"))?;
        Ok(gitlinks(&listed).filter_map(native_path).collect())
    }

    /// All refs with the objects they name, the stash among them; without those that only hold
    /// what a baseline names.
    ///
    /// # Errors
    /// `git_missing`, or what git says.
    pub fn refs(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut refs = self.list_refs()?;
        refs.retain(|(name, ..)| !name.starts_with(PIN_REFS));
        let named = refs.into_iter();
        Ok(named.map(|(name, object, _)| (name, object)).collect())
    }

    /// Contract files that are not regular files in the worktree.
    ///
    /// # Errors
    /// `agent_dir_unsafe` when `.agent` is a symlink or not a directory.
    pub fn contract_missing(&self) -> Result<Vec<String>, Failure> {
        match self.root.join(".agent").symlink_metadata() {
            Ok(found) if !found.is_dir() => {
                let what = "`.agent` is not a directory of this worktree";
                return Err(Failure::state(Code::AgentDirUnsafe, what));
            }
            _ => {}
        }
        let mut missing = Vec::new();
        for file in CONTRACT_FILES {
            if !self.look(file)?.is_some_and(|found| found.is_file()) {
                missing.push(file.to_owned());
            }
        }
        Ok(missing)
    }

    /// SHA-256 of each settings file that is a regular file, by path.
    ///
    /// # Errors
    /// When one that is there cannot be read.
    pub fn settings(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut digests = BTreeMap::new();
        for file in SETTINGS_FILES {
            let path = self.root.join(file);
            let read = disk::read_if_plain(&path, MAX_SETTINGS, Links::Refuse);
            let read = read.map_err(|error| {
                Failure::state(Code::InputUnreadable, format!("`{file}` cannot be read"))
                    .with_cause(&error)
            })?;
            if let Some(bytes) = read {
                digests.insert(file.to_owned(), sha256(&bytes));
            }
        }
        Ok(digests)
    }

    fn look(&self, file: &str) -> Result<Option<std::fs::Metadata>, Failure> {
        present(&self.root.join(file)).map_err(|error| {
            Failure::state(
                Code::InputUnreadable,
                format!("`{file}` cannot be looked at"),
            )
            .with_cause(&error)
        })
    }

    /// Contract files that HEAD's tree does not hold; all of them on an unborn branch.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn contract_uncommitted(&self, head: &Head) -> Result<Vec<String>, Failure> {
        let mut uncommitted = Vec::new();
        for file in CONTRACT_FILES {
            let committed = match &head.commit {
                Some(commit) => {
                    matches!(
                        self.entry(commit, file)?,
                        Entry::File { .. } | Entry::Huge(_)
                    )
                }
                None => false,
            };
            if !committed {
                uncommitted.push(file.to_owned());
            }
        }
        Ok(uncommitted)
    }
}

/// Reads porcelain version 2 with NUL ends.
fn read(output: &[u8]) -> Status {
    let mut dirty = BTreeSet::new();
    let mut tracked = false;
    let mut entries = output.split(|byte| *byte == 0);
    while let Some(entry) = entries.next() {
        // How many fields stand before the path.
        let before = match entry.first() {
            Some(b'1') => 8,
            Some(b'2') => 9,
            Some(b'u') => 10,
            Some(b'?') => 1,
            _ => continue,
        };
        tracked |= entry[0] != b'?';
        if let Some(path) = entry.splitn(before + 1, |byte| *byte == b' ').nth(before) {
            dirty.insert(path_text(path));
        }
        if entry[0] == b'2' {
            dirty.extend(entries.next().map(path_text));
        }
    }
    let more = dirty.len().saturating_sub(MAX_PATHS) as u64;
    Status {
        worktree: Worktree {
            dirty: dirty.into_iter().take(MAX_PATHS).collect(),
            more,
            unwatched: Vec::new(),
            digest: sha256(output),
        },
        tracked,
    }
}

/// What stands at a path. Only absence is absence: any other error that was taken for it
/// would make a decision rest on a file that is there.
pub(super) fn present(path: &Path) -> io::Result<Option<std::fs::Metadata>> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The path of an entry of `git ls-files -v` that git does not look at: a lower-case letter
/// is assume-unchanged, `S` skip-worktree.
pub(super) fn is_unwatched(entry: &[u8]) -> Option<&[u8]> {
    match entry {
        [tag, b' ', path @ ..] if tag.is_ascii_lowercase() || *tag == b'S' => Some(path),
        _ => None,
    }
}

/// The entry of `git ls-files -v` is one that a sparse checkout leaves out.
pub(super) fn is_left_out(entry: &[u8]) -> bool {
    entry
        .first()
        .is_some_and(|tag| tag.eq_ignore_ascii_case(&b'S'))
}

/// Paths of the entries of `git ls-files --stage -z` that name a commit.
pub(super) fn gitlinks(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    let entries = listed.split(|byte| *byte == 0);
    entries.filter_map(|entry| {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let is_link = entry.starts_with(b"160000 ") || entry.get(2..)?.starts_with(b"160000 ");
        is_link.then(|| &entry[tab + 1..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_entry() {
        let output = b"# stash 1\0\
            1 .M N... 100644 100644 100644 aa aa with space\0\
            2 R. N... 100644 100644 100644 aa aa R100 new\nname\0old\0\
            u UU N... 100644 100644 100644 100644 aa bb cc both\0\
            ? new dir/\0? \xff\0! ignored\0";
        let status = read(output);
        assert!(status.tracked);
        assert_eq!(
            status.worktree.dirty,
            [
                "\\xff",
                "both",
                "new\nname",
                "new dir/",
                "old",
                "with space"
            ]
        );
        assert!(!read(b"? a\0").tracked);
        assert!(read(b"").worktree.is_clean());
    }

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let output: String = (0..MAX_PATHS + 7).map(|n| format!("? {n:05}\0")).collect();
        let worktree = read(output.as_bytes()).worktree;
        assert_eq!((worktree.dirty.len(), worktree.more), (MAX_PATHS, 7));
    }
}
