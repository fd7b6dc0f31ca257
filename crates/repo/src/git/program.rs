//! The `git` program, for everything that libgit2 cannot do.
//!
//! When cook calls git, the settings of a repository must not start programs: nothing that a clone brings or an agent
//! planted runs unasked. Settings with fixed names are overridden in every call. Filters and merge drivers have names
//! that the repository chooses, so its settings are read first. The user's own global settings stay in force.

use super::special::{self, find_common_dir, find_git_dir};
use crate::disk::{self, Links, native_path};
use crate::process::{Captured, ProcessError, Short, capture_watched};
use cook_protocol::diagnostic::{Code, Failure};
use memchr::memmem;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit for one call of git.
const DEADLINE: Duration = Duration::from_secs(300);
/// When to look for the reason why git has not answered.
const SLOW: Duration = Duration::from_secs(2);
/// Most bytes of one answer.
const LIMIT: usize = 64 * 1024 * 1024;

/// The git program, run in one directory.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) dir: PathBuf,
}

#[derive(Default)]
pub(crate) struct Call {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) env: Vec<(&'static str, OsString)>,
    pub(crate) stdin: Vec<u8>,
    /// Whether it transfers objects and so may take longer.
    pub(crate) transfers: bool,
    /// Whether its memory and the files it writes are limited.
    pub(crate) is_capped: bool,
}

impl Call {
    /// Splits a command line at white space; no argument may contain any.
    pub(crate) fn new(line: &str) -> Self {
        Self {
            arguments: line.split_whitespace().map(OsString::from).collect(),
            ..Self::default()
        }
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Sets cook as the author and committer.
    pub(crate) fn by_cook(self) -> Self {
        self.env("GIT_AUTHOR_NAME", "cook")
            .env("GIT_AUTHOR_EMAIL", "cook@localhost")
            .env("GIT_COMMITTER_NAME", "cook")
            .env("GIT_COMMITTER_EMAIL", "cook@localhost")
    }

    /// Lets git read objects from these directories as well.
    pub(crate) fn lend<P: AsRef<Path>>(self, dirs: &[P]) -> Self {
        self.env(LENT_VARIABLE, join_lent(dirs))
    }

    pub(crate) fn arg(mut self, argument: impl Into<OsString>) -> Self {
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

    /// Runs git and returns the result for any exit code.
    pub(super) fn ask(&self, call: Call) -> Result<Captured, Failure> {
        let mut argv = vec![OsString::from("git"), OsString::from("--no-optional-locks")];
        for setting in ALWAYS {
            argv.extend(["-c", setting].map(OsString::from));
        }
        if call.arguments.iter().any(|word| word == "for-each-ref") {
            special::check_refs(&self.dir)?;
        }
        if touches_files(&call.arguments) {
            let listed = |dir: &Path, asked: &str| Self::at(dir).entries(Call::new(asked));
            argv.extend(overrides(&self.dir, &listed)?);
        }
        argv.extend(call.arguments);
        let mut env = vec![
            ("LC_ALL", OsString::from("C")),
            ("GIT_TERMINAL_PROMPT", OsString::from("0")),
            // Facts are measured offline: an object that a partial clone lacks is an error, not a download.
            ("GIT_NO_LAZY_FETCH", OsString::from("1")),
            ("GIT_ALLOW_PROTOCOL", OsString::from("none")),
            // Ignores grafts, which would give commits other parents.
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
            (ProcessError::NotFound(_), _) => missing(),
            (other, _) => fail_git("git could not be run").with_cause(&other),
        })
    }

    /// Runs git and returns its stdout; any exit code but 0 is an error with git's message.
    pub(super) fn answer(&self, call: Call) -> Result<Vec<u8>, Failure> {
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
            captured => Err(refusal(&name, &captured)),
        }
    }

    /// Like [`Program::answer`], as text without surrounding white space.
    pub(super) fn text(&self, call: Call) -> Result<String, Failure> {
        let answer = self.answer(call)?;
        Ok(String::from_utf8_lossy(&answer).trim().to_owned())
    }

