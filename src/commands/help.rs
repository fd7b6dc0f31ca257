//! `cook help`, `explain` and `completions`; and `cook` alone, which describes this repository and names the next command.

use super::context::*;
use super::recorded::note;
use crate::check::{describe_source, find_base, read_said};
use crate::hooks::install::list_installed;
use crate::service::dispatch_now;
use crate::trial::describe_place;
use clap::Command;
use cook_agents::hooks::layout::Purpose;
use cook_agents::presets;
use cook_protocol::diagnostic::{CATALOGUE, Family};
use cook_protocol::machine::ASK_GOAL;
use cook_protocol::model::nearest;

/// The commands that most users need, in the order in which they meet them.
const FIRST: [&str; 5] = ["check", "goal", "run", "verify", "hooks"];

/// All commands, grouped by who needs them.
const GROUPS: [(&str, &str); 3] = [
    (
        "Common commands",
        "init check goal run next status log verify gate trust plan pause resume cancel undo report demo",
    ),
    (
        "Commands for agents and CI",
        "record brief hook hooks ask act session issue push pull attest strength calibrate mcp",
    ),
    (
        "Troubleshooting and help",
        "doctor uninstall explain completions help",
    ),
];

#[derive(Debug, Args)]
pub(super) struct HelpArgs {
    /// List all commands
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
        return answer(HelpAnswer(group_commands(program)));
    }
    if args.command.is_empty() {
        return answer(HelpAnswer(first_commands(&program).join("\n")));
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
    // Prints the same text as `cook NAME --help`.
    let names = args.command.iter().map(String::as_str);
    let words = std::iter::once("cook").chain(names).chain(["--help"]);
    let shown = program.try_get_matches_from(words);
    answer(PromptAnswer(
        shown
            .err()
            .map_or_else(String::new, |help| help.to_string()),
    ))
}

/// Returns the program's help, with its commands in groups.
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

/// Lists the first commands, one per line, and names the command that lists the others.
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
    lines.push("To begin in a git repository: cook check --trust-repo".to_owned());
    lines.push("All commands: cook help --all".to_owned());
    lines
}

/// The manual: the page of `cook`, followed by a section for each command.
fn man(mut command: clap::Command) -> Answer {
    let mut text = Vec::new();
    let write = |command: clap::Command, text: &mut Vec<u8>| {
        clap_mangen::Man::new(command)
            .render(text)
            .map_err(|error| Failure::state(Code::NotWritable, error.to_string()))
    };
    // Without this, subcommands lack the global options.
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

// `cook` without arguments: describes this repository and the result of its last commit, and names the next command.

pub(super) fn overview(context: &Context, program: &clap::Command) -> Answer {
    match context.workspace() {
        Ok(workspace) => note("overview", describe(workspace)?),
        Err(failure) if failure.code == Code::NotARepository => {
            note("overview", first_commands(program))
        }
        Err(failure) => Err(failure),
    }
}

/// The results of the gates at HEAD.
#[derive(Clone, Copy, PartialEq)]
enum Gates {
    /// There is no gate, or a gate has no receipt for HEAD.
    NotRun,
    /// A gate without a receipt is not trusted.
    Untrusted,
    Red,
    Green,
}

fn describe(mut workspace: Workspace) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut tell = |what: &str, text: &str| lines.push(format!("{what:<8}{text}"));
    let commit = workspace.repo.head()?.commit;
    let mut standing = Gates::NotRun;
    if let Some(commit) = &commit {
        // The gates that `cook check` would run.
        let base = find_base(&workspace.repo, commit, None)?;
        let own = workspace.propose_gates_for(&base.commit, commit)?.own;
        let gates = workspace.config()?.gate_specs();
        for gate in &gates {
            let (name, run, place) = (&gate.name, &gate.run, describe_place(gate));
            let from = describe_source(gate, &own);
            tell("gate", &format!("{name}: `{run}`{place}{from}"));
        }
        if gates.is_empty() {
            tell("gate", "none that says anything about the last change");
        }
        standing = find_standing(&workspace, commit, &gates)?;
    }
    let agents = list_agents(&workspace)?;
    tell("agents", &join_or(&agents, "none"));
    let purposes = [Purpose::Check, Purpose::Workflow].into_iter();
    let hooks = purposes.flat_map(|purpose| list_installed(&workspace, purpose));
    let hooks: Vec<String> = hooks.map(|agent| agent.name().to_owned()).collect();
    tell("hooks", &join_or(&hooks, "none"));
    // If there is a log, it determines the next step.
    if let (_, Some(snapshot)) = workspace.current()? {
        let (due, _) = dispatch_now(&workspace, Some(&snapshot))?;
        tell("work", &clean(&due.action, Lines::Fold));
        tell("next:", snapshot.goal().map_or("cook next", |_| ASK_GOAL));
        return Ok(lines);
    }
    let Some(commit) = commit else {
        tell("HEAD", "there is no commit yet");
        tell("next:", "git commit");
        return Ok(lines);
    };
    let at = short(&commit);
    if let Some((verdict, what, show)) = read_said(&workspace.repo, &commit) {
        let what = clean(&what, Lines::Fold);
        tell(
            "HEAD",
            &format!("{verdict} at {at}, as the last `cook check` said: {what}"),
        );
        tell(
            "next:",
            &format!("{}; then `cook check`", clean(&show, Lines::Fold)),
        );
        return Ok(lines);
    }
    let verdict = match standing {
        Gates::Untrusted | Gates::NotRun => format!("{at} was not asked yet"),
        Gates::Red => format!("a gate is red at {at}"),
        Gates::Green => format!("every gate is green at {at}"),
    };
    tell("HEAD", &verdict);
    tell("next:", &suggest(standing, &agents, &hooks));
    Ok(lines)
}

