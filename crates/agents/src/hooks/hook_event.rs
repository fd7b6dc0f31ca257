//! The events of an agent's session, in a form that is the same for all agents, and the answers to them.

use super::command_line::{WORDS, list_written};
use cook_protocol::diagnostic::begin;
use cook_protocol::digest::sha256;
use cook_protocol::model::KnownAgent;
use cook_protocol::model::hook_table::{
    AnswerShape, ContextTokens, Gate, HookTable, Kind, OwnCall, PromptOrigin, Row, Tools,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The reason why a session started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum Source {
    #[default]
    Startup,
    Resume,
    Clear,
    Compact,
}

/// The relevant effect of a tool.
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
    /// The agent's name of the tool.
    pub name: String,
    /// The id of the call, if the agent provides one.
    pub id: Option<String>,
    /// The effect of the tool.
    pub action: Action,
    /// Files that it writes, as named by the agent.
    pub paths: Vec<String>,
    /// The command line, if it runs one.
    pub command: Option<String>,
    /// Whether the call failed.
    pub failed: bool,
    /// Whether it ends the agent's own goal loop.
    pub ends_goal: bool,
}

/// A prompt of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Its text.
    pub text: String,
    /// Whether a person typed it; `None` if the agent does not report that.
    pub typed: Option<bool>,
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The kind of event.
    pub kind: Kind,
    /// The agent's name of the event.
    pub native: &'static str,
    /// The session id; never empty.
    pub session: String,
    /// The working directory, as named by the agent.
    pub cwd: Option<String>,
    /// The reason why the session started.
    pub source: Source,
    /// Whether it comes from a sub-agent.
    pub subagent: bool,
    /// The turn, prompt or message to which it belongs, if the agent names one.
    pub turn: Option<String>,
    /// The tool call of a tool event.
    pub tool: Option<Tool>,
    /// The prompt of a prompt event.
    pub prompt: Option<Prompt>,
    /// The file in which the agent records the session.
    pub transcript: Option<String>,
    /// The assistant's last message, if the event contains it.
    pub last_message: Option<String>,
    /// How full the context is, in percent.
    pub context_percent: Option<f64>,
    /// The number of tokens in the context, if the agent sends it.
    pub context_tokens: Option<f64>,
    /// Whether a compaction is only attempted, so that it may have no effect.
    pub attempt: bool,
    /// Whether the agent stops only until its own background task is done.
    pub waits: bool,
    /// Whether the agent reports that its own goal loop is running.
    pub goal_loop: bool,
    /// SHA-256 of the input: repeated deliveries of an event have the same digest.
    pub digest: String,
}

impl Event {
    /// Whether the agent is about to stop, or to end its own goal loop.
    pub fn is_stop(&self) -> bool {
        self.kind == Kind::Stop || self.tool.as_ref().is_some_and(|tool| tool.ends_goal)
    }

    /// Whether the context is lost now.
    pub fn is_compaction(&self) -> bool {
        self.kind == Kind::BeforeCompact && !self.attempt
    }
}

/// Cook's reaction to an event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effects {
    /// Text for the agent's context.
    pub context: Option<String>,
    /// The reason why the tool call is denied.
    pub deny: Option<String>,
    /// The reason why the stop is refused: the work that remains.
    pub block: Option<String>,
    /// A message to the person at the terminal.
    pub notice: Option<String>,
}

impl Effects {
    /// Whether there is no reaction.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}

/// An agent with lifecycle hooks.
#[derive(Clone, Copy)]
pub struct Agent {
    known: &'static KnownAgent,
    hooks: &'static HookTable,
}

impl Agent {
    /// All agents with hooks.
    pub fn all() -> impl Iterator<Item = Self> {
        KnownAgent::all().filter_map(Self::of)
    }

    /// The agents whose hooks may be installed; see [`KnownAgent::list_with_hooks`].
    pub fn list_with_hooks(
        is_there: impl Fn(&str) -> bool,
        is_set: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = Self> {
        KnownAgent::list_with_hooks(is_there, is_set).filter_map(Self::of)
    }

    /// Finds an agent by name.
    pub fn parse(name: &str) -> Option<Self> {
        KnownAgent::find(name).and_then(Self::of)
    }

    fn of(known: &'static KnownAgent) -> Option<Self> {
        let hooks = known.hooks.as_ref()?;
        Some(Self { known, hooks })
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.known.name()
    }

    /// The description of the agent.
    pub fn known(self) -> &'static KnownAgent {
        self.known
    }

