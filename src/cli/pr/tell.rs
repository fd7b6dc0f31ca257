//! What the log holds that a pull request tells.

use super::super::caught::list_catches;
use crate::service::Workspace;
use crate::view::{Caught, PullRequest, SliceLine, VerifyAnswer, VoteLine};
use cook_core::diagnostic::Failure;
use cook_core::model::Snapshot;
use std::collections::BTreeMap;

pub(super) fn tell(
    workspace: &Workspace,
    snapshot: &Snapshot,
    verified: &VerifyAnswer,
) -> Result<PullRequest, Failure> {
    let mut request = PullRequest::new(snapshot.mission.clone(), verified.as_results());
    let mut attempts: BTreeMap<String, usize> = BTreeMap::new();
    let store = workspace.store()?;
    for meta in store.entries()? {
        let meta = meta?;
        if meta.event == "implemented" {
            // The transition is about the slice.
            *attempts.entry(meta.subject).or_default() += 1;
        }
    }
    let catches = list_catches(workspace)?;
    request.unheeded = catches.unheeded;
    let caught = catches.caught.into_iter();
    request.caught.extend(caught.map(|one| Caught {
        seq: one.seq,
        what: one.what,
        names: one.names,
    }));
    for slice in &snapshot.plan.candidate_slices {
        let id = &slice.slice_id;
        let ledger = snapshot.ledger.slices.get(id);
        let head = ledger.and_then(|it| it.head.as_ref().or(it.last_head.as_ref()));
        request.slices.push(SliceLine {
            attempts: attempts.get(id).copied().unwrap_or_default(),
            goal: slice.goal.clone(),
            status: slice.status.id(),
            head: head.map(|head| head.get(..12).unwrap_or(head).to_owned()),
            id: id.clone(),
        });
    }
    let wave = &snapshot.ledger.wave;
    request.wave = snapshot.state.current_stop_wave_id.0;
    request.votes.extend(wave.votes.iter().map(|vote| VoteLine {
        session: vote.session.clone(),
        yes: vote.can_stop,
        names: vote.blockers.join("; "),
    }));
    Ok(request)
}
