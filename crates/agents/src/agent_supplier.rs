//! An agent program as a supplier of answers in a conversation.

use super::listen::{AgentFailure, Progress};
use super::{Bounds, Preset, Sandbox};
use cook_protocol::diagnostic::{
    self, Failure, REDACTED, each_text, find_tokens, may_hold_json, without_tokens,
};
use cook_protocol::digest::sha256;
use cook_protocol::model::Access;
use cook_repo::clock::Clock;
use cook_repo::git::Repo;
use cook_repo::process::{Clocks, ControlFlow, INVOCATION_VARIABLE, WORKFLOW_VARIABLE, end_marked};
use cook_repo::session::{Action, Capability, GitStore, Native, Turn};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Receives the progress of a run, and may stop it.
pub type Watch<'a> = Box<dyn FnMut(Progress) -> ControlFlow + 'a>;

/// Reverts what a call may not change, and returns the changes, one line each; `None` if they were not looked for.
pub type PutBack<'a> = Box<dyn FnOnce() -> Result<Option<Vec<String>>, Failure> + 'a>;
/// Begins to guard a call: for [`Action::Ask`] all changes are reverted, for [`Action::Act`] only those of cook's
/// files.
pub type Guard<'a> = dyn Fn(Action) -> Result<PutBack<'a>, Failure> + 'a;

/// The result of a run. Its raw output is in [`Report::kept`], truncated and redacted.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The final text; JSON if the program reported only data.
    pub text: String,
    /// Structured data that the program reported.
    pub data: Option<Value>,
    /// The program's id of the session.
    pub session: Option<String>,
    /// The data from which the session can be forked.
    pub native: Option<Native>,
    /// Tokens of this run, as the program counts them.
    pub usage: Option<Value>,
    /// The cost of this run in millionths of a dollar; `None` if unknown.
    pub cost_micro_usd: Option<u64>,
    /// The summary, if the program compacted its context.
    pub compaction: Option<String>,
    /// The reason why there is no result.
    pub failure: Option<AgentFailure>,
    /// The exit code; `None` if a signal ended it, or it was not started.
    pub exit: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// The type of its last event.
    pub last_event: Option<String>,
    /// The wall-clock time.
    pub duration: Duration,
    /// Whether none of its processes was left, as far as could be determined.
    pub swept: bool,
    /// The directory with `stdout` and `stderr`.
    pub kept: PathBuf,
}

impl Report {
    /// Describes its end in one line: duration, exit code or signal, last event, and the directory of its output.
    pub fn describe_end(&self) -> String {
        if (self.signal, self.exit) == (None, None) {
            return "it was not started".to_owned();
        }
        let mut parts = vec![format!(
            "ended after {}",
            humantime::format_duration(Duration::from_millis(self.duration.as_millis() as u64))
        )];
        match (self.signal, self.exit) {
            (Some(signal), _) => parts.push(format!("by signal {signal}")),
            (None, code) => parts.extend(code.map(|code| format!("with exit code {code}"))),
        }
        parts.push(match &self.last_event {
            Some(event) => format!("last event `{event}`"),
            None => "no event".to_owned(),
        });
        parts.push(format!("its output lies in `{}`", self.kept.display()));
        parts.join(", ")
    }
}

/// An agent with its permissions. It works in one directory, one call at a time.
pub struct AgentSupplier<'a> {
    pub(super) preset: Preset,
    pub(super) dir: PathBuf,
    root: PathBuf,
    pub(super) clocks: Clocks,
    /// The repository, whose state is compared before and after each call.
    pub repo: Option<&'a Repo>,
    /// Reverts changes that a call may not make; `None` if changes are only reported.
    pub guard: Option<Box<Guard<'a>>>,
    /// The model, if it is not the program's default.
    pub model: Option<String>,
    /// The workflow role in which it acts.
    pub role: Option<String>,
    /// The id of the workflow's log.
    pub workflow: Option<String>,
    /// The limits of a call.
    pub bounds: Bounds,
    /// The access, if it is not the action's default: read for `Ask`, write for `Act`.
    pub access: Option<Access>,
    /// The sandbox; `None` to run without one.
    pub sandbox: Option<Sandbox>,
    /// Additional environment variables.
    pub env: Vec<(String, OsString)>,
    /// Receives its progress.
    pub watch: RefCell<Watch<'a>>,
    pub(super) last: RefCell<Option<Report>>,
}

