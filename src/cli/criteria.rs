//! `cook plan criteria`: lists acceptance criteria, corrects one, and gives up the proof of one.

use super::caller::{self, AsUser};
use super::context::{Answer, Context, answer};
use super::input::free_text;
use super::transition;
use crate::view::{CriteriaAnswer, CriteriaOfSlice, NumberedCriterion};
use clap::{Args, Subcommand};
use cook_core::diagnostic::{Code, Failure};
use cook_core::model::{Event, Evidence, Slice};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct CriteriaArgs {
    /// Only those of this slice
    pub slice: Option<String>,
    #[command(subcommand)]
    pub command: Option<CriteriaCommand>,
}

#[derive(Debug, Subcommand)]
pub(super) enum CriteriaCommand {
    /// Give up the proof of a criterion of a done slice, which stays done (user only)
    Retire {
        /// The slice
        slice: String,
        /// Which criterion, from 1
        number: u64,
        /// Why nothing need show it any more
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = free_text)]
        reason: String,
        #[command(flatten)]
        as_user: AsUser,
    },
    /// Correct one criterion that proved false (user only)
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

pub(super) fn criteria(context: &Context, args: &CriteriaArgs) -> Answer {
    match &args.command {
        Some(command) => correct(context, command),
        None => list(context, args.slice.as_deref()),
    }
}

fn list(context: &Context, only: Option<&str>) -> Answer {
    let (_, snapshot) = context.workspace()?.require()?;
    if let Some(id) = only
        && snapshot.plan.slice(id).is_none()
    {
        return Err(
            Failure::unknown(Code::SliceUnknown, format!("no slice is named `{id}`"))
                .replace_hints(["run `cook plan criteria`, which lists all of them"]),
        );
    }
    let slices = snapshot.plan.candidate_slices.iter();
    let slices = slices.filter(|slice| only.is_none_or(|id| slice.slice_id == id));
    answer(CriteriaAnswer {
        slices: slices.map(number_criteria).collect(),
    })
}

fn number_criteria(slice: &Slice) -> CriteriaOfSlice {
    let anchor_of = |criterion: &String| {
        let mut records = slice.evidence.iter().filter_map(Evidence::record);
        records
            .find(|record| record.criterion == *criterion)
            .map(|record| record.anchor.clone())
    };
    let criteria = slice.acceptance_criteria.iter().enumerate();
    CriteriaOfSlice {
        slice_id: slice.slice_id.clone(),
        status: slice.status,
        criteria: criteria
            .map(|(at, text)| NumberedCriterion {
                number: at + 1,
                text: text.clone(),
                anchor: anchor_of(text),
            })
            .collect(),
    }
}

fn correct(context: &Context, command: &CriteriaCommand) -> Answer {
    let (event, as_user, summary) = match command {
        CriteriaCommand::Amend {
            slice,
            number,
            text,
            reason,
            as_user,
        } => {
            let event = Event::CriterionAmended {
                slice_id: slice.clone(),
                number: *number,
                text: text.clone(),
                reason: reason.clone(),
            };
            let summary = "criterion amended; its evidence and reviews are void";
            (event, as_user, summary)
        }
        CriteriaCommand::Retire {
            slice,
            number,
            reason,
            as_user,
        } => {
            let event = Event::ProofRetired {
                slice_id: slice.clone(),
                number: *number,
                reason: reason.clone(),
            };
            let summary = "the proof is given up, and the slice stays as it is";
            (event, as_user, summary)
        }
    };
    let actor = caller::require_user(as_user.as_user)?;
    transition::record(&context.workspace()?, &event, actor, summary)
}
