//! The command line: parses the arguments, calls the command, and passes the result to `view`. Each command is one file
//! with its arguments; small commands of one subject share a file.

// Shared by several commands.
mod context;
mod input;
pub mod published;
mod recorded;

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
mod uninstall;
mod verify;

use crate::prelude::*;
use crate::view::{ColorChoice, Exit, Format, Screen};
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};
use context::{Answer, Context};
use std::process::ExitCode;

/// The heading of the global options in help texts.
const GLOBAL: &str = "Global options";

/// Check what coding agents claim, and mark work done only with proof.
#[derive(Debug, Parser)]
#[command(name = "cook", version, about, long_about = None, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    /// Run in this directory instead of the current one
    #[arg(short = 'C', long = "dir", global = true, value_name = "DIR", help_heading = GLOBAL)]
    dir: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,
    /// Use colors: always, never, or auto (on a terminal)
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, hide_possible_values = true, help_heading = GLOBAL)]
    color: ColorChoice,
    /// Do not print notes to stderr
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    quiet: bool,
    /// Print more detail, such as the causes of an error
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    verbose: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Former commands and their replacements.
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
#[command(defer = true)]
enum Command {
    /// Set up this repository, or repair missing parts (safe to repeat)
    Init(init::InitArgs),
    /// Show which role must work next, and why
    Next(next::NextArgs),
    /// Check a role's report against the repository, and record it
    Record(record::RecordArgs),
    /// Check whether the current commit is what it claims to be
    Check(check::CheckArgs),
    /// Set a goal that commands check, show its progress, or drop it
    Goal(goal::GoalArgs),
    /// Plant defects in a change, and count those that the gates notice
    Strength(strength::StrengthArgs),
    /// Give judges work with planted faults, and count those they notice
    Calibrate(calibrate::CalibrateArgs),
    /// Verify from files, log and git that this commit is proven done
    Verify(verify::VerifyArgs),
    /// Verify this commit, and write the result as in-toto statements
    Attest(verify::AttestArgs),
    /// Run the gates (test commands), and keep receipts of the results
    Gate(gate::GateArgs),
    /// Allow a command to run on this machine (user only)
    Trust(gate::TrustArgs),
    /// Show the state of the work, the plan as a graph, or the cost
    Status(status::StatusArgs),
    /// Show and change issues of `br` or `bd`, or the plan's slices
    #[command(subcommand)]
    Issue(issue::IssueCommand),
    /// List transitions, show one, or compare two
    Log(log::LogArgs),
    /// Undo the newest transitions (user only)
    Undo(pause::UndoArgs),
    /// Change the plan or mission (user only), or list the criteria
    #[command(subcommand)]
    Plan(plan::PlanCommand),
    /// Pause the work until `cook resume`
    Pause(pause::PauseArgs),
    /// Resume stopped work with an answer, budget or trust (user only)
    Resume(pause::ResumeArgs),
    /// Cancel the workflow; nothing is deleted (user only)
    Cancel(pause::CancelArgs),
    /// Print the facts that the next session needs, or change them
    Brief(Box<brief::BriefArgs>),
    /// Answer a lifecycle event of an agent (called by agents)
    Hook(hooks::HookArgs),
    /// Install, check or remove the hooks of an agent
    #[command(subcommand)]
    Hooks(hooks::HooksCommand),
    /// Run agent sessions until the work is done or must stop
    Run(run::RunArgs),
    /// Show a complete run with scripted agents, in a new repository
    Demo(demo::DemoArgs),
    /// Ask one or more agents a question; they may change nothing
    Ask(ask::AskArgs),
    /// Give an agent a task that may change the worktree
    Act(ask::ActArgs),
    /// List, show, name, verify and move kept exchanges with agents
    #[command(subcommand)]
    Session(session::SessionCommand),
    /// Push the branch and its log to a remote
    Push(push::PushArgs),
    /// Pull the log from a remote, also into a fresh clone
    Pull(push::PullArgs),
    /// Write an HTML page or a pull request about the work and its proof
    Report(report::ReportArgs),
    /// Serve the Model Context Protocol over stdio (started by agents)
    #[cfg(feature = "mcp")]
    Mcp,
    /// Check the set-up and the log; list agents; restore saved copies
    Doctor(doctor::DoctorArgs),
    /// Remove what cook wrote into this repository
    Uninstall(uninstall::UninstallArgs),
    /// Explain a code that cook printed
    Explain(help::ExplainArgs),
    /// Print a completion script for a shell
    Completions(help::CompletionsArgs),
    /// Print the common commands, all commands, or the help of one
    Help(help::HelpArgs),
}

