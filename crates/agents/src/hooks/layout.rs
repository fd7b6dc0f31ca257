//! The files in which the hooks of an agent are installed, and their contents. Pure.

use crate::hooks::hook_event::Agent;
use cook_protocol::model::hook_table::{CommandForm, Kind, Row, SettingsForm, TimeUnit};
use serde_json::{Value, json};

/// The purpose of hooks; those of the two purposes are independent and are installed separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The workflow of this repository.
    Workflow,
    /// `cook check` at each stop, in any repository.
    Check,
}

/// The timeout of a check hook in seconds.
const CHECK_SECONDS: u64 = 600;

impl Purpose {
    /// A mark in everything that cook writes for this purpose; its number increases when the content changes.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Workflow => "cook-hooks 1",
            Self::Check => "cook-checks 1",
        }
    }

    /// The beginning of the mark, which is the same in all versions.
    pub fn any_mark(self) -> &'static str {
        self.mark().trim_end_matches(|c: char| c.is_ascii_digit())
    }

    /// The events for which hooks are installed.
    fn rows(self, agent: Agent) -> impl Iterator<Item = &'static Row> {
        let every = self == Self::Workflow;
        let rows = agent.rows().iter();
        rows.filter(move |row| every || row.is_stop_gate())
    }

    /// The argument of `cook hook` for this purpose.
    fn flag(self) -> &'static str {
        match self {
            Self::Workflow => "",
            Self::Check => " --check",
        }
    }

    /// The name of a file that only cook writes.
    pub fn own_name(self, path: &str) -> String {
        match (self, path.rsplit_once("cook.")) {
            (Self::Check, Some((dir, ending))) => format!("{dir}cook-check.{ending}"),
            _ => path.to_owned(),
        }
    }
}

/// The directory that a path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The worktree.
    Worktree,
    /// The user's home.
    Home,
}

/// The kind of a file, and cook's part of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// JSON with other content: these entries are merged into it.
    Merged(Vec<Entry>),
    /// TOML with other content: these tables are appended.
    Tables(String),
    /// A file that only cook writes, with its complete content.
    Whole(String),
    /// A text with other content, into which this block is inserted.
    Block(String),
}

/// An entry that is merged into a JSON file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The names of the members down to the list, or to the member itself.
    pub path: Vec<&'static str>,
    /// The value that is added.
    pub value: Value,
    /// Whether it is appended to a list; otherwise it is a member that is only added if it is missing.
    pub listed: bool,
    /// The message to a user who already has such a member.
    pub if_theirs: Option<String>,
}

/// The content that belongs into one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The beginning of the marks in it.
    pub any_mark: &'static str,
    /// The directory that `path` is relative to.
    pub base: Base,
    /// The relative path.
    pub path: String,
    /// Cook's content.
    pub content: Content,
}

/// Programs that run inside an agent, by their name in the agent's table.
const SHIMS: [(&str, &str); 3] = [
    (
        "cline.ts",
        include_str!("../../../../templates/hooks/cline.ts"),
    ),
    (
        "opencode.ts",
        include_str!("../../../../templates/hooks/opencode.ts"),
    ),
    ("pi.ts", include_str!("../../../../templates/hooks/pi.ts")),
];
const COMMAND: &str = include_str!("../../../../templates/hooks/command.md");
const INSTRUCTIONS: &str = include_str!("../../../../templates/hooks/instructions.md");

/// The files of an agent; with `shared`, those that are committed to the repository.
pub fn plans(agent: Agent, shared: bool, purpose: Purpose) -> Vec<Plan> {
    let install = &agent.hooks().install;
    let command = &install.command;
    let plan = |personal: &str, everybodys: &str, content| {
        let named = if shared { everybodys } else { personal };
        let (base, path) = match named.strip_prefix("~/") {
            Some(path) => (Base::Home, path),
            None => (Base::Worktree, named),
        };
        let path = match content {
            Content::Whole(_) => purpose.own_name(path),
            _ => path.to_owned(),
        };
        Plan {
            any_mark: purpose.any_mark(),
            base,
            path,
            content,
        }
    };
    let settings = content(agent, purpose);
    let mut plans = Vec::new();
    match (&install.shared, shared) {
        (None, true) => return plans,
        (everybodys, _) => {
            let everybodys = everybodys.as_deref().unwrap_or_default();
            plans.push(plan(&install.personal, everybodys, settings));
        }
    }
    if purpose == Purpose::Check {
        return plans;
    }
    let text = Content::Whole(command_text(command.form));
    plans.push(plan(&command.personal, &command.shared, text));
    if let Some(places) = &install.instructions {
        let text = Content::Block(INSTRUCTIONS.to_owned());
        plans.push(plan(&places.personal, &places.shared, text));
    }
    plans
}

