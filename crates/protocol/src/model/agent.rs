//! Agent programs as data: how cook starts one and reads its output, which directories it uses, and the agents that
//! cook knows.

use super::hook_table::HookTable;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use toml::{Table, Value};

/// The kinds of supplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// A model that answers once, without tools.
    Atom,
    /// An agent with tools.
    Repl,
}

/// How a supplier can continue an earlier session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Continuation {
    /// By a fork of the program's own session record; by replay otherwise.
    Native,
    /// By a prompt that contains the earlier exchanges.
    Replay,
    /// Not at all.
    None,
}

/// The interface between cook and a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// The prompt on stdin; events or the answer on stdout.
    #[default]
    Command,
    /// The Agent Client Protocol, version 1: JSON-RPC 2.0 over stdio.
    Acp,
}

/// The format of a program's stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventFormat {
    /// One JSON object per line, which the rules evaluate.
    Json,
    /// The answer, as plain text.
    Text,
}

/// Who names a new session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionNaming {
    /// cook, with a UUID.
    Uuid,
    /// cook, with the path of a file that the program writes.
    Path,
    /// The program; its events contain the name.
    None,
}

/// The signal that asks a program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum EndSignal {
    /// SIGINT.
    Int,
    /// SIGTERM.
    Term,
}

/// The scope of a number that a program reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// The event that reports it; the numbers are added up.
    Event,
    /// This run; the last number counts.
    Run,
    /// The whole thread with all earlier runs; the increase since the last run counts.
    Thread,
}

/// How cook checks that a program is the right one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identify {
    /// Arguments that make the program identify itself.
    pub args: Vec<String>,
    /// Text that the output must contain; case is ignored.
    #[serde(rename = "match")]
    pub text: String,
}

/// Arguments and variables for one level of access.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AccessArgs {
    /// The arguments that replace `{access}`.
    pub args: Vec<String>,
    /// The same for a command that continues an earlier session, if it differs.
    pub continued: Option<Vec<String>>,
    /// Environment variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// Where a program keeps its own record of a session: in a file below a directory, with the session's id in the file's
/// name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranscriptPlace {
    /// The environment variable that names the program's home directory.
    pub variable: String,
    /// The program's home directory if the variable is not set, relative to the user's.
    pub home: String,
    /// The directory within it to search.
    pub under: String,
}

/// The values that a rule reads from an event, as paths into it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Taken {
    pub session: Option<String>,
    pub text: Option<String>,
    pub text_delta: Option<String>,
    pub data: Option<String>,
    pub error: Option<String>,
    pub usage: Option<String>,
    pub cost: Option<String>,
    pub progress: Option<String>,
    pub compaction: Option<String>,
    pub reset_at: Option<String>,
    /// The size of the model's context window, in tokens.
    pub window: Option<String>,
    /// A notice that the program waits for something or tries again.
    pub notice: Option<String>,
    /// A value that is different for each request to the model.
    pub request: Option<String>,
    /// The tokens of that request; needed if `usage` comes only at the end.
    pub spent: Option<String>,
    /// The program tries again; the earlier error no longer counts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// Text that follows replaces the text so far as the answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub text_break: bool,
    /// The program has finished its work.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
}

/// A required value, or a list of allowed ones; `*` means any value, and a leading `!` any other value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum Wanted {
    Flag(bool),
    Text(String),
    Any(Vec<String>),
}

/// A rule for the events of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Path → required value; all must match.
    pub when: BTreeMap<String, Wanted>,
    /// The values to read if they do.
    pub set: Taken,
}