    /// Like [`Program::answer`], as lines.
    pub(super) fn lines(&self, call: Call) -> Result<Vec<String>, Failure> {
        let answer = self.answer(call)?;
        let text = String::from_utf8_lossy(&answer);
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Like [`Program::answer`], as entries that each end with a zero byte (`-z`).
    pub(super) fn entries(&self, call: Call) -> Result<Vec<Vec<u8>>, Failure> {
        let answer = self.answer(call)?;
        let entries = answer.split(|byte| *byte == 0);
        Ok(entries
            .filter(|entry| !entry.is_empty())
            .map(<[u8]>::to_vec)
            .collect())
    }

    /// Returns git's stdout if it exits with 0, `None` if it exits with 1.
    fn answer_if_any(&self, call: Call) -> Result<Option<Vec<u8>>, Failure> {
        let captured = self.ask(call)?;
        match captured.code {
            Some(0) => Ok(Some(captured.stdout)),
            Some(1) => Ok(None),
            _ => Err(refusal("git", &captured)),
        }
    }

    /// Returns one line of text; `None` if git exits with 1 or prints nothing.
    pub(super) fn line(&self, call: Call) -> Result<Option<String>, Failure> {
        let answer = self.answer_if_any(call)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&answer);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }

    /// The commit and the branch of HEAD, if libgit2 cannot read them.
    pub(super) fn head(&self) -> Result<(Option<String>, Option<String>), Failure> {
        let branch = self.line(Self::history("symbolic-ref -q HEAD"))?;
        let branch = branch.map(|name| {
            name.strip_prefix("refs/heads/")
                .map_or(name.clone(), str::to_owned)
        });
        let commit = self.line(Self::history("rev-parse -q --verify HEAD^{commit}"))?;
        if commit.is_none() && branch.is_none() {
            return Err(fail_git("HEAD does not name a commit".to_owned()));
        }
        Ok((commit, branch))
    }

    /// The only commit whose id begins with `hex` (4 to 64 hexadecimal digits); `None` if not exactly one does.
    pub(super) fn resolve(&self, hex: &str) -> Result<Option<String>, Failure> {
        // This option considers object ids only, never a branch with a hexadecimal name.
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

    /// A call that reads history without the user's replacement objects.
    fn history(line: &str) -> Call {
        Call::new(line).env("GIT_NO_REPLACE_OBJECTS", "1")
    }
}

/// The failure that `git` is not on `PATH`.
pub(crate) fn missing() -> Failure {
    Failure::state(Code::GitMissing, "the `git` program is not on PATH")
}

/// The failure that git could not answer.
pub(super) fn fail_git(what: impl Into<String>) -> Failure {
    Failure::state(Code::GitFailed, what)
}

/// The failure that a path is not inside the worktree.
pub(super) fn refuse_path(path: &str) -> Failure {
    let what = format!("`{path}` is not a path inside the worktree");
    Failure::state(Code::Usage, what)
}

/// Converts an error of libgit2 into a failure.
pub(super) trait OrFail<T> {
    fn or_fail(self) -> Result<T, Failure>;
}

impl<T> OrFail<T> for Result<T, git2::Error> {
    fn or_fail(self) -> Result<T, Failure> {
        self.map_err(|error| fail_git("libgit2 cannot answer").with_cause(&error))
    }
}

/// The failure that git refused a command.
pub(super) fn refusal(command: &str, captured: &Captured) -> Failure {
    let code = captured.code;
    let how = code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
    let said = complaint(&captured.stderr);
    let failure = fail_git(format!("`git {command}` ended with {how}: {said}"));
    match said.contains("auto-detect") || said.contains("empty ident") {
        true => failure.hint("run `git config user.name NAME` and `git config user.email ADDRESS`"),
        false => failure,
    }
}

/// Encodes paths as git reads them with `-z`.
pub(super) fn path_list<'p>(paths: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    paths
        .into_iter()
        .flat_map(|path| [path, b"\0"].concat())
        .collect()
}

/// Names further directories from which git reads objects.
pub(crate) const LENT_VARIABLE: &str = "GIT_ALTERNATE_OBJECT_DIRECTORIES";

/// The value of [`LENT_VARIABLE`]. git parses quotes as C does.
pub(crate) fn join_lent<P: AsRef<Path>>(dirs: &[P]) -> OsString {
    let mut list = OsString::new();
    for dir in dirs {
        let dir = dir.as_ref();
        if !list.is_empty() {
            list.push(if cfg!(windows) { ";" } else { ":" });
        }
        match dir.to_str() {
            Some(text) if text.starts_with('"') || text.contains(':') && cfg!(unix) => {
                let text = text.replace('\\', "\\\\").replace('"', "\\\"");
                list.push(format!("\"{text}\""));
            }
            _ => list.push(dir),
        }
    }
    list
}

