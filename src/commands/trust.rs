//! `cook trust`: lets cook run a command.

use super::prelude::*;
use super::transition::{TransitionAnswer, note};
use crate::init::{Contract, FileOutcome, SETTINGS};
use cook_agents::Preset;
use cook_protocol::model::{Config, Event, Resume, STOP_VERIFIER, STOP_VERIFIER_SCRIPTS};
use cook_repo::receipt::Trust;
use std::collections::BTreeMap;

#[derive(Debug, Args)]
pub(super) struct TrustArgs {
    /// The command, as `cook` printed it
    #[arg(
        required_unless_present_any = ["list", "gates", "tools", "program"],
        allow_hyphen_values = true,
        value_parser = free_text
    )]
    pub command: Option<String>,
    /// Trust every command that begins with these words
    #[arg(long, requires = "command")]
    pub prefix: bool,
    /// Trust the gates of `cook.toml` and the stop verifier as they stand
    #[arg(long, conflicts_with = "command")]
    pub gates: bool,
    /// Let gates find programs as this terminal does (PATH and the homes of toolchains)
    #[arg(long, conflicts_with_all = ["command", "gates"])]
    pub tools: bool,
    /// Take this program of gates as it is now, another one than at its first green run
    #[arg(long, value_name = "NAME", conflicts_with_all = ["command", "gates", "tools"])]
    pub program: Option<String>,
    /// List what is trusted here
    #[arg(long, conflicts_with_all = ["command", "gates", "tools", "program"])]
    pub list: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn trust(context: &Context, args: &TrustArgs) -> Answer {
    let workspace = context.workspace()?;
    let mut trust = workspace.trust()?;
    if args.list {
        let (commands, prefixes) = trust.list_trusted();
        let commands = commands.iter().map(|command| format!("command  {command}"));
        let prefixes = prefixes.iter().map(|prefix| format!("prefix   {prefix} …"));
        let mut lines: Vec<String> = commands.chain(prefixes).collect();
        match lines.is_empty() {
            true => lines.push("nothing is trusted on this machine".to_owned()),
            false => lines.extend(tools(&trust)),
        }
        return note("trust_list", lines);
    }
    let actor = context::require_user(args.as_user.as_user)?;
    if args.tools {
        trust.trust_tools()?;
        return note("trusted", tools(&trust));
    }
    if let Some(name) = &args.program {
        let file = trust.trust_program(name)?;
        let line = format!("trusted: program `{name}` as {}", file.display());
        return note("trusted", vec![line]);
    }
    let mut lines = Vec::new();
    let commands: Vec<String> = match &args.command {
        Some(command) => vec![command.clone()],
        None => {
            let mut commands: Vec<String> = commands(workspace.config()?)
                .map(|(_, command)| command)
                .collect();
            // The stop verifier's command, where its script is in the worktree.
            let script = workspace.repo.root().join(STOP_VERIFIER_SCRIPTS[0]);
            commands.extend(script.is_file().then(|| STOP_VERIFIER.to_owned()));
            commands
        }
    };
    let mut given = Vec::new();
    for command in commands {
        if args.prefix {
            trust.trust_prefix(&command)?;
            lines.push(format!(
                "trusted: every command that begins with `{command}`"
            ));
            given.push(format!("{command} …"));
        } else {
            trust.trust(&command)?;
            lines.push(format!("trusted: `{command}`"));
            let absent = trust.absent_programs(&command).join("`, `");
            if !absent.is_empty() && !Preset::are_trust_words(&command) {
                lines.push(format!("it needs `{absent}`, not on the PATH here"));
            }
            given.push(command);
        }
    }
    // Without a log there is nothing to write to.
    let (_, Some(before)) = workspace.current()? else {
        return note("trusted", lines);
    };
    // It leaves the state that waited for it when nothing else is missing.
    let resume = Resume {
        trust: given,
        settings: args.command.is_none(),
        ..Resume::default()
    };
    let applied = service::transition(&workspace, &Event::Resumed(resume), actor)?;
    if before.state.continuation_policy != applied.step.snapshot.state.continuation_policy {
        lines.push("resumed".to_owned());
    }
    let findings = applied.findings.clone();
    answer(TransitionAnswer::new(applied, lines, findings))
}