impl<'a> AgentSupplier<'a> {
    /// Creates an agent that works in `dir`. Its files are in the directory `root` of the session store: raw output in
    /// `attempts/<exchange>/`, session files in `native/<agent>/`.
    pub fn new(
        preset: Preset,
        dir: impl Into<PathBuf>,
        root: impl Into<PathBuf>,
        clocks: Clocks,
    ) -> Self {
        Self {
            preset,
            repo: None,
            guard: None,
            dir: dir.into(),
            root: root.into(),
            clocks,
            model: None,
            role: None,
            workflow: None,
            bounds: Bounds::default(),
            access: None,
            sandbox: None,
            env: Vec::new(),
            watch: RefCell::new(Box::new(|_| ControlFlow::Continue)),
            last: RefCell::new(None),
        }
    }

    /// The report of the last call, including its failure.
    pub fn last(&self) -> Option<Report> {
        self.last.borrow().clone()
    }

    pub(super) fn choose_access(&self, action: Action) -> Access {
        if self.preset.capability() == Capability::Atom {
            return Access::None;
        }
        self.access.unwrap_or(match action {
            Action::Ask => Access::Read,
            Action::Act => Access::Write,
        })
    }

    /// The directory of the session files whose path cook chooses.
    pub(super) fn state(&self) -> PathBuf {
        self.root.join("native").join(self.preset.name())
    }

    /// The directory for the output of one call.
    pub(super) fn attempt_dir(&self, turn: &Turn) -> PathBuf {
        self.root.join("attempts").join(turn.name.to_string())
    }
}

/// The mark of all processes of a workflow's agents: the log's id and a digest of its location, because a copy of a
/// repository has the same log id but separate work.
pub fn workflow_mark(workflow: &str, cook_dir: &Path) -> String {
    let place = sha256(cook_dir.as_os_str().as_encoded_bytes());
    format!("{workflow}-{}", &place[..16])
}

/// Kills all remaining processes of a workflow's agents, even if their calls are no longer known. The caller must hold
/// the lease, or know that nobody does. Returns whether there were any.
pub fn end_left(workflow: &str, cook_dir: &Path) -> bool {
    end_marked(WORKFLOW_VARIABLE, &workflow_mark(workflow, cook_dir)) > 0
}

/// Kills the agents of calls whose cook process is gone, and records these calls as interrupted.
///
/// # Errors
/// When the store cannot be read or written.
pub fn settle_left(store: &GitStore, clock: &Clock) -> Result<(), Failure> {
    for call in store.list_interrupted()? {
        end_marked(INVOCATION_VARIABLE, &call.name.to_string());
        store.settle(call, &clock.now())?;
    }
    Ok(())
}

// Redaction of stored text: secrets in well-known formats, and the values of this process's environment variables whose
// names mark them as secret.

/// Suffixes of the names of variables that hold a secret.
const SECRET_NAMES: [&str; 7] = [
    "_KEY",
    "_TOKEN",
    "_SECRET",
    "PASSWORD",
    "PASSWD",
    "_PAT",
    "_CREDENTIALS",
];

/// Shorter values are treated as ordinary words.
const LEAST: usize = 8;

/// Removes recognised secrets from a text.
pub fn redact(text: &str) -> String {
    diagnostic::redact(&without_own(text))
}

/// Removes secrets from an answer. Text that might not be a secret stays, because reports and data are parsed from it.
pub fn redact_answer(text: &str) -> String {
    without_tokens(&without_own(text))
}

/// Removes secrets from every text in the data.
pub fn redact_data(value: &mut Value) {
    match value {
        Value::String(text) => *text = redact_answer(text),
        Value::Array(items) => items.iter_mut().for_each(redact_data),
        Value::Object(fields) => fields.values_mut().for_each(redact_data),
        _ => {}
    }
}

/// The maximum number of bytes of clean texts that are remembered.
const MAX_CLEAN: usize = 16 << 20;

