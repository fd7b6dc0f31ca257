//! `cook scripted-agent`, hidden: a script in an agent's place.

use clap::Args;
use cook_agents::scripted::{Arguments, play as play_script};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct ScriptedAgentArgs {
    /// A script, or the file that holds it
    pub script: String,
    /// As a preset gives them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub rest: Vec<String>,
}

pub(super) fn play(args: &ScriptedAgentArgs) -> ExitCode {
    let after = |name: &str| {
        let at = args.rest.iter().position(|word| word == name)?;
        args.rest.get(at + 1).cloned()
    };
    play_script(
        &args.script,
        &Arguments {
            all: args.rest.clone(),
            session: after("--session"),
            fork: after("--fork"),
        },
    )
}
