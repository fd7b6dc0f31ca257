//! Which files the hooks of an agent live in, and what belongs into them. Pure.

use crate::hooks::hook_event::Agent;
use cook_protocol::model::hook_table::{CommandForm, Kind, Row, SettingsForm, TimeUnit};
use serde_json::{Value, json};

/// What the hooks are for; the two stand beside each other and are installed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The workflow of this repository.
    Workflow,
    /// `cook check` at each stop, in any repository.
    Check,
}

/// Seconds an agent waits for a check.
const CHECK_SECONDS: u64 = 600;

impl Purpose {
    /// In everything cook writes for it; its number grows when what is written changes.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Workflow => "cook-hooks 1",
            Self::Check => "cook-checks 1",
        }
    }

    /// What that begins with in every version.
    pub fn any_mark(self) -> &'static str {
        self.mark().trim_end_matches(|c: char| c.is_ascii_digit())
    }

    /// The events that are installed.
    fn rows(self, agent: Agent) -> impl Iterator<Item = &'static Row> {
        let every = self == Self::Workflow;
        let rows = agent.rows().iter();
        rows.filter(move |row| every || row.is_stop_gate())
    }

    /// What `cook hook` is told beside the agent's name.
    fn flag(self) -> &'static str {
        match self {
            Self::Workflow => "",
            Self::Check => " --check",
        }
    }

    /// The name of a file of cook's own.
    pub fn own_name(self, path: &str) -> String {
        match (self, path.rsplit_once("cook.")) {
            (Self::Check, Some((dir, ending))) => format!("{dir}cook-check.{ending}"),
            _ => path.to_owned(),
        }
    }
}

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
    /// TOML that others write too: these tables are added behind it.
    Tables(String),
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
    /// What to tell the user who has such a member.
    pub if_theirs: Option<String>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What the marks in it begin with.
    pub any_mark: &'static str,
    /// Where it lies.
    pub base: Base,
    /// Relative to that.
    pub path: String,
    /// What belongs into it.
    pub content: Content,
}

/// Programs that run inside an agent, by the name that its table gives them.
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

/// The files of an agent; `shared` = those that everybody gets with the repository.
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

/// The agent's own `/cook`, or a skill of that name.
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

/// How a shim calls cook, and how long it waits.
fn shim_call(agent: Agent) -> (String, &'static str) {
    let call = format!("[\"hook\", \"{}\"]", agent.name());
    (call, "timeout: 15_000")
}

/// A test sees to it that each table names one that there is.
fn shim(name: &str) -> &'static str {
    let found = SHIMS.iter().find(|(known, _)| *known == name);
    found.map_or("", |(_, text)| text)
}

/// The command an agent runs: silent and 0 where cook is missing, because an agent
/// may take any other end for a refusal.
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

/// Seconds an agent waits for a hook.
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
    // Last in and first out: so the text shows whose the object is that holds it.
    if install.form == SettingsForm::Flat {
        entries.push(Entry {
            path: vec!["version"],
            // The same number as 1 for whoever reads it, and not as anybody else writes it: so it is
            // known whose it is when it is taken out.
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

/// A file of cook's own; its payloads do not name the event, so the command does.
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