    /// The description of its hooks.
    pub fn hooks(self) -> &'static HookTable {
        self.hooks
    }

    /// Descriptions of its events.
    pub fn rows(self) -> &'static [Row] {
        &self.hooks.events
    }

    /// The description of the event with this name.
    pub fn row(self, native: &str) -> Option<&'static Row> {
        self.rows().iter().find(|row| row.native == native)
    }

    /// Whether a stop of this agent can be refused, or answered with further work.
    pub fn can_hold_a_stop(self) -> bool {
        self.rows().iter().any(Row::is_stop_gate)
    }

    /// Whether it sends events of this kind.
    pub fn reports(self, kind: Kind) -> bool {
        self.rows().iter().any(|row| row.kind == kind)
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Agent {}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The maximum length of a name or path in bytes.
const MAX_NAME: usize = 4096;
/// The maximum length of a text in bytes.
const MAX_TEXT: usize = 256 * 1024;
/// The maximum number of paths of one tool call.
const MAX_PATHS: usize = 200;

/// Parses an event. `named` is the event's name if the input does not contain it.
pub fn read(agent: Agent, named: Option<&str>, bytes: &[u8]) -> Result<Event, String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err("the input is empty".to_owned());
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("the input is not valid JSON: {error}"))?;
    if !value.is_object() {
        return Err("the input is not a JSON object".to_owned());
    }
    let said = ["hook_event_name", "hookEventName", "event"]
        .into_iter()
        .find_map(|name| read_name(&value, name))
        .or_else(|| named.map(str::to_owned))
        .unwrap_or_default();
    let row = agent.row(&said).ok_or_else(|| {
        let event = cook_protocol::diagnostic::clean(&said, cook_protocol::diagnostic::Lines::Fold);
        let event: String = event.chars().take(80).collect();
        format!("{} has no event `{event}`", agent.name())
    })?;
    Ok(event(agent, row, &value, bytes))
}

fn event(agent: Agent, row: &'static Row, value: &Value, bytes: &[u8]) -> Event {
    let first = |names: &[&str]| names.iter().find_map(|name| read_name(value, name));
    let long = |names: &[&str]| names.iter().find_map(|name| read_text(value, name));
    let root = value["workspace_roots"][0].as_str().map(str::to_owned);
    Event {
        kind: row.kind,
        native: &row.native,
        session: first(&["session_id", "sessionId", "conversation_id", "session"])
            .unwrap_or_else(|| "unnamed".to_owned()),
        cwd: first(&["cwd", "directory"]).or(root.filter(|root| root.len() <= MAX_NAME)),
        source: source(value),
        subagent: row.kind == Kind::SubagentStop || is_subagent(value),
        turn: first(&[
            "turn_id",
            "prompt_id",
            "generation_id",
            "message_id",
            "turn",
        ]),
        tool: matches!(row.kind, Kind::BeforeTool | Kind::AfterTool)
            .then(|| tool(&agent.hooks().tools, row, value)),
        prompt: (row.kind == Kind::Prompt).then(|| prompt(agent, value)),
        transcript: first(&["transcript_path", "transcriptPath"]),
        last_message: long(&["last_assistant_message", "prompt_response", "last_message"]),
        context_percent: context_percent(agent, value),
        context_tokens: context_tokens(agent, value),
        attempt: row.attempt && value["trigger"] != "manual",
        waits: waits(value),
        goal_loop: ["goal_active", "goal_loop"]
            .iter()
            .any(|name| value[*name] == Value::Bool(true)),
        digest: sha256(bytes),
    }
}

/// Reads a short text.
fn read_name(value: &Value, name: &str) -> Option<String> {
    let text = value.get(name)?.as_str()?;
    (!text.is_empty() && text.len() <= MAX_NAME && !text.contains('\0')).then(|| text.to_owned())
}

/// Reads a long text, truncated to the maximum length.
fn read_text(value: &Value, name: &str) -> Option<String> {
    let text = value.get(name)?.as_str()?;
    (!text.is_empty()).then(|| begin(text, MAX_TEXT).to_owned())
}

