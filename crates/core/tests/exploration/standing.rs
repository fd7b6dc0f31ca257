//! Nobody is paid to judge work that is gone from HEAD while its commit is still there: told from the
//! commit graph alone, in every state and for every report.

use super::invariants::{Check, Seen, require};
use super::world::{World, find_commit};
use cook_core::machine::{Dispatch, Rule};
use cook_core::model::{ActiveStatus, Policy, Rest, SliceStatus, Snapshot};

/// The committed slice, if a later commit took back what it wrote and none of its own came since.
fn find_taken_back(snapshot: &Snapshot, world: &World) -> Option<String> {
    let id = snapshot.active.slice_id.clone();
    let id = id.filter(|_| snapshot.active.status == ActiveStatus::Committed)?;
    let head = snapshot.ledger.slices.get(&id)?.head.as_deref();
    let head = find_commit(head?)?;
    let chain = world.chain(world.head);
    let later = chain.iter().skip_while(|at| **at != head).skip(1);
    let has_more = later
        .into_iter()
        .any(|at| world.commits[*at].slice == Some(id.as_str()));
    (world.is_reverted(head) && !has_more).then_some(id)
}

/// Done slices whose work a later commit took back.
fn list_done_and_gone<'a>(snapshot: &'a Snapshot, world: &World) -> Vec<&'a str> {
    let is_gone = |id: &str| {
        let ledger = snapshot.ledger.slices.get(id);
        let accepted = ledger.and_then(|ledger| ledger.accepted.as_ref());
        let head = accepted.and_then(|accepted| find_commit(&accepted.head));
        head.is_some_and(|head| world.is_reverted(head))
    };
    let slices = snapshot.plan.candidate_slices.iter();
    let done = slices.filter(|slice| slice.status == SliceStatus::Done);
    let ids = done.map(|slice| slice.slice_id.as_str());
    ids.filter(|id| is_gone(id)).collect()
}

/// The regrounder is asked, by the rule that says why; or the work is stopped.
pub fn nobody_judges_what_is_gone(snapshot: &Snapshot, world: &World, due: &Dispatch) -> Check {
    let gone = find_taken_back(snapshot, world);
    let is_told = matches!(due.rule, Rule::Stopped | Rule::Bootstrap)
        || due.rule == Rule::Recover && gone.iter().all(|id| due.reason.contains(id.as_str()));
    require(gone.is_none() || is_told, || {
        format!("{gone:?} is gone from HEAD, and {due:?}")
    })?;
    let gone = list_done_and_gone(snapshot, world);
    let judges = matches!(due.rule, Rule::Judge | Rule::Conclude);
    require(gone.is_empty() || !judges, || {
        format!("{gone:?} are done and gone from HEAD, and {due:?}")
    })
}

/// After any re-ground the slice is in work again, or out of it, and its commit counts no more; what
/// was reported and is gone does not count either.
pub fn check_gone_goes_back(seen: &Seen) -> Check {
    let reported = seen.facts.commit.as_ref();
    let is_gone = reported.and_then(|commit| commit.lacking.as_ref());
    require(
        is_gone.is_none_or(|lacking| lacking.rest != Rest::None),
        || "a commit is taken whose work HEAD does not hold".to_owned(),
    )?;
    let lacks = seen.facts.committed.as_ref();
    let was_gone = lacks.is_some_and(|lacking| lacking.rest == Rest::None);
    if !was_gone || seen.block().is_none() || seen.due.rule != Rule::Recover {
        return Ok(());
    }
    let (before, after) = (&seen.before.active, &seen.after().active);
    let stays = after.status == ActiveStatus::Committed && before.slice_id == after.slice_id;
    require(!stays, || {
        format!(
            "{:?} is gone from HEAD and stays committed",
            before.slice_id
        )
    })?;
    let ends = seen.after().state.continuation_policy == Policy::Done;
    require(!ends, || "done with work that is gone".to_owned())
}
