//! `cook step`: one session; with `--from` for a remote, so that any machine may hold the next.

use super::caller;
use super::context::{Answer, Context, answer};
use super::run::{DriveArgs, Terminal};
use crate::drive::{self, Opening};
use crate::service::Workspace;
use crate::view::RunAnswer;
use clap::Args;

/// What a scheduler does next, by how a step for a remote ends.
const EXITS: &str = "Exit codes with --from:
  0          call it again
  7          somebody else was first, or works in this clone: call it again
  13         the mission is done
  10, 11, 12 a person is waited for: an answer, something outside, a pause
  5, 6       no agent could work; a limit is used up
  4          refused here: the message names the command (trust, a worktree that is not clean, a secret)
  3          the remote or the state cannot be read; what was recorded stands in this clone
  2          the command line is wrong
  130        an end was asked for (Ctrl-C, SIGTERM)";

#[derive(Debug, Args)]
#[command(after_help = EXITS)]
pub(super) struct StepArgs {
    /// Take log and branch from this remote (a name or an address), and push what came of the session
    #[arg(long, value_name = "REMOTE", conflicts_with_all = ["yes", "park_changes"])]
    pub from: Option<String>,
    /// Trust every gate, stop verifier and agent of the repository for this step
    #[arg(long, requires = "from")]
    pub trust_repo: bool,
    #[command(flatten)]
    pub drive: DriveArgs,
}

pub(super) fn step(context: &Context, args: &StepArgs) -> Answer {
    caller::not_nested()?;
    let opening = Opening {
        trusts_everything: args.trust_repo,
        pushes_later: args.from.is_some(),
        tells_nobody: false,
    };
    let order = args.drive.order(context, Some(1), opening);
    let terminal = Terminal(context.screen);
    let mut held = match &args.from {
        None => drive::hold(&order, &terminal)?,
        Some(remote) => {
            caller::not_apart(&Workspace::open(&context.dir)?)?;
            drive::step_from(&order, &terminal, remote, caller::is_attended())?
        }
    };
    held.is_one_step = true;
    answer(RunAnswer::of(held))
}
