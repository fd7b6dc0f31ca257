//! Agent programs as data: how one is started and read, what it keeps for itself, and those that cook knows.

use super::hook_table::HookTable;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use toml::{Table, Value};

/// What a supplier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// A model that answers once.
    Atom,
    /// An agent with tools.
    Repl,
}

/// How a supplier can go on from what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Continuation {
    /// By a fork of its own record, and by replay.
    Native,
    /// By being told what was said.
    Replay,
    /// Not at all.
    None,
}

/// How cook and a program speak with each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// The prompt on stdin, events or the answer on stdout.
    #[default]
    Command,
    /// The Agent Client Protocol, version 1: JSON-RPC 2.0 over stdio.
    Acp,
}

/// What a program writes to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventFormat {
    /// One JSON object a line, read by the rules.
    Json,
    /// The answer itself.
    Text,
}

/// Who names a new session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionNaming {
    /// Cook, with a UUID.
    Uuid,
    /// Cook, with the path of a file that the program writes.
    Path,
    /// The program; its events say how.
    None,
}

/// The signal that a program takes as a request to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum EndSignal {
    /// SIGINT.
    Int,
    /// SIGTERM.
    Term,
}

/// What a number that a program reports counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// The event it stands in: they are added up.
    Event,
    /// This run: the last one counts.
    Run,
    /// The whole thread with all earlier runs: the difference to before counts.
    Thread,
}

/// How it is made sure that a program is the one meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identify {
    /// Arguments of the question.
    pub args: Vec<String>,
    /// Text that the answer holds, whatever the case.
    #[serde(rename = "match")]
    pub text: String,
}

/// Arguments and variables for one level of access.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AccessArgs {
    /// What `{access}` stands for.
    pub args: Vec<String>,
    /// The same where an earlier session is gone on from, if that differs.
    pub continued: Option<Vec<String>>,
    /// Variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// Where a program keeps its own record of a session: the file under a directory whose
/// name holds the session's id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TranscriptPlace {
    /// The variable that names the program's home.
    pub variable: String,
    /// Its home when that is not set, below the user's.
    pub home: String,
    /// The directory in it.
    pub under: String,
}

/// What a rule takes out of an event: paths into it.
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
    /// Tokens that its model can have before it.
    pub window: Option<String>,
    /// What it says it waits for or tries again.
    pub notice: Option<String>,
    /// A request to the model: what tells it from others.
    pub request: Option<String>,
    /// Tokens of that request, where `usage` comes only at the end.
    pub spent: Option<String>,
    /// What failed is tried again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// What was said so far is not the answer if more comes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub text_break: bool,
    /// The work is done.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
}

/// A value, or one of several; `*` = present, a leading `!` = another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum Wanted {
    Flag(bool),
    Text(String),
    Any(Vec<String>),
}

/// One rule over the event stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Path → value; all must hold.
    pub when: BTreeMap<String, Wanted>,
    /// What is taken then.
    pub set: Taken,
}

/// A preset, or what a user's table changes of one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentTable {
    /// The built-in preset that this table changes; its own name by default.
    pub extends: Option<String>,
    /// How it is spoken with.
    pub kind: Option<AgentKind>,
    /// The program.
    pub bin: Option<String>,
    /// How it is recognised.
    pub identify: Option<Identify>,
    /// Arguments that make it print its version.
    pub version: Option<Vec<String>>,
    /// Versions that were seen to work; empty = unverified.
    pub verified: Option<Vec<String>>,
    /// What it writes.
    pub events: Option<EventFormat>,
    /// What it is.
    pub capability: Option<Capability>,
    /// How it goes on.
    pub continuation: Option<Continuation>,
    /// Arguments for a fresh session.
    pub start: Option<Vec<String>>,
    /// Arguments that go on in an earlier session. Cook never does: it would change it.
    pub resume: Option<Vec<String>>,
    /// Arguments for a fork of an earlier session.
    pub fork: Option<Vec<String>>,
    /// Arguments for the program's own interface on a fork of an earlier session.
    pub open: Option<Vec<String>>,
    /// Who names a session.
    pub session: Option<SessionNaming>,
    /// What `{model}` stands for.
    pub model: Option<Vec<String>>,
    /// What `{schema}` stands for.
    pub schema: Option<Vec<String>>,
    /// What `{access}` stands for, by level.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub access: BTreeMap<Access, AccessArgs>,
    /// How it is asked to end.
    pub interrupt: Option<EndSignal>,
    /// Variables for every run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Directories of its own, which it may write in the sandbox too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<StateDirectory>,
    /// Tokens it can have before it.
    pub window_tokens: Option<u64>,
    /// Tokens of those that are kept for the answer.
    pub reserve_tokens: Option<u64>,
    /// Where it keeps its record.
    pub transcript: Option<TranscriptPlace>,
    /// What reported tokens count.
    pub usage: Option<Counting>,
    /// What a reported cost counts.
    pub cost: Option<Counting>,
    /// How events are read.
    #[serde(rename = "rule", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
}

