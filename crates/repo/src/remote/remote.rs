//! The remote of a command: finds its address, runs `git` in the user's repository with the user's settings, makes
//! git's messages safe to show, and lists the remote's refs with `git ls-remote`.

use crate::clock::value_for_tests;
use crate::git::{Call, Repo, missing};
use crate::process::{
    Attention, Caps, Captured, ProcessError, Short, capture_until, is_interrupted,
};
use crate::store::{Marks, Place};
use cook_protocol::diagnostic::{Code, Failure, Lines, clean, redact};
use cook_protocol::digest::hex;
use cook_protocol::model::{LogRefs, escape_branch};
use sha2::{Digest, Sha256};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for another writer of the log.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(10);

/// The kind of the marks for transitions that were pulled from a remote.
pub(crate) const PULLED: &str = "pulled";

/// The direction of a transfer: a remote may have different addresses for fetch and push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// From the remote.
    Fetch,
    /// To the remote.
    Push,
}

/// A fact that a clone remembers about a log on a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The newest transition that it has seen there.
    Seen(Side),
    /// The newest transition that was pulled from there.
    Pulled,
    /// A push of this log was accepted there.
    Taken,
    /// The user named the remote for pushes of this log, or confirmed them.
    Allowed,
    /// The user chose not to push commits that the log cites and the branch does not contain. This also holds for later
    /// pushes without a prompt.
    Withheld,
}

/// A remote of a repository.
#[derive(Debug)]
pub struct Remote<'r> {
    pub(crate) repo: &'r Repo,
    pub(crate) place: Place,
    pub(crate) git: Git,
    pub(crate) names: LogRefs,
    /// The name of a remote, or an address.
    name: String,
    settings: Settings,
    push_address: OnceCell<String>,
}

impl<'r> Remote<'r> {
    /// Opens the remote with this name or address; otherwise the one that git would use for this branch.
    ///
    /// # Errors
    /// `remote_unknown`.
    pub fn open(
        repo: &'r Repo,
        place: Place,
        names: LogRefs,
        named: Option<&str>,
        branch: Option<&str>,
        side: Side,
        attended: bool,
    ) -> Result<Self, Failure> {
        let git = Git::new(repo.root(), attended);
        let settings = Settings::read(&git)?;
        let name = match named {
            Some(name) => settings.check(name, repo.root())?,
            None => settings.usual(branch, side)?,
        };
        Ok(Self {
            repo,
            place,
            git,
            names,
            name,
            settings,
            push_address: OnceCell::new(),
        })
    }

