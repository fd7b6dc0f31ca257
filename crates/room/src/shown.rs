//! What a `.git` of a room shows, and git that is asked about it.

use crate::RoomError;
use crate::git::plain_git;
use cook_os::process::{Captured, LENT_VARIABLE, Short, capture, join_lent};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For one walk of the whole history, or a copy of it: a minute may pass over a million objects.
const DEADLINE: Duration = Duration::from_secs(60 * 60);
/// Bytes of a list of objects.
const MAX_LIST: usize = 1 << 30;

/// A `.git`: the room's own, or a submodule's.
pub(crate) struct Shown<'a> {
    /// Where it is to stand.
    pub dir: PathBuf,
    /// Full id.
    pub commit: String,
    /// Where objects are read from, as what runs in the room finds them.
    pub objects: PathBuf,
    /// Where they are.
    pub here: PathBuf,
    /// Names and ids of refs.
    pub refs: &'a [(String, String)],
    /// Directories that git is told not to look at.
    pub caches: &'a [String],
    /// Commits whose parents a shallow clone does not have, one line each.
    pub shallow: Option<String>,
    /// It holds what a clone would, and reaches no other object.
    pub alone: bool,
    /// Names of the submodules that are checked out.
    pub modules: Vec<String>,
    /// What its history is taken from.
    pub from: TakenFrom<'a>,
    /// Where git is found.
    pub path: &'a OsStr,
}

/// What a history is taken from.
pub(crate) enum TakenFrom<'a> {
    /// Whoever clones this worktree by its git directory.
    Clone(&'a Path),
    /// A submodule, which a clone gets elsewhere.
    Submodule {
        /// From its git directory this leads to its files.
        files: String,
        /// Where a clone gets it, on this machine; none = what is here of it is taken.
        place: Option<PathBuf>,
        /// It gets the commit without those before it.
        is_cut: bool,
    },
}

impl Shown<'_> {
    /// Asks git in it; `lent` = with the objects of where the commit comes from.
    pub fn ask(
        &self,
        lends: bool,
        arguments: &[&OsStr],
        stdin: String,
    ) -> Result<Captured, RoomError> {
        let mut env = plain_git(self.path);
        if lends {
            env.push((LENT_VARIABLE, join_lent(&[&self.here])));
        }
        self.ask_with(env, arguments, stdin)
    }

    /// The same in that environment.
    pub fn ask_with(
        &self,
        env: Vec<(&'static str, OsString)>,
        arguments: &[&OsStr],
        stdin: String,
    ) -> Result<Captured, RoomError> {
        let own = ["git", "--git-dir=."].map(OsStr::new);
        let captured = capture(&Short {
            argv: [&own, arguments]
                .concat()
                .into_iter()
                .map(Into::into)
                .collect(),
            dir: &self.dir,
            env,
            stdin: stdin.into_bytes(),
            deadline: DEADLINE,
            limit: MAX_LIST,
            group: false,
        });
        captured.map_err(|error| RoomError::Git(error.to_string()))
    }

    /// Where its commit is not what a clone has, and why.
    pub fn not_reproducible(&self, why: String) -> RoomError {
        RoomError::NotReproducible {
            commit: self.commit.clone(),
            why,
        }
    }
}

/// What git complains of, without its advice and its progress.
pub(crate) fn complaint(captured: &Captured) -> String {
    let lines = captured.stderr.lines().map(str::trim);
    let is_wrong = |line: &&str| line.contains("fatal:") || line.contains("error:");
    let wrong: Vec<&str> = lines.filter(is_wrong).take(3).collect();
    match wrong.is_empty() {
        true => captured.stderr.trim().to_owned(),
        false => wrong.join("; "),
    }
}
