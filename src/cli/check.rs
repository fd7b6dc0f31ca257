//! `cook check`: is what was just claimed true of this commit?

use super::caller;
use super::context::{Answer, Context, answer};
use super::runner_files;
use crate::check::{Ask, Line, check};
use crate::view::{CommitCheckAnswer, Format};
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
    /// How to answer (default: human)
    #[arg(long, value_enum)]
    pub format: Option<Format>,
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
    let work = || check(&mut workspace, &ask, &tell);
    let (mut checked, written) = runner_files::guard(work)?;
    if let Some(written) = written {
        let next = written.code.hint();
        let line = Line::new(written.code, true, written.message, next);
        checked.lines.insert(0, line);
    }
    answer(CommitCheckAnswer::from(checked))
}
