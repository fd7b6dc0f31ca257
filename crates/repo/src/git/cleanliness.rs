//! Cleanliness as `git status` reports it (`protocol/completion.md#files`), the contract files, and which paths of the
//! worktree exist and are watched by git.

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

/// Largest settings file that is hashed. A larger one is treated as absent, so it counts as changed.
const MAX_SETTINGS: u64 = 4 << 20;

/// Overrides for settings that could make git overlook changes in the worktree.
pub(super) const WATCHFUL: &str = "-c core.trustctime=true -c core.checkStat=default -c core.fsmonitor=false -c core.untrackedCache=false";

/// The result of `git status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The fact that decisions use.
    pub worktree: Worktree,
    /// Whether a tracked path differs from HEAD, in the index or in the worktree.
    pub tracked: bool,
}

/// Output of `git status`, to be passed to another [`Repo`] of the same repository.
#[derive(Debug, Clone)]
pub struct ToldStatus(Vec<u8>);

impl Repo {
    /// Runs `git status`. Untracked files count, ignored ones never do.
    ///
    /// # Errors
    /// `git_missing`, or the error that git reports.
    pub fn status(&self) -> Result<Status, Failure> {
        let said = self.ask_status("")?;
        let status = read(&said);
        *self.known.status.borrow_mut() = Some(said);
        Ok(status)
    }

    /// The last result of [`Repo::status`], or a new one if there is none. It lets callers show the worktree as it was
    /// when a decision was made a moment ago. After a session the repository is opened anew.
    ///
    /// # Errors
    /// As [`Repo::status`].
    pub fn recent_status(&self) -> Result<Status, Failure> {
        let known = self.known.status.borrow().as_deref().map(read);
        known.map_or_else(|| self.status(), Ok)
    }

    /// Like [`Repo::status`], but ignores settings of the repository that let git skip files; it may read every file.
    ///
    /// # Errors
    /// `git_missing`, or the error that git reports.
    pub fn read_status_anew(&self) -> Result<Status, Failure> {
        self.ask_status(WATCHFUL).map(|said| read(&said))
    }

    /// The last output of `git status`, if any; see [`Repo::recent_status`].
    pub fn last_status(&self) -> Option<ToldStatus> {
        self.known.status.borrow().clone().map(ToldStatus)
    }

    /// Adopts an output of `git status` as the last one of this repository.
    pub fn take_status(&self, told: ToldStatus) {
        *self.known.status.borrow_mut() = Some(told.0);
    }

    /// Discards the last output of `git status`, because the worktree or HEAD changed or may have changed.
    pub fn forget_status(&self) {
        self.known.status.take();
    }

    /// Records that the worktree is clean, as found by a check at least as strict as [`Repo::status`].
    pub(super) fn note_clean(&self) {
        self.take_status(ToldStatus(Vec::new()));
    }

    fn ask_status(&self, settings: &str) -> Result<Vec<u8>, Failure> {
        let words = "status --porcelain=v2 -z --untracked-files=normal";
        let call = Call::new(&format!("{settings} {words}"));
        // HEAD itself, not the object by which the user replaced it.
        let call = call.env("GIT_NO_REPLACE_OBJECTS", "1");
        self.program.answer(call)
    }

    /// Whether the worktree holds an untracked file, ignored ones included.
    ///
    /// # Errors
    /// `git_missing`, or the error that git reports.
    pub fn has_untracked(&self) -> Result<bool, Failure> {
        let call = Call::new("ls-files --others --directory -z");
        Ok(!self.program.answer(call)?.is_empty())
    }

    /// The paths among these that git leaves out of commits: ignored and not tracked. A path that ends with a slash is
    /// checked as a directory.
    ///
    /// # Errors
    /// `git_missing`, or the error that git reports.
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

    /// Tracked files that git was told not to watch (assume-unchanged, skip-worktree) and that differ from HEAD. `git
    /// status` does not report them.
    ///
    /// # Errors
    /// `git_missing`, or the error that git reports.
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
            // A sparse checkout leaves files out; in every other case the file must be there.
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

    /// Whether the file is byte for byte the one in the commit.
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

    /// Paths at which a `.gitignore` would be untracked, in each directory that holds tracked files. `git status` does
    /// not show one that ignores itself.
    ///
    /// # Errors
    /// `git_missing`, or the error that git reports.
    pub fn list_untracked_gitignores(&self) -> Result<BTreeSet<String>, Failure> {
        const NAME: &str = ".gitignore";
        let listed = self.program.entries(Call::new("ls-files -z"))?;
        let paths: Vec<String> = listed.iter().map(|path| path_text(path)).collect();
        let mut places = BTreeSet::from([NAME.to_owned()]);
        for path in &paths {
            let slashes = path.rmatch_indices('/').map(|(at, _)| &path[..=at]);
            for dir in slashes {
                // The directories above were added together with this one.
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

    /// Paths of the index entries that name a commit: submodules and nested repositories.
    ///
    /// # Errors
    /// `git_missing`, or the error that git reports.
    pub fn list_nested(&self) -> Result<Vec<PathBuf>, Failure> {
        if !may_hold_submodules(&self.git_dir, &self.git_dir.join("index")) {
            return Ok(Vec::new());
        }
        let listed = self.program.answer(Call::new("ls-files --stage -z"))?;
        Ok(gitlinks(&listed).filter_map(native_path).collect())
    }

    /// All refs, the stash included, with the objects they name; without the refs that only protect the objects of a
    /// baseline.
    ///
    /// # Errors
    /// `git_missing`, or the error that git reports.
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
    /// If reading one of them fails.
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

/// Parses porcelain format v2 with NUL terminators.
fn read(output: &[u8]) -> Status {
    let mut dirty = BTreeSet::new();
    let mut tracked = false;
    let mut entries = output.split(|byte| *byte == 0);
    while let Some(entry) = entries.next() {
        // The number of fields before the path.
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

/// The metadata of a path; `None` only if nothing is there. Any other error stays an error: if it were taken for
/// absence, a decision would ignore an existing file.
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

/// The path of an entry of `git ls-files -v`, if git does not watch it: a lower-case letter means assume-unchanged, `S`
/// skip-worktree.
pub(super) fn is_unwatched(entry: &[u8]) -> Option<&[u8]> {
    match entry {
        [tag, b' ', path @ ..] if tag.is_ascii_lowercase() || *tag == b'S' => Some(path),
        _ => None,
    }
}

/// Whether an entry of `git ls-files -v` is one that a sparse checkout leaves out.
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
