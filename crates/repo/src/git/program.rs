//! The `git` program: what only it can tell.

use super::contents::ChangeKind;
use super::{RepoError, harmless, special};
use crate::process::{Captured, ProcessError, Short, capture_watched};
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
    /// The words of a command line, none of which holds a blank.
    pub(super) fn new(line: &str) -> Self {
        Self {
            arguments: line.split_whitespace().map(OsString::from).collect(),
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
            let listed = |dir: &Path, asked: &str| Self::at(dir).entries(Call::new(asked));
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

    /// The commit and the branch of HEAD, where libgit2 cannot tell.
    pub(super) fn head(&self) -> Result<(Option<String>, Option<String>), RepoError> {
        let branch = self.line(Self::history("symbolic-ref -q HEAD"))?;
        let branch = branch.map(|name| {
            name.strip_prefix("refs/heads/")
                .map_or(name.clone(), str::to_owned)
        });
        let commit = self.line(Self::history("rev-parse -q --verify HEAD^{commit}"))?;
        if commit.is_none() && branch.is_none() {
            return Err(RepoError::Answer("HEAD does not name a commit".to_owned()));
        }
        Ok((commit, branch))
    }

    /// `hex` is 4 to 64 hexadecimal digits; none when no commit, or more than one, begins so.
    pub(super) fn resolve(&self, hex: &str) -> Result<Option<String>, RepoError> {
        // Asked this way a branch whose name is hexadecimal does not get in between.
        let call = Self::history("rev-parse").arg(format!("--disambiguate={hex}"));
        let candidates = self.answer(call)?;
        let check = "--batch-check=%(objecttype) %(objectname)";
        let call = Self::history("cat-file")
            .arg(check)
            .stdin(candidates.clone());
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

    /// History as it is written, without the user's replacements.
    fn history(line: &str) -> Call<'static> {
        Call::new(line).env("GIT_NO_REPLACE_OBJECTS", "1")
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
