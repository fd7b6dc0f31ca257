//! The command line: parse → call → hand the result to `view`. One file per command.

mod adopt;
mod agents;
mod args;
mod ask;
mod bootstrap;
mod brief;
mod brief_change;
mod caller;
mod cost;
mod demo;
mod doctor;
mod doors;
mod fanout;
mod gate;
mod history;
mod hook;
mod hooks;
mod input;
mod issue;
mod next;
mod queued;
mod record;
mod rescue;
mod run;
mod scripted_agent;
mod session;
mod status;
mod verify;

use crate::view::{ColorChoice, Exit, NoteAnswer, PromptAnswer, Screen, Show};
use crate::walk::Workspace;
use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use cook_core::diagnostic::Failure;
use std::path::PathBuf;
use std::process::ExitCode;

/// What every command gets.
struct Context {
    /// Where the command was called, or what `-C` names.
    dir: PathBuf,
    dir_is_named: bool,
    /// Where answers go.
    screen: Screen,
}

impl Context {
    /// Opens the worktree.
    fn workspace(&self) -> Result<Workspace, Failure> {
        Workspace::open(&self.dir)
    }
}

/// An answer of any command.
type Answer = Result<Box<dyn Show>, Failure>;

/// Boxes an answer.
fn answer(value: impl Show + 'static) -> Answer {
    Ok(Box::new(value))
}

/// The program.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return not_parsed(&error),
    };
    if let Command::ScriptedAgent(args) = &cli.command {
        return scripted_agent::play(args);
    }
    let json = cli.json || cli.command.asks_for_json();
    let screen = Screen::new(json, cli.quiet, cli.verbose, cli.color);
    let context = Context {
        dir_is_named: cli.dir.is_some(),
        dir: cli.dir.unwrap_or_else(|| PathBuf::from(".")),
        screen,
    };
    let exit = match run(&context, cli.command) {
        Ok(answer) => screen.answer(answer.as_ref()),
        Err(failure) => screen.failure(&failure),
    };
    exit.into()
}

/// clap's own text: help and version on stdout with 0, the rest on stderr with 2;
/// whoever asked for JSON gets the failure in JSON too.
fn not_parsed(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && hook::is_hook_call() {
        return hook::not_parsed(error).into();
    }
    if !error.use_stderr() {
        let _ = error.print();
        return Exit::Ok.into();
    }
    if std::env::args_os().any(|word| word == "--json") {
        let screen = Screen::new(true, false, false, ColorChoice::Auto);
        let message = first_words(&error.to_string());
        return screen.failure(&Failure::usage(message)).into();
    }
    let _ = error.print();
    Exit::Usage.into()
}

/// What clap objects to, on one line: its first one, and what that announces.
fn first_words(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    if !first.ends_with(':') {
        return first.to_owned();
    }
    let listed: Vec<&str> = lines
        .map(str::trim)
        .take_while(|line| !line.is_empty())
        .collect();
    format!("{first} {}", listed.join(", "))
}

fn run(context: &Context, command: Command) -> Answer {
    match command {
        Command::Init(args) => bootstrap::init(context, &args),
        Command::Next(args) => next::next(context, &args),
        Command::Why => next::why(context),
        Command::Record(args) => record::record(context, &args),
        Command::Verify(args) => verify::verify(context, &args),
        Command::Gate(args) => gate::gate(context, &args),
        Command::Trust(args) => gate::trust(context, &args),
        Command::Status => status::status(context),
        Command::Ready => status::ready(context),
        Command::Graph(args) => status::graph(context, &args),
        Command::Issue(args) => issue::issue(context, &args),
        Command::Log(args) => history::log(context, &args),
        Command::Show(args) => history::show(context, &args),
        Command::Diff(args) => history::diff(context, &args),
        Command::Undo(args) => adopt::undo(context, &args),
        Command::Adopt(args) => adopt::adopt(context, &args),
        Command::Pause(args) => doors::pause(context, &args),
        Command::Resume(args) => doors::resume(context, &args),
        Command::Cancel(args) => doors::cancel(context, &args),
        Command::Answer(args) => doors::answer_question(context, &args),
        Command::Refocus(args) => doors::refocus(context, &args),
        Command::Criteria(args) => doors::criteria(context, &args),
        Command::Budget(args) => doors::budget(context, &args),
        Command::Brief(args) => brief::brief(context, &args),
        Command::Checkpoint(args) => hook::checkpoint(context, &args),
        Command::Recover => hook::recover(context),
        Command::Hook(args) => hook::hook(context, &args),
        Command::Hooks(args) => hooks::hooks(context, &args),
        Command::Ask(args) => ask::ask(context, &args),
        Command::Act(args) => ask::act(context, &args),
        Command::Run(args) => run::run(context, &args),
        Command::Step(args) => run::step(context, &args),
        Command::Cost => cost::cost(context),
        Command::Demo(args) => demo::demo(context, &args),
        Command::Fanout(args) => fanout::fanout(context, &args),
        Command::Session(args) => session::session(context, &args),
        Command::Agents => agents::agents(context),
        Command::ScriptedAgent(_) => Err(Failure::usage("a scripted agent answers to nobody")),
        Command::Rescue(args) => rescue::rescue(context, &args),
        Command::Fsck => verify::fsck(context),
        Command::Doctor(args) => doctor::doctor(context, &args),
        Command::Completions(args) => completions(args.shell),
        Command::Man => man(),
    }
}

fn completions(shell: clap_complete::Shell) -> Answer {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cook", &mut text);
    answer(PromptAnswer(String::from_utf8_lossy(&text).into_owned()))
}

/// The manual: one page for `cook`, one section per command behind it.
fn man() -> Answer {
    let mut text = Vec::new();
    let write = |command: clap::Command, text: &mut Vec<u8>| {
        clap_mangen::Man::new(command)
            .render(text)
            .map_err(|error| {
                Failure::state(cook_core::diagnostic::Code::NotWritable, error.to_string())
            })
    };
    let mut command = Cli::command();
    // Options for every command reach the subcommands only by this.
    command.build();
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    let subcommands: Vec<clap::Command> = shown.cloned().collect();
    write(command, &mut text)?;
    for subcommand in subcommands {
        let name: &'static str =
            Box::leak(format!("cook-{}", subcommand.get_name()).into_boxed_str());
        write(subcommand.name(name), &mut text)?;
    }
    answer(PromptAnswer(String::from_utf8_lossy(&text).into_owned()))
}

/// An answer of a few lines.
fn note(what: &'static str, lines: Vec<String>) -> Answer {
    answer(NoteAnswer {
        what,
        lines,
        findings: Vec::new(),
    })
}
