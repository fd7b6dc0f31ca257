//! `cook strength`: would the gates notice a defect in what a change brought?

use super::caller;
use super::context::{Answer, Context, answer};
use super::runner_files;
use crate::strength::{Ask, measure};
use crate::view::StrengthAnswer;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct StrengthArgs {
    /// Plant in this slice's change, as the log has it (default: the change since the base)
    pub slice: Option<String>,
    /// Compare with this commit (default: as `cook check`)
    #[arg(long, value_name = "REF", conflicts_with = "slice")]
    pub base: Option<String>,
    /// Plant so many defects at most
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub mutants: u32,
    /// Begin no defect after so many minutes
    #[arg(long, value_name = "M", default_value_t = 10)]
    pub minutes: u32,
    /// Fail where the strength is below this share, from 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub minimum: Option<f64>,
    /// Trust the gates of this repository for this run
    #[arg(long)]
    pub trust_repo: bool,
}

pub(super) fn strength(context: &Context, args: &StrengthArgs) -> Answer {
    let mut workspace = context.workspace()?;
    caller::not_apart(&workspace)?;
    workspace.trust_everything = args.trust_repo;
    let ask = Ask {
        slice: args.slice.as_deref(),
        base: args.base.as_deref(),
        mutants: args.mutants as usize,
        minutes: args.minutes.into(),
    };
    let screen = context.screen;
    let tell = |text: &str| {
        if screen.redraws {
            screen.note(text);
        }
    };
    let (measured, written) = runner_files::guard(|| measure(&mut workspace, &ask, &tell))?;
    answer(StrengthAnswer::new(measured, args.minimum, written))
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a number from 0 to 1".to_owned()),
    }
}
