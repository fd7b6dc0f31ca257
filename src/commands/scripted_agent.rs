//! `cook scripted-agent`, hidden: a script in an agent's place.

use clap::Args;
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
    cook_agents::scripted::play(&args.script, &args.rest)
}