/// The preset of an agent, or a user's changes to one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentTable {
    /// The built-in preset that this table changes; by default the one of the same name.
    pub extends: Option<String>,
    /// The interface to the program.
    pub kind: Option<AgentKind>,
    /// The program.
    pub bin: Option<String>,
    /// How the program is identified.
    pub identify: Option<Identify>,
    /// Arguments that make it print its version.
    pub version: Option<Vec<String>>,
    /// Versions that are known to work; empty if none was verified.
    pub verified: Option<Vec<String>>,
    /// The format of the program's stdout.
    pub events: Option<EventFormat>,
    /// The kind of supplier.
    pub capability: Option<Capability>,
    /// How it can continue an earlier session.
    pub continuation: Option<Continuation>,
    /// Arguments for a fresh session.
    pub start: Option<Vec<String>>,
    /// Arguments to continue an earlier session in place. cook never uses them, because that would change the session.
    pub resume: Option<Vec<String>>,
    /// Arguments to fork an earlier session.
    pub fork: Option<Vec<String>>,
    /// Arguments to open the program's own interface on a fork of an earlier session.
    pub open: Option<Vec<String>>,
    /// Who names a new session.
    pub session: Option<SessionNaming>,
    /// The arguments that replace `{model}`.
    pub model: Option<Vec<String>>,
    /// The arguments that replace `{schema}`.
    pub schema: Option<Vec<String>>,
    /// The arguments that replace `{access}`, by level.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub access: BTreeMap<Access, AccessArgs>,
    /// The signal that asks it to end.
    pub interrupt: Option<EndSignal>,
    /// Environment variables for every run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The agent's own directories, which are writable in the sandbox too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<StateDirectory>,
    /// The size of the context window, in tokens.
    pub window_tokens: Option<u64>,
    /// The part of the context window that is reserved for the answer, in tokens.
    pub reserve_tokens: Option<u64>,
    /// Where it keeps its own record of a session.
    pub transcript: Option<TranscriptPlace>,
    /// The scope of reported tokens.
    pub usage: Option<Counting>,
    /// The scope of a reported cost.
    pub cost: Option<Counting>,
    /// The rules for its events.
    #[serde(rename = "rule", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
}

impl AgentTable {
    /// Merges this table over `base`. Access levels and variables are merged one by one, `writes` are added to
    /// those of `base`, and every other value of this table, such as the list of rules, replaces that of `base`.
    ///
    /// # Errors
    /// Only if a table cannot be converted to TOML or back, which does not happen for tables that were parsed.
    pub fn over(&self, base: &Self) -> Result<Self, String> {
        let read = |table: &Self| Table::try_from(table).map_err(|error| error.to_string());
        let mut merged = read(base)?;
        for (key, value) in read(self)? {
            match (merged.get_mut(&key), value) {
                (Some(Value::Table(known)), Value::Table(own)) => known.extend(own),
                (Some(Value::Array(known)), Value::Array(own)) if key == "writes" => {
                    known.extend(own);
                }
                (_, value) => drop(merged.insert(key, value)),
            }
        }
        merged.remove("extends");
        merged.try_into().map_err(|error| error.to_string())
    }
}

/// What a session may do to the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Access {
    /// No tools at all, not even to read.
    None,
    Read,
    Write,
    Full,
}

// The agent's own directories, which hold its sessions, logins, caches and settings.

/// A directory that an agent writes to: `"~/.mine"`, `"/var/lib/mine"`, `"$MINE_HOME"`, or a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct StateDirectory {
    /// A path relative to the user's home, or an absolute one; empty if only a variable names the directory.
    pub home: String,
    /// The environment variable that overrides `home`.
    pub variable: Option<String>,
    /// The directory below the variable's value; empty for the value itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub under: String,
    /// Paths in it that can make later sessions start programs: hooks, MCP servers, extensions. The name of a
    /// directory ends with `/`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

/// The forms in which a file can write it.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Written {
    Text(String),
    Table {
        home: String,
        variable: Option<String>,
        #[serde(default)]
        under: String,
        #[serde(default)]
        settings: Vec<String>,
    },
}

impl TryFrom<Written> for StateDirectory {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let text = match written {
            Written::Table {
                home,
                variable,
                under,
                settings,
            } => {
                return Ok(Self {
                    home,
                    variable,
                    under,
                    settings,
                });
            }
            Written::Text(text) => text,
        };
        let of = |home: &str, variable: Option<&str>| Self {
            home: home.to_owned(),
            variable: variable.map(str::to_owned),
            under: String::new(),
            settings: Vec::new(),
        };
        let leads_out = Path::new(&text)
            .components()
            .any(|part| part.as_os_str() == "..");
        let directory = match (text.strip_prefix("~/"), text.strip_prefix('$')) {
            _ if leads_out => None,
            (Some(rest), _) if !rest.is_empty() => Some(of(rest, None)),
            (_, Some(name)) if !name.is_empty() => Some(of("", Some(name))),
            _ if text.len() > 1 && text.starts_with('/') => Some(of(&text, None)),
            _ => None,
        };
        directory.ok_or_else(|| {
            format!(
                "`{}` is not a directory: `~/NAME`, a path from `/` on without `..`, or `$NAME` of a variable that holds one",
                text.escape_debug()
            )
        })
    }
}

