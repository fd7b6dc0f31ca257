//! `cook plan`: changes of the plan that are the user's, and its acceptance criteria.

use super::adopt::{AdoptArgs, adopt};
use super::context::{Answer, Context};
use super::criteria::{CriteriaArgs, criteria};
use super::refocus::{RefocusArgs, refocus};
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(super) enum PlanCommand {
    /// Take in an edited `plan.json`, a branch, or put the log's version back (user only)
    Adopt(AdoptArgs),
    /// Change the mission (user only)
    Refocus(RefocusArgs),
    /// Acceptance criteria by number, with their proof; correct one (user only)
    Criteria(CriteriaArgs),
}

pub(super) fn plan(context: &Context, command: &PlanCommand) -> Answer {
    match command {
        PlanCommand::Adopt(args) => adopt(context, args),
        PlanCommand::Refocus(args) => refocus(context, args),
        PlanCommand::Criteria(args) => criteria(context, args),
    }
}