/// Where gates find programs, one line for each variable.
fn tools(trust: &Trust) -> Vec<String> {
    let line = |(name, value)| format!("tools    {name}={value}");
    trust.tools().iter().map(line).collect()
}

/// What the settings have cook run in a clean room: name and command.
pub(super) fn commands(config: &Config) -> impl Iterator<Item = (String, String)> {
    let setup = config.clean_room.setup();
    let setup = setup.map(|command| ("setup".to_owned(), command.to_string()));
    let gates = config.gates.iter();
    setup.chain(gates.map(|(name, gate)| (name.clone(), gate.run.to_string())))
}

/// The programs of a command that are not on this machine.
pub(super) fn absent(trust: &Trust, name: &str, command: &str) -> Option<Finding> {
    let absent = trust.absent_programs(command).join("`, `");
    let what = format!("`{command}` needs `{absent}`, not on the PATH here");
    (!absent.is_empty()).then(|| Finding::new(Code::ProgramAbsent, what).at(name))
}

/// By command: the programs of gates and setup that are not on this machine.
pub(super) fn absent_programs(
    workspace: &Workspace,
    contract: &Contract,
) -> Result<BTreeMap<String, Finding>, Failure> {
    let Some(config) = &contract.config else {
        return Ok(BTreeMap::new());
    };
    let trust = workspace.trust()?;
    let found = commands(config).filter_map(|(name, command)| {
        let finding = absent(&trust, &name, &command)?;
        Some((command, finding))
    });
    Ok(found.collect())
}

/// The gates that cook proposes and the scripts that it writes are the user's to accept: by
/// running init outside an agent's environment. What the repository brought stays as it was, and
/// so does what would not even start.
pub(super) fn trust_written(
    workspace: &Workspace,
    contract: &Contract,
    verifier_was_trusted: bool,
    absent: &BTreeMap<String, Finding>,
    lines: &mut Vec<String>,
) -> Result<(), Failure> {
    let mut written = Vec::new();
    if contract.outcome(SETTINGS) == Some(FileOutcome::Created)
        && let Some(config) = &contract.config
    {
        written.extend(commands(config).map(|(_, command)| command));
    }
    let is_written = |path: &&str| {
        matches!(
            contract.outcome(path),
            Some(FileOutcome::Created | FileOutcome::Updated)
        )
    };
    let all_written = STOP_VERIFIER_SCRIPTS.iter().all(is_written);
    let any_written = STOP_VERIFIER_SCRIPTS.iter().any(is_written);
    let mut trust = workspace.trust()?;
    // It runs them, and those that came with the repository are looked at first.
    let gates = contract.config.iter().flat_map(Config::gate_specs);
    let gates_are_trusted = gates
        .filter(|gate| gate.required)
        .all(|gate| written.contains(&gate.run) || trust.is_trusted(&gate.run));
    if gates_are_trusted && (all_written || (any_written && verifier_was_trusted)) {
        written.push(STOP_VERIFIER.to_owned());
    }
    // The verifier runs every gate.
    let (left, commands): (Vec<String>, Vec<String>) = written.into_iter().partition(|command| {
        absent.contains_key(command) || command == STOP_VERIFIER && !absent.is_empty()
    });
    if !left.is_empty() {
        let left = left.join(" · ");
        lines.push(format!(
            "not trusted, because a program is not here: {left}"
        ));
    }
    if commands.is_empty() {
        return Ok(());
    }
    let named = commands.join(" · ");
    if let Some(marker) = context::agent_around() {
        lines.push(format!("gates, not trusted yet because {marker}: {named}"));
        return Ok(());
    }
    for command in &commands {
        trust.trust(command)?;
    }
    lines.push(format!("gates, trusted on this machine: {named}"));
    Ok(())
}
