//! Which files the hooks of an agent live in, and what belongs into them. Pure.

use crate::agent::{Agent, Row};
use crate::event::Kind;
use serde_json::{Value, json};

/// In everything cook writes; its number grows when what is written changes.
pub const MARK: &str = "cook-hooks 1";
/// What it begins with in every version.
pub const ANY_MARK: &str = "cook-hooks ";

/// Where a file lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// In the worktree.
    Worktree,
    /// In the user's home.
    Home,
}

/// What kind of file it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// JSON that others write too: entries are merged in.
    Merged(Vec<Entry>),
    /// cook's own file, whole.
    Whole(String),
    /// A text of others with a block of cook's.
    Block(String),
}

/// One entry of a merged file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Names of the members down to the list, or to the member itself.
    pub path: Vec<&'static str>,
    /// What is added.
    pub value: Value,
    /// Added to a list; else a member that is only added when it is missing.
    pub listed: bool,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Where it lies.
    pub base: Base,
    /// Relative to that.
    pub path: String,
    /// What belongs into it.
    pub content: Content,
}

const OPENCODE: &str = include_str!("../../../templates/hooks/opencode.ts");
const PI: &str = include_str!("../../../templates/hooks/pi.ts");
const COMMAND: &str = include_str!("../../../templates/hooks/command.md");
const INSTRUCTIONS: &str = include_str!("../../../templates/hooks/instructions.md");

/// The files of an agent; `shared` = those that everybody gets with the repository.
pub fn plans(agent: Agent, shared: bool) -> Vec<Plan> {
    let base = match (shared, agent) {
        (true, _) | (false, Agent::Claude) => Base::Worktree,
        (false, _) => Base::Home,
    };
    let mut plans = vec![Plan {
        base,
        path: settings(agent, shared).to_owned(),
        content: content(agent),
    }];
    let (path, text) = command_file(agent, shared);
    plans.push(Plan {
        base: if shared { Base::Worktree } else { Base::Home },
        path: path.to_owned(),
        content: Content::Whole(text),
    });
    if agent == Agent::Copilot {
        // Whether a hook's text reaches the model is not certain there.
        plans.push(Plan {
            base,
            path: match shared {
                true => ".github/copilot-instructions.md",
                false => ".copilot/copilot-instructions.md",
            }
            .to_owned(),
            content: Content::Block(INSTRUCTIONS.to_owned()),
        });
    }
    plans
}

fn settings(agent: Agent, shared: bool) -> &'static str {
    match (agent, shared) {
        (Agent::Claude, false) => ".claude/settings.local.json",
        (Agent::Claude, true) => ".claude/settings.json",
        (Agent::Codex, _) => ".codex/hooks.json",
        (Agent::Gemini, _) => ".gemini/settings.json",
        (Agent::Qwen, _) => ".qwen/settings.json",
        (Agent::Copilot, false) => ".copilot/hooks/cook.json",
        (Agent::Copilot, true) => ".github/hooks/cook.json",
        (Agent::Cursor, _) => ".cursor/hooks.json",
        (Agent::Opencode, false) => ".config/opencode/plugins/cook.ts",
        (Agent::Opencode, true) => ".opencode/plugins/cook.ts",
        (Agent::Pi, false) => ".pi/agent/extensions/cook.ts",
        (Agent::Pi, true) => ".pi/extensions/cook.ts",
    }
}

/// The agent's own `/cook`, or a skill of that name.
fn command_file(agent: Agent, shared: bool) -> (&'static str, String) {
    let path = match (agent, shared) {
        (Agent::Claude, _) => ".claude/commands/cook.md",
        (Agent::Codex, _) => ".agents/skills/cook/SKILL.md",
        (Agent::Gemini, _) => ".gemini/commands/cook.toml",
        (Agent::Qwen, _) => ".qwen/commands/cook.md",
        (Agent::Copilot, true) => ".github/skills/cook/SKILL.md",
        (Agent::Copilot, false) => ".copilot/skills/cook/SKILL.md",
        (Agent::Cursor, _) => ".cursor/commands/cook.md",
        (Agent::Opencode, true) => ".opencode/commands/cook.md",
        (Agent::Opencode, false) => ".config/opencode/commands/cook.md",
        (Agent::Pi, true) => ".pi/prompts/cook.md",
        (Agent::Pi, false) => ".pi/agent/prompts/cook.md",
    };
    let about = "Mission, who is next, status and pause of the cook workflow in this repository";
    let text = match agent {
        Agent::Gemini => format!(
            "# {MARK}\ndescription = \"{about}\"\nprompt = '''\n{COMMAND}\n{{{{args}}}}\n'''\n"
        ),
        Agent::Codex | Agent::Copilot => {
            format!("---\nname: cook\ndescription: {about}\n---\n<!-- {MARK} -->\n{COMMAND}")
        }
        Agent::Cursor => format!("<!-- {MARK} -->\n{COMMAND}"),
        _ => format!("---\ndescription: {about}\n---\n<!-- {MARK} -->\n{COMMAND}"),
    };
    (path, text)
}

