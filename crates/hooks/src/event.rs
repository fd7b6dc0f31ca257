//! What happened in an agent's session, whichever agent it was.

use cook_core::model::hooks::Kind;

/// Why a session started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum Source {
    #[default]
    Startup,
    Resume,
    Clear,
    Compact,
}

/// What a tool does, as far as cook cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Writes the files it names.
    Edit,
    /// Runs a command line.
    Shell,
    /// Anything else.
    Other,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name with that agent.
    pub name: String,
    /// The call's own id, when the agent gives one.
    pub id: Option<String>,
    /// What it does.
    pub action: Action,
    /// Files it writes, as the agent named them.
    pub paths: Vec<String>,
    /// The command line, of a shell.
    pub command: Option<String>,
    /// It failed.
    pub failed: bool,
    /// It ends the agent's own goal loop.
    pub ends_goal: bool,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Its text.
    pub text: String,
    /// Whether a person typed it; none = the agent does not tell.
    pub typed: Option<bool>,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Which one.
    pub kind: Kind,
    /// Its name with that agent.
    pub native: &'static str,
    /// The session; never empty.
    pub session: String,
    /// Where it happened, as the agent named it.
    pub cwd: Option<String>,
    /// Why the session started.
    pub source: Source,
    /// A sub-agent's.
    pub subagent: bool,
    /// The turn, prompt or message it belongs to, when the agent names one.
    pub turn: Option<String>,
    /// The tool call, of tool events.
    pub tool: Option<Tool>,
    /// The prompt, of a prompt event.
    pub prompt: Option<Prompt>,
    /// Where the session is written down.
    pub transcript: Option<String>,
    /// The assistant's last message, where the event has it.
    pub last_message: Option<String>,
    /// How full the context is, in percent.
    pub context_percent: Option<f64>,
    /// How many tokens it holds, where the agent sends that.
    pub context_tokens: Option<f64>,
    /// A compaction is tried, and may come to nothing.
    pub attempt: bool,
    /// The agent stops until a task of its own in the background is done.
    pub waits: bool,
    /// The agent says that a goal loop of its own is running.
    pub goal_loop: bool,
    /// SHA-256 of the input: two deliveries of one event have the same.
    pub digest: String,
}

impl Event {
    /// The agent is about to stop, or to end its own goal loop.
    pub fn is_stop(&self) -> bool {
        self.kind == Kind::Stop || self.tool.as_ref().is_some_and(|tool| tool.ends_goal)
    }

    /// What the context holds goes now.
    pub fn is_compaction(&self) -> bool {
        self.kind == Kind::BeforeCompact && !self.attempt
    }
}

/// What cook has to say to an event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effects {
    /// For the agent's context.
    pub context: Option<String>,
    /// The tool must not run: why.
    pub deny: Option<String>,
    /// The agent must not stop: what is to be done.
    pub block: Option<String>,
    /// For the person at the terminal.
    pub notice: Option<String>,
}

impl Effects {
    /// Nothing to say.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}