impl StateDirectory {
    /// Returns its path, from the user's home and the value of the variable; `None` if neither gives an absolute path.
    pub fn place(
        &self,
        home: Option<&Path>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Option<PathBuf> {
        let named = self.variable.as_deref().and_then(variable);
        let place = match named.filter(|place| !place.is_empty()) {
            Some(place) => PathBuf::from(place).join(&self.under),
            None if self.home.is_empty() => return None,
            None if self.home.starts_with('/') => PathBuf::from(&self.home),
            None => home?.join(&self.home),
        };
        place.is_absolute().then_some(place)
    }
}

// The agents that cook knows: one embedded file each from `protocol/agents/`, parsed on first use.

macro_rules! files {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../../protocol/agents/", $name, ".toml")))),*]
    };
}

/// The names of the agents, with the text of their files.
const FILES: &[(&str, &str)] = &files! {
    "claude" "codex" "gemini" "qwen" "copilot" "cursor" "opencode" "pi" "aider" "amp"
    "cline" "gemini-acp" "goose" "kimi" "opencode-acp" "qwen-acp"
};

static KNOWN: [OnceLock<KnownAgent>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

/// How to detect that a process runs within an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Markers {
    /// The environment variable that holds the session's id.
    pub session: Option<String>,
    /// Variables that the agent sets for its child processes, each of which was observed there. Variables that a
    /// person may export are not markers.
    pub set: Vec<String>,
    /// The name of the agent's process if it sets no variable; its children are recognized as descendants of it.
    pub program: Option<String>,
    /// How the agent names its session to an MCP server, if it gives servers none of its variables.
    pub mcp: Option<McpMarker>,
}

/// How an agent names its session when it calls an MCP tool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpMarker {
    /// The client name that it sends to the server.
    pub client: String,
    /// The field of a request's `_meta` that holds the session's id.
    pub session: String,
}

impl Markers {
    /// Whether the agent sets a variable of this name.
    pub fn include(&self, variable: &str) -> bool {
        self.set.iter().any(|name| name == variable)
    }
}

/// An agent that cook knows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownAgent {
    #[serde(skip)]
    name: &'static str,
    /// How to detect that a process runs within it.
    #[serde(default)]
    pub markers: Markers,
    /// How cook starts it and reads its output.
    pub preset: AgentTable,
    /// Its lifecycle hooks, if it has any.
    #[serde(default)]
    pub hooks: Option<HookTable>,
}

impl KnownAgent {
    /// Returns all known agents.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        (0..FILES.len()).map(Self::at)
    }

    /// Returns the agent of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        let index = FILES.iter().position(|(known, _)| *known == name)?;
        Some(Self::at(index))
    }

    /// Returns the names of all known agents.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// Returns the names of the agents whose file contains this line. It parses no file, because each start of the
    /// program builds help texts from these names and seldom shows them.
    pub fn list_names_with(line: &str) -> impl Iterator<Item = &'static str> + use<> {
        let line = format!("\n{line}\n");
        FILES
            .iter()
            .filter(move |(_, text)| text.contains(&line))
            .map(|(name, _)| *name)
    }

    /// Returns the agents whose hooks may be installed: a path that `[hooks.install]` names exists, or a variable
    /// that moves one is set. It does not parse the files of the others.
    pub fn list_with_hooks(
        is_there: impl Fn(&str) -> bool,
        is_set: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = &'static Self> {
        let files = FILES.iter().enumerate();
        let found = files.filter(move |(_, (_, text))| {
            list_hook_places(text).any(&is_there) || list_variables(text).any(&is_set)
        });
        found.map(|(index, _)| Self::at(index))
    }

    /// Returns the agent's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    fn at(index: usize) -> &'static Self {
        KNOWN[index].get_or_init(|| {
            let (name, text) = FILES[index];
            // The files are embedded, and a test parses each of them.
            let known: Self = toml::from_str(text)
                .unwrap_or_else(|error| panic!("protocol/agents/{name}.toml: {error}"));
            Self { name, ..known }
        })
    }
}

/// Returns the paths where an agent's hooks are installed, without parsing its file; a test compares them with the
/// parsed file.
fn list_hook_places(text: &str) -> impl Iterator<Item = &str> {
    let (_, part) = text.split_once("\n[hooks.install]\n").unwrap_or_default();
    let lines = part.lines().take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| {
        let place = line.strip_prefix("personal = \"");
        let place = place.or(line.strip_prefix("shared = \""))?;
        place.strip_suffix('"')
    })
}

