//! The lifecycle hooks of an agent, as data: the form of `[hooks]` in `protocol/agents/*.toml`. Reading events,
//! answering, installing and the documentation all use this table, so they know the same events.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The lifecycle events that cook knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A session began, was resumed or cleared, or continues after a compaction.
    SessionStart,
    /// A prompt was submitted.
    Prompt,
    /// A tool is about to run.
    BeforeTool,
    /// A tool has run or failed.
    AfterTool,
    /// One model response and its tool calls are complete.
    TurnEnd,
    /// The agent reports how full the context is.
    Usage,
    /// The context is about to be compacted.
    BeforeCompact,
    /// The context was compacted.
    AfterCompact,
    /// The agent wants to stop.
    Stop,
    /// A sub-agent stopped.
    SubagentStop,
    /// The session ended.
    SessionEnd,
}

/// What an answer to an event can refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Nothing.
    #[default]
    None,
    /// The tool call.
    Deny,
    /// The stop; instead of a refusal, the answer may name the next work.
    Block,
}

/// A tool call that an event describes in its own fields, without the name of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnCall {
    /// It runs a command line.
    Shell,
    /// It writes files.
    Edit,
}

/// A tool call that ends the agent's own goal loop; no stop event follows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndingCall {
    /// The tool.
    pub tool: String,
    /// The arguments of such a call.
    pub arguments: BTreeMap<String, String>,
}

/// An event of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The agent's name for it.
    #[serde(rename = "name")]
    pub native: String,
    /// The lifecycle event that it is.
    pub kind: Kind,
    /// Whether an answer may add to the agent's context.
    #[serde(default)]
    pub context: bool,
    /// Whether an answer may show a notice to the user.
    #[serde(default)]
    pub notice: bool,
    /// What an answer may refuse.
    #[serde(default)]
    pub gate: Gate,
    /// The tool call that the event itself describes.
    #[serde(default)]
    pub call: Option<OwnCall>,
    /// Whether the tool failed.
    #[serde(default)]
    pub failed: bool,
    /// Whether it announces only an attempt to compact; the size of the context then shows the outcome.
    #[serde(default)]
    pub attempt: bool,
    /// The tool call that ends the agent's own goal loop.
    #[serde(default)]
    pub ending: Option<EndingCall>,
}

impl Row {
    /// Whether the agent stops here or ends its own goal loop, and can be told what to do first.
    pub fn is_stop_gate(&self) -> bool {
        match self.kind {
            Kind::Stop => self.gate == Gate::Block,
            Kind::BeforeTool => self.gate == Gate::Deny && self.ending.is_some(),
            _ => false,
        }
    }
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerShape {
    /// `hookSpecificOutput` with the context or a permission decision; a refused stop is the decision `block`.
    Claude,
    /// The same, but any refusal is the decision `deny`.
    Gemini,
    /// Separate fields at the top level; no notice for the user.
    Copilot,
    /// Permissions and messages; a stop is refused by a follow-up message.
    Cursor,
    /// A message, or a permission decision for tool calls and stops; no notice for the user.
    Kimi,
    /// The effects by name, for cook's own shims.
    Shim,
}

/// Whether the prompts of an agent come from a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptOrigin {
    /// They do.
    Typed,
    /// The event's field `typed` says whether they do.
    Reported,
    /// Unknown: the same event reports tool results and the agent's own repetitions.
    Unknown,
}

/// When an answer sends a session on to the next work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendOn {
    /// At its stop, by a refusal, if the stop can be refused.
    #[default]
    AtStop,
    /// After a tool call, with the tool's result.
    AfterTool,
}

/// How full the context is, for an agent that reports only a number of tokens.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextTokens {
    /// A JSON pointer to the number in the event.
    pub tokens: String,
    /// The size of the context window, in tokens.
    pub window: f64,
}

/// The agent's own tools, by name. Other tools are classified by words in their names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// Tools that run a command line.
    pub shell: Vec<String>,
    /// Tools that write the files that they name.
    pub edit: Vec<String>,
    /// Tools that apply a patch.
    pub patch: Vec<String>,
    /// Arguments that name a file.
    pub paths: Vec<String>,
}

/// A user's own file and a shared one: below the home directory if the path begins with `~/`, else in the worktree.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// The user's own file.
    pub personal: String,
    /// The file that everybody gets with the repository.
    pub shared: String,
}

/// The form of hooks in an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingsForm {
    /// Groups of hooks with a matcher, merged into a file that others write too.
    Groups,
    /// Single hooks, merged into such a file, which has a version.
    Flat,
    /// A file of its own, with a version, and with a command for each of two shells.
    File,
    /// Single TOML tables, appended to the content that others write to the file.
    Tables,
    /// A program of cook, by its name in `templates/hooks/`.
    Shim(String),
}

/// Deviations from JSON that an agent accepts in its settings. Any other makes it ignore the file.
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

/// The form of the agent's own `/cook` command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandForm {
    /// Markdown.
    Plain,
    /// Markdown, after a description.
    Described,
    /// Markdown, after a name and a description.
    Skill,
    /// TOML.
    Toml,
}

/// The file that defines the agent's own `/cook` command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandFile {
    /// Its form.
    pub form: CommandForm,
    /// The user's own file.
    pub personal: String,
    /// The file that everybody gets with the repository.
    pub shared: String,
}

/// Where the hooks of an agent are installed, and in which form.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The form of the hooks.
    pub form: SettingsForm,
    /// The user's own settings.
    pub personal: String,
    /// The settings that everybody gets with the repository; `None` if the agent reads only the user's own hooks.
    #[serde(default)]
    pub shared: Option<String>,
    /// The deviations from JSON that the agent accepts in them.
    #[serde(default)]
    pub reads: Vec<Lenience>,
    /// The unit of a hook's time limit.
    #[serde(default)]
    pub timeout: TimeUnit,
    /// The fields of each hook in addition to its command.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// Whether the settings hold a status line; its input says how full the context is.
    #[serde(default)]
    pub statusline: bool,
    /// The file that defines its own `/cook` command.
    pub command: CommandFile,
    /// The instructions for the model, to which cook adds a block.
    #[serde(default)]
    pub instructions: Option<Places>,
    /// The steps that the user still has to take.
    pub advice: Vec<String>,
}

/// The hooks of an agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookTable {
    /// The form of the answers.
    pub answer: AnswerShape,
    /// Whether its prompts come from a person.
    pub prompts: PromptOrigin,
    /// Other agents whose hooks it runs too.
    #[serde(default)]
    pub also_runs: Vec<String>,
    /// When an answer sends it on to the next work.
    #[serde(default)]
    pub send_on: SendOn,
    /// How full its context is, if it reports only a number of tokens.
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
