//! `cook next`, `cook why`.

use super::args::NextArgs;
use super::{Answer, Context, answer};
use crate::lifecycle;
use crate::view::{NextAnswer, PromptAnswer, WhyAnswer};
use crate::walk;
use cook_core::machine;

pub(super) fn next(context: &Context, args: &NextArgs) -> Answer {
    let workspace = context.workspace()?;
    let (tip, snapshot) = workspace.current()?;
    let (dispatch, facts) = walk::dispatch_now(&workspace, snapshot.as_ref())?;
    if args.take {
        lifecycle::take_around(&workspace)?;
    }
    if args.prompt {
        return answer(PromptAnswer(walk::role_prompt(
            &workspace,
            snapshot.as_ref(),
            &dispatch,
            &facts,
        )?));
    }
    let head = walk::head_of(&facts)?;
    answer(NextAnswer {
        ticket: walk::ticket(&workspace, tip.as_ref().zip(snapshot.as_ref()), &head)?,
        dispatch,
        snapshot,
        head,
        exit_code: args.exit_code,
    })
}

pub(super) fn why(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.current()?;
    let facts = walk::dispatch_facts(&workspace, snapshot.as_ref())?;
    let (dispatch, traces) = machine::explain(snapshot.as_ref(), &facts)?;
    answer(WhyAnswer { traces, dispatch })
}
