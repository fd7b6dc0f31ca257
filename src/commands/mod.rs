//! The command line: parse → call → hand the result to `view`. A command is one file, with its
//! arguments in it; small ones of one subject share theirs. They are put together here.

// What several commands need.
mod context;
mod input;
pub mod published;
mod recorded;

// The commands.
mod ask;
mod brief;
mod calibrate;
mod check;
mod demo;
mod doctor;
mod gate;
mod goal;
mod help;
mod hooks;
mod init;
mod issue;
mod log;
#[cfg(feature = "mcp")]
mod mcp;
mod next;
mod pause;
mod plan;
mod pull_request;
mod push;
mod record;
mod report;
mod run;
mod session;
mod status;
mod strength;
mod verify;

use crate::view::{ColorChoice, Exit, Format, Screen};
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};
use context::{Answer, Context};
use cook_protocol::diagnostic::Failure;
use std::path::PathBuf;
use std::process::ExitCode;

/// What the help texts call the options that each command takes.
const EVERYWHERE: &str = "Options of every command";

/// Agents report; cook decides. Git is the database.
#[derive(Debug, Parser)]
#[command(name = "cook", version, about, long_about = None, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    /// Work in this directory
    #[arg(short = 'C', long = "dir", global = true, value_name = "DIR", help_heading = EVERYWHERE)]
    dir: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    json: bool,
    /// When to colour: on a terminal without `NO_COLOR` (auto), always, or never
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, hide_default_value = true, hide_possible_values = true, help_heading = EVERYWHERE)]
    color: ColorChoice,
    /// No notes on stderr
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    quiet: bool,
    /// Say what led to an error
    #[arg(short, long, global = true, help_heading = EVERYWHERE)]
    verbose: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Commands of before, each with the one that does it now.
const OLD_NAMES: [(&str, &str); 21] = [
    ("adopt", "plan adopt"),
    ("agents", "doctor agents"),
    ("answer", "resume --answer"),
    ("budget", "resume --add"),
    ("checkpoint", "brief checkpoint"),
    ("cost", "status --cost"),
    ("criteria", "plan criteria"),
    ("diff", "log A..B"),
    ("fanout", "ask --each"),
    ("fsck", "doctor fsck"),
    ("graph", "status --graph"),
    ("man", "help --man"),
    ("pr", "report --format pr"),
    ("ready", "status --ready"),
    ("recover", "brief recover"),
    ("refocus", "plan refocus"),
    ("rescue", "doctor rescue"),
    ("show", "log ID"),
    ("step", "run --once"),
    ("watch", "status --watch"),
    ("why", "next --why"),
];

