//! `cook init --log`: which log a worktree without one goes on with.

use super::context::Context;
use crate::service;
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_git::Repo;
use cook_store::store::{Place, Store};

/// Takes the named log, or begins another where that is `new`.
pub(super) fn take(context: &Context, id: &str) -> Result<(), Failure> {
    let place = service::find_place(&Repo::discover(&context.dir)?);
    match id {
        "new" => {
            has_no_log(&place)?;
            Store::renounce(&place)?;
        }
        id => Store::claim(&place, id)?,
    }
    Ok(())
}

/// A worktree has one log, whatever became of its workflow.
fn has_no_log(place: &Place) -> Result<(), Failure> {
    // One that cannot be opened is what another is begun for.
    let Ok(Some(store)) = Store::open(place.clone()) else {
        return Ok(());
    };
    let message = format!(
        "this worktree has a log, `{}`, and a worktree has one",
        store.id()
    );
    Err(Refusal::new(Code::DoesNotApply, message)
        .replace_hints([
            "run `cook plan refocus --mission TEXT` for another mission, after `cook cancel` first `cook resume`",
            "run `git worktree add PATH`, and `cook init` there, for a log beside it",
        ])
        .into())
}