    /// The names of all configured remotes.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn list(repo: &Repo) -> Result<Vec<String>, Failure> {
        let settings = Settings::read(&Git::new(repo.root(), false))?;
        Ok(settings.remotes().map(str::to_owned).collect())
    }

    /// Its name or address, safe to show.
    pub fn show(&self) -> String {
        redact(&clean(&self.name, Lines::Fold))
    }

    /// Its name or address as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address that git fetches from.
    ///
    /// # Errors
    /// When git does not answer.
    pub fn fetch_address(&self) -> Result<String, Failure> {
        if !self.settings.remotes().any(|name| name == self.name) {
            return Ok(self.name.clone());
        }
        let call = Call::new("remote get-url").arg(&self.name);
        let what = format!("git does not say where `{}` is", self.show());
        Ok(self.git.answer(call, &what)?.trim_end().to_owned())
    }

    /// The name or address that is passed to git.
    pub(crate) fn address(&self, side: Side) -> Result<&str, Failure> {
        // git itself applies `pushInsteadOf` to an address.
        let is_named = self.settings.remotes().any(|name| name == self.name);
        if side == Side::Fetch || !is_named || !self.settings.pushes_elsewhere(&self.name) {
            return Ok(&self.name);
        }
        if let Some(known) = self.push_address.get() {
            return Ok(known);
        }
        let call = Call::new("remote get-url --push --all").arg(&self.name);
        let what = format!("git does not say where `{}` is", self.show());
        let answer = self.git.answer(call, &what)?;
        let mut lines = answer.lines();
        match (lines.next(), lines.next()) {
            (Some(only), None) => Ok(self.push_address.get_or_init(|| only.to_owned())),
            _ => Err(Failure::state(
                Code::RemoteUnknown,
                format!(
                    "`{}` has several push addresses, and a push to several is not one push",
                    self.show()
                ),
            )
            .replace_hints([format!(
                "name one of them: `git remote get-url --push --all {}`",
                self.show()
            )])),
        }
    }

    /// Whether it is configured as a mirror: a push there would delete refs that this clone does not have.
    pub(crate) fn is_mirror(&self) -> bool {
        let key = format!("remote.{}.mirror", self.name);
        let value = self.settings.last(&key);
        value.is_some_and(|value| !matches!(value, "false" | "no" | "off" | "0"))
    }

    /// The name of a mark about a log on this remote. It contains the address, not the name: a remote may be renamed,
    /// and its name may be reused.
    fn place_of(&self, mark: Mark, branch: &str) -> Result<String, Failure> {
        let (kind, side) = match mark {
            Mark::Seen(side) => ("remotes", side),
            Mark::Pulled => (PULLED, Side::Fetch),
            Mark::Taken => ("taken", Side::Push),
            Mark::Allowed => ("allowed", Side::Push),
            Mark::Withheld => ("withheld", Side::Push),
        };
        let key = self.key(side)?;
        Ok(format!("{kind}/{key}/{}", escape_branch(branch)))
    }

    /// Reads a mark about a log on this remote: the id of a transition.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn recall(&self, mark: Mark, branch: &str) -> Result<Option<String>, Failure> {
        Marks::read(&self.place, &self.place_of(mark, branch)?)
    }

    /// Sets a mark.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn note(&self, mark: Mark, branch: &str, tip: &str) -> Result<(), Failure> {
        let name = self.place_of(mark, branch)?;
        Marks::set(&self.place, &name, tip, LOCK_WAIT)
    }

    pub(crate) fn key(&self, side: Side) -> Result<String, Failure> {
        let address = match self.address(side)? {
            known if known == self.name => self.fetch_address()?,
            elsewhere => elsewhere.to_owned(),
        };
        Ok(remote_key(&address, self.repo.root()))
    }

    /// The remote that git would use for this branch.
    pub(crate) fn find_usual(&self, branch: &str, side: Side) -> Option<String> {
        self.settings.usual(Some(branch), side).ok()
    }

    /// The remote branch that git pulls this branch from.
    pub(crate) fn find_upstream(&self, branch: &str) -> Option<&str> {
        let merge = self.settings.last(&format!("branch.{branch}.merge"))?;
        merge.strip_prefix("refs/heads/")
    }
}

/// The git settings about remotes.
#[derive(Debug)]
struct Settings(BTreeMap<String, Vec<String>>);

impl Settings {
    fn read(git: &Git) -> Result<Self, Failure> {
        let call = Call::new("config --list -z");
        let answer = git.answer(call, "git does not tell its settings")?;
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for entry in answer.split('\0') {
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            let is_ours = ["remote.", "branch.", "url."]
                .iter()
                .any(|begin| key.starts_with(begin));
            if is_ours {
                found
                    .entry(key.to_owned())
                    .or_default()
                    .push(value.to_owned());
            }
        }
        Ok(Self(found))
    }

    fn last(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.last().map(String::as_str)
    }

    fn remotes(&self) -> impl Iterator<Item = &str> {
        let names = self.0.keys().filter_map(|key| {
            let name = key.strip_prefix("remote.")?;
            name.strip_suffix(".url")
                .or_else(|| name.strip_suffix(".pushurl"))
        });
        // Keys are sorted, and a remote may have both.
        let mut before = None;
        names.filter(move |name| before.replace(*name) != Some(*name))
    }

    fn pushes_elsewhere(&self, name: &str) -> bool {
        self.0.contains_key(&format!("remote.{name}.pushurl"))
            || self.0.keys().any(|key| key.ends_with(".pushinsteadof"))
    }