/// The agent's own command `/cook`, or a skill of that name.
fn command_text(form: CommandForm) -> String {
    const MARK: &str = Purpose::Workflow.mark();
    let about = "Mission, who is next, status and pause of the cook workflow in this repository";
    match form {
        CommandForm::Toml => format!(
            "# {MARK}\ndescription = \"{about}\"\nprompt = '''\n{COMMAND}\n{{{{args}}}}\n'''\n"
        ),
        CommandForm::Skill => {
            format!("---\nname: cook\ndescription: {about}\n---\n<!-- {MARK} -->\n{COMMAND}")
        }
        CommandForm::Plain => format!("<!-- {MARK} -->\n{COMMAND}"),
        CommandForm::Described => {
            format!("---\ndescription: {about}\n---\n<!-- {MARK} -->\n{COMMAND}")
        }
    }
}

fn content(agent: Agent, purpose: Purpose) -> Content {
    match &agent.hooks().install.form {
        SettingsForm::Groups | SettingsForm::Flat => Content::Merged(entries(agent, purpose)),
        SettingsForm::Tables => Content::Tables(tables(agent, purpose)),
        SettingsForm::File => Content::Whole(own_file(agent, purpose)),
        SettingsForm::Shim(name) => {
            let mut text = shim(name).to_owned();
            if purpose == Purpose::Check {
                let (call, limit) = shim_call(agent);
                text = text
                    .replacen(&call, &call.replace(']', ", \"--check\"]"), 1)
                    .replacen(limit, &format!("timeout: {CHECK_SECONDS}_000"), 1);
            }
            Content::Whole(format!("// {}\n{text}", purpose.mark()))
        }
    }
}

/// The call of cook in a shim, and its timeout.
fn shim_call(agent: Agent) -> (String, &'static str) {
    let call = format!("[\"hook\", \"{}\"]", agent.name());
    (call, "timeout: 15_000")
}

/// The text of a shim. A test ensures that every name in a table exists.
fn shim(name: &str) -> &'static str {
    let found = SHIMS.iter().find(|(known, _)| *known == name);
    found.map_or("", |(_, text)| text)
}

/// The command that an agent runs. It prints nothing and exits with 0 if cook is missing, because an agent may take any
/// other exit code for a refusal.
pub fn command(agent: Agent, row: Option<&Row>, purpose: Purpose) -> String {
    let event = row.map(|row| format!(" --event {}", row.native));
    let (name, event) = (agent.name(), event.unwrap_or_default());
    guard(
        &format!("cook hook {name}{}{event}", purpose.flag()),
        purpose,
    )
}

fn guard(call: &str, purpose: Purpose) -> String {
    let mark = purpose.mark();
    format!("if command -v cook >/dev/null 2>&1; then {call}; fi # {mark}")
}

fn powershell(agent: Agent, row: &Row, purpose: Purpose) -> String {
    format!(
        "if (Get-Command cook -ErrorAction SilentlyContinue) {{ $input | cook hook {}{} --event {} }} # {}",
        agent.name(),
        purpose.flag(),
        row.native,
        purpose.mark()
    )
}

/// The timeout of a hook in seconds.
pub fn seconds(kind: Kind, purpose: Purpose) -> u64 {
    match (purpose, kind) {
        (Purpose::Check, _) => CHECK_SECONDS,
        (Purpose::Workflow, Kind::BeforeCompact) => 15,
        (Purpose::Workflow, _) => 10,
    }
}

