//! `cook pause`: stops the work.

use super::caller::{self, AsUser};
use super::context::{Answer, Context};
use super::input::free_text;
use super::transition;
use clap::Args;
use cook_protocol::model::{Actor, Event, PAUSED_BY_HAND};

const UNHEARD: &str = "paused; what you gave as the reason binds nobody: no person is at a terminal, and `--as-user` was not said";

#[derive(Debug, Default, Args)]
pub(super) struct PauseArgs {
    /// Why
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub why: Option<String>,
    #[command(flatten)]
    pub by: AsUser,
}

pub(super) fn pause(context: &Context, args: &PauseArgs) -> Answer {
    let why = args.why.clone();
    let why = why.unwrap_or_else(|| PAUSED_BY_HAND.to_owned());
    let actor = caller::find_pauser(args.by.as_user)?;
    // Nobody is known to have said it: the words are kept as a reason alone.
    let summary = match (actor, &args.why) {
        (Actor::Role, Some(_)) => UNHEARD,
        _ => "paused",
    };
    transition::record(
        &context.workspace()?,
        &Event::Paused { why },
        actor,
        summary,
    )
}