impl Command {
    /// The value of `--format`, and the name of the command for its results.
    fn format(&self) -> (Option<Format>, &'static str) {
        match self {
            Command::Verify(args) => (args.format, "cook verify"),
            Command::Check(args) => (args.format, "cook check"),
            _ => (None, "cook"),
        }
    }
}

/// The entry point of the program.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return not_parsed(&error),
    };
    let (named, command) = cli.command.as_ref().map_or((None, "cook"), Command::format);
    let format = match (cli.json, named) {
        (true, _) => Format::Json,
        (false, named) => named.unwrap_or_default(),
    };
    let mut screen = Screen::new(format, cli.quiet, cli.verbose, cli.color);
    screen.command = command;
    if let (true, Some(other)) = (cli.json, named.filter(|named| *named != Format::Json)) {
        let other = format!("{other:?}").to_lowercase();
        let what = format!("`--json` and `--format {other}` cannot be combined");
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

/// Prints clap's help or version to stdout and exits with 0; reports a parse error like any other failure.
fn not_parsed(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && hooks::is_hook_call() {
        return hooks::not_parsed(error).into();
    }
    if !error.use_stderr() {
        // The help of the program itself is shown with the commands in groups.
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
    let format = if json { Format::Json } else { Format::Human };
    let screen = Screen::new(format, false, false, ColorChoice::Auto);
    let failure = name_new_command(error).unwrap_or_else(|| describe_error(&error.to_string()));
    screen.failure(&failure).into()
}

/// Builds a failure from clap's error message, with its tips and the usage.
fn describe_error(text: &str) -> Failure {
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: "));
    let tips = text.lines().filter_map(|line| line.strip_prefix("  tip: "));
    // Tips about `--` are left out, because values of commands do not begin with a hyphen.
    let mut hints: Vec<String> = tips
        .filter(|tip| !tip.starts_with("to pass "))
        .map(str::to_owned)
        .collect();
    if let Some(usage) = usage {
        let is_name = |word: &&str| word.starts_with(|first: char| first.is_ascii_lowercase());
        let name: Vec<&str> = usage.split(' ').take_while(is_name).collect();
        hints.push(format!(
            "run `{} --help`; the usage is `{usage}`",
            name.join(" ")
        ));
    }
    let failure = Failure::usage(first_words(text));
    match hints.is_empty() {
        true => failure,
        false => failure.replace_hints(hints),
    }
}

/// Names the replacement of a former command.
fn name_new_command(error: &clap::Error) -> Option<Failure> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let (_, new) = OLD_NAMES.iter().find(|(old, _)| old == name)?;
    let what = format!("`cook {name}` is `cook {new}` now");
    Some(Failure::usage(what).hint(format!("write `{new}` in its place")))
}

/// Puts clap's error on one line: its first line, the list that this line announces, and the possible values.
fn first_words(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let listed = lines.map(str::trim).take_while(|line| !line.is_empty());
    let listed = listed.collect::<Vec<_>>();
    match first.ends_with(':')
        || listed
            .iter()
            .any(|line| line.starts_with("[possible values"))
    {
        true => format!("{first} {}", listed.join(", ")),
        false => first.to_owned(),
    }
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
        Command::Session(command) => session::session(context, &command),
        Command::Push(args) => push::push(context, &args),
        Command::Pull(args) => push::pull(context, &args),
        Command::Report(args) => report::report(context, &args),
        #[cfg(feature = "mcp")]
        Command::Mcp => mcp::serve(context),
        Command::Doctor(args) => doctor::doctor(context, &args),
        Command::Uninstall(args) => uninstall::uninstall(context, &args),
        Command::Explain(args) => help::explain(&args),
        Command::Completions(args) => help::completions(Cli::command(), &args),
        Command::Help(args) => help::help(Cli::command(), &args),
    }
}