#[derive(Debug, Subcommand)]
enum Command {
    /// Set the repository up, or repair what is missing; safe to repeat
    Init(init::InitArgs),
    /// Name the mandatory role, and why
    Next(next::NextArgs),
    /// Take a role's report: check it, measure the repository, decide
    Record(record::RecordArgs),
    /// Say whether what was just claimed is true of this commit; in any repository
    Check(check::CheckArgs),
    /// Hold work to commands: set a goal, see how far it is, drop it
    Goal(goal::GoalArgs),
    /// Plant defects in a change, and count those that its gates notice
    Strength(strength::StrengthArgs),
    /// Give judges planted cases, and count those that they notice
    Calibrate(calibrate::CalibrateArgs),
    /// Recompute everything from files, log and git
    Verify(verify::VerifyArgs),
    /// Write what a verification found as in-toto statements, for others to check
    Attest(verify::AttestArgs),
    /// Run gates now and keep receipts
    Gate(gate::GateArgs),
    /// Let cook run a command that a plan or `cook.toml` names (user only)
    Trust(gate::TrustArgs),
    /// Where the work stands; what is ready, the plan as a graph, what it cost
    Status(status::StatusArgs),
    /// Issues: of `br` or `bd` where one is here, else the plan's slices
    #[command(subcommand)]
    Issue(issue::IssueCommand),
    /// The transitions, newest first; one of them, or what changed between two
    Log(log::LogArgs),
    /// Take transitions back (user only)
    Undo(pause::UndoArgs),
    /// Change the plan or the mission (user only); list the acceptance criteria
    #[command(subcommand)]
    Plan(plan::PlanCommand),
    /// Stop the work until `cook resume`
    Pause(pause::PauseArgs),
    /// Resume stopped work: an answer, more budget, trust (user only)
    Resume(pause::ResumeArgs),
    /// End the workflow (user only)
    Cancel(pause::CancelArgs),
    /// What the next session must know; keep a checkpoint, recover a lost context
    Brief(Box<brief::BriefArgs>),
    /// Answer an agent's lifecycle event (agents call this)
    Hook(hooks::HookArgs),
    /// Install, check or remove the hooks of an agent
    #[command(subcommand)]
    Hooks(hooks::HooksCommand),
    /// Run agent sessions until the policy says stop, or one of them
    Run(run::RunArgs),
    /// Show a whole run with scripted agents, in a repository of its own
    Demo(demo::DemoArgs),
    /// Ask an agent, or several; nothing may change
    Ask(ask::AskArgs),
    /// Order an agent to do something
    Act(ask::ActArgs),
    /// What was said to agents: look at it, name it, check it, move it
    Session(session::SessionArgs),
    /// Push the log to a remote, beside its branch
    Push(push::PushArgs),
    /// Take the log in from a remote, also in a fresh clone
    Pull(push::PullArgs),
    /// A page about the work and its proof, or the text of a pull request
    Report(report::ReportArgs),
    /// Serve the Model Context Protocol on stdin and stdout (agents start this)
    #[cfg(feature = "mcp")]
    Mcp,
    /// Check the set-up and the log; list agents and what was set aside
    Doctor(doctor::DoctorArgs),
    /// Explain a code that cook printed
    Explain(help::ExplainArgs),
    /// Shell completions
    Completions(help::CompletionsArgs),
    /// The commands that most people need; `--all` for every one, a name for one in full
    Help(help::HelpArgs),
    /// Stand in for an agent by a script (for tests and demonstrations)
    #[command(hide = true)]
    ScriptedAgent(demo::ScriptedAgentArgs),
}

impl Command {
    /// The format that is named, and whose results are in it.
    fn format(&self) -> (Option<Format>, &'static str) {
        match self {
            Command::Verify(args) => (args.format, "cook verify"),
            Command::Check(args) => (args.format, "cook check"),
            _ => (None, "cook"),
        }
    }
}

/// The program.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return not_parsed(&error),
    };
    if let Some(Command::ScriptedAgent(args)) = &cli.command {
        return demo::play(args);
    }
    let (named, command) = cli.command.as_ref().map_or((None, "cook"), Command::format);
    let format = match (cli.json, named) {
        (true, _) => Format::Json,
        (false, named) => named.unwrap_or_default(),
    };
    let screen = Screen::new(format, cli.quiet, cli.verbose, cli.color).of_command(command);
    if let (true, Some(other)) = (cli.json, named.filter(|named| *named != Format::Json)) {
        let other = format!("{other:?}").to_lowercase();
        let what = format!("`--json` and `--format {other}` ask for two answers");
        return screen.failure(&Failure::usage(what)).into();
    }
    let context = Context {
        dir_is_named: cli.dir.is_some(),
        dir: cli.dir.unwrap_or_else(|| PathBuf::from(".")),
        screen,
    };
    let answer = match cli.command {
        Some(command) => run(&context, command),
        None => help::overview(&context, &Cli::command()),
    };
    let exit = match answer {
        Ok(answer) => screen.answer(answer.as_ref()),
        Err(failure) => screen.failure(&failure),
    };
    exit.into()
}

