//! Values of `cook.toml` that are more than their text: read once, and right from there on.

use super::surface::is_pattern;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;

/// A length of time above 0, as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span {
    text: String,
    length: Duration,
}

impl Span {
    /// How long it is.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// A default.
    pub(super) fn of(text: &str) -> Self {
        Self::try_from(text.to_owned()).unwrap_or_else(|why| panic!("{why}"))
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match humantime::parse_duration(&text) {
            Ok(length) if length.is_zero() => Err(format!("`{text}` must be longer than 0")),
            Ok(length) => Ok(Self { text, length }),
            Err(why) => Err(format!("`{text}`: {why}")),
        }
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.text
    }
}

/// US dollars, at least 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Dollars(pub f64);

impl TryFrom<f64> for Dollars {
    type Error = String;

    fn try_from(dollars: f64) -> Result<Self, String> {
        match dollars.is_finite() && dollars >= 0.0 {
            true => Ok(Self(dollars)),
            false => Err(format!("{dollars} must be at least 0")),
        }
    }
}

/// Texts that only some words may be: what refuses a word stands beside its type.
macro_rules! checked_texts {
    ($($(#[$doc:meta])* $name:ident: $check:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                let check: fn(&str) -> Result<(), String> = $check;
                check(&text).map(|()| Self(text))
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

checked_texts! {
    /// A command: words as a shell splits them, run without one.
    CommandLine: check_command;
    /// Paths from the root of the worktree, with `*` and `**`.
    Pattern: check_pattern;
    /// Whom a table of `[roles]` is for.
    RoleKey: check_role;
    /// The name of a table of `[agents]`.
    AgentName: check_agent;
    /// Where a socket is: a whole path, or `$NAME` of the variable that holds it.
    SocketPath: check_socket;
    /// A directory that stays from run to run: a path from the root, or a name at any depth.
    CachePath: check_repo_path;
    /// A path from the root of the repository, without patterns.
    RepoPath: check_repo_path;
    /// The name of an environment variable.
    VariableName: check_variable;
}

/// A command, and the folder that it runs in where that is not the root: `"npm ci"`, or
/// `{ run = "npm ci", dir = "web" }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a command, or a table of `run` and `dir`"
)]
pub enum Command {
    /// At the root.
    AtRoot(CommandLine),
    /// In a folder.
    In(CommandIn),
}

/// A command in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandIn {
    /// The command.
    pub run: CommandLine,
    /// The folder.
    pub dir: RepoPath,
}

impl Command {
    /// The folder; nothing = the root.
    pub fn dir(&self) -> &str {
        match self {
            Self::AtRoot(_) => "",
            Self::In(command) => command.dir.trim_matches('/'),
        }
    }
}

impl Deref for Command {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::AtRoot(run) => run,
            Self::In(command) => &command.run,
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self)
    }
}

/// One command, or several.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "OneOrMore", into = "Vec<Command>")]
pub struct Commands(pub Vec<Command>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a command, or a list of commands")]
enum OneOrMore {
    // First: a table may be written as a list of its fields, and two commands are none.
    More(Vec<Command>),
    One(Command),
}

impl From<OneOrMore> for Commands {
    fn from(given: OneOrMore) -> Self {
        match given {
            OneOrMore::One(command) => Self(vec![command]),
            OneOrMore::More(commands) => Self(commands),
        }
    }
}

impl From<Commands> for Vec<Command> {
    fn from(commands: Commands) -> Self {
        commands.0
    }
}

impl Deref for Commands {
    type Target = [Command];

    fn deref(&self) -> &[Command] {
        &self.0
    }
}

fn check_command(text: &str) -> Result<(), String> {
    match shell_words::split(text) {
        Ok(words) if words.is_empty() => Err("the command is empty".to_owned()),
        Ok(_) => Ok(()),
        Err(_) => Err(format!("`{text}` has an open quote")),
    }
}

fn check_pattern(text: &str) -> Result<(), String> {
    match is_pattern(text) {
        true => Ok(()),
        false => Err(format!(
            "`{text}` names nothing: a pattern is a path from the root of the worktree, without `..`"
        )),
    }
}

fn check_repo_path(text: &str) -> Result<(), String> {
    let plain = text.trim_matches('/');
    let is_plain = plain
        .split('/')
        .all(|part| !matches!(part, "" | "." | ".." | ".git"))
        && !plain.contains(['*', '?', '[', '\\', '\n']);
    match is_plain {
        true => Ok(()),
        false => Err(format!(
            "`{text}` must be a path from the root of the repository, without `..`, `.git` or patterns"
        )),
    }
}

fn check_variable(name: &str) -> Result<(), String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let digit = name.as_bytes().first().is_some_and(u8::is_ascii_digit);
    match !name.is_empty() && !digit && name.bytes().all(fits) {
        true => Ok(()),
        false => Err(format!(
            "`{name}` must be the name of a variable: letters, digits and `_`"
        )),
    }
}

fn check_role(name: &str) -> Result<(), String> {
    const ROLES: [&str; 7] = [
        "default",
        "bootstrapper",
        "regrounder",
        "implementer",
        "reviewer",
        "auditor",
        "stop-judge",
    ];
    match ROLES.contains(&name) {
        true => Ok(()),
        false => Err(format!("unknown role `{name}`{}", nearest(name, &ROLES))),
    }
}

fn check_agent(name: &str) -> Result<(), String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match (1..=40).contains(&name.len()) && name.bytes().all(fits) {
        true => Ok(()),
        false => Err(format!(
            "`{}` is not a name of letters, digits, `-` and `_`, at most 40",
            name.escape_debug()
        )),
    }
}

fn check_socket(text: &str) -> Result<(), String> {
    let fits = match text.strip_prefix('$') {
        Some(name) => {
            let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            !name.is_empty() && name.bytes().all(word)
        }
        None => text.starts_with('/') && !text.split('/').any(|part| part == ".."),
    };
    match fits {
        true => Ok(()),
        false => Err(format!(
            "`{}` is not a path from `/` on without `..`, nor `$NAME` of a variable that holds one",
            text.escape_debug()
        )),
    }
}

/// The known word that was probably meant.
pub(super) fn nearest(key: &str, known: &[&str]) -> String {
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(key, name), name))
        .min()
        .filter(|(distance, name)| *distance <= name.len().max(3) / 2 + 1)
        .map(|(_, name)| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}