    /// Accepts a configured name or an address.
    fn check(&self, name: &str, dir: &Path) -> Result<String, Failure> {
        let known = self.remotes().any(|remote| remote == name);
        let is_address = name.contains([':', '/']) || dir.join(name).is_dir();
        if known || (is_address && !name.starts_with('-') && !name.contains('\n')) {
            return Ok(name.to_owned());
        }
        let shown = redact(&clean(name, Lines::Fold));
        Err(Failure::new(
            cook_protocol::diagnostic::FailureKind::Usage,
            Code::RemoteUnknown,
            format!("there is no remote `{shown}`{}", self.others()),
        ))
    }

    fn others(&self) -> String {
        let names: Vec<String> = self.remotes().map(|name| format!("`{name}`")).collect();
        match names.is_empty() {
            true => ", and none is configured".to_owned(),
            false => format!("; there is {}", names.join(", ")),
        }
    }

    fn usual(&self, branch: Option<&str>, side: Side) -> Result<String, Failure> {
        let of_branch = |key: &str| self.last(&format!("branch.{}.{key}", branch?));
        let push = match side {
            Side::Push => of_branch("pushremote").or_else(|| self.last("remote.pushdefault")),
            Side::Fetch => None,
        };
        let named = push
            .or_else(|| of_branch("remote"))
            .filter(|name| *name != ".");
        if let Some(name) = named {
            return Ok(name.to_owned());
        }
        let mut remotes = self.remotes();
        match (remotes.next(), remotes.next()) {
            (Some(only), None) => Ok(only.to_owned()),
            (Some(_), Some(_)) if self.remotes().any(|name| name == "origin") => {
                Ok("origin".to_owned())
            }
            (None, _) => Err(Failure::state(
                Code::RemoteUnknown,
                "no remote is configured for this repository",
            )),
            _ => Err(Failure::state(
                Code::RemoteUnknown,
                format!(
                    "several remotes are configured, and none is this branch's{}",
                    self.others()
                ),
            )),
        }
    }
}

/// A short digest of an address, for use in the name of a ref in this clone's log.
pub(crate) fn remote_key(address: &str, dir: &Path) -> String {
    // A local path can be written in several forms.
    let path = std::fs::canonicalize(dir.join(address.strip_prefix("file://").unwrap_or(address)));
    let digest = match &path {
        Ok(path) => Sha256::digest(path.as_os_str().as_encoded_bytes()),
        Err(_) => Sha256::digest(address.as_bytes()),
    };
    let digest = hex(&digest);
    digest.get(..20).unwrap_or(&digest).to_owned()
}

/// The time limits of a query and of a transfer.
const QUESTION: Duration = Duration::from_secs(60);
const TRANSFER: Duration = Duration::from_secs(600);
/// The maximum size of git's output in bytes.
const LIMIT: usize = 16 << 20;
/// The resource limits of a fetch: the size of a pack, and the memory to process it.
const CAPS: Caps = Caps {
    file: 256 << 20,
    memory: 768 << 20,
};

/// A shorter time limit for tests, in milliseconds. Ignored unless `COOK_TEST=1` is set too.
const TIME_VARIABLE: &str = "COOK_REMOTE_MS";

/// Prefixes of the variables by which the user configures git's network access.
const KEPT: &str = "\
    GIT_ASKPASS GIT_CONFIG_ GIT_CURL_ GIT_HTTP_ GIT_PROXY_ GIT_SSH GIT_SSL_ GIT_TRACE \
    GIT_PROTOCOL";

/// git in one repository.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    dir: PathBuf,
    /// Whether a user at a terminal can be asked for a password.
    attended: bool,
}

impl Call {
    /// Marks a transfer of objects, which gets a longer time limit.
    pub(crate) fn transfers(mut self) -> Self {
        self.transfers = true;
        self
    }

    /// Limits its file sizes and memory.
    pub(crate) fn cap(mut self) -> Self {
        self.is_capped = true;
        self
    }
}

impl Git {
    pub(crate) fn new(dir: &Path, attended: bool) -> Self {
        Self {
            dir: dir.to_owned(),
            attended,
        }
    }