/// The line that states the error; warnings may precede it.
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

/// Settings for every call of git.
pub(super) const ALWAYS: [&str; 13] = [
    // Any message on stderr would count as doubt about the answer.
    "advice.graftFileDeprecated=false",
    // A git dir among the files of a commit has settings that the commit's author chose.
    "safe.bareRepository=explicit",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.editor=:",
    "core.pager=cat",
    "core.alternateRefsCommand=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "gpg.program=false",
    "diff.external=",
    "status.submoduleSummary=false",
];

/// The commands that `git lfs install` configures. They only convert content, unless the repository extends LFS.
const LFS: [&str; 6] = [
    "git-lfs clean -- %f",
    "git-lfs smudge -- %f",
    "git-lfs smudge --skip -- %f",
    "git-lfs filter-process",
    "git-lfs filter-process --skip",
    "true",
];

/// The command with which git itself merges two changed sides.
const MERGE: &str = "git merge-file -q --marker-size=%L %A %O %B";

/// Most levels of nested submodules that are examined, and most repositories in all.
const DEPTH: usize = 8;
const MOST: usize = 2_000;

/// The mode of a submodule's entry in the index.
const SUBMODULE: [u8; 4] = [0, 0, 0xe0, 0];

/// Largest settings file and largest index that are examined.
const MAX_SETTINGS: u64 = 4 << 20;
const MAX_INDEX: u64 = 1 << 30;

/// git commands that read or write the content of files.
const TOUCHING: &str = "status stash reset update-index worktree diff checkout read-tree add";

/// Whether such a call may start a program that the repository's settings name.
pub(super) fn touches_files(arguments: &[OsString]) -> bool {
    let is_touching = |word: &OsString| TOUCHING.split(' ').any(|touching| word == touching);
    arguments.iter().any(is_touching)
}

/// Runs a listing git command in a directory; returns the entries, which end with a zero byte each.
pub(super) type Ask<'a> = &'a dyn Fn(&Path, &str) -> Result<Vec<Vec<u8>>, Failure>;

/// Overrides for all settings by which this repository, or a submodule that git visits for it, would have git run
/// programs.
pub(super) fn overrides(dir: &Path, ask: Ask) -> Result<Vec<OsString>, Failure> {
    let mut found = Found::default();
    read(dir, ask, 0, &mut found)?;
    found.overrides()
}

#[derive(Default)]
struct Found {
    /// Filters, and their values in the settings of the repositories.
    filters: BTreeMap<String, BTreeSet<String>>,
    mergers: BTreeSet<String>,
    extends_lfs: bool,
    repositories: usize,
}

impl Found {
    fn take(&mut self, key: &str, value: &str) {
        let Some((section, rest)) = key.split_once('.') else {
            return;
        };
        let Some((name, what)) = rest.rsplit_once('.') else {
            return;
        };
        match (section, what) {
            ("filter", "clean" | "smudge" | "process" | "required") => {
                let values = self.filters.entry(name.to_owned()).or_default();
                values.insert(value.to_owned());
            }
            ("merge", "driver") => {
                self.mergers.insert(name.to_owned());
            }
            ("lfs", "clean" | "smudge") => self.extends_lfs = true,
            _ => {}
        }
    }

    fn overrides(mut self) -> Result<Vec<OsString>, Failure> {
        let is_lfs = |values: &BTreeSet<String>| values.iter().all(|one| LFS.contains(&&**one));
        self.filters
            .retain(|name, values| name != "lfs" || !is_lfs(values));
        if self.extends_lfs {
            self.filters.entry("lfs".to_owned()).or_default();
        }
        let mut settings = Vec::new();
        for name in self.filters.keys() {
            for (what, value) in [
                ("clean", ""),
                ("smudge", ""),
                ("process", ""),
                ("required", "false"),
            ] {
                settings.push((format!("filter.{name}.{what}"), value));
            }
        }
        for name in &self.mergers {
            settings.push((format!("merge.{name}.driver"), MERGE));
        }
        if let Some((key, _)) = settings.iter().find(|(key, _)| key.contains('=')) {
            let why = format!(
                "the repository sets `{}`, which cannot be overridden; remove it from its settings",
                key.escape_debug()
            );
            return Err(fail_git(why));
        }
        Ok(settings
            .into_iter()
            .flat_map(|(key, value)| ["-c".to_owned(), format!("{key}={value}")])
            .map(OsString::from)
            .collect())
    }
}

