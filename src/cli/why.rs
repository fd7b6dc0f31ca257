//! `cook why`: the rules in order, with what each one looked at.

use super::context::{Answer, Context, answer};
use crate::service;
use crate::view::WhyAnswer;
use cook_core::machine;

pub(super) fn why(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let (_, snapshot) = workspace.current()?;
    let facts = service::dispatch_facts(&workspace, snapshot.as_ref())?;
    let (dispatch, traces) = machine::explain(snapshot.as_ref(), &facts)?;
    let is_goal = snapshot.is_some_and(|snapshot| snapshot.goal().is_some());
    answer(WhyAnswer::of(traces, dispatch, is_goal))
}
