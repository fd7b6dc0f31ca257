//! What a script says.

use super::dialect::Dialect;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a scripted agent does.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// In whose events it speaks.
    pub dialect: Dialect,
    /// A file that gets one JSON line for each call: arguments, directory, input.
    pub log: Option<PathBuf>,
    /// A directory in which it keeps a record of each session, as real agents do.
    pub records: Option<PathBuf>,
    /// False: its input is not read.
    pub deaf: bool,
    /// How it behaves where it speaks the Agent Client Protocol.
    pub acp: Acp,
    /// What is done at each call.
    pub steps: Vec<Step>,
    /// What is done instead at the call of that number (from 1, by the lines of `log`).
    pub calls: BTreeMap<String, Vec<Step>>,
    /// What is done instead when the input holds that text; the first that fits.
    pub when: Vec<(String, Vec<Step>)>,
}

/// One thing that a scripted agent does.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Its session begins.
    Session,
    /// It answers, and its work is done: session, answer and end in one.
    Reply(String),
    /// The same, with the commit that HEAD names by then in place of `{head}`.
    ReplyWithHead(String),
    /// It answers with what a program prints that gets its input, and its work is done.
    ReplyOf(Vec<String>),
    /// It answers with its whole input, and its work is done.
    Echo,
    /// It answers with all that its session's record holds, and its work is done.
    Recall,
    /// It says something.
    Answer(String),
    /// Its work is done.
    Done,
    /// It reports an error.
    Error(String),
    /// It uses a tool.
    Tool(String),
    /// It asks for permission and says which option was chosen (Agent Client Protocol).
    Permission(Vec<String>),
    /// It asks its client for something else and says what came back (same).
    Request(String),
    /// It waits until it is cancelled, and then says so in order (same).
    AwaitCancel,
    /// Its turn ends for that reason (same).
    Stop(String),
    /// It compacts its context.
    Compact(String),
    /// What it reports with the next answer and end: `usage`, `cost_usd`, `data`.
    Report(Reported),
    /// A line on stdout.
    Print(String),
    /// A line on stderr.
    PrintError(String),
    /// Bytes on stdout, as they are.
    Bytes(Vec<u8>),
    /// So many bytes of lines on stdout.
    Flood(u64),
    /// So many bytes on stdout without a line end.
    FloodLine(u64),
    /// It waits, in milliseconds.
    Sleep(u64),
    /// It waits for ever.
    Hang,
    /// It ends with this exit code.
    Exit(u8),
    /// These signals (`INT`, `TERM`) do nothing from now on.
    Ignore(Vec<String>),
    /// A file is written, its directories too.
    Write(String, String),
    /// In a file, the first place of a text becomes another one; it must be there.
    Replace(String, String, String),
    /// A file is removed.
    Remove(String),
    /// A program is run to its end; a failure of it ends the agent with exit code 70.
    Run(Vec<String>),
    /// It goes to a directory.
    Enter(String),
    /// Its process id goes into a file.
    Pid(String),
    /// Its environment goes into a file, as JSON.
    Environment(String),
    /// It closes its stdout.
    CloseStdout,
    /// A child with a script of its own is left running.
    Leave(Left),
}

/// What is reported beside the words.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reported {
    pub(super) usage: Option<Value>,
    pub(super) cost_usd: Option<f64>,
    pub(super) data: Option<Value>,
}

/// A child that is left running.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Left {
    pub(super) steps: Value,
    #[serde(default)]
    pub(super) own_session: bool,
    /// With an environment without any mark.
    #[serde(default)]
    pub(super) own_environment: bool,
    /// With this agent's stdout still open.
    #[serde(default)]
    pub(super) holds_stdout: bool,
}

/// How a scripted agent behaves before its first prompt.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Acp {
    /// A file that gets each line that comes from the client.
    pub heard: Option<PathBuf>,
    /// The version that it says it speaks.
    pub version: u64,
    /// It offers to fork a session.
    pub forks: bool,
    /// It wants a login before a session.
    pub login: bool,
    /// It answers everything with a number that was not asked for.
    pub wrong_id: bool,
    /// Its sessions let a client choose the model: `option`, `method`, or not at all.
    pub models: Option<String>,
}

impl Default for Acp {
    fn default() -> Self {
        Self {
            heard: None,
            version: 1,
            forks: false,
            login: false,
            wrong_id: false,
            models: None,
        }
    }
}
