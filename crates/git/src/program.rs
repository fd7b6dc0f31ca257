//! The `git` program: what only it can tell, and [`History`] for the repositories
//! that libgit2 does not open.

use super::history::{Change, ChangeKind, Entry, History, Listed, MAX_FILE, path_text};
use super::{RepoError, harmless, special};
use cook_core::machine::Head;
use cook_core::model::TreeEntry;
use cook_os::process::{Captured, ProcessError, Short, capture_watched};
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long git may take over one answer.
const DEADLINE: Duration = Duration::from_secs(300);
/// When a git that has not answered is looked into.
const SLOW: Duration = Duration::from_secs(2);
/// Bytes of one answer.
const LIMIT: usize = 64 * 1024 * 1024;

/// git, in one directory.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) dir: PathBuf,
}

/// One call of git.
#[derive(Default)]
pub(super) struct Call<'a> {
    pub(super) arguments: Vec<OsString>,
    pub(super) env: Vec<(&'a str, OsString)>,
    pub(super) stdin: Vec<u8>,
}

impl<'a> Call<'a> {
    pub(super) fn new(arguments: &[&str]) -> Self {
        Self {
            arguments: arguments.iter().map(OsString::from).collect(),
            ..Self::default()
        }
    }

    pub(super) fn env(mut self, name: &'a str, value: impl Into<OsString>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    pub(super) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    pub(super) fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }
}

impl Program {
    pub(super) fn at(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
        }
    }

    /// Runs git; any exit code is an answer.
    pub(super) fn ask(&self, call: Call) -> Result<Captured, RepoError> {
        let mut argv = vec![OsString::from("git"), OsString::from("--no-optional-locks")];
        for setting in harmless::ALWAYS {
            argv.extend(["-c", setting].map(OsString::from));
        }
        if call.arguments.iter().any(|word| word == "for-each-ref") {
            special::check_refs(&self.dir)?;
        }
        if harmless::touches_files(&call.arguments) {
            let listed = |dir: &Path, asked: &[&str]| Self::at(dir).entries(Call::new(asked));
            argv.extend(harmless::overrides(&self.dir, &listed)?);
        }
        argv.extend(call.arguments);
        let mut env = vec![
            ("LC_ALL", OsString::from("C")),
            ("GIT_TERMINAL_PROMPT", OsString::from("0")),
            // Facts are offline: an object a partial clone lacks is an error, not a download.
            ("GIT_NO_LAZY_FETCH", OsString::from("1")),
            ("GIT_ALLOW_PROTOCOL", OsString::from("none")),
            // A file beside the objects gives no commit other parents.
            ("GIT_GRAFT_FILE", OsString::from("/dev/null")),
        ];
        env.extend(call.env);
        let short = Short {
            argv,
            dir: &self.dir,
            env,
            stdin: call.stdin,
            deadline: DEADLINE,
            limit: LIMIT,
            group: false,
        };
        let mut stuck = None;
        let captured = capture_watched(&short, SLOW, || {
            stuck = special::find(&self.dir);
            stuck.is_some()
        });
        captured.map_err(|error| match (error, stuck) {
            (ProcessError::Deadline { .. }, Some(stuck)) => stuck,
            (ProcessError::NotFound(_), _) => RepoError::GitMissing,
            (other, _) => RepoError::Process(other),
        })
    }

    /// Runs git; exit 0 or an error that carries what it said.
    pub(super) fn answer(&self, call: Call) -> Result<Vec<u8>, RepoError> {
        let name = call
            .arguments
            .iter()
            .map(|argument| argument.to_string_lossy())
            .find(|argument| !argument.starts_with('-'))
            .map_or_else(String::new, Cow::into_owned);
        match self.ask(call)? {
            Captured {
                code: Some(0),
                stdout,
                ..
            } => Ok(stdout),
            captured => Err(refusal(name, &captured)),
        }
    }

    /// The same as text, without blanks at its ends.
    pub(super) fn text(&self, call: Call) -> Result<String, RepoError> {
        let answer = self.answer(call)?;
        Ok(String::from_utf8_lossy(&answer).trim().to_owned())
    }

