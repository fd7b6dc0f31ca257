//! `cook brief recover`: the message a session gets when its context was lost.

use super::context::{Answer, Context, answer};
use crate::lifecycle;
use crate::service::Workspace;
use crate::view::RecoverAnswer;
use cook_core::diagnostic::{Failure, Finding};

pub(super) fn recover(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let recovery = lifecycle::recover(&workspace)?;
    answer(RecoverAnswer::of(recovery, find_torn_line(&workspace)?))
}

pub(super) fn find_torn_line(workspace: &Workspace) -> Result<Vec<Finding>, Failure> {
    Ok(match &workspace.store {
        Some(store) => store.trail_finding()?.into_iter().collect(),
        None => Vec::new(),
    })
}