/// Searches texts for secrets. A text without secrets is searched only once, because documents mostly repeat earlier
/// ones.
pub struct SecretSearch {
    /// The secret values of this process's environment.
    own: Vec<String>,
    /// Texts without secrets, and their size.
    clean: HashSet<String>,
    bytes: usize,
}

impl SecretSearch {
    /// Begins with the secrets that this process has now.
    pub fn begin() -> Self {
        Self {
            own: own().collect(),
            clean: HashSet::new(),
            bytes: 0,
        }
    }

    /// Finds what is almost certainly a secret: tokens, private keys, secret values of this process's environment, and
    /// values that an address or a name marks as secret. In JSON, each string is searched.
    pub fn find(&mut self, text: &str) -> Vec<String> {
        let mut due = Vec::new();
        let is_clean = |text: &str| self.clean.contains(text);
        each_text(text, &is_clean, &mut |text| due.push(text.to_owned()));
        let mut found = Vec::new();
        for text in due {
            let before = found.len();
            let own = self.own.iter();
            found.extend(own.filter(|own| text.contains(own.as_str())).cloned());
            found.extend(find_tokens(&text).map(str::to_owned));
            found.extend(find_named(&text));
            // JSON that was nested too deeply here may be parsed in another text.
            let is_clean = found.len() == before && !may_hold_json(&text);
            if is_clean && self.bytes + text.len() <= MAX_CLEAN {
                self.bytes += text.len();
                self.clean.insert(text);
            }
        }
        found
    }
}

/// Replaces the secret values of this process's environment.
fn without_own(text: &str) -> String {
    own().fold(text.to_owned(), |text, value| {
        text.replace(&value, REDACTED)
    })
}

fn own() -> impl Iterator<Item = String> {
    std::env::vars().filter_map(|(name, value)| {
        let upper = name.to_ascii_uppercase();
        let is_secret = SECRET_NAMES.iter().any(|end| upper.ends_with(end));
        (value.len() >= LEAST && is_secret).then_some(value)
    })
}

/// Suffixes of names whose value is a secret.
const ENDS: [&str; 4] = ["PASSWORD", "PASSWD", "TOKEN", "SECRET"];

/// Parts of names, separated by `_`, that mark a secret.
const PARTS: [&str; 5] = ["PASSWORD", "PASSWD", "TOKEN", "SECRET", "PAT"];

/// Names that also count in lower case, as in configuration files.
const SETTINGS: [&str; 2] = ["aws_secret_access_key", "aws_session_token"];

/// A shorter password in an address is treated as an example.
const LEAST_PASSWORD: usize = 5;

/// Placeholders for passwords in examples.
const EXAMPLES: [&str; 6] = [
    "password", "passwd", "secret", "token", "changeme", "redacted",
];

const DOCKER: &str = "dckr_pat_";
/// The minimum number of characters after the prefix.
const LEAST_DOCKER: usize = 20;

/// Finds secrets in addresses, in assignments, and Docker tokens.
pub(crate) fn find_named(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(find_all(text, "://", read_password));
    for sign in ["=", ": "] {
        let read = |before, after| read_value_of(before, sign, after);
        found.extend(find_all(text, sign, read));
    }
    let docker = find_all(text, DOCKER, read_docker).into_iter();
    found.extend(docker.map(|own| format!("{DOCKER}{own}")));
    found
}

/// Calls `read` with the text before and after each occurrence of a sign.
fn find_all<'t>(
    text: &'t str,
    sign: &'t str,
    read: impl Fn(&'t str, &'t str) -> Option<&'t str>,
) -> Vec<String> {
    text.match_indices(sign)
        .filter_map(|(at, _)| read(&text[..at], &text[at + sign.len()..]))
        .map(str::to_owned)
        .collect()
}

