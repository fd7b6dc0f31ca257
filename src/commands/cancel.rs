//! `cook cancel`: ends the workflow.

use super::caller::{self, AsUser};
use super::context::{Answer, Context};
use super::input::free_text;
use super::transition;
use clap::Args;
use cook_protocol::model::{CANCELLED_BY_HAND, Event};

#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// Why
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub why: Option<String>,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn cancel(context: &Context, args: &CancelArgs) -> Answer {
    let actor = caller::require_user(args.as_user.as_user)?;
    let why = args.why.clone();
    let why = why.unwrap_or_else(|| CANCELLED_BY_HAND.to_owned());
    let done = "cancelled; nothing was deleted";
    transition::record(
        &context.workspace()?,
        &Event::Cancelled { why },
        actor,
        done,
    )
}