/// Reads the text of a message that consists of parts, truncated to the maximum length.
fn read_parts(value: &Value) -> String {
    let parts = value.as_array().into_iter().flatten();
    let texts: Vec<String> = parts.filter_map(|part| read_text(part, "text")).collect();
    read_text(&json!({"text": texts.join("\n")}), "text").unwrap_or_default()
}

fn source(value: &Value) -> Source {
    match value["source"].as_str().or(value["reason"].as_str()) {
        Some("compact") => Source::Compact,
        Some("clear" | "new") => Source::Clear,
        Some("resume" | "fork" | "reload") => Source::Resume,
        _ => Source::Startup,
    }
}

fn is_subagent(value: &Value) -> bool {
    let named = ["agent_id", "agentId", "parent_session_id"]
        .iter()
        .any(|name| read_name(value, name).is_some());
    named || value["subagent"] == Value::Bool(true)
}

fn prompt(agent: Agent, value: &Value) -> Prompt {
    let typed = match agent.hooks().prompts {
        PromptOrigin::Typed => Some(true),
        PromptOrigin::Reported => value["typed"].as_bool(),
        PromptOrigin::Unknown => None,
    };
    Prompt {
        text: read_text(value, "prompt").unwrap_or_else(|| read_parts(&value["prompt"])),
        typed,
    }
}

/// Whether a background task of the agent is still running.
fn waits(value: &Value) -> bool {
    let mut tasks = value["background_tasks"].as_array().into_iter().flatten();
    tasks.any(|task| {
        ["running", "pending"]
            .iter()
            .any(|word| task["status"] == *word)
    })
}

fn context_tokens(agent: Agent, value: &Value) -> Option<f64> {
    let of = agent.hooks().context.as_ref()?;
    let tokens = value.pointer(&of.tokens)?.as_f64()?;
    (tokens.is_finite() && tokens > 0.0).then_some(tokens)
}

fn context_percent(agent: Agent, value: &Value) -> Option<f64> {
    let usage = &value["context_usage"];
    let share = |part: &Value, whole: &Value| {
        let (part, whole) = (part.as_f64()?, whole.as_f64()?);
        (whole > 0.0).then(|| part / whole * 100.0)
    };
    let counted = |of: &ContextTokens| Some(context_tokens(agent, value)? / of.window * 100.0);
    let percent = value["percent"]
        .as_f64()
        .or_else(|| usage["percentage"].as_f64())
        .or_else(|| usage["used_percentage"].as_f64())
        .or_else(|| share(&usage["used"], &usage["limit"]))
        .or_else(|| share(&usage["tokens"], &usage["window"]))
        // A bare number is a fraction up to 1, otherwise percent.
        .or_else(|| usage.as_f64().map(|n| if n <= 1.0 { n * 100.0 } else { n }))
        .or_else(|| agent.hooks().context.as_ref().and_then(counted))?;
    (percent.is_finite() && percent >= 0.0).then_some(percent.min(100.0))
}

fn tool(tools: &Tools, row: &Row, value: &Value) -> Tool {
    let first = |names: &[&str]| names.iter().find_map(|name| read_name(value, name));
    let name = first(&["tool_name", "toolName", "tool"]).unwrap_or_default();
    let held = ["tool_input", "toolArgs", "tool_args", "args", "input"]
        .iter()
        .find_map(|name| value.get(*name))
        .unwrap_or(&Value::Null);
    // One agent sends the arguments as JSON in a string.
    let parsed = held
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok());
    let input: &Value = parsed.as_ref().unwrap_or(held);
    let mut tool = Tool {
        id: first(&["tool_use_id", "tool_call_id", "toolCallId", "call_id"]),
        action: Action::Other,
        paths: Vec::new(),
        command: None,
        failed: row.failed || has_failed(value),
        ends_goal: row.ending.as_ref().is_some_and(|call| {
            let mut held = call.arguments.iter();
            name == call.tool && held.all(|(argument, value)| input[argument] == value.as_str())
        }),
        name,
    };
    match row.call {
        Some(OwnCall::Shell) => {
            tool.action = Action::Shell;
            tool.command = read_text(value, "command");
            tool.paths = tool
                .command
                .as_deref()
                .map(list_written)
                .unwrap_or_default();
        }
        Some(OwnCall::Edit) => {
            tool.action = Action::Edit;
            tool.paths = paths(tools, value);
        }
        None => look_into(tools, &mut tool, held, input),
    }
    tool.paths.truncate(MAX_PATHS);
    tool
}

