//! `cook check`: is what was just claimed true of this commit?

use super::caller;
use super::context::{Answer, Context, answer};
use crate::check::{Ask, check};
use crate::view::CommitCheckAnswer;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Compare with this commit (default: where the branch left its upstream or the remote's default
    /// branch, else the commit before)
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// Run this gate only; may be given several times
    #[arg(long, value_name = "NAME")]
    pub gate: Vec<String>,
    /// Do not run the gates once more with the change taken back
    #[arg(long)]
    pub no_revert: bool,
    /// Trust the gates of this repository for this run
    #[arg(long)]
    pub trust_repo: bool,
}

pub(super) fn check_commit(context: &Context, args: &CheckArgs) -> Answer {
    let mut workspace = context.workspace()?;
    caller::not_apart(&workspace)?;
    workspace.trust_everything = args.trust_repo;
    let ask = Ask {
        base: args.base.as_deref(),
        gates: &args.gate,
        no_revert: args.no_revert,
    };
    let screen = context.screen;
    let tell = |text: &str| {
        if screen.redraws {
            screen.note(text);
        }
    };
    answer(CommitCheckAnswer::from(check(&mut workspace, &ask, &tell)?))
}