    /// Runs git to its end; any exit code is a result.
    pub(crate) fn run(&self, call: Call) -> Result<Captured, Failure> {
        let mut env: Vec<(String, OsString)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| KEPT.split(' ').any(|kept| name.starts_with(kept)))
            .collect();
        env.push(("LC_ALL".to_owned(), "C".into()));
        if !self.attended {
            env.push(("GIT_TERMINAL_PROMPT".to_owned(), "0".into()));
        }
        env.extend(
            call.env
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        let short = Short {
            argv: [vec!["git".into()], call.arguments].concat(),
            dir: &self.dir,
            env: env
                .iter()
                .map(|(name, value)| (name.as_str(), value.clone()))
                .collect(),
            stdin: Vec::new(),
            deadline: deadline(call.transfers),
            limit: LIMIT,
            group: !self.attended,
        };
        let _attention = Attention::begin();
        let caps = call.is_capped.then_some(CAPS);
        capture_until(&short, caps, is_interrupted).map_err(|error| match error {
            ProcessError::Interrupted(_) => {
                let what = "cook was asked to end while git spoke to a remote";
                Failure::state(Code::Interrupted, what)
            }
            ProcessError::NotFound(_) => missing(),
            error => unreachable("git gave no answer", &[]).with_cause(&error),
        })
    }

    /// Runs git; a non-zero exit code is a failure with git's messages.
    pub(crate) fn answer(&self, call: Call, what: &str) -> Result<String, Failure> {
        let captured = self.run(call)?;
        match captured.success() {
            true => Ok(String::from_utf8_lossy(&captured.stdout).into_owned()),
            false => Err(unreachable(what, &words(&captured.stderr))),
        }
    }
}

/// `remote_unreachable` with git's messages.
pub(crate) fn unreachable(what: &str, said: &[String]) -> Failure {
    make_failure(Code::RemoteUnreachable, what, said)
}

/// A failure with git's messages.
pub(crate) fn make_failure(code: Code, what: &str, said: &[String]) -> Failure {
    let mut failure = Failure::state(code, what);
    failure
        .causes
        .extend(said.iter().map(|line| format!("git says: {line}")));
    failure
}

fn deadline(transfers: bool) -> Duration {
    let usual = match transfers {
        true => TRANSFER,
        false => QUESTION,
    };
    let for_tests = value_for_tests(TIME_VARIABLE).and_then(|text| text.parse().ok());
    for_tests.map_or(usual, Duration::from_millis)
}

/// The maximum number of lines that are shown, and of characters in a line.
const MOST: usize = 12;
const WIDTH: usize = 300;

/// git's messages, one per line, without control characters, secrets and duplicates, and not more than is readable.
pub(crate) fn words(stderr: &str) -> Vec<String> {
    let lines = stderr.split(['\n', '\r']);
    let mut kept: Vec<String> = Vec::new();
    for line in lines {
        let line = redact(&clean(line, Lines::Fold));
        let line: String = line.chars().take(WIDTH).collect();
        let bare = line.strip_prefix("remote:").unwrap_or(&line).trim();
        // A warning that is caused by cook's own setting is not relevant to the user.
        let is_ours = bare.starts_with("warning: not sending a push certificate");
        if bare.is_empty() || is_ours || kept.contains(&line) {
            continue;
        }
        if kept.len() == MOST {
            break;
        }
        kept.push(line);
    }
    kept
}

/// A ref of a remote and what it points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteRef {
    /// Its full name on the remote.
    pub name: String,
    /// The full object id that it points to.
    pub commit: String,
}

/// The log by which a commit was found done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The commit in the user's history.
    pub commit: String,
    /// The tip of the log.
    pub log: RemoteRef,
}

/// The refs that a remote has for one branch at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The log of the branch.
    pub log: Option<RemoteRef>,
    /// The branch itself.
    pub branch: Option<RemoteRef>,
    /// The ref that keeps commits which the log cites.
    pub keep: Option<RemoteRef>,
    /// All commits that were found done.
    pub done: Vec<Done>,
    /// Logs that ended without being done, each named by its first transition.
    pub old: Vec<RemoteRef>,
}