fn look_into(tools: &Tools, tool: &mut Tool, held: &Value, input: &Value) {
    match purpose(tools, &tool.name) {
        Some(Purpose::Shell) => {
            tool.action = Action::Shell;
            tool.command = command(input);
            if let Some(line) = &tool.command {
                tool.paths = list_written(line);
                // One agent applies patches through its shell.
                if line.contains("*** Begin Patch") {
                    tool.paths.extend(list_patched(line));
                }
            }
        }
        Some(Purpose::Patch) => {
            tool.action = Action::Edit;
            let text = ["command", "input", "patch", "patchText", "patch_text"]
                .iter()
                .find_map(|field| read_text(input, field))
                .or_else(|| held.as_str().map(str::to_owned))
                .unwrap_or_default();
            tool.paths = list_patched(&text);
            tool.paths.extend(paths(tools, input));
        }
        Some(Purpose::Edit) => {
            tool.action = Action::Edit;
            tool.paths = paths(tools, input);
        }
        None => {}
    }
}

/// The relevant purpose of a tool.
enum Purpose {
    Shell,
    Patch,
    Edit,
}

/// The purpose of the agent's own tools by its table, and of other tools, from servers or later versions, by their
/// names.
fn purpose(tools: &Tools, named: &str) -> Option<Purpose> {
    let own = |names: &[String]| names.iter().any(|name| name == named);
    let name = named.rsplit("__").next().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    if own(&tools.shell) || WORDS.shell_tools.contains(&lower) {
        Some(Purpose::Shell)
    } else if own(&tools.patch) || lower.contains("patch") {
        Some(Purpose::Patch)
    } else if own(&tools.edit)
        || WORDS
            .writing
            .iter()
            .any(|word| lower.contains(word.as_str()))
    {
        Some(Purpose::Edit)
    } else {
        None
    }
}

fn has_failed(value: &Value) -> bool {
    let response = &value["tool_response"];
    value["failed"] == Value::Bool(true)
        || value["is_error"] == Value::Bool(true)
        || response["is_error"] == Value::Bool(true)
        || response["error"].is_string()
        || response["error"].is_object()
        || value["toolResult"]["resultType"] == "failure"
}

/// The command line of a call: a string, a list of words, or several lines, each of which may have separate words.
fn command(input: &Value) -> Option<String> {
    if let Some(lines) = input["commands"].as_array() {
        let line = |line: &Value| match line.as_str() {
            Some(text) => Some(text.to_owned()),
            None => {
                let words = line["args"].as_array().into_iter().flatten();
                let words = words.filter_map(Value::as_str).map(str::to_owned);
                let first = line["command"].as_str()?.to_owned();
                let words: Vec<String> = words
                    .map(|word| shell_words::quote(&word).into_owned())
                    .collect();
                Some([vec![first], words].concat().join(" "))
            }
        };
        let lines: Vec<String> = lines.iter().filter_map(line).collect();
        return Some(lines.join("\n").chars().take(MAX_TEXT).collect());
    }
    let field = ["command", "cmd", "script"]
        .iter()
        .find_map(|name| input.get(*name))?;
    if let Some(text) = field.as_str() {
        return Some(text.chars().take(MAX_TEXT).collect());
    }
    let words: Vec<&str> = field.as_array()?.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        // `bash -lc LINE`
        [_, flag, line] if flag.starts_with('-') && flag.ends_with('c') => Some((*line).to_owned()),
        words => Some(shell_words::join(words)),
    }
}

/// The files that a call names, including those in a list of edits.
fn paths(tools: &Tools, input: &Value) -> Vec<String> {
    let others = WORDS
        .path_fields
        .iter()
        .map(String::as_str)
        .filter(|field| !tools.paths.iter().any(|own| own == field));
    let fields: Vec<&str> = tools
        .paths
        .iter()
        .map(String::as_str)
        .chain(others)
        .collect();
    let named = |value: &Value| -> Vec<String> {
        let names = fields.iter().filter_map(|field| read_name(value, field));
        names.collect()
    };
    let mut found = named(input);
    for list in ["edits", "files", "changes"] {
        for entry in input[list].as_array().into_iter().flatten().take(MAX_PATHS) {
            found.extend(named(entry));
            found.extend(
                entry
                    .as_str()
                    .map(str::to_owned)
                    .filter(|p| p.len() <= MAX_NAME),
            );
        }
    }
    found
}