    /// The same as lines.
    pub(super) fn lines(&self, call: Call) -> Result<Vec<String>, RepoError> {
        let answer = self.answer(call)?;
        let text = String::from_utf8_lossy(&answer);
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// The same as entries that each end with a zero byte (`-z`).
    pub(super) fn entries(&self, call: Call) -> Result<Vec<Vec<u8>>, RepoError> {
        let answer = self.answer(call)?;
        let entries = answer.split(|byte| *byte == 0);
        Ok(entries
            .filter(|entry| !entry.is_empty())
            .map(<[u8]>::to_vec)
            .collect())
    }

    /// What became of each path, as `--name-status -z` tells it.
    pub(super) fn name_status(&self, call: Call) -> Result<Vec<(ChangeKind, Vec<u8>)>, RepoError> {
        let entries = self.entries(call)?;
        let (pairs, _) = entries.as_chunks::<2>();
        let kind = |status: &[u8]| match status.first() {
            Some(b'A') => ChangeKind::Added,
            Some(b'D') => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        let changes = pairs
            .iter()
            .map(|[status, path]| (kind(status), path.clone()));
        Ok(changes.collect())
    }

    /// New paths of renamed files, each with its old one. Files that are not the same are compared
    /// where there are no more than a thousand.
    pub(super) fn renames(&self, from: &str, to: &str) -> Result<Vec<(String, String)>, RepoError> {
        let options = [
            "diff-tree",
            "-r",
            "-z",
            "-M",
            "-l1000",
            "--diff-filter=R",
            "--name-status",
            "--no-commit-id",
            "--ignore-submodules=none",
        ];
        let entries = self.entries(Self::history(&options).arg(from).arg(to))?;
        let (renames, _) = entries.as_chunks::<3>();
        let pair = |[_, old, new]: &[Vec<u8>; 3]| (path_text(new), path_text(old));
        Ok(renames.iter().map(pair).collect())
    }

    /// What git says when it exits with 0; none when it exits with 1.
    fn answer_if_any(&self, call: Call) -> Result<Option<Vec<u8>>, RepoError> {
        let captured = self.ask(call)?;
        match captured.code {
            Some(0) => Ok(Some(captured.stdout)),
            Some(1) => Ok(None),
            _ => Err(refusal("git".to_owned(), &captured)),
        }
    }

    /// One line of text; none when git exits with 1 or says nothing.
    pub(super) fn line(&self, call: Call) -> Result<Option<String>, RepoError> {
        let answer = self.answer_if_any(call)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&answer);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }

    /// History as it is written, without the user's replacements.
    fn history(arguments: &[&str]) -> Call<'static> {
        Call::new(arguments).env("GIT_NO_REPLACE_OBJECTS", "1")
    }
}

pub(super) fn refusal(command: String, captured: &Captured) -> RepoError {
    RepoError::Git {
        command,
        code: captured.code,
        said: complaint(&captured.stderr),
    }
}

/// A list of paths as git reads it with `-z`.
pub(super) fn path_list<'p>(paths: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    paths
        .into_iter()
        .flat_map(|path| [path, b"\0"].concat())
        .collect()
}

/// The line that says what is wrong; warnings may stand before it.
fn complaint(stderr: &str) -> String {
    let is_fatal = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
    let mut lines = stderr.lines().filter(|line| !line.trim().is_empty());
    let line = lines.clone().find(is_fatal).or_else(|| lines.next());
    line.unwrap_or("nothing")
        .chars()
        .filter(|c| !c.is_control())
        .take(300)
        .collect()
}

impl History for Program {
    fn blob(&self, id: &str) -> Result<Option<Vec<u8>>, RepoError> {
        let check = "--batch-check=%(objecttype) %(objectsize)";
        let call = Self::history(&["cat-file", check]).stdin(id.as_bytes().to_vec());
        let answer = self.text(call)?;
        let size = answer.strip_prefix("blob ").map(str::parse::<u64>);
        match size {
            Some(Ok(size)) if size <= MAX_FILE => self
                .answer(Self::history(&["cat-file", "blob"]).arg(id))
                .map(Some),
            _ => Ok(None),
        }
    }

    fn head(&self) -> Result<Head, RepoError> {
        let branch = self.line(Self::history(&["symbolic-ref", "-q", "HEAD"]))?;
        let branch = branch.map(|name| {
            name.strip_prefix("refs/heads/")
                .map_or(name.clone(), str::to_owned)
        });
        let commit = self.line(Self::history(&[
            "rev-parse",
            "-q",
            "--verify",
            "HEAD^{commit}",
        ]))?;
        if commit.is_none() && branch.is_none() {
            return Err(RepoError::Answer("HEAD does not name a commit".to_owned()));
        }
        let tree = commit
            .as_deref()
            .map(|commit| self.tree(commit))
            .transpose()?;
        Ok(Head {
            commit,
            tree,
            branch,
        })
    }

    fn resolve(&self, hex: &str) -> Result<Option<String>, RepoError> {
        // Asked this way a branch whose name is hexadecimal does not get in between.
        let call = Self::history(&["rev-parse"]).arg(format!("--disambiguate={hex}"));
        let candidates = self.answer(call)?;
        let check = "--batch-check=%(objecttype) %(objectname)";
        let call = Self::history(&["cat-file", check]).stdin(candidates.clone());
        if candidates.is_empty() {
            return Ok(None);
        }
        let answer = self.lines(call)?;
        let mut commits = answer
            .iter()
            .filter_map(|line| line.strip_prefix("commit "));
        match (commits.next(), commits.next()) {
            (Some(only), None) => Ok(Some(only.to_owned())),
            _ => Ok(None),
        }
    }