fn content(agent: Agent) -> Content {
    match agent {
        Agent::Opencode => Content::Whole(format!("// {MARK}\n{OPENCODE}")),
        Agent::Pi => Content::Whole(format!("// {MARK}\n{PI}")),
        Agent::Copilot => Content::Whole(copilot()),
        _ => Content::Merged(entries(agent)),
    }
}

/// The command an agent runs: silent and 0 where cook is missing, because an agent
/// may take any other end for a refusal.
pub fn command(agent: Agent, row: Option<&Row>) -> String {
    let event = row
        .map(|row| format!(" --event {}", row.native))
        .unwrap_or_default();
    format!(
        "if command -v cook >/dev/null 2>&1; then cook hook {}{event}; fi # {MARK}",
        agent.name()
    )
}

fn powershell(agent: Agent, row: &Row) -> String {
    format!(
        "if (Get-Command cook -ErrorAction SilentlyContinue) {{ $input | cook hook {} --event {} }} # {MARK}",
        agent.name(),
        row.native
    )
}

/// Seconds an agent waits for a hook.
fn seconds(row: &Row) -> u64 {
    if row.kind == Kind::BeforeCompact {
        15
    } else {
        10
    }
}

fn entries(agent: Agent) -> Vec<Entry> {
    let mut entries = Vec::new();
    if agent == Agent::Cursor {
        entries.push(Entry {
            path: vec!["version"],
            value: json!(1),
            listed: false,
        });
    }
    for row in agent.rows() {
        entries.push(Entry {
            path: vec!["hooks", row.native],
            value: entry(agent, row),
            listed: true,
        });
    }
    if agent == Agent::Claude {
        let line = format!(
            "if command -v cook >/dev/null 2>&1; then cook hook claude-statusline; fi # {MARK}"
        );
        entries.push(Entry {
            path: vec!["statusLine"],
            value: json!({"type": "command", "command": line}),
            listed: false,
        });
    }
    entries
}

fn entry(agent: Agent, row: &Row) -> Value {
    let command = command(agent, None);
    let is_tool = matches!(row.kind, Kind::BeforeTool | Kind::AfterTool);
    let mut hook = match agent {
        Agent::Gemini | Agent::Qwen => json!({
            "name": "cook",
            "type": "command",
            "command": command,
            "timeout": seconds(row) * 1000,
        }),
        Agent::Cursor => return json!({"command": command, "timeout": seconds(row)}),
        _ => json!({"type": "command", "command": command, "timeout": seconds(row)}),
    };
    if agent == Agent::Qwen {
        hook["description"] = json!("cook: recovery, checkpoints, guard, stop gate");
    }
    match is_tool {
        true => json!({"matcher": "*", "hooks": [hook]}),
        false => json!({"hooks": [hook]}),
    }
}

/// A file of cook's own; its payloads do not name the event, so the command does.
fn copilot() -> String {
    let hooks: serde_json::Map<String, Value> = Agent::Copilot
        .rows()
        .iter()
        .map(|row| {
            let hook = json!({
                "type": "command",
                "bash": command(Agent::Copilot, Some(row)),
                "powershell": powershell(Agent::Copilot, row),
                "timeoutSec": seconds(row),
            });
            (row.native.to_owned(), json!([hook]))
        })
        .collect();
    let file = json!({"version": 1, "hooks": hooks});
    let text = serde_json::to_string_pretty(&file).unwrap_or_default();
    format!("{text}\n")
}

/// What the user still has to do.
pub fn advice(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Claude => &["start a new session, or look at `/hooks` in the running one"],
        Agent::Codex => &[
            "trust the hooks: Codex asks at its next start (`/hooks`)",
            "so that cook can write inside Codex's sandbox, add to config.toml: [sandbox_workspace_write] writable_roots = [\"<this repository>/.git\"]",
        ],
        Agent::Gemini => {
            &["start a new session; Gemini CLI asks for trust of hooks that came with a repository"]
        }
        Agent::Qwen => &["start a new session"],
        Agent::Copilot => &["start a new session; hooks are read when one begins"],
        Agent::Cursor => &["reload the window; hooks do not run in headless mode"],
        Agent::Opencode => &["start opencode anew; plugins are loaded when it starts"],
        Agent::Pi => &[
            "run `/reload`, or start a new session; later versions ask for trust of the project first",
        ],
    }
}
