//! How an agent program is started and how its output is read, as data: the shape of
//! `[preset]` in `protocol/agents/*.toml` and of `[agents.NAME]` in `cook.toml`.
//!
//! Every key is optional, so that a table of the user's can change one thing of a preset
//! that is built in; an unknown key is an error.

use super::directory::StateDirectory;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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
    /// What it says it waits for or tries again.
    pub notice: Option<String>,
    /// A request to the model: what tells it from others.
    pub request: Option<String>,
    /// Tokens of that request, where `usage` comes only at the end.
    pub spent: Option<String>,
    /// What failed is tried again.
    #[serde(skip_serializing_if = "is_false")]
    pub again: bool,
    /// What was said so far was not the answer.
    #[serde(skip_serializing_if = "is_false")]
    pub text_break: bool,
    /// The work is done.
    #[serde(skip_serializing_if = "is_false")]
    pub done: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
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