/// Reads the password in `scheme://user:password@host`.
fn read_password<'t>(before: &'t str, after: &'t str) -> Option<&'t str> {
    let is_scheme = before.ends_with(|c: char| c.is_ascii_alphanumeric());
    let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`' | '<');
    let authority = &after[..after.find(ends).unwrap_or(after.len())];
    let (login, host) = authority.rsplit_once('@')?;
    let (user, password) = login.split_once(':')?;
    let is_host = host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[');
    let is_secret = password.len() >= LEAST_PASSWORD && user != password && !is_example(password);
    (is_scheme && is_host && is_secret).then_some(password)
}

/// Reads the value in `NAME=value`, where blanks around the sign are allowed only before a quoted value or for
/// settings, or in `NAME: value` if the value extends to the end of the line, as in YAML: the type of a constant is
/// followed by more text.
fn read_value_of<'t>(before: &'t str, sign: &str, after: &'t str) -> Option<&'t str> {
    let (name, has_blank) = read_name(before);
    let is_setting = sign == "=" && is_setting(name);
    if !is_setting && !is_secret_name(name) {
        return None;
    }
    let trimmed = after.trim_start_matches([' ', '\t']);
    let value = read_value(trimmed);
    let stands_so = if sign == "=" {
        let is_apart = has_blank || trimmed.len() < after.len();
        is_setting || !is_apart || trimmed.starts_with(['"', '\''])
    } else {
        let line = after.lines().next().unwrap_or_default();
        !has_blank && line.trim().trim_matches(['"', '\'']) == value
    };
    let is_path = value.starts_with(['/', '.', '~']);
    (stands_so && is_random(value) && (is_setting || !is_path)).then_some(value)
}

fn read_docker<'t>(before: &'t str, after: &'t str) -> Option<&'t str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let own = &after[..after.find(|c| !is_part(c)).unwrap_or(after.len())];
    let begins = !before.ends_with(|c: char| c.is_ascii_alphanumeric());
    (begins && own.len() >= LEAST_DOCKER).then_some(own)
}

/// The name at the end of a text, and whether blanks follow it.
fn read_name(before: &str) -> (&str, bool) {
    let bare = before.trim_end_matches([' ', '\t']);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begin = bare
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_part(*c))
        .last()
        .map_or(bare.len(), |(at, _)| at);
    (&bare[begin..], bare.len() < before.len())
}

/// Whether an upper-case name marks a secret.
fn is_secret_name(name: &str) -> bool {
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.bytes().all(is_capital)
        && (ENDS.iter().any(|end| name.ends_with(end))
            || name.split('_').any(|part| PARTS.contains(&part)))
}

fn is_setting(name: &str) -> bool {
    SETTINGS
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// The text in quotes, or up to the end of a shell word.
fn read_value(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote) {
            return &inside[..inside.find([quote, '\n']).unwrap_or(inside.len())];
        }
    }
    let ends =
        |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | ',' | '`' | '"' | '\'' | '\\');
    &text[..text.find(ends).unwrap_or(text.len())]
}

/// Whether a value mixes letters and digits, and is not a placeholder or a call.
fn is_random(value: &str) -> bool {
    let is_one =
        |c: char| !c.is_whitespace() && !matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>');
    value.len() >= LEAST
        && value.chars().all(is_one)
        && value.contains(|c: char| c.is_ascii_digit())
        && value.contains(|c: char| c.is_ascii_alphabetic())
        && !value.contains("://")
        && !is_example(value)
}

