//! The lifecycle hooks of an agent, as data: the shape of `[hooks]` in
//! `protocol/agents/*.toml`. Reading, answering, installing and the documentation go by
//! this one table, so none of them knows an event that another does not.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The lifecycle events that cook knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A session began, was resumed or cleared, or goes on after a compaction.
    SessionStart,
    /// A prompt was handed in.
    Prompt,
    /// A tool is about to run.
    BeforeTool,
    /// A tool ran, or failed.
    AfterTool,
    /// One model response with its tools is over.
    TurnEnd,
    /// How full the context is.
    Usage,
    /// The context is about to be compacted.
    BeforeCompact,
    /// It was.
    AfterCompact,
    /// The agent wants to stop.
    Stop,
    /// A sub-agent did.
    SubagentStop,
    /// The session is over.
    SessionEnd,
}

/// How an agent can be kept from doing something at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// It cannot.
    #[default]
    None,
    /// The tool call can be refused.
    Deny,
    /// The stop can be refused, or answered with what is to be done.
    Block,
}

/// A tool call that an event stands for by its own fields, without naming a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnCall {
    /// It runs a command line.
    Shell,
    /// It writes files.
    Edit,
}

/// A tool call that ends the agent's own goal loop, after which no stop comes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndingCall {
    /// The tool.
    pub tool: String,
    /// Arguments that it has then.
    pub arguments: BTreeMap<String, String>,
}

/// One event of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name with the agent.
    #[serde(rename = "name")]
    pub native: String,
    /// What it is.
    pub kind: Kind,
    /// An answer may add to the agent's context.
    #[serde(default)]
    pub context: bool,
    /// An answer may tell the user something.
    #[serde(default)]
    pub notice: bool,
    /// What an answer may refuse.
    #[serde(default)]
    pub gate: Gate,
    /// The tool call that it stands for by itself.
    #[serde(default)]
    pub call: Option<OwnCall>,
    /// The tool failed.
    #[serde(default)]
    pub failed: bool,
    /// It announces no more than an attempt, whose outcome the size of the context shows.
    #[serde(default)]
    pub attempt: bool,
    /// The tool call that ends the agent's own goal loop.
    #[serde(default)]
    pub ending: Option<EndingCall>,
}

impl Row {
    /// The agent stops here, or ends its own goal loop, and can be told what is to be done first.
    pub fn is_stop_gate(&self) -> bool {
        match self.kind {
            Kind::Stop => self.gate == Gate::Block,
            Kind::BeforeTool => self.gate == Gate::Deny && self.ending.is_some(),
            _ => false,
        }
    }
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerShape {
    /// `hookSpecificOutput`, with a permission decision; a stop is blocked.
    Claude,
    /// The same, but whatever is refused is denied.
    Gemini,
    /// All fields beside each other; nothing for the user.
    Copilot,
    /// Permissions and messages; a stop is answered with a follow-up message.
    Cursor,
    /// A message, or a permission decision, which refuses a stop too; nothing for the user.
    Kimi,
    /// The effects by their names, for cook's own shims.
    Shim,
}

/// Whether an agent's prompts are a person's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptOrigin {
    /// They are.
    Typed,
    /// The event says so in its field `typed`.
    Reported,
    /// The same event comes for tool results and for repetitions of the agent's own.
    Unknown,
}

/// Where a session is sent on to the next work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendOn {
    /// By refusing its stop, where it can be refused at all.
    #[default]
    AtStop,
    /// Beside a tool result.
    AfterTool,
}

/// How full the context is, of an agent that sends a number of tokens alone.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextTokens {
    /// Where the event holds it, as a JSON pointer.
    pub tokens: String,
    /// How many fit.
    pub window: f64,
}

/// The agent's own tools, by name. Others are judged by words in their names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// Run a command line.
    pub shell: Vec<String>,
    /// Write the files they name.
    pub edit: Vec<String>,
    /// Apply a patch.
    pub patch: Vec<String>,
    /// Arguments that name a file.
    pub paths: Vec<String>,
}

/// A file, for oneself or for everybody: below the home with `~/`, else in the worktree.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// One's own.
    pub personal: String,
    /// The one that everybody gets with the repository.
    pub shared: String,
}

/// What hooks look like in an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingsForm {
    /// Groups of hooks with a matcher, merged into a file that others write too.
    Groups,
    /// Hooks one by one, merged into such a file, which has a version.
    Flat,
    /// A file of cook's own, with a version, and a command for each of two shells.
    File,
    /// TOML tables one by one, behind what others write in the file.
    Tables,
    /// A program of cook's own, by its name in `templates/hooks/`.
    Shim(String),
}

/// What an agent reads in its settings although it is not JSON; the rest makes it drop the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Lenience {
    Comments,
    TrailingCommas,
}

/// The unit of a time limit in an agent's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum TimeUnit {
    #[default]
    Seconds,
    Milliseconds,
}

/// How an agent's own `/cook` is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandForm {
    /// Markdown.
    Plain,
    /// Markdown, with a description before it.
    Described,
    /// Markdown, with a name and a description before it.
    Skill,
    /// TOML.
    Toml,
}

/// An agent's own `/cook`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandFile {
    /// How it is written.
    pub form: CommandForm,
    /// One's own.
    pub personal: String,
    /// The one that everybody gets with the repository.
    pub shared: String,
}

/// Where an agent's hooks are installed, and in which form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// What they look like.
    pub form: SettingsForm,
    /// One's own settings.
    pub personal: String,
    /// Those that everybody gets with the repository; none = the agent reads hooks of one's own alone.
    #[serde(default)]
    pub shared: Option<String>,
    /// What is read in them beside JSON.
    #[serde(default)]
    pub reads: Vec<Lenience>,
    /// The unit of a hook's time limit.
    #[serde(default)]
    pub timeout: TimeUnit,
    /// What stands in each hook beside its command.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// The settings hold a status line, whose input says how full the context is.
    #[serde(default)]
    pub statusline: bool,
    /// Its own `/cook`.
    pub command: CommandFile,
    /// Instructions for the model, which get a block of cook's.
    #[serde(default)]
    pub instructions: Option<Places>,
    /// What the user still has to do.
    pub advice: Vec<String>,
}

/// The hooks of an agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookTable {
    /// How it takes an answer.
    pub answer: AnswerShape,
    /// Whether its prompts are a person's.
    pub prompts: PromptOrigin,
    /// Agents whose hooks it runs beside its own.
    #[serde(default)]
    pub also_runs: Vec<String>,
    /// Where it is sent on to the next work.
    #[serde(default)]
    pub send_on: SendOn,
    /// How full its context is, where it sends tokens alone.
    #[serde(default)]
    pub context: Option<ContextTokens>,
    /// Its own tools.
    #[serde(default)]
    pub tools: Tools,
    /// Its events.
    pub events: Vec<Row>,
    /// Where they are installed.
    pub install: Install,
}
