//! `cook report --format pr`: the body of a pull request, and the request itself.

mod forge;
mod tell;

use super::context::{Answer, Context, answer};
use super::{caller, runner_files};
use crate::verify::Rerun;
use crate::view::{PullRequestAnswer, VerifyAnswer};
use clap::Args;
use cook_core::diagnostic::Failure;
use forge::Forge;

#[derive(Debug, Args)]
#[command(next_help_heading = "With --format pr")]
pub(super) struct PrArgs {
    /// Make the request, of the branch as it was pushed
    #[arg(long, requires = "format")]
    pub create: bool,
    /// The branch that it asks to be merged into (gh: the repository's default one)
    #[arg(long, value_name = "BRANCH", requires = "create")]
    pub into: Option<String>,
    /// By which program (default: `gh`, else `glab`)
    #[arg(long, value_enum, value_name = "PROGRAM", requires = "create")]
    pub with: Option<Forge>,
    /// Its title (default: the mission's first line)
    #[arg(long, value_name = "TEXT", requires = "format")]
    pub title: Option<String>,
    /// Called by a script on a person's behalf
    #[arg(long, requires = "create")]
    pub yes: bool,
}

pub(super) fn pr(context: &Context, args: &PrArgs) -> Answer {
    let workspace = context.workspace()?;
    caller::not_apart(&workspace)?;
    let (_, snapshot) = workspace.require()?;
    let forge = match args.create {
        true => {
            caller::require_user_by("--yes", args.yes)?;
            Some(Forge::find(args.with)?)
        }
        false => None,
    };
    let look = || crate::verify::all(&workspace, Rerun::No, false);
    let (found, written) = runner_files::guard(look)?;
    let mut verified = VerifyAnswer::of("all", false, found);
    verified.findings.extend(written);
    let request = tell::tell(&workspace, &snapshot, &verified)?;
    let title = args.title.as_deref();
    let title = title.unwrap_or(&snapshot.state.mission_anchor);
    let mut told = PullRequestAnswer::new(title, &request);
    if let Some(forge) = forge {
        let Some(branch) = workspace.repo.head()?.branch else {
            return Err(Failure::usage("no branch is checked out to ask for"));
        };
        let made = forge.create(&workspace.repo, &branch, args.into.as_deref(), &told)?;
        told.created = Some(made);
    }
    answer(told)
}