impl AgentTable {
    /// This table, with what `base` says where this one is silent. Levels of access and
    /// variables are taken one by one, rules all or none; directories are added.
    ///
    /// # Errors
    /// None: both are tables that were read.
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
    /// Not even read: no tools at all.
    None,
    Read,
    Write,
    Full,
}

// Directories of an agent's own: where it keeps sessions, logins, caches and settings.

/// A directory that an agent writes to: `"~/.mine"`, `"/var/lib/mine"`, `"$MINE_HOME"`, or a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct StateDirectory {
    /// Below the user's home, or from `/` on; empty where only a variable names it.
    pub home: String,
    /// The variable that names another place.
    pub variable: Option<String>,
    /// The directory in that place; empty = the place itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub under: String,
    /// What in it makes later sessions start programs: hooks, servers of tools, extensions. A
    /// directory's name ends with `/`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

/// As a file writes it.
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
    /// Where it is, by the user's home and the value of a variable; none where neither says.
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

// The agents that cook knows: one file each in `protocol/agents/`, embedded, read when one
// is asked for and kept from then on.

macro_rules! files {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../../protocol/agents/", $name, ".toml")))),*]
    };
}

/// The files, by the name of the agent.
const FILES: &[(&str, &str)] = &files! {
    "claude" "codex" "gemini" "qwen" "copilot" "cursor" "opencode" "pi" "aider" "amp"
    "cline" "gemini-acp" "goose" "kimi" "opencode-acp" "qwen-acp"
};

static KNOWN: [OnceLock<KnownAgent>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

/// Variables by which an agent is seen to be around a process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Markers {
    /// The one that holds the id of the session.
    pub session: Option<String>,
    /// Those that the agent sets for its children, each seen there. What a person exports is none.
    pub set: Vec<String>,
    /// The name of its process, where it sets none: its children descend from that.
    pub program: Option<String>,
    /// Where it says so instead to a server of tools, which gets none of them.
    pub mcp: Option<McpMarker>,
}

/// How an agent says in a call of a tool which session it is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpMarker {
    /// The name by which it greets the server.
    pub client: String,
    /// The field of a request's `_meta` that holds the id of the session.
    pub session: String,
}

impl Markers {
    /// Whether a variable of that name is one.
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
    /// How it is noticed.
    #[serde(default)]
    pub markers: Markers,
    /// How it is started and read.
    pub preset: AgentTable,
    /// Its lifecycle hooks, if it has any.
    #[serde(default)]
    pub hooks: Option<HookTable>,
}

impl KnownAgent {
    /// All of them.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        (0..FILES.len()).map(Self::at)
    }

    /// The agent of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        let index = FILES.iter().position(|(known, _)| *known == name)?;
        Some(Self::at(index))
    }

    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|(name, _)| *name)
    }

    /// The names of those whose file has this line. For texts that every start of the
    /// program puts together, most of them for nothing: no file is parsed.
    pub fn list_names_with(line: &str) -> impl Iterator<Item = &'static str> + use<> {
        let line = format!("\n{line}\n");
        FILES
            .iter()
            .filter(move |(_, text)| text.contains(&line))
            .map(|(name, _)| *name)
    }

    /// Agents whose hooks may be installed: a place that `[hooks.install]` names is there, or a variable that moves
    /// one is set. The files of the others are not parsed.
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

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    fn at(index: usize) -> &'static Self {
        KNOWN[index].get_or_init(|| {
            let (name, text) = FILES[index];
            // The files are part of the program, and a test reads each of them.
            let known: Self = toml::from_str(text)
                .unwrap_or_else(|error| panic!("protocol/agents/{name}.toml: {error}"));
            Self { name, ..known }
        })
    }
}

/// Where an agent's file says that its hooks are installed; a test holds these lines against the parsed file.
fn list_hook_places(text: &str) -> impl Iterator<Item = &str> {
    let (_, part) = text.split_once("\n[hooks.install]\n").unwrap_or_default();
    let lines = part.lines().take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| {
        let place = line.strip_prefix("personal = \"");
        let place = place.or(line.strip_prefix("shared = \""))?;
        place.strip_suffix('"')
    })
}

/// Variables that an agent's file names for its directories.
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