/// clap's own text: help and version on stdout with 0, the rest on stderr with 2;
/// whoever asked for JSON gets the failure in JSON too.
fn not_parsed(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && hooks::is_hook_call() {
        return hooks::not_parsed(error).into();
    }
    if !error.use_stderr() {
        // That of the program itself, and of no command.
        let text = error.to_string();
        match text.contains("Usage: cook [OPTIONS] [COMMAND]") {
            true => {
                let screen = Screen::new(Format::Human, false, false, ColorChoice::Auto);
                let help = context::HelpAnswer(help::group_commands(Cli::command()));
                return screen.answer(&help).into();
            }
            false => drop(error.print()),
        }
        return Exit::Ok.into();
    }
    let json = std::env::args_os().any(|word| word == "--json");
    let failure = name_new_command(error)
        .or_else(|| json.then(|| Failure::usage(first_words(&error.to_string()))));
    if let Some(failure) = failure {
        let format = if json { Format::Json } else { Format::Human };
        let screen = Screen::new(format, false, false, ColorChoice::Auto);
        return screen.failure(&failure).into();
    }
    let _ = error.print();
    Exit::Usage.into()
}

/// What became of a command that there was.
fn name_new_command(error: &clap::Error) -> Option<Failure> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let (_, new) = OLD_NAMES.iter().find(|(old, _)| old == name)?;
    let what = format!("`cook {name}` is `cook {new}` now");
    Some(Failure::usage(what).hint(format!("write `{new}` in its place")))
}

/// What clap objects to, on one line: its first one, and what that announces.
fn first_words(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    if !first.ends_with(':') {
        return first.to_owned();
    }
    let listed = lines.map(str::trim).take_while(|line| !line.is_empty());
    format!("{first} {}", listed.collect::<Vec<_>>().join(", "))
}

fn run(context: &Context, command: Command) -> Answer {
    match command {
        Command::Init(args) => init::init(context, &args),
        Command::Next(args) => next::next(context, &args),
        Command::Record(args) => record::record(context, &args),
        Command::Check(args) => check::check_commit(context, &args),
        Command::Goal(args) => goal::goal(context, &args),
        Command::Strength(args) => strength::strength(context, &args),
        Command::Calibrate(args) => calibrate::calibrate(context, &args),
        Command::Verify(args) => verify::verify(context, &args),
        Command::Attest(args) => verify::attest(context, &args),
        Command::Gate(args) => gate::gate(context, &args),
        Command::Trust(args) => gate::trust(context, &args),
        Command::Status(args) => status::status(context, &args),
        Command::Issue(command) => issue::issue(context, &command),
        Command::Log(args) => log::log(context, &args),
        Command::Undo(args) => pause::undo(context, &args),
        Command::Plan(command) => plan::plan(context, &command),
        Command::Pause(args) => pause::pause(context, &args),
        Command::Resume(args) => pause::resume(context, &args),
        Command::Cancel(args) => pause::cancel(context, &args),
        Command::Brief(args) => brief::brief(context, &args),
        Command::Hook(args) => hooks::hook(context, &args),
        Command::Hooks(command) => hooks::hooks(context, &command),
        Command::Ask(args) => ask::ask(context, &args),
        Command::Act(args) => ask::act(context, &args),
        Command::Run(args) => run::run(context, &args),
        Command::Demo(args) => demo::demo(context, &args),
        Command::Session(args) => session::session(context, &args),
        Command::ScriptedAgent(_) => Err(Failure::usage("a scripted agent answers to nobody")),
        Command::Push(args) => push::push(context, &args),
        Command::Pull(args) => push::pull(context, &args),
        Command::Report(args) => report::report(context, &args),
        #[cfg(feature = "mcp")]
        Command::Mcp => mcp::serve(context),
        Command::Doctor(args) => doctor::doctor(context, &args),
        Command::Explain(args) => help::explain(&args),
        Command::Completions(args) => help::completions(Cli::command(), &args),
        Command::Help(args) => help::help(Cli::command(), &args),
    }
}
