//! `cook pause`: stops the work.

use super::caller;
use super::context::{Answer, Context};
use super::input::free_text;
use super::transition;
use clap::Args;
use cook_core::model::{Event, PAUSED_BY_HAND};

#[derive(Debug, Args)]
pub(super) struct PauseArgs {
    /// Why
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub why: Option<String>,
}

pub(super) fn pause(context: &Context, args: &PauseArgs) -> Answer {
    let why = args
        .why
        .clone()
        .unwrap_or_else(|| PAUSED_BY_HAND.to_owned());
    let actor = caller::pauser()?;
    transition::record(
        &context.workspace()?,
        &Event::Paused { why },
        actor,
        "paused",
    )
}
