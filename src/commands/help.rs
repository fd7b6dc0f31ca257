//! `cook help`: the commands that most people need, all of them, or one in full.

use super::context::{Answer, PromptAnswer, answer};
use clap::{Args, Command};
use cook_protocol::diagnostic::{Code, Failure};

/// What most people need, in the order in which they meet it.
const FIRST: [&str; 5] = ["check", "goal", "run", "verify", "hooks"];

/// Every command, by who needs it.
const GROUPS: [(&str, &str); 3] = [
    (
        "Everyday",
        "init check goal run next status log verify gate trust plan pause resume cancel undo report demo",
    ),
    (
        "Agents and CI",
        "record brief hook hooks ask act session issue push pull attest strength calibrate mcp",
    ),
    ("Repair and help", "doctor explain completions help"),
];

#[derive(Debug, Args)]
pub(super) struct HelpArgs {
    /// Every command
    #[arg(long)]
    pub all: bool,
    /// Print the manual page
    #[arg(long, conflicts_with = "all")]
    pub man: bool,
    /// Print the help of this command
    #[arg(value_name = "COMMAND", conflicts_with_all = ["all", "man"])]
    pub command: Vec<String>,
}

pub(super) fn help(mut program: Command, args: &HelpArgs) -> Answer {
    if args.man {
        return man(program);
    }
    if args.all {
        return answer(PromptAnswer(group_commands(program)));
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

/// The help of the program, with its commands in groups.
pub(super) fn group_commands(program: Command) -> String {
    let mut template = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        template.push_str(&format!("\n{title}:\n"));
        let names = names.split(' ');
        let named = names.filter_map(|name| program.find_subcommand(name));
        for command in named {
            let about = command.get_about().map(ToString::to_string);
            let line = format!("  {:<13}{}", command.get_name(), about.unwrap_or_default());
            template.push_str(line.trim_end());
            template.push('\n');
        }
    }
    template.push_str("\nOptions:\n{options}");
    program.help_template(template).render_help().to_string()
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

/// The manual: one page for `cook`, one section per command behind it.
fn man(mut command: clap::Command) -> Answer {
    let mut text = Vec::new();
    let write = |command: clap::Command, text: &mut Vec<u8>| {
        clap_mangen::Man::new(command)
            .render(text)
            .map_err(|error| Failure::state(Code::NotWritable, error.to_string()))
    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn each_command_stands_in_one_group() {
        let program = super::super::Cli::command();
        let shown = program.get_subcommands().filter(|one| !one.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        let groups = GROUPS.iter();
        let mut grouped: Vec<&str> = groups.flat_map(|(_, names)| names.split(' ')).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        // A build without a feature lacks its command.
        grouped.retain(|name| shown.contains(name) || *name != "mcp");
        assert_eq!(shown, grouped);
    }
}