fn list_agents(workspace: &Workspace) -> Result<Vec<String>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = presets(workspace.config()?);
    let sound = all.values().filter_map(|preset| preset.as_ref().ok());
    let here = sound.filter(|preset| on_path(preset.bin(), &path).is_some());
    Ok(here.map(|preset| preset.name().to_owned()).collect())
}

fn find_standing(workspace: &Workspace, commit: &str, gates: &[GateSpec]) -> Result<Gates> {
    let trust = workspace.trust()?;
    let receipts = Receipts::of(&workspace.repo)?;
    let tree = workspace.repo.find_tree(commit)?;
    let mut standing = if gates.is_empty() {
        Gates::NotRun
    } else {
        Gates::Green
    };
    for gate in gates {
        match receipts.find_gate(gate, &tree, None)? {
            Some(receipt) if receipt.has_passed() => {}
            Some(_) => return Ok(Gates::Red),
            None if !trust.is_trusted(&gate.run) => standing = Gates::Untrusted,
            None if standing == Gates::Green => standing = Gates::NotRun,
            None => {}
        }
    }
    Ok(standing)
}

/// Returns the next command if there is no log.
fn suggest(standing: Gates, agents: &[String], hooks: &[String]) -> String {
    match (standing, agents.first()) {
        (Gates::Untrusted, _) => "cook check --trust-repo".to_owned(),
        (Gates::Green, Some(agent)) if hooks.is_empty() => {
            format!("cook hooks install {} --check", quote_word(agent))
        }
        (Gates::Green, _) => {
            "cook goal \"WHAT YOU WANT\" --check \"A COMMAND THAT FAILS TODAY\"".to_owned()
        }
        _ => "cook check".to_owned(),
    }
}

// `cook completions`: prints a script for a shell's completion.

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// Shell to print the script for
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

pub(super) fn completions(mut command: clap::Command, args: &CompletionsArgs) -> Answer {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "cook", &mut text);
    answer(PromptAnswer(String::from_utf8_lossy(&text).into_owned()))
}

// `cook explain`: what a code means and what to do about it.

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// Code, as printed in brackets; without one, list all codes
    pub code: Option<String>,
}

/// Codes with their meaning; `protocol/codes.json` holds all of them.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct CodesAnswer {
    codes: Vec<Explained>,
    #[serde(skip)]
    is_list: bool,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Explained {
    id: Code,
    family: Family,
    severity: Severity,
    meaning: &'static str,
    hint: &'static str,
}

impl Show for CodesAnswer {
    fn human(&self, page: &mut Page) {
        for code in &self.codes {
            let text = match self.is_list {
                true => format!("{:<32}{}\n", code.id.id(), code.meaning),
                false => format!(
                    "{}: {}\n  {}\n  next: {}\n",
                    code.id,
                    code.meaning,
                    describe_effect(code.family, code.severity),
                    code.hint
                ),
            };
            page.verbatim(&text);
        }
    }
}

pub(super) fn explain(args: &ExplainArgs) -> Answer {
    let is_asked = |known: &&Code| args.code.as_ref().is_none_or(|code| known.id() == code);
    let codes = CATALOGUE.iter().filter(is_asked).map(|code| Explained {
        id: *code,
        family: code.family(),
        severity: code.severity(),
        meaning: code.meaning(),
        hint: code.hint(),
    });
    let codes: Vec<Explained> = codes.collect();
    if let (Some(code), true) = (&args.code, codes.is_empty()) {
        let known: Vec<&str> = CATALOGUE.iter().map(|code| code.id()).collect();
        let meant = nearest(&code.to_lowercase(), &known);
        let what = format!("there is no code `{}`{meant}", code.escape_debug());
        return Err(Failure::usage(what).hint("run `cook explain`, which lists every code"));
    }
    answer(CodesAnswer {
        codes,
        is_list: args.code.is_none(),
    })
}

fn describe_effect(family: Family, severity: Severity) -> &'static str {
    match (family, severity) {
        (Family::Report, _) => "The report is refused as a whole, and nothing is written.",
        (Family::Refusal, _) => "The event is not taken, and nothing is written. Exit code 4.",
        (Family::Failure, _) => "The command cannot run. Exit code 2, 3 or 7.",
        (Family::Finding, Severity::Note) => "A note: it changes no exit code.",
        (Family::Finding, Severity::Warning) => {
            "A warning: `cook verify` passes, unless an option such as `--strict` asks for more; `cook check` may fail."
        }
        (Family::Finding, Severity::NeedsReground) => {
            "A re-ground puts it right; `cook verify` fails with `--strict`."
        }
        (Family::Finding, Severity::Error) => "An error: `cook verify` fails.",
    }
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
        // A build without the feature `mcp` lacks that command.
        grouped.retain(|name| shown.contains(name) || *name != "mcp");
        assert_eq!(shown, grouped);
    }
}
