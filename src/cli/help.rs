//! `cook help`: the commands that most people need, all of them, or one in full.

use super::context::{Answer, answer};
use crate::view::PromptAnswer;
use clap::{Args, Command};
use cook_core::diagnostic::Failure;

/// What most people need, in the order in which they meet it.
const FIRST: [&str; 5] = ["check", "goal", "run", "verify", "hooks"];

#[derive(Debug, Args)]
pub(super) struct HelpArgs {
    /// Every command
    #[arg(long)]
    pub all: bool,
    /// Print the help of this command
    #[arg(value_name = "COMMAND", conflicts_with = "all")]
    pub command: Vec<String>,
}

pub(super) fn help(mut program: Command, args: &HelpArgs) -> Answer {
    if args.all {
        return answer(PromptAnswer(program.render_help().to_string()));
    }
    if args.command.is_empty() {
        return answer(PromptAnswer(first_commands(&program).join("\n") + "\n"));
    }
    program.build();
    let mut found = &mut program;
    for name in &args.command {
        let Some(next) = found.find_subcommand_mut(name) else {
            let what = format!("there is no command `{}`", args.command.join(" "));
            return Err(Failure::usage(what).hint("run `cook help --all`"));
        };
        found = next;
    }
    answer(PromptAnswer(found.render_long_help().to_string()))
}

/// A line for each of the first commands, and where the others are.
pub(super) fn first_commands(program: &Command) -> Vec<String> {
    let line = |name: &&str| {
        let about = program.find_subcommand(name).and_then(Command::get_about);
        let about = about.map(ToString::to_string).unwrap_or_default();
        format!("  cook {name:<8}{about}")
    };
    let about = program.get_about().map(ToString::to_string);
    let mut lines: Vec<String> = about.into_iter().collect();
    lines.push(String::new());
    lines.extend(FIRST.iter().map(line));
    lines.push(String::new());
    lines.push("In a git repository, begin with: cook check --trust-repo".to_owned());
    lines.push("Every command: cook help --all".to_owned());
    lines
}