impl Listing {
    /// The logs of earlier workflows that are kept on the remote.
    pub(crate) fn list_kept(&self) -> impl Iterator<Item = &RemoteRef> {
        self.old
            .iter()
            .chain(self.done.iter().map(|done| &done.log))
    }
}

impl Remote<'_> {
    /// Lists the remote's refs for a branch.
    ///
    /// # Errors
    /// `remote_unreachable`, with git's messages.
    pub fn look(&self, branch: &str, side: Side) -> Result<Listing, Failure> {
        let names = &self.names;
        let (log, keep) = (names.log(branch), names.keep(branch));
        let head = format!("refs/heads/{branch}");
        let (done, old) = (names.name_done(""), names.old(""));
        let call = Call::new("ls-remote --refs")
            .cap()
            .arg(self.address(side)?)
            .arg(&log)
            .arg(&keep)
            .arg(&head)
            .arg(format!("{done}*"))
            .arg(format!("{old}*"));
        let what = format!("`{}` did not say what it holds", self.show());
        let answer = self.git.answer(call, &what)?;
        let mut listing = Listing::default();
        // A pattern also matches the end of longer names.
        for (commit, name) in answer.lines().filter_map(|line| line.split_once('\t')) {
            if !is_id(commit) {
                continue;
            }
            let found = RemoteRef {
                name: name.to_owned(),
                commit: commit.to_owned(),
            };
            if name == log {
                listing.log = Some(found);
            } else if name == keep {
                listing.keep = Some(found);
            } else if name == head {
                listing.branch = Some(found);
            } else if let Some(commit) = name.strip_prefix(&done).filter(|id| is_id(id)) {
                listing.done.push(Done {
                    commit: commit.to_owned(),
                    log: found,
                });
            } else if name.strip_prefix(&old).is_some_and(is_id) {
                listing.old.push(found);
            }
        }
        Ok(listing)
    }

    /// Fetches the commit of the remote's default branch; `None` if the remote has no such branch, or does not provide
    /// the commit.
    ///
    /// # Errors
    /// `remote_unreachable`, with git's messages.
    pub fn bring_default(&self) -> Result<Option<String>, Failure> {
        let call = Call::new("ls-remote")
            .cap()
            .arg(self.address(Side::Fetch)?)
            .arg("HEAD");
        let what = format!("`{}` did not say what it holds", self.show());
        let answer = self.git.answer(call, &what)?;
        let mut lines = answer.lines().filter_map(|line| line.split_once('\t'));
        let found = lines.find(|(commit, name)| *name == "HEAD" && is_id(commit));
        let Some((commit, _)) = found else {
            return Ok(None);
        };
        let commit = commit.to_owned();
        let is_lacking = !self.bring(std::slice::from_ref(&commit))?.is_empty();
        Ok((!is_lacking).then_some(commit))
    }
}

/// Whether the text is a full object id.
pub(crate) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod remote_tests {
    use super::*;

    #[test]
    fn an_address_becomes_one_harmless_part() {
        let dir = Path::new("/");
        let key = remote_key("https://example.org/a.git", dir);
        assert!(key.len() == 20 && key.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(key, remote_key("https://example.org/b.git", dir));
        assert_eq!(remote_key("file:///tmp/", dir), remote_key("tmp", dir));
    }
}

#[cfg(test)]
mod git_words_tests {
    use super::*;

    #[test]
    fn words_are_harmless_and_few() {
        let said = words(
            "warning: not sending a push certificate\rremote: \x1b[31mGH013\x1b[0m: refused\nfatal: https://u:hunter22@h/x\n\n",
        );
        assert_eq!(
            said,
            ["remote: GH013: refused", "fatal: https://u:[redacted]@h/x"]
        );
        assert_eq!(words(&"line\n".repeat(100)).len(), 1);
        let many: String = (0..100).map(|n| format!("line {n}\n")).collect();
        assert_eq!(words(&many).len(), MOST);
    }
}