fn entries(agent: Agent, purpose: Purpose) -> Vec<Entry> {
    let install = &agent.hooks().install;
    let of_events = purpose.rows(agent).map(|row| Entry {
        path: vec!["hooks", &row.native],
        value: entry(agent, row, purpose),
        listed: true,
        if_theirs: None,
    });
    let mut entries: Vec<Entry> = of_events.collect();
    // Added last and removed first, so that the text shows who created the enclosing object.
    if install.form == SettingsForm::Flat {
        entries.push(Entry {
            path: vec!["version"],
            // `1.0` equals 1 for every reader, but nobody else writes it, so that cook's own value is recognised when
            // it is removed.
            value: json!(1.0),
            listed: false,
            if_theirs: None,
        });
    }
    if install.statusline && purpose == Purpose::Workflow {
        let call = format!("cook hook {}-statusline", agent.name());
        let line = guard(&call, purpose);
        entries.push(Entry {
            path: vec!["statusLine"],
            value: json!({"type": "command", "command": line}),
            listed: false,
            if_theirs: Some(format!(
                "`statusLine` is yours and stays; add `{call}` to it to be warned about a full context"
            )),
        });
    }
    entries
}

fn entry(agent: Agent, row: &Row, purpose: Purpose) -> Value {
    let install = &agent.hooks().install;
    let factor = match install.timeout {
        TimeUnit::Seconds => 1,
        TimeUnit::Milliseconds => 1000,
    };
    let mut hook = json!(install.fields);
    hook["command"] = json!(command(agent, None, purpose));
    hook["timeout"] = json!(seconds(row.kind, purpose) * factor);
    if install.form == SettingsForm::Flat {
        return hook;
    }
    hook["type"] = json!("command");
    let tools = match (purpose, &row.ending) {
        (Purpose::Check, Some(call)) => &call.tool,
        _ => "*",
    };
    match matches!(row.kind, Kind::BeforeTool | Kind::AfterTool) {
        true => json!({"matcher": tools, "hooks": [hook]}),
        false => json!({"hooks": [hook]}),
    }
}

/// One table for each event.
fn tables(agent: Agent, purpose: Purpose) -> String {
    let table = |row: &Row| {
        let (command, limit) = (command(agent, None, purpose), seconds(row.kind, purpose));
        let (event, command) = (json!(row.native), json!(command));
        format!("[[hooks]]\nevent = {event}\ncommand = {command}\ntimeout = {limit}\n")
    };
    let tables: Vec<String> = purpose.rows(agent).map(table).collect();
    tables.join("\n")
}

/// A file that only cook writes. Its payloads do not name the event, so the command does.
fn own_file(agent: Agent, purpose: Purpose) -> String {
    let hooks: serde_json::Map<String, Value> = purpose
        .rows(agent)
        .map(|row| {
            let hook = json!({
                "type": "command",
                "bash": command(agent, Some(row), purpose),
                "powershell": powershell(agent, row, purpose),
                "timeoutSec": seconds(row.kind, purpose),
            });
            (row.native.clone(), json!([hook]))
        })
        .collect();
    let file = json!({"version": 1, "hooks": hooks});
    let text = serde_json::to_string_pretty(&file).unwrap_or_default();
    format!("{text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shim_of_a_table_is_there_and_each_one_is_some_tables() {
        let named: Vec<&str> = Agent::all()
            .filter_map(|agent| match &agent.hooks().install.form {
                SettingsForm::Shim(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        assert!(named.iter().all(|name| !shim(name).is_empty()), "{named:?}");
        assert!(SHIMS.iter().all(|(name, _)| named.contains(name)));
    }

    #[test]
    fn a_check_is_installed_where_an_agent_stops_and_nowhere_else() {
        for agent in Agent::all().filter(|agent| agent.can_hold_a_stop()) {
            let plans = plans(agent, false, Purpose::Check);
            assert_eq!(plans.len(), 1, "{agent:?}");
            let text = match &plans[0].content {
                Content::Merged(entries) => {
                    let hooks = entries.iter().filter(|entry| entry.listed);
                    let gates = agent.rows().iter().filter(|row| row.is_stop_gate());
                    assert_eq!(hooks.count(), gates.count(), "{agent:?}");
                    format!("{entries:?}")
                }
                Content::Whole(text) | Content::Block(text) | Content::Tables(text) => text.clone(),
            };
            assert!(text.contains("--check"), "{agent:?}: {text}");
            assert!(text.contains("600"), "{agent:?}: {text}");
            assert!(text.contains(Purpose::Check.mark()), "{agent:?}: {text}");
        }
    }
}
