//! `cook hooks` manages the hooks in an agent's settings and shows which session works; `cook hook` answers a hook.

use super::context::*;
use super::recorded::note;
use crate::hooks::{self, Call, install};
use crate::view::ColorChoice;
use cook_agents::hooks::Agent;
use cook_agents::hooks::layout::Purpose;
use cook_protocol::model::KnownAgent;
use std::io::Read;

#[derive(Debug, Subcommand)]
pub(super) enum HooksCommand {
    /// Add cook's hooks to an agent's settings, and keep other settings
    Install(HooksAgentArgs),
    /// Check whether the hooks are installed, current and called
    Check(HooksAgentArgs),
    /// Remove exactly the parts that cook added
    Remove(HooksAgentArgs),
    /// Make a session the owner of the workflow
    Attach {
        /// ID of the session [default: the one that runs this command, else the last that called]
        session: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(super) struct HooksAgentArgs {
    #[arg(help = format!("Name of the agent: {}; with --check also git", list_hooked_agents()))]
    pub agent: String,
    /// Use the hooks that run `cook check` at each stop (git: at each push), in any repository
    #[arg(long)]
    pub check: bool,
    /// Use the repository's tracked settings file instead of your own
    #[arg(long)]
    pub shared: bool,
    /// Print the changed files, but write nothing
    #[arg(long)]
    pub print: bool,
}

pub(super) fn hooks(context: &Context, command: &HooksCommand) -> Answer {
    let mut workspace = context.workspace()?;
    match command {
        HooksCommand::Install(args) => {
            context::not_apart(&workspace)?;
            install_hooks(&mut workspace, args)
        }
        HooksCommand::Check(args) => check(&workspace, args),
        HooksCommand::Remove(args) => {
            context::not_apart(&workspace)?;
            remove(&workspace, args)
        }
        HooksCommand::Attach { session } => {
            let (agent, session) = hooks::find_session_to_attach(&workspace, session.as_deref())?;
            hooks::attach(&workspace, &agent, &session)?;
            let line = format!("session {session} ({agent}) works on this workflow now");
            note("hooks_attached", vec![line])
        }
    }
}

/// The argument for git's own hook in place of an agent's name.
const GIT: &str = "git";

fn purpose(args: &HooksAgentArgs) -> Purpose {
    match args.check {
        true => Purpose::Check,
        false => Purpose::Workflow,
    }
}

/// Computes the change of each file without writing it.
fn changes(
    workspace: &Workspace,
    args: &HooksAgentArgs,
    install: bool,
) -> Result<Vec<install::Change>> {
    let command = if install { "install" } else { "remove" };
    if args.agent == GIT {
        if !args.check || args.shared {
            let what = "the git hook runs only the check, and only in this clone";
            return Err(Failure::usage(what).hint(format!("cook hooks {command} git --check")));
        }
        return Ok(vec![install::change_pre_push(workspace, install)?]);
    }
    let agent = agent(args)?;
    let name = agent.name();
    if args.check && !agent.can_hold_a_stop() {
        let what = format!("{name} asks no hook when it stops, so a check cannot hold it");
        return Err(Failure::usage(what).hint("cook check, or cook hooks install git --check"));
    }
    if args.shared && agent.hooks().install.shared.is_none() {
        let what = format!("{name} reads no hooks of a repository, only your own");
        let words = name_hooks(args, false);
        return Err(Failure::usage(what).hint(format!("cook hooks {command} {words}")));
    }
    let wanted = (args.shared, purpose(args));
    install::changes(workspace, agent, wanted, install)
}

/// Lists the untrusted commands that a check would not run, as `cook trust` commands for the user.
fn list_untrusted(workspace: &mut Workspace) -> Result<Vec<String>> {
    workspace.propose_gates()?;
    let config = workspace.config()?;
    let setup = config.clean_room.setup().map(|command| command.to_string());
    let gates = config.gate_specs().into_iter().map(|gate| gate.run);
    let trust = workspace.trust()?;
    let commands: BTreeSet<String> = setup.chain(gates).collect();
    let refused = commands.iter().filter(|run| !trust.is_trusted(run));
    Ok(refused
        .map(|run| format!("yours to do: cook trust {}", machine::quote_word(run)))
        .collect())
}

fn agent(args: &HooksAgentArgs) -> Result<Agent> {
    Agent::parse(&args.agent).ok_or_else(|| {
        let known = Agent::all().map(Agent::name).collect::<Vec<_>>().join(", ");
        let name = &args.agent;
        Failure::usage(format!(
            "`{name}` is not an agent with hooks; the agents with hooks are {known}"
        ))
    })
}

fn install_hooks(workspace: &mut Workspace, args: &HooksAgentArgs) -> Answer {
    let changes = changes(workspace, args, true)?;
    if args.print {
        return answer(PromptAnswer(render_changes(&changes)));
    }
    note("hooks_installed", write_hooks(workspace, args, &changes)?)
}

/// Installs the hook that checks each stop of an agent, in the user's own file.
pub(super) fn install_check(workspace: &mut Workspace, agent: &str) -> Result<Vec<String>> {
    let args = HooksAgentArgs {
        agent: agent.to_owned(),
        check: true,
        shared: false,
        print: false,
    };
    let changes = changes(workspace, &args, true)?;
    write_hooks(workspace, &args, &changes)
}

fn write_hooks(
    workspace: &mut Workspace,
    args: &HooksAgentArgs,
    changes: &[install::Change],
) -> Result<Vec<String>> {
    install::write(changes, args.agent == GIT)?;
    if !args.shared {
        install::hide_from_status(workspace, changes, true)?;
    }
    let mut lines = describe_changes(changes, "written", "as it was");
    lines.extend(changes.iter().filter_map(|change| change.remark.clone()));
    if args.shared {
        let root = workspace.repo.root();
        let paths = changes.iter().map(|change| {
            let path = change.path.strip_prefix(root).unwrap_or(&change.path);
            machine::quote_word(&path.display().to_string())
        });
        let paths = paths.collect::<Vec<_>>().join(" ");
        lines.push(format!("yours to do: run `git add {paths}` and commit; from then on everybody who works in this repository has these hooks, which do nothing where `cook` is not installed"));
    }
    lines.extend(find_others(workspace, args).map(|(path, flags)| {
        format!("`{path}` also has these hooks: `cook hooks remove {flags}` removes the duplicates")
    }));
    if let Some(agent) = Agent::parse(&args.agent) {
        let advice = agent.hooks().install.advice.iter();
        lines.extend(advice.map(|line| format!("yours to do: {line}")));
    }
    if args.check {
        lines.extend(list_untrusted(workspace)?);
    }
    lines.push(format!(
        "then: cook hooks check {}",
        name_hooks(args, args.shared)
    ));
    Ok(lines)
}

fn remove(workspace: &Workspace, args: &HooksAgentArgs) -> Answer {
    let changes = changes(workspace, args, false)?;
    if args.print {
        return answer(PromptAnswer(render_changes(&changes)));
    }
    install::write(&changes, args.agent == GIT)?;
    if !args.shared {
        install::hide_from_status(workspace, &changes, false)?;
    }
    let mut lines = describe_changes(&changes, "taken out", "it does not contain hooks of cook");
    lines.extend(find_others(workspace, args).map(|(path, flags)| {
        format!(
            "`{path}` has these hooks too, and keeps them: `cook hooks remove {flags}` removes them"
        )
    }));
    note("hooks_removed", lines)
}

/// Finds the same hooks in the other file, shared or private: its path, and the arguments that name the hooks.
fn find_others(workspace: &Workspace, args: &HooksAgentArgs) -> Option<(String, String)> {
    let known = Agent::parse(&args.agent)?;
    let wanted = (!args.shared, purpose(args));
    // A file that cannot be read is not this command's concern.
    let others = install::changes(workspace, known, wanted, true).ok()?;
    // Only the first change is the hooks' own file; commands and skills may exist in both places.
    let other = others.first()?;
    (other.standing != install::Standing::Missing).then(|| {
        let flags = name_hooks(args, !args.shared);
        (other.path.display().to_string(), flags)
    })
}

/// The arguments that name these hooks to `cook hooks`.
fn name_hooks(args: &HooksAgentArgs, shared: bool) -> String {
    let check = if args.check { " --check" } else { "" };
    let shared = if shared { " --shared" } else { "" };
    format!("{}{check}{shared}", args.agent)
}

fn describe_changes(changes: &[install::Change], changed: &str, unchanged: &str) -> Vec<String> {
    let describe = |change: &install::Change| {
        let how = if change.changes() { changed } else { unchanged };
        format!("{}: {how}", change.path.display())
    };
    changes.iter().map(describe).collect()
}

fn render_changes(changes: &[install::Change]) -> String {
    let render = |change: &install::Change| {
        let text = change.after.as_deref().unwrap_or("(no file)\n");
        format!("==> {} <==\n{text}\n", change.path.display())
    };
    changes.iter().map(render).collect()
}

fn check(workspace: &Workspace, args: &HooksAgentArgs) -> Answer {
    let mut checked = Vec::new();
    let mut findings = Vec::new();
    for change in changes(workspace, args, true)? {
        let path = change.path.display().to_string();
        let code = match change.standing {
            install::Standing::Current => {
                checked.push(format!("{path} is current"));
                continue;
            }
            install::Standing::Stale => Code::HooksStale,
            install::Standing::Missing => Code::HooksMissing,
        };
        let flags = name_hooks(args, args.shared);
        let what = format!("{}: `cook hooks install {flags}`", code.meaning());
        findings.push(Finding::new(code, what).at(path));
    }
    if let Some((path, flags)) = find_others(workspace, args) {
        checked.push(format!(
            "{path} has these hooks too: `cook hooks check {flags}`"
        ));
    }
    if args.agent == GIT {
        match install::try_program(workspace) {
            Ok(()) => checked.push("the hook finds `cook`".to_owned()),
            Err(why) => findings.push(Finding::new(Code::HooksDead, why)),
        }
    }
    if let Some(agent) = Agent::parse(&args.agent) {
        match install::try_command(workspace, agent, purpose(args)) {
            Ok(()) => checked.push("the command answers an event".to_owned()),
            Err(why) => findings.push(Finding::new(Code::HooksDead, why)),
        }
        match install::last_called(workspace, agent) {
            Some(moment) => checked.push(format!("last called {}", Clock::of_epoch(moment / 1000))),
            None => {
                let mut what = format!("{} has not called a hook here yet", agent.name());
                // Some agents call no hooks in a directory that they do not trust.
                if args.shared {
                    what = format!("{what}: {}", agent.hooks().install.advice.join("; "));
                }
                findings.push(Finding::new(Code::HooksUnseen, what));
            }
        }
    }
    answer(VerifyAnswer::new("hooks", checked, findings))
}

// `cook hook`: answers an agent's hook event.

/// The maximum size of an event in bytes.
const MAX_EVENT: u64 = 16 << 20;

/// The suffix of an agent's name that asks for its status line.
const STATUSLINE: &str = "-statusline";

/// Lists the agents with hooks.
pub(super) fn list_hooked_agents() -> String {
    list_words(KnownAgent::list_names_with("[hooks]").map(str::to_owned))
}

/// Lists the names that `cook hook` takes.
fn callers() -> String {
    let lines =
        KnownAgent::list_names_with("statusline = true").map(|name| format!("{name}-statusline"));
    let agents = KnownAgent::list_names_with("[hooks]").map(str::to_owned);
    list_words(agents.chain(lines))
}

fn list_words(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
}

#[derive(Debug, Args)]
pub(super) struct HookArgs {
    #[arg(help = format!("Name of the agent: {}", callers()))]
    pub agent: String,
    /// Name the event, for agents that do not send its name
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Run `cook check` at a stop, and ignore other events
    #[arg(long)]
    pub check: bool,
}

pub(super) fn hook(context: &Context, args: &HookArgs) -> Answer {
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(MAX_EVENT)
        .read_to_end(&mut bytes);
    if let Err(error) = read {
        return answer(HookAnswer::complaint(format!("cook hook: {error}")));
    }
    let lined = args.agent.strip_suffix(STATUSLINE).and_then(Agent::parse);
    if let Some(agent) = lined.filter(|agent| agent.hooks().install.statusline) {
        let line = hooks::statusline(agent, &bytes, &context.dir);
        let out = if line.is_empty() { line } else { line + "\n" };
        return answer(HookAnswer {
            out,
            complaint: None,
        });
    }
    let Some(agent) = Agent::parse(&args.agent) else {
        return answer(HookAnswer::complaint("cook hook: unknown agent".to_owned()));
    };
    let call = Call {
        agent,
        named: args.event.as_deref(),
        input: &bytes,
        dir: &context.dir,
    };
    let response = match args.check {
        true => hooks::respond_to_stop(&call),
        false => hooks::respond(&call),
    };
    let out = response.answer.map(|value| format!("{value}\n"));
    answer(HookAnswer {
        out: out.unwrap_or_default(),
        complaint: response.complaint,
    })
}

/// Whether this process was called as `cook hook`, even if its other arguments are wrong.
pub(super) fn is_hook_call() -> bool {
    let mut words = std::env::args_os().skip(1);
    let first = words.find(|word| !word.to_string_lossy().starts_with('-'));
    first.is_some_and(|word| word == "hook")
}

/// Reports the error on stderr and exits with 0: an agent takes exit code 2 as a refusal of its next action.
pub(super) fn not_parsed(error: &clap::Error) -> Exit {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let complaint = HookAnswer::complaint(format!("cook hook: {first}"));
    Screen::new(Format::Human, false, false, ColorChoice::Never).answer(&complaint)
}

/// The output for an agent: the JSON that it expects, or nothing; the exit code never refuses an action.
#[derive(Debug, Default, Serialize)]
pub(super) struct HookAnswer {
    out: String,
    complaint: Option<String>,
}

impl HookAnswer {
    /// An answer with nothing but a line for stderr.
    fn complaint(text: String) -> Self {
        Self {
            out: String::new(),
            complaint: Some(text),
        }
    }
}

impl Show for HookAnswer {
    fn human(&self, page: &mut Page) {
        page.verbatim(&self.out);
    }

    fn has_json(&self) -> bool {
        false
    }

    fn aside(&self) -> Option<&str> {
        self.complaint.as_deref()
    }
}
