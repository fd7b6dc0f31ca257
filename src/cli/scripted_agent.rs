//! `cook scripted-agent`, hidden: a script in an agent's place.

use super::args::ScriptedAgentArgs;
use cook_agents::scripted::{Arguments, play as play_script};
use std::process::ExitCode;

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
