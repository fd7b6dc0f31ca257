//! `cook push`: the log to a remote, beside its branch.

use super::caller;
use super::context::{Answer, Context, answer};
use crate::service::{self, Public};
use crate::view::PushAnswer;
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_remote::{Plan, Restore, Side};
use std::io::{BufRead, IsTerminal};

#[derive(Debug, Args)]
pub(super) struct PushArgs {
    /// A remote, or its address (default: `[log] remote`, else the branch's)
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Push a workflow for the first time without being asked
    #[arg(long)]
    pub yes: bool,
    /// Push what looks like a secret as it is
    #[arg(long, value_name = "ID")]
    pub allow_secret: Vec<String>,
    /// Put back a log that was taken away or set back there
    #[arg(long)]
    pub restore: bool,
    /// Say what would be pushed
    #[arg(long)]
    pub dry_run: bool,
}

pub(super) fn push(context: &Context, args: &PushArgs) -> Answer {
    let workspace = context.workspace()?;
    caller::not_apart(&workspace)?;
    if args.restore || !args.allow_secret.is_empty() {
        caller::require_user_by("--yes", args.yes)?;
    }
    let (_, snapshot) = workspace.require()?;
    let branch = service::branch(&workspace, Some(&snapshot))?;
    let attended = caller::is_attended();
    let named = args.remote.as_deref();
    let remote = service::remote(&workspace, named, &branch, Side::Push, attended)?;
    let head = workspace.repo.head()?.commit;
    let restore = match args.restore {
        true => Restore::Yes,
        false => Restore::No,
    };
    let plan = remote.plan(workspace.store()?, &branch, head.as_deref(), restore)?;
    let public = service::look_into(workspace.store()?, &plan)?;
    let mut done = PushAnswer::planned(remote.shown(), &plan, &public.contents);
    if plan.is_empty() {
        return answer(done);
    }
    service::check_secrets(&public, &args.allow_secret)?;
    if args.dry_run {
        return answer(done);
    }
    if plan.is_first() {
        confirm(context, &done, &public, &plan, args.yes)?;
    }
    let sent = remote.send(&plan)?;
    done.pushed = true;
    done.refs = sent.refs;
    answer(done)
}

/// What was never public becomes so once, and somebody says yes to it.
fn confirm(
    context: &Context,
    planned: &PushAnswer,
    public: &Public,
    plan: &Plan,
    yes: bool,
) -> Result<(), Failure> {
    caller::require_user(yes).map_err(|failure| match yes || caller::agent_around().is_some() {
        true => failure,
        false => unconfirmed(planned),
    })?;
    if yes {
        return Ok(());
    }
    context.screen.note(&planned.summary());
    for finding in public.secrets.values() {
        context
            .screen
            .note(&format!("allowed: {}", finding.message));
    }
    context.screen.note(match plan.with_branch {
        true => "Push the branch and its log? [y/N]",
        false => "Push the log? [y/N]",
    });
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    match read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes") && std::io::stdin().is_terminal()
    {
        true => Ok(()),
        false => Err(unconfirmed(planned)),
    }
}

fn unconfirmed(planned: &PushAnswer) -> Failure {
    Refusal::new(Code::PushUnconfirmed, planned.summary()).into()
}
