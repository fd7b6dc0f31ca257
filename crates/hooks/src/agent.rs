//! The agents, and for each one its events: what cook makes of an event, and what
//! that agent lets a hook say to it. Reading, answering, installing and the
//! documentation go by these tables, so none of them knows an event that another
//! does not.

use super::event::Kind;

/// An agent with lifecycle hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Agent {
    Claude,
    Codex,
    Gemini,
    Qwen,
    Copilot,
    Cursor,
    Opencode,
    Pi,
}

/// How an agent can be kept from doing something at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It cannot.
    None,
    /// The tool call can be refused.
    Deny,
    /// The stop can be refused, or answered with what is to be done.
    Block,
}

/// One event of one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Its name with the agent.
    pub native: &'static str,
    /// What it is.
    pub kind: Kind,
    /// An answer may add to the agent's context.
    pub context: bool,
    /// An answer may tell the user something.
    pub notice: bool,
    /// What an answer may refuse.
    pub gate: Gate,
}

const fn row(native: &'static str, kind: Kind, context: bool, notice: bool, gate: Gate) -> Row {
    Row {
        native,
        kind,
        context,
        notice,
        gate,
    }
}

const CLAUDE: [Row; 10] = [
    row("SessionStart", Kind::SessionStart, true, true, Gate::None),
    row("UserPromptSubmit", Kind::Prompt, true, true, Gate::None),
    row("PreToolUse", Kind::BeforeTool, false, true, Gate::Deny),
    row("PostToolUse", Kind::AfterTool, true, true, Gate::None),
    row(
        "PostToolUseFailure",
        Kind::AfterTool,
        true,
        true,
        Gate::None,
    ),
    row("PostToolBatch", Kind::TurnEnd, true, true, Gate::None),
    row("PreCompact", Kind::BeforeCompact, false, true, Gate::None),
    row("Stop", Kind::Stop, false, true, Gate::Block),
    row("SubagentStop", Kind::SubagentStop, false, false, Gate::None),
    row("SessionEnd", Kind::SessionEnd, false, false, Gate::None),
];

const CODEX: [Row; 8] = [
    row("SessionStart", Kind::SessionStart, true, true, Gate::None),
    row("UserPromptSubmit", Kind::Prompt, true, true, Gate::None),
    row("PreToolUse", Kind::BeforeTool, false, true, Gate::Deny),
    row("PostToolUse", Kind::AfterTool, true, true, Gate::None),
    row("PreCompact", Kind::BeforeCompact, false, true, Gate::None),
    row("PostCompact", Kind::AfterCompact, false, true, Gate::None),
    row("Stop", Kind::Stop, false, true, Gate::Block),
    row("SubagentStop", Kind::SubagentStop, false, false, Gate::None),
];

const GEMINI: [Row; 8] = [
    row("SessionStart", Kind::SessionStart, true, true, Gate::None),
    row("BeforeAgent", Kind::Prompt, true, true, Gate::None),
    row("BeforeTool", Kind::BeforeTool, false, true, Gate::Deny),
    row("AfterTool", Kind::AfterTool, true, true, Gate::None),
    row("AfterModel", Kind::Usage, false, false, Gate::None),
    row("AfterAgent", Kind::Stop, false, true, Gate::Block),
    row("PreCompress", Kind::BeforeCompact, false, true, Gate::None),
    row("SessionEnd", Kind::SessionEnd, false, true, Gate::None),
];

const QWEN: [Row; 9] = [
    row("SessionStart", Kind::SessionStart, true, true, Gate::None),
    row("UserPromptSubmit", Kind::Prompt, true, true, Gate::None),
    row("PreToolUse", Kind::BeforeTool, false, true, Gate::Deny),
    row("PostToolUse", Kind::AfterTool, true, true, Gate::None),
    row(
        "PostToolUseFailure",
        Kind::AfterTool,
        true,
        true,
        Gate::None,
    ),
    row("PreCompact", Kind::BeforeCompact, false, true, Gate::None),
    row("Stop", Kind::Stop, false, true, Gate::Block),
    row("SubagentStop", Kind::SubagentStop, false, false, Gate::None),
    row("SessionEnd", Kind::SessionEnd, false, false, Gate::None),
];

