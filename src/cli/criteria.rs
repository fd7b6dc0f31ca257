//! `cook criteria`: corrects acceptance criteria.

use super::caller::{self, AsUser};
use super::context::{Answer, Context};
use super::transition;
use clap::{Args, Subcommand};
use cook_core::model::Event;

#[derive(Debug, Args)]
pub(super) struct CriteriaArgs {
    #[command(subcommand)]
    pub command: CriteriaCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum CriteriaCommand {
    /// Correct one criterion that proved false
    Amend(AmendArgs),
}

#[derive(Debug, Args)]
pub(super) struct AmendArgs {
    /// The slice
    pub slice: String,
    /// Which criterion, from 1
    pub number: u64,
    /// The new text
    #[arg(long, value_name = "TEXT")]
    pub text: String,
    /// Why the old one was false
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn criteria(context: &Context, args: &CriteriaArgs) -> Answer {
    let CriteriaCommand::Amend(args) = &args.command;
    let actor = caller::require_user(args.as_user.as_user)?;
    let event = Event::CriterionAmended {
        slice_id: args.slice.clone(),
        number: args.number,
        text: args.text.clone(),
        reason: args.reason.clone(),
    };
    transition::record(
        &context.workspace()?,
        &event,
        actor,
        "criterion amended; its evidence and reviews are void",
    )
}