/// Returns the environment variables that an agent's file names for its directories.
fn list_variables(text: &str) -> impl Iterator<Item = &str> {
    let named = text.split("variable = \"").skip(1);
    let named = named.chain(text.split("\"$").skip(1));
    named.filter_map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        Some(&rest[..end?])
    })
}

#[cfg(test)]
mod tests_of_directory {
    use super::*;

    #[test]
    fn places_of_hooks_are_found_without_parsing() {
        for (index, (name, text)) in FILES.iter().enumerate() {
            let known = KnownAgent::at(index);
            let install = known.hooks.as_ref().map(|hooks| &hooks.install);
            let parsed: Vec<&str> = install
                .iter()
                .flat_map(|install| {
                    std::iter::once(&*install.personal).chain(install.shared.as_deref())
                })
                .collect();
            assert_eq!(list_hook_places(text).collect::<Vec<_>>(), parsed, "{name}");
            let found: Vec<&str> = list_variables(text).collect();
            let writes = known.preset.writes.iter();
            for variable in writes.filter_map(|directory| directory.variable.as_deref()) {
                assert!(found.contains(&variable), "{name}: {variable}");
            }
        }
    }

    #[derive(Deserialize)]
    struct File {
        writes: Vec<StateDirectory>,
    }

    #[test]
    fn a_directory_is_named_in_four_ways() {
        let file: File = toml::from_str(
            "writes = [\"~/.mine\", \"/var/lib/mine\", \"$MINE\", { home = \".x\", variable = \"Y\", under = \"z\" }]",
        )
        .unwrap();
        let places = |value: Option<&str>| -> Vec<Option<PathBuf>> {
            let variable = |_: &str| value.map(OsString::from);
            let home = Some(Path::new("/home/me"));
            file.writes
                .iter()
                .map(|one| one.place(home, variable))
                .collect()
        };
        let path = |text: &str| Some(PathBuf::from(text));
        let fixed = [path("/home/me/.mine"), path("/var/lib/mine")];
        assert_eq!(places(Some("/v"))[..2], fixed);
        assert_eq!(places(Some("/v"))[2..], [path("/v/"), path("/v/z")]);
        assert_eq!(places(None)[2..], [None, path("/home/me/.x")]);
        assert_eq!(places(Some("relative"))[2..], [None, None]);
    }

    #[test]
    fn what_names_no_directory_is_refused() {
        for text in ["", "~", "~/", "/", "$", "relative", "~/../x", "/a/../b"] {
            let file = toml::from_str::<File>(&format!("writes = [{text:?}]"));
            assert!(file.is_err(), "{text}");
        }
    }
}

#[cfg(test)]
mod tests_of_known {
    use super::*;

    #[test]
    fn every_file_is_listed_and_sound() {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocol/agents");
        let mut files: Vec<String> = std::fs::read_dir(here)
            .unwrap_or_else(|e| panic!("{e}"))
            .flatten()
            .filter_map(|entry| {
                Some(
                    entry
                        .file_name()
                        .to_str()?
                        .strip_suffix(".toml")?
                        .to_owned(),
                )
            })
            .collect();
        let mut names: Vec<&str> = KnownAgent::all().map(KnownAgent::name).collect();
        files.sort();
        names.sort_unstable();
        assert_eq!(names, files);
        let those = |is: fn(&HookTable) -> bool| -> Vec<&str> {
            KnownAgent::all()
                .filter(|known| known.hooks.as_ref().is_some_and(is))
                .map(KnownAgent::name)
                .collect()
        };
        let with = |line: &str| KnownAgent::list_names_with(line).collect::<Vec<_>>();
        assert_eq!(with("[hooks]"), those(|_| true));
        assert_eq!(
            with("statusline = true"),
            those(|hooks| hooks.install.statusline)
        );
    }

    #[test]
    fn a_session_variable_is_a_marker() {
        for known in KnownAgent::all() {
            let session = known.markers.session.as_ref();
            assert!(session.is_none_or(|name| known.markers.include(name)));
        }
    }

    #[test]
    fn a_key_that_means_nothing_is_refused() {
        for (part, key) in [
            ("", "colour = 1"),
            ("[markers]", "sets = []"),
            ("[preset]", "bn = \"x\""),
        ] {
            let text = format!(
                "{part}\n{key}\n{}",
                if part == "[preset]" { "" } else { "[preset]" }
            );
            assert!(toml::from_str::<KnownAgent>(&text).is_err(), "{text}");
        }
    }
}