/// The files that a patch names, including the targets of moves.
fn list_patched(patch: &str) -> Vec<String> {
    const MARKS: [&str; 4] = [
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    patch
        .lines()
        .filter_map(|line| MARKS.iter().find_map(|mark| line.strip_prefix(mark)))
        .map(|path| path.trim().to_owned())
        .filter(|path| !path.is_empty() && path.len() <= MAX_NAME)
        .take(MAX_PATHS)
        .collect()
}

// Conversion of effects to an answer, with exactly the fields that the agent accepts. Pure. Effects that an event
// cannot carry are dropped; `step` uses the same table and does not produce them.

/// Paths of members in an answer, and their values: a literal, `{event}` or the effect's `{text}`.
type Members = BTreeMap<String, String>;

/// The members that carry each effect.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    shape: AnswerShape,
    context: Members,
    deny: Members,
    block: Members,
    notice: Members,
}

/// A test answers every event of every agent with these shapes.
static SHAPES: LazyLock<Vec<Shape>> =
    LazyLock::new(|| serde_json::from_str(include_str!("answers.json")).unwrap_or_default());

/// The answer to an event; `None` means that nothing is printed.
pub fn answer(agent: Agent, row: &Row, effects: &Effects) -> Option<Value> {
    let effects = &within(row, effects);
    let mut shapes = SHAPES.iter();
    let shape = shapes.find(|shape| shape.shape == agent.hooks().answer)?;
    let mut answer = json!({});
    for (members, effect) in [
        (&shape.context, &effects.context),
        (&shape.deny, &effects.deny),
        (&shape.block, &effects.block),
        (&shape.notice, &effects.notice),
    ] {
        for (path, word) in members {
            if let Some(text) = effect {
                let names = path.split('/');
                let at = names.fold(&mut answer, |at, name| &mut at[name]);
                *at = match word.as_str() {
                    "{text}" => json!(text),
                    "{event}" => json!(row.native),
                    word => json!(word),
                };
            }
        }
    }
    (!effects.is_empty()).then_some(answer)
}

/// The effects that the event can carry.
pub fn within(row: &Row, effects: &Effects) -> Effects {
    Effects {
        context: effects.context.clone().filter(|_| row.context),
        notice: effects.notice.clone().filter(|_| row.notice),
        deny: effects.deny.clone().filter(|_| row.gate == Gate::Deny),
        block: effects.block.clone().filter(|_| row.gate == Gate::Block),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cook_protocol::model::hook_table::Gate;

    #[test]
    fn a_table_names_tools_that_no_word_gives_away() {
        let tools = Tools {
            shell: vec!["terminal".to_owned()],
            edit: vec!["apply".to_owned()],
            patch: vec!["amend".to_owned()],
            paths: vec!["target".to_owned()],
        };
        let seen = |tools: &Tools, call: &str, input: &str| {
            let text = format!("{{\"tool_name\": \"{call}\", \"tool_input\": {input}}}");
            let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}"));
            let row = Row {
                native: "x".to_owned(),
                kind: Kind::AfterTool,
                context: false,
                notice: false,
                gate: Gate::None,
                call: None,
                failed: false,
                attempt: false,
                ending: None,
            };
            let tool = tool(tools, &row, &value);
            (tool.action, tool.paths, tool.command)
        };
        let line = "{\"command\": \"ls\"}";
        let file = "{\"target\": \"a\", \"path\": \"b\"}";
        let patch = "{\"patch\": \"*** Add File: c\"}";
        let a_b = vec!["a".to_owned(), "b".to_owned()];
        let none = Tools::default();
        for (call, input, wanted) in [
            (
                "terminal",
                line,
                (Action::Shell, vec![], Some("ls".to_owned())),
            ),
            ("apply", file, (Action::Edit, a_b, None)),
            ("amend", patch, (Action::Edit, vec!["c".to_owned()], None)),
        ] {
            assert_eq!(seen(&tools, call, input), wanted);
            assert_eq!(seen(&none, call, input), (Action::Other, vec![], None));
        }
        let foreign = seen(&none, "mcp__files__write_file", file);
        assert_eq!(foreign, (Action::Edit, vec!["b".to_owned()], None));
    }
}
