//! `cook strength`: would the gates notice a defect in what a change brought?

use super::caller;
use super::context::{Answer, Context, answer};
use super::progress::Progress;
use super::{input, runner_files};
use crate::strength::{Ask, MAX_REPORT, measure, read_report};
use crate::view::StrengthAnswer;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct StrengthArgs {
    /// Plant in this slice's change, as the log has it (default: the change since the base)
    pub slice: Option<String>,
    /// Compare with this commit (default: as `cook check`)
    #[arg(long, value_name = "REF", conflicts_with = "slice")]
    pub base: Option<String>,
    /// Plant so many defects at most (default: as `[strength]` in `cook.toml` says, else 40)
    #[arg(long, value_name = "N")]
    pub mutants: Option<u32>,
    /// Begin no defect after so many minutes (default: as `[strength]` says, else 10)
    #[arg(long, value_name = "M")]
    pub minutes: Option<u32>,
    /// Fail where the strength is below this share, from 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub minimum: Option<f64>,
    /// Run nothing: show what another tool planted, by its report in JSON (cargo mutants' outcomes.json,
    /// mutation-testing-elements)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["slice", "base", "trust_repo"])]
    pub report: Option<PathBuf>,
    /// Trust the gates of this repository for this run
    #[arg(long)]
    pub trust_repo: bool,
}

pub(super) fn strength(context: &Context, args: &StrengthArgs) -> Answer {
    if let Some(file) = &args.report {
        let bytes = input::read_regular(file, MAX_REPORT)?;
        let reported = read_report(&bytes, file.parent())?;
        return answer(StrengthAnswer::from_reported(reported, args.minimum));
    }
    let mut workspace = context.workspace()?;
    caller::not_apart(&workspace)?;
    workspace.trust_everything = args.trust_repo;
    let budget = workspace.config()?.strength;
    let ask = Ask {
        slice: args.slice.as_deref(),
        base: args.base.as_deref(),
        mutants: args.mutants.unwrap_or(budget.mutants) as usize,
        minutes: args.minutes.unwrap_or(budget.minutes).into(),
    };
    let progress = Progress::begin(context.screen);
    let tell = |text: &str| progress.tell(text);
    let (measured, written) = runner_files::guard(|| measure(&mut workspace, &ask, &tell))?;
    answer(StrengthAnswer::from_measured(
        measured,
        args.minimum,
        written,
    ))
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a number from 0 to 1".to_owned()),
    }
}