fn is_example(value: &str) -> bool {
    let low = value.to_ascii_lowercase();
    let first = value.chars().next();
    value.starts_with(['$', '%', '<', '[', '=', '('])
        || value.contains(['{', '}'])
        || value.chars().all(|c| Some(c) == first)
        || EXAMPLES.contains(&low.trim_matches(|c: char| !c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod named_tests {
    use super::*;

    #[test]
    fn what_a_name_or_an_address_tells_is_found() {
        for (text, secret) in [
            (
                "git clone https://bob:hunter2x@example.org/r.git",
                "hunter2x",
            ),
            ("redis://:correct-horse@cache:6379/0", "correct-horse"),
            ("url = \"postgres://app:s3cr3t%21@db/x\"", "s3cr3t%21"),
            ("PGPASSWORD=hunter2hunter2 psql -h db", "hunter2hunter2"),
            ("export GITHUB_PAT='a1b2c3d4e5f6'", "a1b2c3d4e5f6"),
            ("+MY_TOKEN_OLD=a1b2c3d4e5f6;", "a1b2c3d4e5f6"),
            ("DB_PASSWORD: hunter2hunter2\n", "hunter2hunter2"),
            ("CLIENT_SECRET = \"a1b2c3d4e5f6\"", "a1b2c3d4e5f6"),
            (
                "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            ),
            (
                "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG",
                "wJalrXUtnFEMI/K7MDENG",
            ),
            (
                "docker login -p dckr_pat_a1B2a1B2a1B2a1B2a1B2",
                "dckr_pat_a1B2a1B2a1B2a1B2a1B2",
            ),
        ] {
            assert_eq!(find_named(text), [secret], "{text}");
        }
    }

    #[test]
    fn prose_code_and_placeholders_are_none() {
        for text in [
            "see https://example.org:8080/a?b=c and https://example.org/@scope/b1",
            "ssh://git@example.org:22/x, git@example.org:a/b.git",
            "https://user:pass@host, https://user:password@host, https://u:$TOKEN@h, https://u:${T1}@h",
            "https://u:<password>@h https://u:****@h https://u:[redacted]@h",
            "postgres://postgres:postgres@localhost:5432/x",
            "PASSWORD=$1 TOKEN=${TOKEN:-none} SECRET=\"$(pass show a1)\"",
            "TOKEN=required PASSWORD=changeme SECRET_FILE=/run/secrets/db1",
            "MAX_TOKEN = 1000000, TOKEN_LIMIT=20000000",
            "TOKEN == \"a1b2c3d4e5f6\" and token=a1b2c3d4e5f6 in prose",
            "GITHUB_TOKEN: ${{ secrets.TOKEN_V2 }}",
            "PATH=/usr/local/bin1:/bin PATTERN=a1b2c3d4e5f6",
            "the TOKEN: it names the 2nd thing, pub const X_TOKEN: _bindgen_ty_5 = 1;",
            "let PASSWORD = read_password1(x);",
            "dckr_pat_short, my_dckr_pattern",
            "",
        ] {
            assert_eq!(find_named(text), [""; 0], "{text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_text_with_a_secret_is_told_each_time_and_one_without_is_remembered() {
        let mut search = SecretSearch::begin();
        let token = format!("ghp_{}", "a1".repeat(18));
        let text = format!(
            r#"{{"plain": "words", "list": ["\u0067{}", "words"]}}"#,
            &token[1..]
        );
        for _ in 0..2 {
            assert_eq!(search.find(&text), std::slice::from_ref(&token));
        }
        let clean: BTreeSet<&str> = search.clean.iter().map(String::as_str).collect();
        assert_eq!(clean, BTreeSet::from(["list", "plain", "words"]));
    }

    #[test]
    fn what_stood_too_deep_to_be_read_is_read_where_it_does_not() {
        let mut search = SecretSearch::begin();
        let token = format!("ghp_{}", "a1".repeat(18));
        let text = format!(r#"{{"list": "\u0067{}"}}"#, &token[1..]);
        let deep = (0..8).fold(text.clone(), |text, _| {
            serde_json::to_string(&text).unwrap()
        });
        assert!(search.find(&deep).is_empty());
        assert_eq!(search.find(&text), [token]);
    }

    #[test]
    fn secrets_go_and_words_stay() {
        for secret in [
            "sk-ant-api03-abcdefghijklmnop",
            "ghp_abcdefghijklmnopqrstuvwx",
            "AKIAABCDEFGHIJKLMNOP",
        ] {
            let text = redact(&format!("before {secret}, after"));
            assert_eq!(text, "before [redacted], after");
        }
        assert_eq!(redact("KEY=sk-abcdefghijklmnopqrst"), "KEY=[redacted]");
        let header = redact("{\"Authorization\": \"Bearer abcdef0123456789XYZ\"}");
        assert_eq!(header, "{\"Authorization\": \"Bearer [redacted]\"}");
        let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(redact(key), "a\n[redacted]\nb");
        for harmless in [
            "the sk-learn package",
            "bearer of news",
            "-----BEGIN CERTIFICATE-----",
            "é sk- ghp_ ü",
            "",
        ] {
            assert_eq!(redact(harmless), harmless);
        }
    }
}