    fn is_ancestor(&self, ancestor: &str, descendant: &str) -> Result<bool, RepoError> {
        let call = Self::history(&["merge-base", "--is-ancestor", ancestor, descendant]);
        Ok(self.answer_if_any(call)?.is_some())
    }

    fn merge_base(&self, one: &str, two: &str) -> Result<Option<String>, RepoError> {
        self.line(Self::history(&["merge-base", one, two]))
    }

    fn list(&self, from: Option<&str>, to: &str, limit: usize) -> Result<Vec<Listed>, RepoError> {
        let mut call = Self::history(&["log", "-z", "--topo-order", "--no-show-signature"])
            .arg("--format=%H%n%an%n%B")
            .arg(format!("--max-count={limit}"))
            .arg(to);
        if let Some(from) = from {
            call = call.arg(format!("^{from}"));
        }
        Ok(self
            .entries(call.arg("--"))?
            .iter()
            .map(|entry| {
                let text = String::from_utf8_lossy(entry);
                let (id, rest) = text.split_once('\n').unwrap_or((&text, ""));
                let (author, message) = rest.split_once('\n').unwrap_or((rest, ""));
                Listed {
                    id: id.to_owned(),
                    author: author.to_owned(),
                    message: message.to_owned(),
                }
            })
            .collect())
    }

    fn tree(&self, commit: &str) -> Result<String, RepoError> {
        let call =
            Self::history(&["rev-parse", "-q", "--verify"]).arg(format!("{commit}^{{tree}}"));
        self.line(call)?
            .ok_or_else(|| RepoError::Answer(format!("commit {commit} has no tree")))
    }

    fn parent(&self, commit: &str) -> Result<Option<String>, RepoError> {
        self.line(Self::history(&["rev-parse", "-q", "--verify"]).arg(format!("{commit}^1")))
    }

    fn parents(&self, commit: &str) -> Result<Vec<String>, RepoError> {
        let call = Self::history(&["rev-list", "--parents", "--max-count=1"]).arg(commit);
        let line = self.line(call)?.unwrap_or_default();
        Ok(line.split(' ').skip(1).map(str::to_owned).collect())
    }

    fn changes(&self, from: Option<&str>, to: &str) -> Result<Vec<Change>, RepoError> {
        let options = [
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--name-status",
            "--no-commit-id",
            "--ignore-submodules=none",
        ];
        let call = match from {
            Some(from) => Self::history(&options).arg(from).arg(to),
            None => {
                let empty = self.text(Self::history(&["hash-object", "-t", "tree", "--stdin"]))?;
                Self::history(&options)
                    .arg(empty)
                    .arg(format!("{to}^{{tree}}"))
            }
        };
        let mut changes: Vec<Change> = self
            .name_status(call)?
            .into_iter()
            .map(|(kind, path)| Change {
                path: path_text(&path),
                kind,
            })
            .collect();
        changes.sort();
        Ok(changes)
    }

    fn entry(&self, commit: &str, path: &str) -> Result<Entry, RepoError> {
        let call = Self::history(&["ls-tree", "-z", "-l", "--full-tree", commit, "--"]).arg(path);
        let entries = self.entries(call.env("GIT_LITERAL_PATHSPECS", "1"))?;
        let Some(entry) = entries.first() else {
            return Ok(Entry::Nothing);
        };
        let text = String::from_utf8_lossy(entry);
        let (facts, found) = text.split_once('\t').unwrap_or((&text, ""));
        if found != path {
            return Ok(Entry::Nothing);
        }
        let mut facts = facts.split_ascii_whitespace();
        let mode = facts.next().unwrap_or_default();
        match (mode, facts.next()) {
            (_, Some("tree")) => return Ok(Entry::Directory),
            (_, Some("commit")) => return Ok(Entry::Submodule),
            ("120000", _) => return Ok(Entry::Symlink),
            _ => {}
        }
        let oid = facts.next().unwrap_or_default().to_owned();
        let size: u64 = facts
            .next()
            .and_then(|size| size.parse().ok())
            .ok_or_else(|| RepoError::Answer(format!("the size of `{path}` is not known here")))?;
        if size > MAX_FILE {
            return Ok(Entry::Huge(size));
        }
        let bytes = self.answer(Self::history(&["cat-file", "blob"]).arg(&oid))?;
        Ok(Entry::File { bytes, oid })
    }

    fn tree_entry(&self, commit: &str, path: &str) -> Result<Option<TreeEntry>, RepoError> {
        let call = Self::history(&["ls-tree", "-z", "--full-tree", commit, "--"]).arg(path);
        let entries = self.entries(call.env("GIT_LITERAL_PATHSPECS", "1"))?;
        let Some(entry) = entries.first() else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(entry);
        let (facts, found) = text.split_once('\t').unwrap_or((&text, ""));
        Ok(match facts.split(' ').collect::<Vec<_>>()[..] {
            [mode, kind, id] if found == path && kind != "tree" => Some(TreeEntry {
                mode: mode.to_owned(),
                id: id.to_owned(),
            }),
            _ => None,
        })
    }
}
