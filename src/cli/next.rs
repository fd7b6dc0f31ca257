//! `cook next`: names the mandatory role.

use super::context::{Answer, Context, answer};
use crate::lifecycle;
use crate::service::{self, Workspace};
use crate::view::{Dispatched, NextAnswer, RolePromptAnswer, WhyAnswer};
use clap::Args;
use cook_core::diagnostic::Failure;
use cook_core::machine;

#[derive(Debug, Args)]
pub(super) struct NextArgs {
    /// Print the role's whole prompt
    #[arg(long)]
    pub prompt: bool,
    /// Make the agent session around this command the one that does it
    #[arg(long)]
    pub take: bool,
    /// Show the rules in order, with what each one looked at
    #[arg(long, conflicts_with_all = ["prompt", "take"])]
    pub why: bool,
    /// Exit 10, 11 or 12 when the work waits for the user, is blocked or paused
    #[arg(long)]
    pub exit_code: bool,
}

pub(super) fn next(context: &Context, args: &NextArgs) -> Answer {
    if args.why {
        return explain(context);
    }
    let workspace = context.workspace()?;
    let (tip, snapshot) = workspace.current()?;
    let (mut dispatch, facts) = service::dispatch_now(&workspace, snapshot.as_ref())?;
    if args.prompt {
        let prompts = service::role_prompts(&workspace, snapshot.as_ref(), &dispatch, &facts)?;
        take(&workspace, args)?;
        return answer(RolePromptAnswer::from(prompts.whole));
    }
    if let Some(snapshot) = &snapshot
        && service::is_by_cook(snapshot, &dispatch, &facts)
    {
        let lowest = snapshot.assurance();
        dispatch.reason.push_str(&format!(
            "; under `{lowest}` `cook run` re-grounds here without a session, where nothing else stands against it"
        ));
    }
    let head = service::find_head(&facts)?;
    let current = tip.as_ref().zip(snapshot.as_ref());
    let ticket = service::ticket(&workspace, current, &head, dispatch.role)?;
    let seen = snapshot
        .as_ref()
        .and_then(|it| it.ledger.head_seen.as_ref());
    let is_reader = dispatch.role.is_some_and(service::leaves_the_tree_alone);
    let mut is_moved = seen != head.commit.as_ref();
    if let Some(snapshot) = snapshot.as_ref().filter(|_| is_reader)
        && let Some(worktree) = service::find_uncommitted(&workspace, &facts)?
    {
        is_moved |= service::needs_ticket(snapshot, &worktree);
        let told = service::tell_uncommitted(snapshot, &dispatch, &worktree);
        dispatch.findings.extend(told);
    }
    take(&workspace, args)?;
    answer(NextAnswer {
        needs_ticket: is_reader && is_moved && !dispatch.waits_for_gates(),
        next: Dispatched::of(dispatch, snapshot.as_ref(), &head, ticket),
        exit_code: args.exit_code,
    })
}

/// Last, so that a call that fails takes nothing.
fn take(workspace: &Workspace, args: &NextArgs) -> Result<(), Failure> {
    if args.take {
        lifecycle::take_around(workspace)?;
    }
    Ok(())
}

fn explain(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.current()?;
    let facts = service::dispatch_facts(&workspace, snapshot.as_ref())?;
    let (dispatch, traces) = machine::explain(snapshot.as_ref(), &facts)?;
    let is_goal = snapshot.is_some_and(|snapshot| snapshot.goal().is_some());
    answer(WhyAnswer::of(traces, dispatch, is_goal))
}