fn read(dir: &Path, ask: Ask, depth: usize, found: &mut Found) -> Result<(), Failure> {
    found.repositories += 1;
    if found.repositories > MOST {
        let why = format!("the repository has more than {MOST} submodules");
        return Err(fail_git(why));
    }
    let Some(git_dir) = find_git_dir(dir) else {
        return Ok(());
    };
    if may_name_programs(&git_dir) {
        let entries = ask(dir, "config --list --show-scope --includes -z")?;
        let (pairs, _) = entries.as_chunks::<2>();
        for [scope, entry] in pairs {
            if !matches!(&scope[..], b"local" | b"worktree") {
                continue;
            }
            let entry = String::from_utf8_lossy(entry);
            let (key, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
            found.take(key, value);
        }
    }
    if depth < DEPTH && may_hold_submodules(&git_dir, &git_dir.join("index")) {
        for inner in submodules(dir, ask)? {
            read(&inner, ask, depth + 1, found)?;
        }
    }
    Ok(())
}

/// The submodules that are checked out.
fn submodules(dir: &Path, ask: Ask) -> Result<Vec<PathBuf>, Failure> {
    let entries = ask(dir, "ls-files --stage -z")?;
    let paths = entries
        .iter()
        .filter(|entry| entry.starts_with(b"160000 "))
        .filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
    let dirs = paths.filter_map(|path| native_path(path).map(|path| dir.join(path)));
    Ok(dirs
        .filter(|dir| dir.join(".git").symlink_metadata().is_ok())
        .collect())
}

/// Whether the text of the settings mentions a section that can name programs, so that git is asked only if needed.
fn may_name_programs(git_dir: &Path) -> bool {
    let common = find_common_dir(git_dir);
    [common.join("config"), git_dir.join("config.worktree")]
        .iter()
        .any(|file| match disk::read(file, MAX_SETTINGS, Links::Follow) {
            Ok(None) => false,
            Ok(Some(bytes)) => {
                let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
                let sections = ["filter", "merge", "lfs", "include"];
                sections.iter().any(|section| text.contains(section))
            }
            Err(_) => true,
        })
}

/// Whether the bytes of the index may hold a submodule's entry, so that a large index is not listed for nothing.
pub(super) fn may_hold_submodules(git_dir: &Path, index: &Path) -> bool {
    let is_shared = |name: &OsString| name.to_string_lossy().starts_with("sharedindex.");
    let is_split = std::fs::read_dir(git_dir)
        .is_ok_and(|names| names.flatten().any(|entry| is_shared(&entry.file_name())));
    is_split
        || match disk::read(index, MAX_INDEX, Links::Follow) {
            Ok(bytes) => bytes.is_some_and(|bytes| memmem::find(&bytes, &SUBMODULE).is_some()),
            Err(_) => true,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(settings: &[(&str, &str)]) -> Result<Vec<String>, Failure> {
        let mut found = Found::default();
        for (key, value) in settings {
            found.take(key, value);
        }
        let words = found.overrides()?.into_iter();
        Ok(words.map(|word| word.into_string().unwrap()).collect())
    }

    #[test]
    fn only_what_lfs_itself_installs_stays() {
        let lfs = [
            ("filter.lfs.clean", "git-lfs clean -- %f"),
            ("filter.lfs.required", "true"),
            ("lfs.url", "https://example.org"),
        ];
        assert_eq!(overrides(&lfs).unwrap(), [""; 0]);
        let extended = [&lfs[..], &[("lfs.extension.x.clean", "evil")]].concat();
        assert!(
            overrides(&extended)
                .unwrap()
                .contains(&"filter.lfs.clean=".to_owned())
        );
        let other = overrides(&[("filter.lfs.clean", "evil"), ("merge.a.b.driver", "evil")]);
        let other = other.unwrap();
        assert!(
            other.contains(&"filter.lfs.process=".to_owned()),
            "{other:?}"
        );
        assert!(
            other.contains(&format!("merge.a.b.driver={MERGE}")),
            "{other:?}"
        );
        assert!(overrides(&[("filter.a=b.clean", "evil")]).is_err());
    }
}
