//! `cook criteria`: corrects acceptance criteria.

use super::caller::{self, AsUser};
use super::context::{Answer, Context};
use super::input::free_text;
use super::transition;
use clap::Subcommand;
use cook_core::model::Event;

#[derive(Debug, Subcommand)]
pub(super) enum CriteriaCommand {
    /// Correct one criterion that proved false
    Amend {
        /// The slice
        slice: String,
        /// Which criterion, from 1
        number: u64,
        /// The new text
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
        text: String,
        /// Why the old one was false
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
        reason: String,
        #[command(flatten)]
        as_user: AsUser,
    },
}

pub(super) fn criteria(context: &Context, command: &CriteriaCommand) -> Answer {
    let CriteriaCommand::Amend {
        slice,
        number,
        text,
        reason,
        as_user,
    } = command;
    let actor = caller::require_user(as_user.as_user)?;
    let event = Event::CriterionAmended {
        slice_id: slice.clone(),
        number: *number,
        text: text.clone(),
        reason: reason.clone(),
    };
    let summary = "criterion amended; its evidence and reviews are void";
    transition::record(&context.workspace()?, &event, actor, summary)
}