const COPILOT: [Row; 9] = [
    row("sessionStart", Kind::SessionStart, true, false, Gate::None),
    row(
        "userPromptSubmitted",
        Kind::Prompt,
        false,
        false,
        Gate::None,
    ),
    row("preToolUse", Kind::BeforeTool, false, false, Gate::Deny),
    row("postToolUse", Kind::AfterTool, true, false, Gate::None),
    row(
        "postToolUseFailure",
        Kind::AfterTool,
        true,
        false,
        Gate::None,
    ),
    row("preCompact", Kind::BeforeCompact, false, false, Gate::None),
    row("agentStop", Kind::Stop, false, false, Gate::Block),
    row("subagentStop", Kind::SubagentStop, false, false, Gate::None),
    row("sessionEnd", Kind::SessionEnd, false, false, Gate::None),
];

const CURSOR: [Row; 11] = [
    row("sessionStart", Kind::SessionStart, true, false, Gate::None),
    row("beforeSubmitPrompt", Kind::Prompt, false, false, Gate::None),
    row("preToolUse", Kind::BeforeTool, false, false, Gate::Deny),
    row(
        "beforeShellExecution",
        Kind::BeforeTool,
        false,
        false,
        Gate::Deny,
    ),
    row("postToolUse", Kind::AfterTool, true, false, Gate::None),
    row(
        "postToolUseFailure",
        Kind::AfterTool,
        false,
        false,
        Gate::None,
    ),
    row("afterFileEdit", Kind::AfterTool, false, false, Gate::None),
    row("preCompact", Kind::BeforeCompact, false, true, Gate::None),
    row("stop", Kind::Stop, false, false, Gate::Block),
    row("subagentStop", Kind::SubagentStop, false, false, Gate::None),
    row("sessionEnd", Kind::SessionEnd, false, false, Gate::None),
];

/// What a shim of cook's own sends; `native` is the shim's word.
const OPENCODE: [Row; 9] = [
    row("session_start", Kind::SessionStart, false, true, Gate::None),
    row("prompt", Kind::Prompt, true, true, Gate::None),
    row("before_tool", Kind::BeforeTool, false, true, Gate::Deny),
    row("after_tool", Kind::AfterTool, true, true, Gate::None),
    row("usage", Kind::Usage, false, true, Gate::None),
    row(
        "before_compact",
        Kind::BeforeCompact,
        true,
        true,
        Gate::None,
    ),
    row("after_compact", Kind::AfterCompact, false, true, Gate::None),
    row("stop", Kind::Stop, false, true, Gate::Block),
    row("session_end", Kind::SessionEnd, false, false, Gate::None),
];

const PI: [Row; 9] = [
    row("session_start", Kind::SessionStart, false, true, Gate::None),
    row("prompt", Kind::Prompt, true, true, Gate::None),
    row("before_tool", Kind::BeforeTool, false, true, Gate::Deny),
    row("after_tool", Kind::AfterTool, true, true, Gate::None),
    row("turn_end", Kind::TurnEnd, true, true, Gate::None),
    row(
        "before_compact",
        Kind::BeforeCompact,
        false,
        true,
        Gate::None,
    ),
    row("after_compact", Kind::AfterCompact, false, true, Gate::None),
    row("stop", Kind::Stop, false, true, Gate::Block),
    row("session_end", Kind::SessionEnd, false, false, Gate::None),
];

impl Agent {
    /// All of them.
    pub const ALL: [Agent; 8] = [
        Agent::Claude,
        Agent::Codex,
        Agent::Gemini,
        Agent::Qwen,
        Agent::Copilot,
        Agent::Cursor,
        Agent::Opencode,
        Agent::Pi,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::Qwen => "qwen",
            Agent::Copilot => "copilot",
            Agent::Cursor => "cursor",
            Agent::Opencode => "opencode",
            Agent::Pi => "pi",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// Its events.
    pub fn rows(self) -> &'static [Row] {
        match self {
            Agent::Claude => &CLAUDE,
            Agent::Codex => &CODEX,
            Agent::Gemini => &GEMINI,
            Agent::Qwen => &QWEN,
            Agent::Copilot => &COPILOT,
            Agent::Cursor => &CURSOR,
            Agent::Opencode => &OPENCODE,
            Agent::Pi => &PI,
        }
    }

    /// The event of that name.
    pub fn row(self, native: &str) -> Option<&'static Row> {
        self.rows().iter().find(|row| row.native == native)
    }

    /// It reports the end of each model response, so tool calls need not be counted.
    pub fn reports_turns(self) -> bool {
        self.rows().iter().any(|row| row.kind == Kind::TurnEnd)
    }
}
